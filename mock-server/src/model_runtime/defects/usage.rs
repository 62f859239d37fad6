//! Usage that is not checked, or lost.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::{Event, Status, event};
use crate::model_runtime::problem::{Code, Fault};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("negative-usage-accepted", "A quantity may be negative.", &["MR-USAGE-2", "MR-USAGE-10", "MR-USAGE-11"], |b, a| {
        wrap(&mut b.rules.usage.quantity, a, |reference, applied| {
            Arc::new(move |quantity| applied.instead_of(&reference(quantity), quantity.is_number()))
        });
    }),
    rule("unit-unchecked", "A unit may be anything.", &["MR-USAGE-1", "MR-USAGE-4", "MR-USAGE-13", "MR-USAGE-14"], |b, a| {
        wrap(&mut b.rules.usage.fact, a, |reference, applied| {
            Arc::new(move |usage, fact| {
                let mut named = fact.clone();
                super::set(&mut named, "unit", json!("request"));
                applied.instead_of(&reference(usage, fact), reference(usage, &named))
            })
        });
    }),
    rule("unit-of-any-name", "A unit that nobody knows needs no namespace.", &["MR-USAGE-4"], |b, a| {
        wrap(&mut b.rules.usage.unit, a, |reference, applied| Arc::new(move |unit| applied.instead_of(&reference(unit), !unit.is_empty())));
    }),
    rule("custom-units-refused", "Units with a namespace are refused.", &["MR-USAGE-12", "MR-USAGE-15"], |b, a| {
        wrap(&mut b.rules.usage.unit, a, |reference, applied| {
            Arc::new(move |unit| applied.instead_of(&reference(unit), reference(unit) && !unit.contains(['.', ':', '/'])))
        });
    }),
    rule("source-unchecked", "The source of a fact may be anything.", &["MR-USAGE-3"], |b, a| {
        wrap(&mut b.rules.usage.source, a, |reference, applied| Arc::new(move |source| applied.instead_of(&reference(source), true)));
    }),
    rule("source-not-told", "Published facts have no source.", &["MR-USAGE-3", "MR-USAGE-8"], |b, a| {
        facts(b, a, |_, facts| facts.iter_mut().filter_map(Value::as_object_mut).for_each(|fact| drop(fact.remove("source"))));
    }),
    rule("bad-usage-worth-a-retry", "Bad usage is followed by another attempt.", &["MR-USAGE-11", "MR-USAGE-14", "MR-USAGE-18"], |b, a| {
        bad_usage(b, a, |fault| fault.retryable = true);
    }),
    rule("bad-usage-is-internal", "Bad usage is an internal error.", &["MR-USAGE-11", "MR-USAGE-14"], |b, a| {
        bad_usage(b, a, |fault| fault.code = Code::InternalError);
    }),
    rule("zero-usage-dropped", "Facts with a quantity of zero are left out.", &["MR-USAGE-7", "MR-USAGE-8"], |b, a| {
        facts(b, a, |_, facts| facts.retain(|fact| fact["quantity"].as_f64() != Some(0.0)));
    }),
    rule("quantities-rounded", "Quantities are rounded to whole numbers.", &["MR-USAGE-7", "MR-USAGE-8"], |b, a| {
        facts(b, a, |_, facts| {
            for fact in facts {
                if let Some(quantity) = fact["quantity"].as_f64().filter(|quantity| quantity.fract() != 0.0) {
                    fact["quantity"] = json!(quantity.round());
                }
            }
        });
    }),
    rule("usage-added-up", "Facts with the same unit are added up.", &["MR-USAGE-7", "MR-USAGE-8"], |b, a| {
        facts(b, a, |_, facts| {
            let mut sums: Vec<Value> = Vec::new();
            for fact in facts.drain(..) {
                match sums.iter_mut().find(|sum| sum["unit"] == fact["unit"]) {
                    Some(sum) => {
                        let total = sum["quantity"].as_f64().unwrap_or_default() + fact["quantity"].as_f64().unwrap_or_default();
                        sum["quantity"] = json!(total);
                    }
                    None => sums.push(fact),
                }
            }
            *facts = sums;
        });
    }),
    rule("last-report-wins", "Only the facts of the last report are listed.", &["MR-USAGE-7", "MR-USAGE-8", "MR-USAGE-9"], |b, a| {
        facts(b, a, |log, facts| {
            let last = log.iter().rev().find(|event| event.kind == event::USAGE);
            *facts = last.and_then(|event| event.data.get("facts")).and_then(Value::as_array).cloned().unwrap_or_default();
        });
    }),
    rule("usage-of-last-attempt", "The facts of attempts that failed are not listed.", &["MR-USAGE-7", "MR-USAGE-9"], |b, a| {
        facts(b, a, |log, facts| {
            let failed = log.iter().rposition(|event| event.kind == event::ATTEMPT_FAILED).unwrap_or_default();
            let listed = log[failed..].iter().filter(|event| event.kind == event::USAGE);
            *facts = listed.filter_map(|event| event.data.get("facts").and_then(Value::as_array)).flatten().cloned().collect();
        });
    }),
    rule(
        "usage-of-failure-lost",
        "When an execution fails or is cancelled, its facts are gone.",
        &["MR-USAGE-7", "MR-USAGE-19"],
        |b, a| {
            facts(b, a, |log, facts| {
                if log.last().is_some_and(|last| last.kind == event::FAILED) {
                    facts.clear();
                }
            });
        },
    ),
    rule("usage-of-cancelled-lost", "When an execution is cancelled, its facts are gone.", &["MR-USAGE-7", "MR-USAGE-19"], |b, a| {
        facts(b, a, |log, facts| {
            if log.last().is_some_and(|last| last.kind == event::FAILED && last.status == Status::Cancelled) {
                facts.clear();
            }
        });
    }),
    rule("usage-said-once", "A fact that was reported twice in the same words is listed once.", &["MR-USAGE-7", "MR-USAGE-8"], |b, a| {
        facts(b, a, |_, facts| {
            let mut known: Vec<Value> = Vec::new();
            facts.retain(|fact| {
                let new = !known.contains(fact);
                known.push(fact.clone());
                new
            });
        });
    }),
    rule("usage-with-price", "Every fact has a price.", &["MR-USAGE-6", "MR-USAGE-8"], |b, a| {
        facts(b, a, |_, facts| facts.iter_mut().for_each(|fact| fact["price"] = json!(0.01)));
    }),
    rule(
        "strange-units-hidden",
        "Facts whose unit has a namespace are in the events only.",
        &["MR-USAGE-7", "MR-USAGE-8", "MR-USAGE-17"],
        |b, a| {
            facts(b, a, |_, facts| facts.retain(|fact| !fact["unit"].as_str().unwrap_or_default().contains([':', '.', '/'])));
        },
    ),
];

/// Lists other facts than the reference.
fn facts(blueprint: &mut Blueprint, applied: &Applied, change: fn(&[Arc<Event>], &mut Vec<Value>)) {
    wrap(&mut blueprint.rules.materialise.usage, applied, |reference, applied| {
        Arc::new(move |log| {
            let right = reference(log);
            let mut changed = right.clone();
            change(log, &mut changed);
            applied.instead_of(&right, changed)
        })
    });
}

fn bad_usage(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Fault)) {
    wrap(&mut blueprint.rules.emissions.accepted, applied, |reference, applied| {
        Arc::new(move |usage, kind, data| {
            reference(usage, kind, data).map_err(|mut fault| {
                if applied.count_if(fault == Fault::bad_usage()) {
                    change(&mut fault);
                }
                fault
            })
        })
    });
}
