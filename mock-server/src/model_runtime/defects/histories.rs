//! Histories that have too much in them, too little, or wrong numbers.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::json::{JsonObject, object};
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::NewEvent;
use crate::model_runtime::model::{Event, Status, event};
use serde_json::json;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("sequence-anew-after-fallback", "Each attempt counts its events from 1.", &["MR-EVENT-35", "MR-EVENT-36"], |b, a| {
        wrap(&mut b.rules.events.sequence, a, |reference, applied| {
            Arc::new(move |log, of_all| {
                let right = reference(log, of_all);
                let failed = log.iter().rposition(|event| event.kind == event::ATTEMPT_FAILED);
                applied.instead_of(&right, failed.map_or(right, |failed| (log.len() - failed) as u64))
            })
        });
    }),
    rule("progress-not-numbered", "Progress has the number of the event before it.", &["MR-EVENT-36"], |b, a| {
        wrap(&mut b.rules.events.sequence, a, |reference, applied| {
            Arc::new(move |log, of_all| {
                let right = reference(log, of_all);
                let last = log.last().filter(|last| last.kind == event::PROGRESS).map(|last| last.sequence);
                applied.instead_of(&right, last.unwrap_or(right))
            })
        });
    }),
    rule("acceptance-not-recorded", "A history begins with the first route.", &["MR-EVENT-33"], |b, a| {
        appended(b, a, |_, new| if new.kind == event::ACCEPTED { Some(Vec::new()) } else { None });
    }),
    rule("acceptance-recorded-twice", "A history has execution.accepted twice.", &["MR-EVENT-33"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::ACCEPTED).then(|| vec![new.clone(), new.clone()]));
    }),
    rule("failure-recorded-twice", "A failure is recorded twice.", &["MR-EVENT-34", "MR-EXEC-13"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::FAILED && new.status == Status::Failed).then(|| vec![new.clone(), new.clone()]));
    }),
    rule("end-not-last", "A usage report follows the end of a success.", &["MR-EVENT-35", "MR-EXEC-13"], |b, a| {
        appended(b, a, |_, new| {
            let report =
                NewEvent { kind: event::USAGE.to_owned(), data: object([("facts", json!([])), ("late", json!(true))]), ..new.clone() };
            let report = NewEvent { status: Status::Running, ..report };
            (new.kind == event::COMPLETED).then(|| vec![new.clone(), report])
        });
        let ended = |last: &Event| last.data.contains_key("late");
        wrap(&mut b.rules.streaming.ends, a, |reference, _| {
            Arc::new(move |progress| {
                let late = progress.newest.as_ref().is_some_and(|last| ended(last));
                reference(progress) || late && progress.position >= progress.length
            })
        });
    }),
    rule(
        "equal-deltas-dropped",
        "A delta that is the same as the event before it is dropped as a repetition.",
        &["MR-EVENT-47"],
        |b, a| {
            appended(b, a, |log, new| {
                let again = log.last().is_some_and(|last| last.kind == new.kind && last.data == new.data);
                (again && new.kind == event::DELTA).then(Vec::new)
            });
        },
    ),
    rule("tool-start-not-recorded", "The start of a tool call is not recorded.", &["MR-EVENT-48"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::TOOL_STARTED).then(Vec::new));
    }),
    rule("progress-not-recorded", "Progress is not recorded.", &["MR-EVENT-49"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::PROGRESS).then(Vec::new));
    }),
    rule("selected-while-running", "route.selected has the status running.", &["MR-EVENT-11", "MR-EXEC-18"], |b, a| {
        status(b, a, event::SELECTED, Status::Running);
    }),
    rule("accepted-while-routing", "execution.accepted has the status routing.", &["MR-EVENT-10"], |b, a| {
        status(b, a, event::ACCEPTED, Status::Routing);
    }),
    rule("progress-while-routing", "Progress has the status routing.", &["MR-EVENT-16"], |b, a| {
        status(b, a, event::PROGRESS, Status::Routing);
    }),
    rule("attempt-failed-while-failed", "route.attempt_failed has the status failed.", &["MR-EVENT-12", "MR-EXEC-18"], |b, a| {
        status(b, a, event::ATTEMPT_FAILED, Status::Failed);
    }),
    rule("completed-without-target", "execution.completed has no target.", &["MR-EVENT-31"], |b, a| {
        data(b, a, event::COMPLETED, |data| drop(data.remove("target")));
    }),
    rule("failed-without-retryable", "The error of execution.failed does not say whether it is retryable.", &["MR-EVENT-32"], |b, a| {
        data(b, a, event::FAILED, |data| {
            if let Some(error) = data.get_mut("error") {
                super::remove(error, "retryable");
            }
        });
    }),
    rule("selected-without-attempt", "route.selected has no attempt.", &["MR-EVENT-22", "MR-ROUTE-44"], |b, a| {
        data(b, a, event::SELECTED, |data| drop(data.remove("attempt")));
    }),
];

type Replace = fn(&[Arc<Event>], &NewEvent) -> Option<Vec<NewEvent>>;

/// Appends something else for some events.
fn appended(blueprint: &mut Blueprint, applied: &Applied, replace: Replace) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |log, new| {
            let replaced = replace(log, &new);
            applied.count_if(replaced.is_some());
            replaced.unwrap_or_else(|| reference(log, new))
        })
    });
}

/// Records events of one type with another status.
fn status(blueprint: &mut Blueprint, applied: &Applied, kind: &'static str, status: Status) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |log, new| {
            let changed = applied.count_if(new.kind == kind);
            reference(log, if changed { NewEvent { status, ..new } } else { new })
        })
    });
}

/// Records events of one type with other data.
fn data(blueprint: &mut Blueprint, applied: &Applied, kind: &'static str, change: fn(&mut JsonObject)) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |log, mut new| {
            if applied.count_if(new.kind == kind) {
                change(&mut new.data);
            }
            reference(log, new)
        })
    });
}
