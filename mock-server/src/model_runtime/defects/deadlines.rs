//! Deadlines that do not bind, bind too early, or are told wrongly.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Effect, Ending, Situation, Step, fail};
use crate::model_runtime::model::{Execution, Status};
use crate::model_runtime::problem::{Code, Fault};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("deadline-ignored", "deadline_ms is not looked at.", &["MR-DEAD-6", "MR-DEAD-8"], |b, a| {
        wrap(&mut b.rules.cancellation.time_allowed, a, |reference, applied| {
            Arc::new(move |deadline| applied.instead_of(&reference(deadline), None))
        });
    }),
    rule(
        "deadline-is-a-request",
        "A deadline only tells the provider; one that does not listen may still succeed.",
        &["MR-DEAD-8"],
        |b, a| {
            expire(b, a, |_, execution, step| (execution.status == Status::Running).then(|| Step { changes: Vec::new(), ..step.clone() }));
            // A provider that listens ends as cancelled: it is told what it was.
            wrap(&mut b.decisions.end, a, |reference, _| {
                Arc::new(move |situation, ending| {
                    let execution = situation.store.execution(&ending.execution_id);
                    let stopped = ending.result.as_ref().is_err_and(|fault| fault.code == Code::Cancelled);
                    let late = execution.is_some_and(|execution| over(situation, execution)) && stopped;
                    let result = if late { Err(Fault::deadline()) } else { ending.result.clone() };
                    reference(situation, &Ending { result, ..ending.clone() })
                })
            });
        },
    ),
    rule(
        "deadline-between-attempts",
        "A deadline is looked at before a further attempt; an attempt that is under way may take as long as it likes.",
        &["MR-DEAD-6", "MR-DEAD-8"],
        |b, a| {
            expire(b, a, |_, _, _| Some(Step::unchanged(())));
            wrap(&mut b.decisions.end, a, |reference, _| {
                Arc::new(move |situation, ending| {
                    let step = reference(situation, ending);
                    let again = step.effects.iter().any(|effect| matches!(effect, Effect::Enter { .. }));
                    let execution = situation.store.execution(&ending.execution_id);
                    match execution.filter(|execution| again && over(situation, execution)) {
                        Some(late) => fail(situation, late, &Fault::deadline()),
                        None => step,
                    }
                })
            });
        },
    ),
    rule("deadline-anew-for-each-attempt", "Every attempt has the whole time.", &["MR-DEAD-6"], |b, a| {
        wrap(&mut b.decisions.end, a, |reference, applied| {
            Arc::new(move |situation, ending| {
                let mut step = reference(situation, ending);
                let again = step.effects.iter().any(|effect| matches!(effect, Effect::Enter { .. }));
                let execution = situation.store.execution(&ending.execution_id).filter(|_| again);
                let time = execution.and_then(|execution| (situation.rules.cancellation.time_allowed)(execution.request.deadline_ms));
                if let Some(milliseconds) = time {
                    applied.count();
                    step.effects.push(Effect::Watch { execution_id: ending.execution_id.clone(), milliseconds });
                }
                step
            })
        });
        // The first watch belongs to the first attempt: a later one has its own, which comes later.
        expire(b, a, |situation, execution, _| {
            let selected = situation.store.log(&execution.id).iter().rev().find(|event| event.kind == "route.selected")?;
            let of_attempt = situation.now.as_millisecond() - selected.time.as_millisecond();
            let time = i64::try_from(execution.request.deadline_ms?).ok()?;
            (execution.attempt > 1 && of_attempt < time).then(|| Step::unchanged(()))
        });
    }),
    rule("deadline-falls-back", "After its deadline an execution goes to the next candidate.", &["MR-DEAD-4", "MR-DEAD-6"], |b, a| {
        let end = Arc::clone(&b.decisions.end);
        wrap(&mut b.decisions.expire, a, |reference, applied| {
            Arc::new(move |situation, execution_id| {
                let step = reference(situation, execution_id);
                let Some(execution) = situation.store.execution(execution_id).filter(|_| !step.changes.is_empty()) else { return step };
                let fault = Fault { retryable: true, ..Fault::deadline() };
                let ending = Ending { execution_id: execution_id.to_owned(), attempt: execution.attempt, result: Err(fault) };
                let failed = end(situation, &ending);
                let goes_on = failed.effects.iter().any(|effect| matches!(effect, Effect::Enter { .. }));
                if applied.count_if(goes_on) { failed } else { step }
            })
        });
    }),
    rule("deadline-by-another-code", "The error of an expired deadline is provider_unavailable.", &["MR-DEAD-2"], |b, a| {
        told(b, a, |fault| fault.code = Code::ProviderUnavailable);
    }),
    rule("deadline-is-retryable", "The error of an expired deadline is retryable.", &["MR-DEAD-3"], |b, a| {
        told(b, a, |fault| fault.retryable = true);
    }),
    rule("deadline-cancels", "An expired deadline is a cancellation.", &["MR-DEAD-1"], |b, a| {
        let cancel = Arc::clone(&b.decisions.cancel);
        wrap(&mut b.decisions.expire, a, |_reference, applied| {
            Arc::new(move |situation, execution_id| {
                let step = cancel(situation, execution_id);
                applied.count_if(step.answer);
                step.answering(())
            })
        });
    }),
    rule(
        "deadlines-strike-early",
        "A deadline of a day overflows and strikes at once, the others are counted in microseconds.",
        &["MR-DEAD-5", "MR-DEAD-12"],
        |b, a| {
            wrap(&mut b.rules.cancellation.time_allowed, a, |reference, applied| {
                Arc::new(move |deadline| {
                    let right = reference(deadline);
                    applied.instead_of(&right, right.map(|time| time.div_ceil(1000)))
                })
            });
            wrap(&mut b.decisions.route, a, |reference, applied| {
                Arc::new(move |situation, execution_id| {
                    let execution = situation.store.execution(execution_id);
                    match execution.filter(|execution| execution.request.deadline_ms.is_some_and(|time| time >= 86_400_000)) {
                        Some(execution) => {
                            applied.count();
                            fail(situation, execution, &Fault::deadline())
                        }
                        None => reference(situation, execution_id),
                    }
                })
            });
        },
    ),
    rule("deadline-with-a-margin", "A deadline strikes a little early, so that the answer is in time.", &["MR-DEAD-12"], |b, a| {
        wrap(&mut b.rules.cancellation.time_allowed, a, |reference, applied| {
            Arc::new(move |deadline| {
                let right = reference(deadline);
                applied.instead_of(&right, right.map(|time| time - time / 4))
            })
        });
    }),
    rule("waiting-is-free", "The time of a deadline begins when a provider takes the run.", &["MR-DEAD-10"], |b, a| {
        wrap(&mut b.decisions.submit, a, |reference, applied| {
            Arc::new(move |situation, submission| {
                let mut step = reference(situation, submission);
                let before = step.effects.len();
                step.effects.retain(|effect| !matches!(effect, Effect::Watch { .. }));
                applied.count_if(step.effects.len() < before);
                step
            })
        });
        wrap(&mut b.decisions.enter, a, |reference, _| {
            Arc::new(move |situation, execution_id, attempt| watched(situation, reference(situation, execution_id, attempt)))
        });
        wrap(&mut b.decisions.leave, a, |reference, _| {
            Arc::new(move |situation, provider| watched(situation, reference(situation, provider)))
        });
    }),
];

/// Whether the time of an execution is over.
fn over(situation: &Situation, execution: &Execution) -> bool {
    let elapsed = situation.now.as_millisecond() - execution.created_at.as_millisecond();
    execution.request.deadline_ms.and_then(|time| i64::try_from(time).ok()).is_some_and(|time| elapsed >= time)
}

type Expiry = fn(&Situation, &Execution, &Step<()>) -> Option<Step<()>>;

/// Decides about a time that is up, given what the reference decided; `None` where nothing differs.
fn expire(blueprint: &mut Blueprint, applied: &Applied, decide: Expiry) {
    wrap(&mut blueprint.decisions.expire, applied, |reference, applied| {
        Arc::new(move |situation, execution_id| {
            let step = reference(situation, execution_id);
            let execution = situation.store.execution(execution_id).filter(|_| !step.changes.is_empty());
            let decided = execution.and_then(|execution| decide(situation, execution, &step));
            applied.count_if(decided.is_some());
            decided.unwrap_or(step)
        })
    });
}

/// Changes what is told of an expired deadline.
fn told(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Fault)) {
    wrap(&mut blueprint.rules.outcome.fault, applied, |reference, applied| {
        Arc::new(move |fault| {
            let mut changed = fault.clone();
            if applied.count_if(fault.code == Code::DeadlineExceeded) {
                change(&mut changed);
            }
            reference(&changed)
        })
    });
}

/// The same step, and whoever runs from now on has all of its time.
fn watched(situation: &Situation, mut step: Step<()>) -> Step<()> {
    let begun = step.effects.iter().filter_map(|effect| match effect {
        Effect::Run { execution_id, attempt: 1 } => situation.store.execution(execution_id),
        _ => None,
    });
    let watch = |execution: &Execution| {
        let milliseconds = (situation.rules.cancellation.time_allowed)(execution.request.deadline_ms)?;
        Some(Effect::Watch { execution_id: execution.id.clone(), milliseconds })
    };
    let watches: Vec<Effect> = begun.filter_map(watch).collect();
    step.effects.extend(watches);
    step
}
