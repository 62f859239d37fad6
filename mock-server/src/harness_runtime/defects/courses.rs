//! Runs that take another course than their provider's, or are told in another order.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::json::object;
use crate::harness_runtime::machine::{Change, Effect, NewEvent, Situation, Step};
use crate::harness_runtime::model::{Execution, JsonObject, State, event};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "failure-is-a-cancellation",
            "A run whose provider fails is cancelled.",
            &["HR-ART-13", "HR-ART-15", "HR-EVENT-31", "HR-EVENT-33", "HR-EXEC-21", "HR-EXEC-22"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.end, applied, |reference, applied| {
                Arc::new(move |situation, ending| {
                    let mut step = reference(situation, ending);
                    if ending.result.is_err() {
                        for change in &mut step.changes {
                            applied.count_if(cancelled_instead(change));
                        }
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "nothing-succeeds", "A provider that finishes its work has failed to say more.", &["HR-EXEC-24"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.final_output, applied, |_reference, applied| {
                Arc::new(move |_| {
                    applied.count();
                    Err("The provider said nothing more".to_owned())
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "answer-becomes-an-error", "The provider is told that the action it asked for is gone.", &["HR-ACTION-43"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let mut step = reference(situation, responding);
                    for effect in &mut step.effects {
                        if let Effect::Resume { action_id, .. } = effect {
                            applied.count();
                            *effect = Effect::Reject { action_id: action_id.clone(), message: "The action is gone".to_owned() };
                        }
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "artifacts-wait-for-success",
            "Artifacts are recorded when their run succeeds; those of others are lost.",
            &["HR-ART-17"],
        ),
        install: artifacts_wait_for_success,
    },
    Entry {
        defect: defect(
            Rule,
            "history-out-of-order",
            "run.queued is recorded after run.started, and the last words after the final text.",
            &["HR-EVENT-20", "HR-EVENT-25"],
        ),
        install: history_out_of_order,
    },
    Entry {
        defect: defect(
            Rule,
            "words-of-the-echo-kept-back",
            "What a provider that is not scripted says while it works is not recorded.",
            &["HR-EVENT-40"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let scripted = |execution: &Execution| execution.provider_id.starts_with("scripted");
                    let heard = situation.store.execution(&emission.execution_id).is_some_and(scripted);
                    if applied.count_if(emission.kind == event::DELTA && !heard) {
                        return Step::unchanged(Ok(()));
                    }
                    reference(situation, emission)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "history-of-the-conversation",
            "The history of a run begins with those that its conversation had before.",
            &["HR-ISO-1", "HR-ISO-7"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    let queued = step.changes.iter().position(|change| matches!(change, Change::Event(_)));
                    let Some((at, Change::Event(queued))) = queued.map(|at| (at, step.changes[at].clone())) else { return step };
                    let before = situation.store.executions().filter(|other| other.conversation_id == request.conversation_id);
                    for _ in before.filter(|other| other.state.is_terminal()) {
                        applied.count();
                        step.changes.insert(at, Change::Event(queued.clone()));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "start-answered-from-the-request",
            "A start is answered as starting already, with its key and a date of its own.",
            &["HR-EXEC-17", "HR-START-11", "HR-START-13"],
        ),
        install: start_answered_from_the_request,
    },
];

/// Makes a cancellation of what a failure changes; tells whether it did.
fn cancelled_instead(change: &mut Change) -> bool {
    match change {
        Change::Execution(execution) if execution.state == State::Failed => {
            **execution = Execution { state: State::Cancelled, error: None, ..(**execution).clone() };
        }
        Change::Event(event) if event.kind == event::FAILED => {
            *event = NewEvent { kind: event::CANCELLED.to_owned(), data: JsonObject::new(), ..event.clone() };
        }
        _ => return false,
    }
    true
}

fn artifacts_wait_for_success(blueprint: &mut Blueprint, applied: &Applied) {
    let waiting: Arc<Mutex<BTreeMap<String, Vec<Change>>>> = Arc::default();
    let made = Arc::clone(&waiting);
    wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
        Arc::new(move |situation, emission| {
            if emission.kind != event::ARTIFACT_CREATED {
                return reference(situation, emission);
            }
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            let mine = made.entry(emission.execution_id.clone()).or_default();
            let mut store = situation.store.clone();
            for change in mine.iter().cloned() {
                store.apply(&situation.rules.events, change);
            }
            let step = reference(&Situation { store: &store, ..*situation }, emission);
            applied.count_if(!step.changes.is_empty());
            mine.extend(step.changes);
            Step::unchanged(step.answer)
        })
    });
    wrap(&mut blueprint.decisions.end, applied, |reference, _| {
        Arc::new(move |situation, ending| {
            let mut step = reference(situation, ending);
            let succeeds = |change: &Change| matches!(change, Change::Execution(execution) if execution.state == State::Succeeded);
            if step.changes.iter().any(succeeds) {
                let made = waiting.lock().unwrap_or_else(PoisonError::into_inner).remove(&ending.execution_id);
                step.changes.splice(0..0, made.unwrap_or_default());
            }
            step
        })
    });
}

fn history_out_of_order(blueprint: &mut Blueprint, applied: &Applied) {
    let queued: Arc<Mutex<BTreeMap<String, NewEvent>>> = Arc::default();
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |event| {
            let mut queued = queued.lock().unwrap_or_else(PoisonError::into_inner);
            if event.kind == event::QUEUED {
                queued.insert(event.execution_id.clone(), event);
                return Vec::new();
            }
            let Some(first) = queued.remove(&event.execution_id) else { return reference(event) };
            applied.count();
            if event.kind == event::STARTED { vec![event, first] } else { vec![first, event] }
        })
    });
    wrap(&mut blueprint.rules.outcome.completed, applied, |reference, _| {
        Arc::new(move |output| {
            let mut occurrences = reference(output);
            let last = occurrences.len().saturating_sub(1);
            occurrences.insert(last, (event::DELTA, object([("text", json!(""))])));
            occurrences
        })
    });
}

fn start_answered_from_the_request(blueprint: &mut Blueprint, applied: &Applied) {
    let keys: Arc<Mutex<BTreeMap<String, String>>> = Arc::default();
    let kept = Arc::clone(&keys);
    wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
        Arc::new(move |situation, request| {
            let mut step = reference(situation, request);
            if let Ok(execution) = &mut step.answer {
                if !step.changes.is_empty() {
                    applied.count();
                    execution.created_at -= std::time::Duration::from_secs(1);
                }
                if let Some(key) = &request.idempotency_key {
                    kept.lock().unwrap_or_else(PoisonError::into_inner).insert(execution.id.clone(), key.clone());
                }
            }
            step
        })
    });
    wrap(&mut blueprint.rules.views.execution, applied, |reference, _| {
        Arc::new(move |views, execution| {
            let mut document = reference(views, execution);
            if execution.state == State::Queued {
                document["state"] = json!(State::Starting.name());
            }
            if let Some(key) = keys.lock().unwrap_or_else(PoisonError::into_inner).get(&execution.id) {
                document["idempotencyKey"] = json!(key);
            }
            document
        })
    });
}
