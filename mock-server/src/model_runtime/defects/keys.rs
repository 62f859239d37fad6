//! Idempotency keys that are filed wrongly, or stand for the wrong execution.

use super::{Entry, hold, milliseconds, race, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, Effect, KeyUse, Situation, Step, Submission, Submitted};
use crate::model_runtime::model::{Request, Status};
use crate::model_runtime::problem::Problem;
use crate::model_runtime::seams::Moment;
use std::sync::Arc;

/// How many characters of a key count where not all do.
const PREFIX: usize = 64;

pub(super) static DEFECTS: &[Entry] = &[
    rule("key-ignores-case", "Keys are compared without regard to case.", &["MR-IDEM-31"], |b, a| {
        filed_under(b, a, str::to_lowercase);
    }),
    rule("key-cut-short", "Of a key only the first 64 characters count.", &["MR-IDEM-44"], |b, a| {
        filed_under(b, a, |key| key.chars().take(PREFIX).collect());
    }),
    rule("malformed-request-uses-key", "A request that is refused as malformed uses up its key.", &["MR-IDEM-33"], |b, a| {
        decide(b, a, |situation, submission, step| {
            let (Err(_), Err(Problem::Refused(_)), Some(key)) = (&submission.request, &step.answer, &submission.key) else { return None };
            situation.store.key(key).is_none().then(|| used(key, &Arc::default(), step))
        });
    }),
    rule("replay-starts-again", "A replay lets the provider work once more.", &["MR-IDEM-45"], |b, a| {
        decide(b, a, |_, _, step| {
            let submitted = step.answer.as_ref().ok().filter(|submitted| submitted.replay && submitted.execution.attempt > 0)?;
            let run = Effect::Run { execution_id: submitted.execution.id.clone(), attempt: submitted.execution.attempt };
            Some(Step { effects: vec![run], ..step.clone() })
        });
    }),
    rule(
        "replay-recorded",
        "A replay is recorded in the history of the execution, while it runs.",
        &["MR-IDEM-9", "MR-EVENT-10"],
        |b, a| {
            decide(b, a, |situation, _, step| {
                let submitted = step.answer.as_ref().ok().filter(|submitted| submitted.replay)?;
                let execution = Some(&submitted.execution).filter(|execution| !execution.status.is_terminal())?;
                let accepted = crate::model_runtime::model::event::ACCEPTED;
                let again = crate::model_runtime::machine::event(situation, execution, accepted, crate::json::JsonObject::new());
                Some(Step { changes: vec![again], ..step.clone() })
            });
        },
    ),
    rule(
        "replay-ends-again",
        "A replay of an execution that has ended records its end once more.",
        &["MR-IDEM-9", "MR-EVENT-34", "MR-EXEC-17"],
        |b, a| {
            decide(b, a, |situation, _, step| {
                let submitted = step.answer.as_ref().ok().filter(|submitted| submitted.replay)?;
                let execution = Some(&submitted.execution).filter(|execution| execution.status.is_terminal())?;
                let end = situation.store.log(&execution.id).last()?;
                let again = crate::model_runtime::machine::event(situation, execution, &end.kind, end.data.clone());
                Some(Step { changes: vec![again], ..step.clone() })
            });
        },
    ),
    rule("replay-not-marked", "A replay does not say that it is one.", &["MR-IDEM-6", "MR-IDEM-35"], |b, a| {
        wrap(&mut b.rules.views.submission, a, |reference, applied| {
            Arc::new(move |views, execution, replay| {
                applied.count_if(replay);
                reference(views, execution, false)
            })
        });
    }),
    rule("everything-marked-as-replay", "A new execution with a key says that it is a replay.", &["MR-START-6", "MR-IDEM-35"], |b, a| {
        wrap(&mut b.rules.views.submission, a, |reference, applied| {
            Arc::new(move |views, execution, replay| {
                applied.count_if(!replay);
                reference(views, execution, true)
            })
        });
    }),
    rule("replay-shows-the-past", "A replay shows the status that the execution began with.", &["MR-IDEM-8"], |b, a| {
        replayed(b, a, |execution, _| execution.status = Status::Accepted);
    }),
    rule("replay-with-new-time", "A replay shows the time of the replay as created_at.", &["MR-IDEM-7"], |b, a| {
        replayed(b, a, |execution, situation| execution.created_at = situation.now);
    }),
    rule("failed-key-is-free", "A key whose execution failed makes a new one.", &["MR-IDEM-3"], |b, a| {
        free_after(b, a, Status::Failed);
    }),
    rule("cancelled-key-is-free", "A key whose execution was cancelled makes a new one.", &["MR-IDEM-4"], |b, a| {
        free_after(b, a, Status::Cancelled);
    }),
    rule("succeeded-key-is-free", "A key whose execution has succeeded makes a new one.", &["MR-IDEM-2"], |b, a| {
        free_after(b, a, Status::Succeeded);
    }),
    rule("running-key-is-refused", "A key whose execution still runs is refused.", &["MR-IDEM-1"], |b, a| {
        decide(b, a, |_, _, step| {
            let replay = step.answer.as_ref().ok().filter(|submitted| submitted.replay)?;
            (!replay.execution.status.is_terminal()).then(|| Step::unchanged(Err(Problem::Conflict)))
        });
    }),
    rule("conflict-takes-over", "After a conflict the key stands for the request that was refused.", &["MR-IDEM-22"], |b, a| {
        decide(b, a, |situation, submission, step| {
            let (Ok(request), Err(Problem::Conflict), Some(key)) = (&submission.request, &step.answer, &submission.key) else {
                return None;
            };
            let known = situation.store.key(key)?;
            let taken = KeyUse { request: Arc::clone(request), execution_id: known.execution_id.clone() };
            Some(Step { changes: vec![Change::Key { name: key.clone(), used: Box::new(taken) }], ..step.clone() })
        });
    }),
    race(
        "key-checked-then-filed",
        "Between the look at the key and the record of the execution another request with that key can come through.",
        &["MR-IDEM-34", "MR-IDEM-36"],
        |b, a| {
            wrap(&mut b.seams.step, a, |reference, applied| {
                Arc::new(move |moment, changes| {
                    let keyed = changes.iter().any(|change| matches!(change, Change::Key { .. }));
                    if moment != Moment::Submit || !keyed {
                        return reference(moment, changes);
                    }
                    applied.count();
                    vec![hold(0, milliseconds(25))]
                })
            });
        },
    ),
];

fn filed_under(blueprint: &mut Blueprint, applied: &Applied, name: fn(&str) -> String) {
    wrap(&mut blueprint.rules.idempotency.filed_under, applied, |reference, applied| {
        Arc::new(move |key, request| applied.instead_of(&reference(key, request), reference(&name(key), request)))
    });
}

type Submitting = Step<Result<Submitted, Problem>>;

/// Decides a submission anew, given what the reference decided; `None` where nothing differs.
fn decide(blueprint: &mut Blueprint, applied: &Applied, decide: fn(&Situation, &Submission, &Submitting) -> Option<Submitting>) {
    wrap(&mut blueprint.decisions.submit, applied, |reference, applied| {
        Arc::new(move |situation, submission| {
            let step = reference(situation, submission);
            let decided = decide(situation, submission, &step);
            applied.count_if(decided.is_some());
            decided.unwrap_or(step)
        })
    });
}

/// The same refusal, after which the key stands for a request without an execution.
fn used(key: &str, request: &Arc<Request>, step: &Submitting) -> Submitting {
    let used = KeyUse { request: Arc::clone(request), execution_id: String::new() };
    Step { changes: vec![Change::Key { name: key.to_owned(), used: Box::new(used) }], ..step.clone() }
}

/// Changes what a replay shows.
fn replayed(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut crate::model_runtime::model::Execution, &Situation)) {
    wrap(&mut blueprint.decisions.submit, applied, |reference, applied| {
        Arc::new(move |situation, submission| {
            let mut step = reference(situation, submission);
            if let Some(submitted) = step.answer.as_mut().ok().filter(|submitted| submitted.replay) {
                let before = submitted.execution.clone();
                change(&mut submitted.execution, situation);
                applied.count_if(before != submitted.execution);
            }
            step
        })
    });
}

/// Forgets a key whose execution ended with that status.
fn free_after(blueprint: &mut Blueprint, applied: &Applied, status: Status) {
    wrap(&mut blueprint.decisions.submit, applied, |reference, applied| {
        Arc::new(move |situation, submission| {
            let known = submission.key.as_ref().and_then(|key| situation.store.key(key));
            let ended =
                known.and_then(|used| situation.store.execution(&used.execution_id)).is_some_and(|execution| execution.status == status);
            if !applied.count_if(ended) {
                return reference(situation, submission);
            }
            let mut step = reference(situation, &Submission { key: None, ..submission.clone() });
            if let (Ok(submitted), Ok(request), Some(key)) = (&step.answer, &submission.request, &submission.key) {
                let used = KeyUse { request: Arc::clone(request), execution_id: submitted.execution.id.clone() };
                step.changes.insert(1, Change::Key { name: key.clone(), used: Box::new(used) });
            }
            step
        })
    });
}
