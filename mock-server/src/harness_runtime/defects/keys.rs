//! Keys that live too short, stand for too much, or are looked up too early.

use super::{
    DefectKind::{Race, Rule},
    Entry, defect, hold, milliseconds, wrap,
};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::machine::{Answered, Change, Effect, KeyUse, Situation, Step, events};
use crate::harness_runtime::model::{StartRequest, State, event};
use crate::harness_runtime::problem::{Code, Problem};
use crate::harness_runtime::seams::Moment;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "keys-ignored",
            "Idempotency keys are read and never used.",
            &["HR-IDEM-1", "HR-IDEM-3", "HR-IDEM-20", "HR-IDEM-21", "HR-IDEM-22", "HR-IDEM-26", "HR-IDEM-27"],
        ),
        install: |blueprint, applied| file_under(blueprint, applied, |_| None),
    },
    Entry {
        defect: defect(Rule, "keys-without-case", "Keys that differ in case count as one.", &["HR-IDEM-18"]),
        install: |blueprint, applied| file_under(blueprint, applied, |key| Some(key.to_lowercase())),
    },
    Entry {
        defect: defect(Rule, "keys-trimmed", "Blanks around a key are taken off.", &["HR-IDEM-19"]),
        install: |blueprint, applied| file_under(blueprint, applied, |key| Some(key.trim().to_owned())),
    },
    Entry {
        defect: defect(
            Rule,
            "key-freed-without-success",
            "The key of an execution that failed or was cancelled is free again.",
            &["HR-IDEM-21", "HR-IDEM-22"],
        ),
        install: |blueprint, applied| on_start(blueprint, applied, free_without_success),
    },
    Entry {
        defect: defect(
            Rule,
            "key-taken-by-conflict",
            "A conflicting request is refused, and takes over the key all the same.",
            &["HR-IDEM-31"],
        ),
        install: |blueprint, applied| on_start(blueprint, applied, take_over),
    },
    Entry {
        defect: defect(
            Rule,
            "conflict-starts-work",
            "The provider is started before the key is looked up, and a conflict does not stop it.",
            &["HR-IDEM-32"],
        ),
        install: |blueprint, applied| on_start(blueprint, applied, start_in_spite),
    },
    Entry {
        defect: defect(
            Rule,
            "replay-runs-again",
            "A repeated start returns the original execution and hands it to the provider once more.",
            &["HR-IDEM-25", "HR-IDEM-39"],
        ),
        install: |blueprint, applied| on_start(blueprint, applied, run_again),
    },
    Entry {
        defect: defect(
            Rule,
            "replay-queues-again",
            "A repeated start appends run.queued to the history of the original execution.",
            &["HR-EVENT-10", "HR-IDEM-24"],
        ),
        install: |blueprint, applied| on_start(blueprint, applied, queue_again),
    },
    Entry {
        defect: defect(
            Rule,
            "replay-shows-the-past",
            "A repeated start shows the execution as it was when it was created.",
            &["HR-IDEM-23"],
        ),
        install: |blueprint, applied| on_start(blueprint, applied, show_the_past),
    },
    Entry {
        defect: defect(
            Race,
            "key-checked-then-used",
            "Between the look-up of a key and its use another request can come through.",
            &["HR-IDEM-26", "HR-IDEM-27"],
        ),
        install: |blueprint, applied| hold_start(blueprint, applied),
    },
    Entry {
        defect: defect(
            Race,
            "key-locked-while-starting",
            "While a request is being worked on, an equal one is refused as a conflict.",
            &["HR-IDEM-26"],
        ),
        install: |blueprint, applied| {
            let busy: Arc<Mutex<BTreeSet<String>>> = Arc::default();
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let Some(key) = request.idempotency_key.clone() else { return reference(situation, request) };
                    let mut busy = busy.lock().unwrap_or_else(PoisonError::into_inner);
                    if situation.store.key(&key).is_some() {
                        busy.remove(&key);
                    }
                    let step = reference(situation, request);
                    if step.answer.is_ok() && situation.store.key(&key).is_none() && !busy.insert(key) {
                        applied.count();
                        return Step::unchanged(Err(Problem::idempotency_conflict()));
                    }
                    step
                })
            });
            hold_start(blueprint, &Applied::default());
        },
    },
    Entry {
        defect: defect(
            Rule,
            "equal-requests-share-a-key",
            "A request that is equal to one with another key is filed under that one's, also when it has none.",
            &["HR-IDEM-18", "HR-IDEM-19", "HR-IDEM-28", "HR-IDEM-30"],
        ),
        install: |blueprint, applied| {
            let known: Arc<Mutex<Vec<StartRequest>>> = Arc::default();
            let equivalent = Arc::clone(&blueprint.rules.idempotency.equivalent);
            wrap(&mut blueprint.rules.idempotency.filed_under, applied, |reference, applied| {
                Arc::new(move |request| {
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    let Some(key) = reference(request) else {
                        let equal = known.iter().find(|other| equivalent(other, request));
                        applied.count_if(equal.is_some());
                        return equal.and_then(|equal| equal.idempotency_key.clone());
                    };
                    let used = known.iter().any(|other| other.idempotency_key.as_ref() == Some(&key));
                    if !used && let Some(equal) = known.iter().find(|other| equivalent(other, request)) {
                        applied.count();
                        return equal.idempotency_key.clone();
                    }
                    known.push(request.clone());
                    Some(key)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "keyless-keyed-by-content",
            "A start with neither key nor config is given a key, made of conversation, provider and input.",
            &["HR-IDEM-30", "HR-ISO-6"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.idempotency.filed_under, applied, |reference, applied| {
                Arc::new(move |request| {
                    let plain = request.config.is_none() && request.required_capabilities.is_empty();
                    let made = || format!("\u{0}{} {} {}", request.conversation_id, request.provider_id, request.input);
                    if applied.count_if(request.idempotency_key.is_none() && plain) { Some(made()) } else { reference(request) }
                })
            });
        },
    },
];

/// Files keys under the name that `name` makes of them.
fn file_under(blueprint: &mut Blueprint, applied: &Applied, name: fn(&str) -> Option<String>) {
    wrap(&mut blueprint.rules.idempotency.filed_under, applied, |reference, applied| {
        Arc::new(move |request| reference(request).and_then(|key| applied.instead_of(&Some(key.clone()), name(&key))))
    });
}

/// What the reference makes of a start that the key decides about, and what the defect makes of that.
type Meddle = fn(&dyn Fn(&StartRequest) -> Step<Answered>, &Situation, &StartRequest, &KeyUse, Step<Answered>) -> Option<Step<Answered>>;

/// Meddles with starts whose key is known. Returning `None` means that nothing was changed.
fn on_start(blueprint: &mut Blueprint, applied: &Applied, meddle: Meddle) {
    wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
        Arc::new(move |situation, request| {
            let step = reference(situation, request);
            let used = request.idempotency_key.as_ref().and_then(|key| situation.store.key(key));
            let Some(used) = used else { return step };
            let again = |request: &StartRequest| reference(situation, request);
            let meddled = meddle(&again, situation, request, used, step.clone());
            applied.count_if(meddled.is_some());
            meddled.unwrap_or(step)
        })
    });
}

fn free_without_success(
    again: &dyn Fn(&StartRequest) -> Step<Answered>,
    situation: &Situation,
    request: &StartRequest,
    used: &KeyUse,
    _step: Step<Answered>,
) -> Option<Step<Answered>> {
    let state = situation.store.execution(&used.execution_id)?.state;
    if !matches!(state, State::Failed | State::Cancelled) {
        return None;
    }
    let mut step = again(&StartRequest { idempotency_key: None, ..request.clone() });
    let execution_id = step.answer.as_ref().ok()?.id.clone();
    let used = Box::new(KeyUse { request: request.clone(), execution_id });
    step.changes.push(Change::Key { name: request.idempotency_key.clone()?, used });
    Some(step)
}

fn take_over(
    _again: &dyn Fn(&StartRequest) -> Step<Answered>,
    _situation: &Situation,
    request: &StartRequest,
    used: &KeyUse,
    mut step: Step<Answered>,
) -> Option<Step<Answered>> {
    conflict(&step)?;
    let used = Box::new(KeyUse { request: request.clone(), execution_id: used.execution_id.clone() });
    step.changes.push(Change::Key { name: request.idempotency_key.clone()?, used });
    Some(step)
}

fn start_in_spite(
    again: &dyn Fn(&StartRequest) -> Step<Answered>,
    _situation: &Situation,
    request: &StartRequest,
    _used: &KeyUse,
    step: Step<Answered>,
) -> Option<Step<Answered>> {
    conflict(&step)?;
    let started = again(&StartRequest { idempotency_key: None, ..request.clone() });
    Some(Step { answer: step.answer, ..started })
}

fn run_again(
    _again: &dyn Fn(&StartRequest) -> Step<Answered>,
    _situation: &Situation,
    _request: &StartRequest,
    used: &KeyUse,
    mut step: Step<Answered>,
) -> Option<Step<Answered>> {
    step.answer.as_ref().ok()?;
    step.effects.push(Effect::Run { execution_id: used.execution_id.clone() });
    Some(step)
}

fn queue_again(
    _again: &dyn Fn(&StartRequest) -> Step<Answered>,
    situation: &Situation,
    _request: &StartRequest,
    used: &KeyUse,
    mut step: Step<Answered>,
) -> Option<Step<Answered>> {
    step.answer.as_ref().ok()?;
    let first = situation.store.log(&used.execution_id).first()?;
    step.changes.extend(events(&used.execution_id, situation.now, vec![(event::QUEUED, first.data.clone())]));
    Some(step)
}

fn show_the_past(
    _again: &dyn Fn(&StartRequest) -> Step<Answered>,
    _situation: &Situation,
    _request: &StartRequest,
    _used: &KeyUse,
    mut step: Step<Answered>,
) -> Option<Step<Answered>> {
    let execution = step.answer.as_mut().ok()?;
    execution.state = State::Queued;
    execution.updated_at = execution.created_at;
    execution.started_at = None;
    execution.ended_at = None;
    Some(step)
}

fn conflict(step: &Step<Answered>) -> Option<()> {
    step.answer.as_ref().is_err_and(|problem| problem.code == Code::IdempotencyConflict).then_some(())
}

fn hold_start(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.seams.step, applied, |reference, applied| {
        Arc::new(move |moment, changes| {
            let keyed = changes.iter().any(|change| matches!(change, Change::Key { .. }));
            if moment != Moment::Start || !keyed {
                return reference(moment, changes);
            }
            applied.count();
            vec![hold(0, milliseconds(25))]
        })
    });
}
