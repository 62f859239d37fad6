//! Stores that forget, and restarts that leave, repeat or double what they find. They show on a server with a store, once it is restarted.

use super::{DefectKind::Restart, Entry, defect, milliseconds, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::machine::{Change, Effect, KeyUse, Row, Situation, Step, events};
use crate::harness_runtime::model::{Execution, StartRequest, State, event};
use crate::harness_runtime::records::Record;
use crate::harness_runtime::rules::recovery::Outcome;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Restart, "conversations-not-kept", "Conversations are not in the store.", &["HR-DURA-1"]),
        install: |blueprint, applied| forget(blueprint, applied, |record| matches!(record, Record::Row(Row::Conversation(_)))),
    },
    Entry {
        defect: defect(Restart, "keys-not-kept", "Idempotency keys are not in the store.", &["HR-DURA-10"]),
        install: |blueprint, applied| forget(blueprint, applied, |record| matches!(record, Record::Row(Row::Key { .. }))),
    },
    Entry {
        defect: defect(
            Restart,
            "fingerprints-not-kept",
            "The store has the keys, and not the requests that they stand for.",
            &["HR-DURA-11"],
        ),
        install: fingerprints_not_kept,
    },
    Entry {
        defect: defect(
            Restart,
            "events-not-kept",
            "The store has the executions, and not their events.",
            &["HR-ART-8", "HR-DURA-3", "HR-EVENT-8", "HR-EVENT-9", "HR-REPLAY-3"],
        ),
        install: |blueprint, applied| forget(blueprint, applied, |record| matches!(record, Record::Row(Row::Event(_)))),
    },
    Entry {
        defect: defect(Restart, "executions-not-kept", "Executions are not in the store.", &["HR-DURA-2", "HR-DURA-3"]),
        install: |blueprint, applied| forget(blueprint, applied, |record| matches!(record, Record::Row(Row::Execution(_)))),
    },
    Entry {
        defect: defect(Restart, "artifacts-not-kept", "Artifacts are not in the store.", &["HR-ART-8", "HR-DURA-4"]),
        install: |blueprint, applied| forget(blueprint, applied, |record| matches!(record, Record::Row(Row::Artifact(_)))),
    },
    Entry {
        defect: defect(Restart, "actions-not-kept", "Actions are not in the store.", &["HR-DURA-8"]),
        install: |blueprint, applied| forget(blueprint, applied, |record| matches!(record, Record::Row(Row::Action(_)))),
    },
    Entry {
        defect: defect(
            Restart,
            "answers-before-commit",
            "Callers are answered at once, and the store is written a while later.",
            &["HR-DURA-1"],
        ),
        install: |blueprint, applied| {
            let applied = applied.clone();
            blueprint.keeping.waits = Arc::new(|| false);
            blueprint.keeping.linger = Arc::new(move || {
                applied.count();
                milliseconds(1000)
            });
        },
    },
    Entry {
        defect: defect(Restart, "interrupted-left-running", "What ran at a restart is left as it was.", &["HR-DURA-5"]),
        install: |blueprint, applied| leave_running(blueprint, applied),
    },
    Entry {
        defect: defect(Restart, "interrupted-runs-again", "What ran at a restart is given to its provider again.", &["HR-DURA-6"]),
        install: run_again,
    },
    Entry {
        defect: defect(Restart, "interrupted-ends-twice", "The end of what ran at a restart is appended twice.", &["HR-EVENT-9"]),
        install: end_twice,
    },
    Entry {
        defect: defect(
            Restart,
            "interrupted-cancel-succeeds",
            "An execution whose cancellation a restart interrupts has succeeded.",
            &["HR-DURA-9"],
        ),
        install: cancel_succeeds,
    },
    Entry {
        defect: defect(
            Restart,
            "interrupted-still-answerable",
            "An action that waited at a restart takes its answer afterwards, though its execution has ended.",
            &["HR-DURA-7"],
        ),
        install: still_answerable,
    },
];

/// Leaves some records out of the store.
fn forget(blueprint: &mut Blueprint, applied: &Applied, forgotten: fn(&Record) -> bool) {
    keep(blueprint, applied, move |record| (!forgotten(&record)).then_some(record));
}

/// Keeps something else than what there is.
fn keep(blueprint: &mut Blueprint, applied: &Applied, kept: impl Fn(Record) -> Option<Record> + Send + Sync + 'static) {
    wrap(&mut blueprint.keeping.kept, applied, |original, applied| {
        Arc::new(move |record| {
            let record = original(record)?;
            let altered = kept(record.clone());
            applied.count_if(altered.as_ref() != Some(&record));
            altered
        })
    });
}

fn fingerprints_not_kept(blueprint: &mut Blueprint, applied: &Applied) {
    keep(blueprint, applied, |record| match record {
        Record::Row(Row::Key { name, used }) => {
            let used = Box::new(KeyUse { request: StartRequest::default(), execution_id: used.execution_id });
            Some(Record::Row(Row::Key { name, used }))
        }
        other => Some(other),
    });
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, _| {
        Arc::new(move |used, request| used.conversation_id.is_empty() || reference(used, request))
    });
}

fn leave_running(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.recovery.outcome, applied, |reference, applied| {
        Arc::new(move |state| applied.instead_of(&reference(state), Outcome::Leave))
    });
}

/// Decides otherwise about executions in some states.
fn on_recovery(
    blueprint: &mut Blueprint,
    applied: &Applied,
    concerned: fn(State) -> bool,
    decide: impl Fn(&Situation, &Execution, Step<()>) -> Step<()> + Send + Sync + 'static,
) {
    wrap(&mut blueprint.decisions.recover, applied, |reference, applied| {
        Arc::new(move |situation, execution_id| {
            let step = reference(situation, execution_id);
            match situation.store.execution(execution_id).filter(|execution| concerned(execution.state)) {
                Some(execution) => {
                    applied.count();
                    decide(situation, execution, step)
                }
                None => step,
            }
        })
    });
}

fn worked(state: State) -> bool {
    state == State::Running || state.is_awaiting()
}

fn run_again(blueprint: &mut Blueprint, applied: &Applied) {
    on_recovery(blueprint, applied, worked, |_, execution, _| {
        let effects = vec![Effect::Run { execution_id: execution.id.clone() }];
        Step { answer: (), changes: Vec::new(), effects }
    });
}

fn end_twice(blueprint: &mut Blueprint, applied: &Applied) {
    on_recovery(blueprint, applied, worked, |_, _, mut step| {
        let end = step.changes.iter().find(|change| matches!(change, Change::Event(event) if event::is_terminal(&event.kind))).cloned();
        step.changes.extend(end);
        step
    });
}

fn cancel_succeeds(blueprint: &mut Blueprint, applied: &Applied) {
    on_recovery(
        blueprint,
        applied,
        |state| state == State::Cancelling,
        |situation, execution, _| {
            let now = situation.now;
            let (output, ended_at) = (Some(String::new()), Some(now));
            let ended = Execution { state: State::Succeeded, updated_at: now, ended_at, final_output: output, ..execution.clone() };
            let mut changes = vec![Change::Execution(Box::new(ended))];
            changes.extend(events(&execution.id, now, (situation.rules.outcome.completed)("")));
            Step { answer: (), changes, effects: Vec::new() }
        },
    );
}

fn still_answerable(blueprint: &mut Blueprint, applied: &Applied) {
    on_recovery(blueprint, applied, State::is_awaiting, |_, _, mut step| {
        step.changes.retain(|change| !matches!(change, Change::Action(_)));
        step
    });
    wrap(&mut blueprint.rules.actions.may_respond, applied, |reference, _| {
        Arc::new(move |state| if state == State::Failed { Ok(()) } else { reference(state) })
    });
    wrap(&mut blueprint.decisions.respond, applied, |reference, _| {
        Arc::new(move |situation, responding| {
            let mut step = reference(situation, responding);
            let ended = situation.store.execution(&responding.execution_id).filter(|execution| execution.state.is_terminal());
            if let Some(ended) = ended.filter(|_| step.answer.is_ok()) {
                step.changes.retain(|change| matches!(change, Change::Action(_)));
                step.effects.clear();
                step.answer = Ok(ended.clone());
            }
            step
        })
    });
}
