//! Cancellations that are refused, told wrongly, or do not hold.

use super::{Entry, hold, milliseconds, race, rule, spelling, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Effect, Ending, Step, event as recorded};
use crate::model_runtime::model::{Execution, Status};
use crate::model_runtime::problem::{Code, Fault};
use crate::model_runtime::seams::Moment;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "cancel-is-a-request",
        "A cancel only tells the provider; one that does not listen may still succeed.",
        &["MR-CANCEL-13"],
        |b, a| {
            wrap(&mut b.decisions.cancel, a, |reference, applied| {
                Arc::new(move |situation, execution_id| {
                    let step = reference(situation, execution_id);
                    let working = situation.store.execution(execution_id).is_some_and(|execution| execution.status == Status::Running);
                    if !step.answer || !working {
                        return step;
                    }
                    applied.count();
                    Step { changes: Vec::new(), ..step }
                })
            });
        },
    ),
    rule(
        "late-events-after-the-end",
        "What a provider says after a cancel or a deadline is still recorded.",
        &["MR-CANCEL-20", "MR-DEAD-9", "MR-EVENT-35", "MR-EXEC-17", "MR-STREAM-7"],
        |b, a| {
            wrap(&mut b.decisions.emit, a, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let execution = situation.store.execution(&emission.execution_id);
                    let ended = |execution: &&Execution| {
                        execution.error.as_ref().is_some_and(|fault| matches!(fault.code, Code::Cancelled | Code::DeadlineExceeded))
                    };
                    if let Some(ended) = execution.filter(ended) {
                        applied.count();
                        let running = Execution { status: Status::Running, ..ended.clone() };
                        step.changes.push(recorded(situation, &running, &emission.kind, emission.data.clone()));
                    }
                    step
                })
            });
        },
    ),
    rule(
        "cancel-reported-as-failure",
        "A cancelled execution has the status failed.",
        &["MR-CANCEL-3", "MR-CANCEL-13", "MR-EVENT-46"],
        |b, a| {
            wrap(&mut b.rules.outcome.status, a, |reference, applied| {
                Arc::new(move |fault| applied.instead_of(&reference(fault), Status::Failed))
            });
        },
    ),
    rule("cancel-by-another-code", "The error of a cancelled execution is internal_error.", &["MR-CANCEL-4", "MR-EVENT-46"], |b, a| {
        told(b, a, |fault| fault.code = Code::InternalError);
    }),
    rule("cancel-is-retryable", "The error of a cancelled execution is retryable.", &["MR-CANCEL-5"], |b, a| {
        told(b, a, |fault| fault.retryable = true);
    }),
    rule(
        "cancel-rewrites-the-end",
        "A cancel of an execution that has succeeded cancels it.",
        &["MR-CANCEL-9", "MR-CANCEL-19", "MR-EVENT-34", "MR-EXEC-17"],
        |b, a| cancellable(b, a, |status, right| right || status == Status::Succeeded),
    ),
    rule(
        "cancel-ends-again",
        "A cancel of an execution that was cancelled already is accepted and recorded once more.",
        &["MR-CANCEL-9", "MR-CANCEL-17", "MR-EVENT-34", "MR-EXEC-17"],
        |b, a| cancellable(b, a, |status, right| right || status == Status::Cancelled),
    ),
    rule("cancel-of-unknown-accepted", "A cancel of an execution that does not exist is accepted.", &["MR-CANCEL-6"], |b, a| {
        wrap(&mut b.decisions.cancel, a, |reference, applied| {
            Arc::new(move |situation, execution_id| {
                let mut step = reference(situation, execution_id);
                step.answer |= applied.count_if(situation.store.execution(execution_id).is_none());
                step
            })
        });
    }),
    spelling("cancel-answered-with-200", "A cancel is answered with 200.", &["MR-CANCEL-1", "MR-CANCEL-18"], |b, a| {
        answered(b, a, |answer| {
            let accepted = answer.status == 202;
            if accepted {
                answer.status = 200;
            }
            accepted
        });
    }),
    spelling("cancel-answered-without-status", "The answers to cancels have no status.", &["MR-CANCEL-2", "MR-CANCEL-7"], |b, a| {
        answered(b, a, |answer| {
            answer.body = b"{}".to_vec();
            true
        });
    }),
    rule("cancel-falls-back", "After a cancel an execution goes to the next candidate.", &["MR-CANCEL-14"], |b, a| {
        let end = Arc::clone(&b.decisions.end);
        wrap(&mut b.decisions.cancel, a, |reference, applied| {
            Arc::new(move |situation, execution_id| {
                let step = reference(situation, execution_id);
                let Some(execution) = situation.store.execution(execution_id).filter(|_| step.answer) else { return step };
                let fault = Fault { retryable: true, ..Fault::cancelled() };
                let ending = Ending { execution_id: execution_id.to_owned(), attempt: execution.attempt, result: Err(fault) };
                let failed = end(situation, &ending);
                let goes_on = failed.effects.iter().any(|effect| matches!(effect, Effect::Enter { .. }));
                if applied.count_if(goes_on) { failed.answering(true) } else { step }
            })
        });
    }),
    rule("cancel-ends-a-batch", "A cancel ends all executions with the same metadata.", &["MR-CANCEL-16"], |b, a| {
        wrap(&mut b.decisions.cancel, a, |reference, applied| {
            Arc::new(move |situation, execution_id| {
                let mut step = reference(situation, execution_id);
                let Some(execution) = situation.store.execution(execution_id).filter(|_| step.answer) else { return step };
                let metadata = &execution.request.metadata;
                let batch = situation.store.executions().filter(|other| {
                    other.id != execution.id && !metadata.is_empty() && other.request.metadata == *metadata && !other.status.is_terminal()
                });
                for other in batch {
                    applied.count();
                    let ended = reference(situation, &other.id);
                    step.changes.extend(ended.changes);
                    step.effects.extend(ended.effects);
                }
                step
            })
        });
    }),
    race(
        "cancel-checked-then-written",
        "Between the look at the status and the end that a cancel writes, another cancel can come through.",
        &["MR-CANCEL-17", "MR-EVENT-34"],
        |b, a| {
            wrap(&mut b.seams.step, a, |reference, applied| {
                Arc::new(move |moment, changes| {
                    if moment != Moment::Cancel || changes.is_empty() {
                        return reference(moment, changes);
                    }
                    applied.count();
                    vec![hold(0, milliseconds(25))]
                })
            });
        },
    ),
    rule(
        "cancel-before-output-denied",
        "A cancel of what has given no output yet is done, and answered as if there were nothing.",
        &["MR-CANCEL-10", "MR-CANCEL-11", "MR-CANCEL-21"],
        |b, a| {
            wrap(&mut b.decisions.cancel, a, |reference, applied| {
                Arc::new(move |situation, execution_id| {
                    let step = reference(situation, execution_id);
                    let execution = situation.store.execution(execution_id).filter(|_| step.answer);
                    let silent = execution.is_some_and(|execution| matches!(execution.status, Status::Accepted | Status::Routing));
                    if applied.count_if(silent) { step.answering(false) } else { step }
                })
            });
        },
    ),
    spelling("cancel-with-a-body-refused", "A cancel with a body is answered with 400.", &["MR-CANCEL-12"], |b, a| {
        wrap(&mut b.wire.answer, a, |reference, applied| {
            Arc::new(move |asked, answer| {
                let mut answer = reference(asked, answer);
                let body = asked.header("content-length").parse::<u64>().is_ok_and(|length| length > 0);
                if applied.count_if(body && asked.path.ends_with("/cancel")) {
                    answer.status = 400;
                }
                answer
            })
        });
    }),
];

/// Changes what is told of a cancellation.
fn told(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Fault)) {
    wrap(&mut blueprint.rules.outcome.fault, applied, |reference, applied| {
        Arc::new(move |fault| {
            let mut changed = fault.clone();
            if applied.count_if(fault.code == Code::Cancelled) {
                change(&mut changed);
            }
            reference(&changed)
        })
    });
}

fn cancellable(blueprint: &mut Blueprint, applied: &Applied, decide: fn(Status, bool) -> bool) {
    let decided = move |reference: bool, status| decide(status, reference);
    // Deadlines go by the same rule, and stay as they are.
    wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
        Arc::new(move |situation, execution_id| {
            let mut rules = situation.rules.clone();
            let right = Arc::clone(&situation.rules.cancellation.cancellable);
            let counted = applied.clone();
            rules.cancellation.cancellable = Arc::new(move |status| counted.instead_of(&right(status), decided(right(status), status)));
            reference(&crate::model_runtime::machine::Situation { rules: &rules, ..*situation }, execution_id)
        })
    });
}

/// Changes the answers to cancels; `change` says whether it did.
fn answered(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut crate::model_runtime::wire::Answer) -> bool) {
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let mut answer = reference(asked, answer);
            if asked.path.ends_with("/cancel") {
                applied.count_if(change(&mut answer));
            }
            answer
        })
    });
}
