//! Actions that outlive their execution, are answered twice or by the wrong one, and answers that get lost.

use super::{
    DefectKind::{Race, Rule},
    Entry, defect, hold, milliseconds, wrap,
};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::json::object;
use crate::harness_runtime::machine::{Change, Responding, Step, events};
use crate::harness_runtime::model::{Action, ActionKind, ActionStatus, Execution, JsonObject, Response, StartRequest, State, event};
use crate::harness_runtime::problem::{Code, Problem};
use crate::harness_runtime::seams::Moment;
use serde_json::json;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "action-of-anyone",
            "An action is found by its id alone, whatever execution the path names.",
            &["HR-ACTION-18"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let known = situation.store.execution(&responding.execution_id).is_some();
                    let owner = situation.store.action(&responding.action_id).map(|action| action.execution_id.clone());
                    match owner.filter(|owner| known && *owner != responding.execution_id) {
                        Some(execution_id) => {
                            applied.count();
                            reference(situation, &Responding { execution_id, ..responding.clone() })
                        }
                        None => reference(situation, responding),
                    }
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "question-outlives-run",
            "An action stays pending when its execution ends.",
            &["HR-ACTION-20", "HR-ACTION-21", "HR-ACTION-40"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.actions.abandoned, applied, |reference, applied| {
                Arc::new(move |status| applied.instead_of(&reference(status), status))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "second-answer-welcome",
            "A second response is answered like the first, without any effect.",
            &["HR-ACTION-15", "HR-ACTION-22", "HR-ACTION-37"],
        ),
        install: |blueprint, applied| second_answer(blueprint, applied, None),
    },
    Entry {
        defect: defect(
            Rule,
            "answered-is-forgotten",
            "An action that was answered does not exist any more.",
            &["HR-ACTION-15", "HR-ACTION-22", "HR-ACTION-37"],
        ),
        install: |blueprint, applied| second_answer(blueprint, applied, Some(Code::ActionNotFound)),
    },
    Entry {
        defect: defect(
            Rule,
            "second-answer-by-state",
            "A second response is judged by the state of the execution alone.",
            &["HR-ACTION-15", "HR-ACTION-22", "HR-ACTION-37"],
        ),
        install: |blueprint, applied| second_answer(blueprint, applied, Some(Code::InvalidState)),
    },
    Entry {
        defect: defect(
            Race,
            "answer-recorded-then-marked",
            "An answer is recorded first, and the action is marked as answered when the provider has taken it.",
            &["HR-ACTION-16"],
        ),
        install: |blueprint, applied| {
            let running: fn(State) -> bool = |state| state == State::Running;
            wrap(&mut blueprint.rules.actions.may_respond, applied, |reference, _| {
                Arc::new(move |state| if running(state) { Ok(()) } else { reference(state) })
            });
            wrap(&mut blueprint.decisions.respond, applied, |reference, _| {
                Arc::new(move |situation, responding| {
                    let mut step = reference(situation, responding);
                    step.changes.sort_by_key(|change| matches!(change, Change::Action(_)));
                    step
                })
            });
            hold_last(blueprint, applied, Moment::Respond);
        },
    },
    Entry {
        defect: defect(
            Race,
            "question-seen-before-kept",
            "action.required can be read before the execution waits for an answer.",
            &["HR-ACTION-41"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.ask, applied, |reference, _| {
                Arc::new(move |situation, asking| {
                    let mut step = reference(situation, asking);
                    step.changes.sort_by_key(|change| match change {
                        Change::Event(_) => 0,
                        Change::Execution(_) => 2,
                        _ => 1,
                    });
                    step
                })
            });
            wrap(&mut blueprint.seams.step, applied, |reference, applied| {
                Arc::new(move |moment, changes| {
                    if moment != Moment::Ask || changes.is_empty() {
                        return reference(moment, changes);
                    }
                    applied.count();
                    vec![hold(1, milliseconds(60))]
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "answer-starts-another",
            "A response makes a second execution that goes on, and answers with it.",
            &["HR-ACTION-42"],
        ),
        install: |blueprint, applied| {
            let start = Arc::clone(&blueprint.decisions.start);
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let mut step = reference(situation, responding);
                    let Ok(execution) = &step.answer else { return step };
                    applied.count();
                    let another = start(
                        situation,
                        &StartRequest {
                            conversation_id: execution.conversation_id.clone(),
                            provider_id: execution.provider_id.clone(),
                            input: execution.input.clone(),
                            ..StartRequest::default()
                        },
                    );
                    step.changes.extend(another.changes);
                    step.effects.extend(another.effects);
                    step.answer = step.answer.and_then(|execution| Ok(Execution { id: another.answer?.id, ..execution }));
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "answer-not-recorded", "action.responded is not recorded.", &["HR-ACTION-9", "HR-ACTION-38"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.actions.responded, applied, |_reference, applied| {
                Arc::new(move |_, _| {
                    applied.count();
                    Vec::new()
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "approval-not-recorded", "action.responded does not say what was decided.", &["HR-ACTION-11"]),
        install: |blueprint, applied| {
            responded(blueprint, applied, |_, data| data.remove("approved").is_some());
        },
    },
    Entry {
        defect: defect(
            Rule,
            "denial-invented",
            "action.responded says `approved: false` when the response did not say.",
            &["HR-ACTION-12"],
        ),
        install: |blueprint, applied| {
            responded(blueprint, applied, |response, data| {
                response.approved.is_none() && data.insert("approved".to_owned(), json!(false)).is_none()
            });
        },
    },
    Entry {
        defect: defect(Rule, "value-recorded", "action.responded carries the value of the response.", &["HR-ACTION-13"]),
        install: |blueprint, applied| {
            responded(blueprint, applied, |response, data| {
                response.value.clone().is_some_and(|value| data.insert("value".to_owned(), value).is_none())
            });
        },
    },
    Entry {
        defect: defect(Rule, "bad-answer-uses-up", "An action is taken off the list before the response is looked at.", &["HR-ACTION-29"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let mut step = reference(situation, responding);
                    let invalid = matches!(&step.answer, Err(Problem { code: Code::Validation, .. }));
                    if let Some(action) = situation.store.action(&responding.action_id).filter(|_| invalid) {
                        applied.count();
                        let gone = Action { status: ActionStatus::Responded, ..action.clone() };
                        step.changes.push(Change::Action(Box::new(gone)));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "approval-awaited-as-input", "While an approval is pending the state is awaiting_input.", &["HR-ACTION-7"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.actions.awaiting, applied, |reference, applied| {
                Arc::new(move |kind| applied.instead_of(&reference(kind), State::AwaitingInput))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "cancel-answers-for-you",
            "A cancellation denies what is pending, and records that as a response.",
            &["HR-ACTION-33", "HR-ACTION-38"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    let abandoned = |change: &Change| match change {
                        Change::Action(action) if action.kind == ActionKind::Approval => Some(action.id.clone()),
                        _ => None,
                    };
                    for action_id in step.changes.iter().filter_map(abandoned).collect::<Vec<_>>() {
                        applied.count();
                        let data = object([("actionId", json!(action_id)), ("approved", json!(false))]);
                        step.changes.extend(events(&request.execution_id, situation.now, vec![(event::ACTION_RESPONDED, data)]));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "question-without-owner", "action.required does not carry the id of its execution.", &["HR-ACTION-3"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.action, applied, |reference, applied| {
                Arc::new(move |views, action| {
                    let mut document = reference(views, action);
                    applied.count_if(document.remove("executionId").is_some());
                    document
                })
            });
        },
    },
];

/// Holds back the last change of a step.
fn hold_last(blueprint: &mut Blueprint, applied: &Applied, held: Moment) {
    wrap(&mut blueprint.seams.step, applied, |reference, applied| {
        Arc::new(move |moment, changes| match changes.len().checked_sub(1) {
            Some(last) if moment == held => {
                applied.count();
                vec![hold(last, milliseconds(25))]
            }
            _ => reference(moment, changes),
        })
    });
}

/// What a response to an answered action gets: the execution as it is, or a problem of that code.
fn second_answer(blueprint: &mut Blueprint, applied: &Applied, code: Option<Code>) {
    wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
        Arc::new(move |situation, responding| {
            let step = reference(situation, responding);
            if !matches!(&step.answer, Err(Problem { code: Code::ActionAlreadyResolved, .. })) {
                return step;
            }
            applied.count();
            match code {
                None => Step::unchanged(situation.execution(&responding.execution_id).cloned()),
                Some(code) => Step::unchanged(Err(Problem::new(code, "The action cannot be answered"))),
            }
        })
    });
}

/// Changes the data of action.responded; `change` says whether it did.
fn responded(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Response, &mut JsonObject) -> bool) {
    wrap(&mut blueprint.rules.actions.responded, applied, |reference, applied| {
        Arc::new(move |action, response| {
            let mut occurrences = reference(action, response);
            for (_, data) in &mut occurrences {
                applied.count_if(change(response, data));
            }
            occurrences
        })
    });
}
