//! Stores that forget, and restarts that leave, repeat or gloss over what they find. They show on a server with a store, once it is
//! restarted.

use super::{DefectKind::Restart, Entry, defect, milliseconds, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, Effect, KeyUse, Row, Situation, Step, event as recorded};
use crate::model_runtime::model::{Execution, Request, Status, event};
use crate::model_runtime::problem::Fault;
use crate::model_runtime::records::Record;
use crate::model_runtime::rules::recovery::Outcome;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    restart("keys-not-kept", "Idempotency keys are not in the store.", &["MR-DUR-8"], |b, a| {
        forget(b, a, |record| matches!(record, Record::Row(Row::Key { .. })));
    }),
    restart(
        "fingerprints-not-kept",
        "The store has the keys, and not the requests that they stand for.",
        &["MR-DUR-9"],
        fingerprints_not_kept,
    ),
    restart(
        "events-not-kept",
        "The store has the executions, and not their events.",
        &["MR-DUR-5", "MR-DUR-6", "MR-EVENT-36", "MR-EXEC-17", "MR-STREAM-7"],
        |b, a| forget(b, a, |record| matches!(record, Record::Row(Row::Event(_)))),
    ),
    restart("executions-not-kept", "Executions are not in the store.", &["MR-DUR-5", "MR-DUR-6"], |b, a| {
        forget(b, a, |record| matches!(record, Record::Row(Row::Accepted(_) | Row::Execution(_))));
    }),
    restart("answers-before-commit", "Callers are answered at once, and the store is written a while later.", &["MR-DUR-5"], |b, a| {
        let applied = a.clone();
        b.keeping.waits = Arc::new(|| false);
        b.keeping.linger = Arc::new(move || {
            applied.count();
            milliseconds(1500)
        });
    }),
    restart(
        "cancelled-kept-as-succeeded",
        "The store knows one kind of end, and takes a cancelled execution for one that succeeded.",
        &["MR-DUR-5", "MR-DUR-10", "MR-EXEC-16", "MR-EXEC-17"],
        |b, a| {
            keep(b, a, |record| match record {
                Record::Row(Row::Execution(execution)) if execution.status == Status::Cancelled => {
                    Some(Record::Row(Row::Execution(Box::new(Execution { status: Status::Succeeded, error: None, ..*execution }))))
                }
                other => Some(other),
            });
        },
    ),
    restart("interrupted-left-running", "What ran at a restart is left as it was.", &["MR-DUR-7"], |b, a| {
        wrap(&mut b.rules.recovery.outcome, a, |reference, applied| {
            Arc::new(move |status| applied.instead_of(&reference(status), Outcome::Leave))
        });
    }),
    restart("interrupted-runs-again", "What ran at a restart is given to its provider again.", &["MR-DUR-3"], run_again),
    restart("interrupted-ends-twice", "The end of what ran at a restart is appended twice.", &["MR-EVENT-34"], |b, a| {
        on_recovery(b, a, |_, _, mut step| {
            let is_end = |change: &&Change| matches!(change, Change::Event(new) if event::is_terminal(&new.kind));
            let end = step.changes.iter().find(is_end).cloned();
            step.changes.extend(end);
            step
        });
    }),
    restart("interrupted-may-be-retried", "What a restart interrupted has failed retryably.", &["MR-DUR-2"], |b, a| {
        wrap(&mut b.rules.recovery.fault, a, |reference, applied| {
            Arc::new(move || {
                applied.count();
                Fault { retryable: true, ..reference() }
            })
        });
    }),
    restart("interrupted-succeeds", "What had given output before a restart has succeeded after it.", &["MR-DUR-2"], |b, a| {
        on_recovery(b, a, |situation, execution, step| match execution.target().filter(|_| execution.committed) {
            Some(target) => {
                let ended = Execution { status: Status::Succeeded, ..execution.clone() };
                let completed = recorded(situation, &ended, event::COMPLETED, (situation.rules.outcome.completed)(target));
                Step { answer: (), changes: vec![Change::Execution(Box::new(ended)), completed], effects: Vec::new() }
            }
            None => step,
        });
    }),
];

const fn restart(name: &'static str, about: &'static str, breaks: &'static [&'static str], install: fn(&mut Blueprint, &Applied)) -> Entry {
    Entry { defect: defect(Restart, name, about, breaks), install }
}

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
            let used = Box::new(KeyUse { request: Arc::new(Request::default()), execution_id: used.execution_id });
            Some(Record::Row(Row::Key { name, used }))
        }
        other => Some(other),
    });
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, _| {
        Arc::new(move |used, request| used.ability.is_empty() || reference(used, request))
    });
}

/// Decides otherwise about executions whose provider had begun.
fn on_recovery(
    blueprint: &mut Blueprint,
    applied: &Applied,
    decide: impl Fn(&Situation, &Execution, Step<()>) -> Step<()> + Send + Sync + 'static,
) {
    wrap(&mut blueprint.decisions.recover, applied, |reference, applied| {
        Arc::new(move |situation, execution_id| {
            let step = reference(situation, execution_id);
            match situation.store.execution(execution_id).filter(|execution| execution.status == Status::Running) {
                Some(execution) => {
                    applied.count();
                    decide(situation, execution, step)
                }
                None => step,
            }
        })
    });
}

/// With the time that the request allows.
fn run_again(blueprint: &mut Blueprint, applied: &Applied) {
    on_recovery(blueprint, applied, |situation, execution, _| {
        let execution_id = execution.id.clone();
        let mut effects = vec![Effect::Run { execution_id: execution_id.clone(), attempt: execution.attempt }];
        let time = (situation.rules.cancellation.time_allowed)(execution.request.deadline_ms);
        effects.extend(time.map(|milliseconds| Effect::Watch { execution_id, milliseconds }));
        Step { answer: (), changes: Vec::new(), effects }
    });
}
