//! Executions that get in each other's way.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::harness_runtime::machine::{CancelRequest, Change, Ending, NewEvent, Situation, Store};
use crate::harness_runtime::model::{Execution, event};
use serde_json::json;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "cancel-ends-the-conversation", "A cancel ends all executions of the conversation.", &["HR-ISO-2"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    for sibling in siblings(situation, &request.execution_id).filter(|_| step.answer.is_ok()) {
                        applied.count();
                        let request = CancelRequest { execution_id: sibling.id.clone(), reason: request.reason.clone() };
                        let also = reference(situation, &request);
                        step.changes.extend(also.changes);
                        step.effects.extend(also.effects);
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "failure-ends-the-conversation",
            "A run that fails takes the other executions of its conversation with it.",
            &["HR-ISO-4"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.end, applied, |reference, applied| {
                Arc::new(move |situation, ending| {
                    let mut step = reference(situation, ending);
                    let fails = ending.result.is_err() && !step.changes.is_empty();
                    for sibling in siblings(situation, &ending.execution_id).filter(|_| fails) {
                        applied.count();
                        let ending = Ending { execution_id: sibling.id.clone(), result: ending.result.clone() };
                        let also = reference(situation, &ending);
                        step.changes.extend(also.changes);
                        step.effects.extend(also.effects);
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "queued-for-everyone",
            "run.queued is recorded for all executions of the conversation that have not ended.",
            &["HR-ISO-7"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    let queued = step.changes.iter().find_map(|change| match change {
                        Change::Event(event) if event.kind == event::QUEUED => Some(event.clone()),
                        _ => None,
                    });
                    let Some(queued) = queued else { return step };
                    let others = unfinished(situation.store, &request.conversation_id);
                    for other in others {
                        applied.count();
                        step.changes.push(Change::Event(NewEvent { execution_id: other.id.clone(), ..queued.clone() }));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "conversation-remembers",
            "A start leaves the id of its execution in the metadata of the conversation.",
            &["HR-ISO-5"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let mut step = reference(situation, request);
                    let conversation = situation.store.conversation(&request.conversation_id);
                    if let (Ok(execution), Some(conversation)) = (&step.answer, conversation) {
                        applied.count();
                        let mut conversation = conversation.clone();
                        conversation.metadata.insert("lastExecution".to_owned(), json!(execution.id));
                        step.changes.push(Change::Conversation(conversation));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "artifacts-of-the-conversation",
            "The list of artifacts has those of all executions of the conversation.",
            &["HR-ART-8", "HR-ISO-3"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.artifacts.listed, applied, |reference, applied| {
                Arc::new(move |store, execution| {
                    let right = reference(store, execution);
                    let mut all = right.clone();
                    let others =
                        store.executions().filter(|other| other.conversation_id == execution.conversation_id && other.id != execution.id);
                    all.extend(others.flat_map(|other| reference(store, other)));
                    applied.instead_of(&right, all)
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "artifact-ids-of-the-conversation",
            "Artifact ids are unique in a conversation, not in an execution.",
            &["HR-ART-18"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.artifacts.taken, applied, |reference, applied| {
                Arc::new(move |store, execution_id, artifact_id| {
                    let right = reference(store, execution_id, artifact_id);
                    let Some(execution) = store.execution(execution_id) else { return right };
                    let mut others = store.executions().filter(|other| other.conversation_id == execution.conversation_id);
                    applied.instead_of(&right, others.any(|other| reference(store, &other.id, artifact_id)))
                })
            });
        },
    },
];

/// The other executions of the same conversation that have not ended.
fn siblings<'a>(situation: &Situation<'a>, execution_id: &str) -> impl Iterator<Item = &'a Execution> + use<'a> {
    let store = situation.store;
    let conversation_id = store.execution(execution_id).map_or(String::new(), |execution| execution.conversation_id.clone());
    let execution_id = execution_id.to_owned();
    unfinished(store, &conversation_id).filter(move |other| other.id != execution_id)
}

fn unfinished<'a>(store: &'a Store, conversation_id: &str) -> impl Iterator<Item = &'a Execution> + use<'a> {
    let conversation_id = conversation_id.to_owned();
    store.executions().filter(move |other| other.conversation_id == conversation_id && !other.state.is_terminal())
}
