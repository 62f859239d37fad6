//! Executions that get in each other's way.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::harness_runtime::machine::{CancelRequest, Change, Ending, NewEvent, Situation};
use crate::harness_runtime::model::{Execution, event};
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
                    for sibling in siblings(situation, &ending.execution_id).filter(|_| ending.result.is_err()) {
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
            "words-for-everyone",
            "What a provider says goes to all running executions of the conversation.",
            &["HR-ISO-7"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let spoken = emission.kind == event::DELTA && !step.changes.is_empty();
                    for sibling in siblings(situation, &emission.execution_id).filter(|_| spoken) {
                        applied.count();
                        step.changes.push(Change::Event(NewEvent {
                            execution_id: sibling.id.clone(),
                            kind: emission.kind.clone(),
                            time: situation.now,
                            data: emission.data.as_object().cloned().unwrap_or_default(),
                        }));
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
    let execution = situation.store.execution(execution_id).cloned();
    let store = situation.store;
    store.executions().filter(move |other| {
        execution.as_ref().is_some_and(|execution| {
            other.conversation_id == execution.conversation_id && other.id != execution.id && !other.state.is_terminal()
        })
    })
}
