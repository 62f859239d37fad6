//! Cancellations that are refused, confirmed too early, or done twice.

use super::{
    DefectKind::{Race, Rule},
    Entry, defect, hold, milliseconds, wrap,
};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::machine::{CleanedUp, Effect};
use crate::harness_runtime::model::{Execution, State};
use crate::harness_runtime::problem::{Code, Problem};
use crate::harness_runtime::rules::cancellation::CancelEffect;
use crate::harness_runtime::seams::{Hold, Moment};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "cancel-answered-at-once", "A cancel is answered when cancelling has begun.", &["HR-CANCEL-2"]),
        install: |blueprint, applied| confirmed(blueprint, applied, |_| true),
    },
    Entry {
        defect: defect(
            Rule,
            "second-cancel-answered-at-once",
            "A cancel that finds another at work is answered without waiting for it.",
            &["HR-CANCEL-23"],
        ),
        install: |blueprint, applied| confirmed(blueprint, applied, |effect| effect == CancelEffect::Join),
    },
    Entry {
        defect: defect(
            Rule,
            "cancel-rewrites-the-end",
            "A cancel of an execution that has succeeded cancels it.",
            &["HR-CANCEL-20", "HR-EVENT-9", "HR-EXEC-18"],
        ),
        install: |blueprint, applied| {
            effect(blueprint, applied, |state, right| if state == State::Succeeded { Ok(CancelEffect::Begin) } else { right });
        },
    },
    Entry {
        defect: defect(Rule, "cancel-of-ended-refused", "A cancel of an execution that has ended is refused.", &["HR-CANCEL-20"]),
        install: |blueprint, applied| {
            effect(blueprint, applied, |state, right| if state.is_terminal() { refused(state) } else { right });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "cancel-of-approval-refused",
            "An execution cannot be cancelled while it waits for an approval.",
            &["HR-CANCEL-17"],
        ),
        install: |blueprint, applied| {
            effect(blueprint, applied, |state, right| if state == State::AwaitingApproval { refused(state) } else { right });
        },
    },
    Entry {
        defect: defect(Rule, "cancel-of-input-refused", "An execution cannot be cancelled while it waits for an input.", &["HR-CANCEL-18"]),
        install: |blueprint, applied| {
            effect(blueprint, applied, |state, right| if state == State::AwaitingInput { refused(state) } else { right });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "each-cancel-cleans-up",
            "Every cancel runs the provider's cleanup, also while another is at work.",
            &["HR-CANCEL-22"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    if step.answer.as_ref().is_ok_and(|cancelling| cancelling.effect == CancelEffect::Join) {
                        applied.count();
                        step.effects.push(Effect::CleanUp { execution_id: request.execution_id.clone() });
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Race,
            "cancel-checked-then-begun",
            "Between the look at the state and the beginning of the cancellation another cancel can come through.",
            &["HR-CANCEL-22"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.seams.step, applied, |reference, applied| {
                Arc::new(move |moment, changes| {
                    if moment != Moment::Cancel || changes.is_empty() {
                        return reference(moment, changes);
                    }
                    applied.count();
                    vec![Hold { unless_ended: true, ..hold(0, milliseconds(25)) }]
                })
            });
        },
    },
    Entry {
        defect: defect(
            Race,
            "cleanup-checked-then-ended",
            "Two cleanups that end together both record the cancellation.",
            &["HR-CANCEL-21", "HR-CANCEL-22", "HR-EVENT-9"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cancel, applied, |reference, _| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    if step.answer.as_ref().is_ok_and(|cancelling| cancelling.effect == CancelEffect::Join) {
                        step.effects.push(Effect::CleanUp { execution_id: request.execution_id.clone() });
                    }
                    step
                })
            });
            wrap(&mut blueprint.decisions.cleaned_up, applied, |reference, _| {
                // The end is dated back to the cancel, so that both ends agree on the record.
                Arc::new(move |situation, cleaned| {
                    let begun = situation.store.execution(&cleaned.execution_id).map_or(situation.now, |execution| execution.updated_at);
                    reference(&crate::harness_runtime::machine::Situation { now: begun, ..*situation }, cleaned)
                })
            });
            wrap(&mut blueprint.seams.step, applied, |reference, applied| {
                Arc::new(move |moment, changes| {
                    if moment != Moment::CleanedUp || changes.is_empty() {
                        return reference(moment, changes);
                    }
                    applied.count();
                    vec![hold(0, milliseconds(60))]
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "answer-while-cancelling",
            "A response to a question is taken while its execution is cancelling, which is shown as running until the cleanup is over.",
            &["HR-ACTION-40", "HR-CANCEL-28"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let cancelling = |execution: &Execution| execution.state == State::Cancelling;
                    if !situation.store.execution(&responding.execution_id).is_some_and(cancelling) {
                        return reference(situation, responding);
                    }
                    applied.count();
                    let mut rules = situation.rules.clone();
                    rules.actions.answerable = Arc::new(|_, _, _| Ok(()));
                    rules.actions.may_respond = Arc::new(|_| Ok(()));
                    reference(&crate::harness_runtime::machine::Situation { rules: &rules, ..*situation }, responding)
                })
            });
            wrap(&mut blueprint.rules.cancellation.concludes, applied, |reference, _| {
                Arc::new(move |state| reference(state) || state == State::Running)
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "failed-cleanup-fails-the-run",
            "When the cleanup fails the execution has failed, not been cancelled.",
            &["HR-CANCEL-25"],
        ),
        install: |blueprint, applied| {
            let end = Arc::clone(&blueprint.decisions.end);
            wrap(&mut blueprint.decisions.cleaned_up, applied, |reference, applied| {
                let counts = Arc::new(|state: State| state == State::Cancelling);
                Arc::new(move |situation, cleaned| {
                    let Some(message) = cleaned.error.clone() else { return reference(situation, cleaned) };
                    applied.count();
                    let mut rules = situation.rules.clone();
                    rules.outcome.counts = counts.clone();
                    let ending =
                        crate::harness_runtime::machine::Ending { execution_id: cleaned.execution_id.clone(), result: Err(message) };
                    end(&crate::harness_runtime::machine::Situation { rules: &rules, ..*situation }, &ending)
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "cleanup-error-lost", "The message of a cleanup that failed is not recorded.", &["HR-CANCEL-26"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cleaned_up, applied, |reference, applied| {
                Arc::new(move |situation, cleaned| {
                    applied.count_if(cleaned.error.is_some());
                    reference(situation, &CleanedUp { error: None, ..cleaned.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "cleanup-error-always",
            "run.cancelled has a providerCleanupError, empty when nothing went wrong.",
            &["HR-CANCEL-27"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cleaned_up, applied, |reference, applied| {
                Arc::new(move |situation, cleaned| {
                    applied.count_if(cleaned.error.is_none());
                    let error = Some(cleaned.error.clone().unwrap_or_default());
                    reference(situation, &CleanedUp { error, ..cleaned.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "reason-lost",
            "The reason of a cancellation reaches the provider and not the history.",
            &["HR-CANCEL-14", "HR-CANCEL-24"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.cancelled, applied, |reference, applied| {
                Arc::new(move |reason, error| {
                    applied.count_if(reason.is_some());
                    reference(None, error)
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "reason-invented", "A cancellation without a reason is given one.", &["HR-CANCEL-15"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.cancelled, applied, |reference, applied| {
                Arc::new(move |reason, error| {
                    applied.count_if(reason.is_none());
                    reference(Some(reason.unwrap_or("Execution aborted")), error)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "cancel-without-cleanup",
            "A cancellation is confirmed at once, and the provider's cleanup is never run.",
            &["HR-CANCEL-22", "HR-CANCEL-26"],
        ),
        install: |blueprint, applied| {
            let cleaned_up = Arc::clone(&blueprint.decisions.cleaned_up);
            wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    if !step.answer.as_ref().is_ok_and(|cancelling| cancelling.effect == CancelEffect::Begin) {
                        return step;
                    }
                    applied.count();
                    let mut store = situation.store.clone();
                    for change in step.changes.clone() {
                        store.apply(&situation.rules.events, change);
                    }
                    let then = crate::harness_runtime::machine::Situation { store: &store, ..*situation };
                    let cleaned = CleanedUp { execution_id: request.execution_id.clone(), error: None };
                    step.changes.extend(cleaned_up(&then, &cleaned).changes);
                    step.effects.retain(|effect| !matches!(effect, Effect::CleanUp { .. }));
                    step
                })
            });
        },
    },
];

/// Confirms a cancel that had this effect at once.
fn confirmed(blueprint: &mut Blueprint, applied: &Applied, at_once: fn(CancelEffect) -> bool) {
    wrap(&mut blueprint.rules.cancellation.confirmed, applied, |reference, applied| {
        Arc::new(move |effect, state| applied.instead_of(&reference(effect, state), reference(effect, state) || at_once(effect)))
    });
}

type CancelRule = Result<CancelEffect, Problem>;

/// Decides what a cancel does in a state, given what the reference says.
fn effect(blueprint: &mut Blueprint, applied: &Applied, decide: fn(State, CancelRule) -> CancelRule) {
    wrap(&mut blueprint.rules.cancellation.effect, applied, |reference, applied| {
        Arc::new(move |state| applied.instead_of(&reference(state), decide(state, reference(state))))
    });
}

fn refused(state: State) -> CancelRule {
    Err(Problem::new(Code::InvalidState, format!("An execution that is {} cannot be cancelled", state.name())))
}
