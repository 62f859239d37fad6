//! Attempts that are too many, too few, or told wrongly.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, Effect, Ending, NewEvent, event as recorded, fail};
use crate::model_runtime::model::{Execution, Preferences, Status, event};
use crate::model_runtime::problem::{Code, Fault};
use crate::model_runtime::rules::routing::Chance;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    rule("fallback-by-default", "Where allow_fallback is missing there is fallback.", &["MR-ROUTE-29"], |b, a| {
        attempts(b, a, |preferences, candidates, right| if preferences.allow_fallback.is_none() { candidates } else { right });
    }),
    rule("fallback-in-spite-of-false", "allow_fallback is not looked at.", &["MR-ROUTE-27", "MR-ROUTE-28", "MR-ROUTE-29"], |b, a| {
        wrap(&mut b.rules.routing.attempts, a, |reference, applied| {
            Arc::new(move |preferences, candidates| {
                let allowed = Preferences { allow_fallback: Some(true), ..preferences.clone() };
                applied.instead_of(&reference(preferences, candidates), reference(&allowed, candidates))
            })
        });
    }),
    rule("max-attempts-allow-fallback", "max_attempts above 1 allows fallback.", &["MR-ROUTE-28"], |b, a| {
        attempts(b, a, |preferences, candidates, right| {
            let most = preferences.max_attempts.and_then(|most| usize::try_from(most).ok()).unwrap_or(1);
            right.max(most.min(candidates))
        });
    }),
    rule("one-attempt-more", "There is one attempt more than max_attempts.", &["MR-ROUTE-39"], |b, a| {
        attempts(b, a, |preferences, candidates, right| {
            if preferences.max_attempts.is_some() && preferences.allow_fallback == Some(true) { (right + 1).min(candidates) } else { right }
        });
    }),
    rule("max-attempts-ignored", "max_attempts is not looked at.", &["MR-ROUTE-39"], |b, a| {
        attempts(b, a, |preferences, candidates, right| if preferences.allow_fallback == Some(true) { candidates } else { right });
    }),
    rule("no-fallback", "There is one attempt, whatever is allowed.", &["MR-ROUTE-30", "MR-ROUTE-36", "MR-ROUTE-37"], |b, a| {
        attempts(b, a, |_, _, _| 1);
    }),
    rule(
        "final-failures-retried",
        "A failure that is not retryable is followed by another attempt.",
        &["MR-ROUTE-31", "MR-ROUTE-47", "MR-USAGE-18"],
        |b, a| {
            wrap(&mut b.rules.routing.falls_back, a, |reference, applied| {
                Arc::new(move |rules, chance| {
                    let retryable = Fault { retryable: true, ..chance.fault.clone() };
                    applied.instead_of(&reference(rules, chance), reference(rules, &Chance { fault: &retryable, ..chance.clone() }))
                })
            });
        },
    ),
    rule(
        "deltas-do-not-commit",
        "A failure after a delta is followed by another attempt.",
        &["MR-ROUTE-32", "MR-ROUTE-35", "MR-ROUTE-38"],
        |b, a| {
            commits(b, a, |kind, right| right && kind != event::DELTA);
        },
    ),
    rule("tools-do-not-commit", "A failure after a tool call is followed by another attempt.", &["MR-ROUTE-33", "MR-ROUTE-38"], |b, a| {
        commits(b, a, |kind, right| right && kind != event::TOOL_STARTED && kind != event::TOOL_ARGUMENTS);
    }),
    rule("results-do-not-commit", "A failure after a result is followed by another attempt.", &["MR-ROUTE-34", "MR-ROUTE-38"], |b, a| {
        commits(b, a, |kind, right| right && kind != event::RESULT);
    }),
    rule("progress-commits", "A failure after progress is final.", &["MR-ROUTE-36"], |b, a| {
        commits(b, a, |kind, right| right || kind == event::PROGRESS);
    }),
    rule("usage-commits", "A failure after a usage report is final.", &["MR-ROUTE-37"], |b, a| {
        commits(b, a, |kind, right| right || kind == event::USAGE);
    }),
    rule("empty-deltas-do-not-commit", "A failure after an empty delta is followed by another attempt.", &["MR-ROUTE-35"], |b, a| {
        wrap(&mut b.decisions.emit, a, |reference, applied| {
            Arc::new(move |situation, emission| {
                let mut step = reference(situation, emission);
                let before = situation.store.execution(&emission.execution_id).is_some_and(|execution| execution.committed);
                let empty = emission.kind == event::DELTA && emission.data.get("delta") == Some(&json!(""));
                for change in step.changes.iter_mut().filter(|_| empty && !before) {
                    if let Change::Execution(execution) = change {
                        applied.count();
                        execution.committed = false;
                    }
                }
                step
            })
        });
    }),
    rule("retryable-after-output", "A failure after output keeps what the provider said of retrying.", &["MR-ROUTE-38"], |b, a| {
        wrap(&mut b.rules.outcome.last, a, |reference, applied| {
            Arc::new(move |fault, committed| applied.instead_of(&reference(fault, committed), fault.clone()))
        });
    }),
    rule("budget-ignored", "The retry budget is not looked at.", &["MR-ROUTE-40"], |b, a| {
        wrap(&mut b.rules.routing.in_time, a, |reference, applied| Arc::new(move |chance| applied.instead_of(&reference(chance), true)));
    }),
    rule("last-attempt-failed-twice", "The last failing attempt has a route.attempt_failed too.", &["MR-ROUTE-42"], |b, a| {
        wrap(&mut b.decisions.end, a, |reference, applied| {
            Arc::new(move |situation, ending| {
                let mut step = reference(situation, ending);
                let execution = situation.store.execution(&ending.execution_id);
                let (Some(execution), Err(fault)) = (execution, &ending.result) else { return step };
                let again = fault.retryable && execution.attempt > 1 && ends(&step.changes);
                let Some(target) = execution.target().filter(|_| again) else { return step };
                applied.count();
                let outcome = &situation.rules.outcome;
                let data = (outcome.attempt_failed)(outcome, target, execution.attempt, fault);
                let back = Execution { status: Status::Routing, ..execution.clone() };
                step.changes.insert(0, recorded(situation, &back, event::ATTEMPT_FAILED, data));
                step
            })
        });
    }),
    rule("attempts-from-zero", "Attempts are counted from 0.", &["MR-EVENT-22", "MR-ROUTE-44"], |b, a| {
        wrap(&mut b.rules.outcome.selected, a, |reference, applied| {
            Arc::new(move |target, attempt| {
                applied.count();
                reference(target, attempt - 1)
            })
        });
    }),
    rule("attempts-stay-one", "Every attempt has the number 1.", &["MR-ROUTE-45"], |b, a| {
        wrap(&mut b.rules.outcome.selected, a, |reference, applied| {
            Arc::new(move |target, attempt| {
                applied.count_if(attempt > 1);
                reference(target, 1)
            })
        });
    }),
    rule("failed-attempt-misnamed", "route.attempt_failed has the number of the next attempt.", &["MR-ROUTE-46"], |b, a| {
        wrap(&mut b.rules.outcome.attempt_failed, a, |reference, applied| {
            Arc::new(move |rules, target, attempt, fault| {
                applied.count();
                reference(rules, target, attempt + 1, fault)
            })
        });
    }),
    rule("failed-attempt-final", "The error of route.attempt_failed is said not to be retryable.", &["MR-ROUTE-47"], |b, a| {
        wrap(&mut b.rules.outcome.attempt_failed, a, |reference, applied| {
            Arc::new(move |rules, target, attempt, fault| {
                applied.count();
                reference(rules, target, attempt, &Fault { retryable: false, ..fault.clone() })
            })
        });
    }),
    rule("same-candidate-again", "The next attempt goes to the candidate that has failed.", &["MR-ROUTE-48"], |b, a| {
        wrap(&mut b.rules.routing.candidates, a, |reference, applied| {
            Arc::new(move |rules, request, providers| {
                let right = reference(rules, request, providers);
                let same = right.iter().map(|_| right[0].clone()).collect();
                applied.instead_of(&right, same)
            })
        });
    }),
    rule("selection-not-told", "Of an attempt after the first no route.selected is recorded.", &["MR-ROUTE-43"], |b, a| {
        wrap(&mut b.rules.events.appended, a, |reference, applied| {
            Arc::new(move |log, new| {
                let later = new.kind == event::SELECTED && log.iter().any(|event| event.kind == event::ATTEMPT_FAILED);
                if applied.count_if(later) { Vec::new() } else { reference(log, new) }
            })
        });
    }),
    rule(
        "all-failed-is-unavailable",
        "When all attempts fail, the execution fails for want of a candidate.",
        &["MR-ERR-16", "MR-ROUTE-41"],
        |b, a| {
            wrap(&mut b.decisions.end, a, |reference, applied| {
                Arc::new(move |situation, ending| {
                    let step = reference(situation, ending);
                    let execution = situation.store.execution(&ending.execution_id);
                    let Some(execution) = execution.filter(|execution| execution.attempt > 1 && ends(&step.changes)) else { return step };
                    if ending.result.is_ok() {
                        return step;
                    }
                    applied.count();
                    fail(situation, execution, &Fault::no_candidate())
                })
            });
        },
    ),
    rule("final-failures-succeed", "A final failure before any output is taken as the end of a success.", &["MR-EXEC-22"], |b, a| {
        wrap(&mut b.decisions.end, a, |reference, applied| {
            Arc::new(move |situation, ending| {
                let execution = situation.store.execution(&ending.execution_id);
                let silent = execution.is_some_and(|execution| !execution.committed);
                let last = |fault: &Fault| fault.code == Code::ProviderUnavailable && !fault.retryable;
                if applied.count_if(silent && ending.result.as_ref().is_err_and(last)) {
                    return reference(situation, &Ending { result: Ok(()), ..ending.clone() });
                }
                reference(situation, ending)
            })
        });
    }),
    rule("nothing-is-a-failure", "A provider that completes without having given anything has failed.", &["MR-EXEC-21"], |b, a| {
        wrap(&mut b.decisions.end, a, |reference, applied| {
            Arc::new(move |situation, ending| {
                let step = reference(situation, ending);
                let execution = situation.store.execution(&ending.execution_id).filter(|_| !step.changes.is_empty());
                let silent = ending.result.is_ok() && situation.store.log(&ending.execution_id).len() == 2;
                let Some(execution) = execution.filter(|_| applied.count_if(silent)) else { return step };
                fail(situation, execution, &Fault::new(Code::ProviderProtocolError, "Nothing was produced", false))
            })
        });
    }),
    rule("candidates-take-turns", "The candidates of equal requests take turns.", &["MR-ROUTE-20"], |b, a| {
        let turn = AtomicU64::new(0);
        wrap(&mut b.rules.routing.candidates, a, |reference, applied| {
            Arc::new(move |rules, request, providers| {
                let right = reference(rules, request, providers);
                let mut turned = right.clone();
                if right.len() > 1 && request.routing == Preferences::default() && turn.fetch_add(1, Ordering::Relaxed) % 2 == 1 {
                    turned.swap(0, 1);
                }
                applied.instead_of(&right, turned)
            })
        });
    }),
    rule("selection-told-late", "The first route is told after the first delta.", &["MR-EXEC-18", "MR-ROUTE-49"], |b, a| {
        wrap(&mut b.rules.events.appended, a, |reference, applied| {
            let kept: Mutex<BTreeMap<String, NewEvent>> = Mutex::default();
            Arc::new(move |log, new| {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                if new.kind == event::SELECTED && !log.iter().any(|event| event.kind == event::ATTEMPT_FAILED) {
                    kept.insert(new.execution_id.clone(), new);
                    return Vec::new();
                }
                let selected = kept.remove(&new.execution_id);
                let late = applied.count_if(selected.is_some() && new.kind == event::DELTA);
                let mut told = reference(log, new);
                if let Some(selected) = selected {
                    told.insert(usize::from(late), selected);
                }
                told
            })
        });
    }),
    rule("budget-is-a-deadline", "The retry budget ends the attempt that runs.", &["MR-ROUTE-53"], |b, a| {
        wrap(&mut b.decisions.submit, a, |reference, applied| {
            Arc::new(move |situation, submission| {
                let mut step = reference(situation, submission);
                let made = step.answer.as_ref().ok().filter(|submitted| !submitted.replay).map(|submitted| &submitted.execution);
                let watch = made.and_then(|made| {
                    let milliseconds = made.request.routing.retry_budget_ms?;
                    Some(Effect::Watch { execution_id: made.id.clone(), milliseconds })
                });
                applied.count_if(watch.is_some());
                step.effects.extend(watch);
                step
            })
        });
    }),
];

/// Whether changes end an execution with a failure.
fn ends(changes: &[Change]) -> bool {
    changes.iter().any(|change| matches!(change, Change::Event(event) if event.kind == event::FAILED))
}

type Count = fn(&Preferences, usize, usize) -> usize;

/// Decides how many attempts there may be, given what the request prefers, the candidates, and what the reference says.
fn attempts(blueprint: &mut Blueprint, applied: &Applied, decide: Count) {
    wrap(&mut blueprint.rules.routing.attempts, applied, |reference, applied| {
        Arc::new(move |preferences, candidates| {
            let right = reference(preferences, candidates);
            applied.instead_of(&right, decide(preferences, candidates, right))
        })
    });
}

fn commits(blueprint: &mut Blueprint, applied: &Applied, decide: fn(&str, bool) -> bool) {
    wrap(&mut blueprint.rules.routing.commits, applied, |reference, applied| {
        Arc::new(move |kind| applied.instead_of(&reference(kind), decide(kind, reference(kind))))
    });
}
