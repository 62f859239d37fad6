//! Cancellations that are refused, told wrongly, or do not hold.

use super::{Entry, rule, spelling, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Step, event as recorded};
use crate::model_runtime::model::Status;
use crate::model_runtime::problem::{Code, Fault};
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
        "late-events-after-cancel",
        "What a provider says after a cancel is still recorded.",
        &["MR-EVENT-35", "MR-EXEC-17", "MR-STREAM-7"],
        |b, a| {
            wrap(&mut b.decisions.emit, a, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let execution = situation.store.execution(&emission.execution_id);
                    if let Some(cancelled) = execution.filter(|execution| execution.status == Status::Cancelled) {
                        applied.count();
                        let running = crate::model_runtime::model::Execution { status: Status::Running, ..cancelled.clone() };
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
        &["MR-CANCEL-3", "MR-CANCEL-10", "MR-CANCEL-11", "MR-CANCEL-13", "MR-CANCEL-21", "MR-EVENT-46"],
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
        &["MR-CANCEL-9", "MR-EVENT-34", "MR-EXEC-17"],
        |b, a| cancellable(b, a, |status, right| right || status == Status::Succeeded),
    ),
    rule(
        "cancel-of-unknown-accepted",
        "A cancel of an execution that does not exist is accepted.",
        &["MR-CANCEL-6", "MR-CANCEL-7"],
        |b, a| {
            wrap(&mut b.decisions.cancel, a, |reference, applied| {
                Arc::new(move |situation, execution_id| {
                    let mut step = reference(situation, execution_id);
                    step.answer |= applied.count_if(situation.store.execution(execution_id).is_none());
                    step
                })
            });
        },
    ),
    spelling(
        "cancel-answered-with-200",
        "A cancel is answered with 200.",
        &["MR-CANCEL-1", "MR-CANCEL-10", "MR-CANCEL-11", "MR-CANCEL-12", "MR-CANCEL-18"],
        |b, a| {
            answered(b, a, |answer| {
                let accepted = answer.status == 202;
                if accepted {
                    answer.status = 200;
                }
                accepted
            });
        },
    ),
    spelling(
        "cancel-answered-without-status",
        "The answers to cancels have no status.",
        &["MR-CANCEL-1", "MR-CANCEL-2", "MR-CANCEL-6", "MR-CANCEL-7", "MR-CANCEL-10", "MR-CANCEL-11", "MR-CANCEL-12"],
        |b, a| {
            answered(b, a, |answer| {
                answer.body = b"{}".to_vec();
                true
            });
        },
    ),
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
