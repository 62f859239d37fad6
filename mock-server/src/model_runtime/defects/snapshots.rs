//! Snapshots that show something else than what happened.

use super::{Entry, remove, rule, set, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::Status;
use crate::model_runtime::rules::outcome::target_document;
use crate::model_runtime::rules::views::Shown;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "partial-output-thrown-away",
        "What was produced before a failure or a cancellation is gone afterwards.",
        &["MR-CANCEL-15", "MR-DEAD-7", "MR-EXEC-19"],
        |b, a| {
            snapshot(b, a, |shown, document| {
                matches!(shown.execution.status, Status::Failed | Status::Cancelled) && remove(document, "result")
            });
        },
    ),
    rule("no-output-while-running", "While an execution runs its snapshot has no result.", &["MR-EXEC-20"], |b, a| {
        snapshot(b, a, |shown, document| !shown.execution.status.is_terminal() && remove(document, "result"));
    }),
    rule("last-sequence-behind", "last_sequence is the number of the event before the last.", &["MR-EXEC-13", "MR-EXEC-28"], |b, a| {
        snapshot(b, a, |shown, document| set(document, "last_sequence", json!(shown.last_sequence.saturating_sub(1))));
    }),
    rule("last-sequence-lags", "While an execution runs, last_sequence does not count its last event.", &["MR-EXEC-28"], |b, a| {
        snapshot(b, a, |shown, document| {
            !shown.execution.status.is_terminal() && set(document, "last_sequence", json!(shown.last_sequence.saturating_sub(1)))
        });
    }),
    rule("updated-at-its-creation", "updated_at stays what created_at is.", &["MR-EXEC-14"], |b, a| {
        snapshot(b, a, |_, document| {
            let created = document["created_at"].clone();
            set(document, "updated_at", created)
        });
    }),
    rule("null-for-nothing", "What an execution does not have is null.", &["MR-EXEC-12"], |b, a| {
        snapshot(b, a, |_, document| {
            let missing: Vec<&str> = ["target", "error", "artifacts"].into_iter().filter(|name| document.get(name).is_none()).collect();
            missing.iter().filter(|name| set(document, name, Value::Null)).count() > 0
        });
    }),
    rule("snapshot-of-first-target", "The target of an execution is the one that was selected first.", &["MR-EXEC-9"], |b, a| {
        snapshot(b, a, |shown, document| {
            let first = shown.execution.candidates.first().filter(|_| shown.execution.attempt > 1).map(target_document);
            first.is_some_and(|first| set(document, "target", first))
        });
    }),
    rule("target-not-shown", "A snapshot has no target.", &["MR-EXEC-27"], |b, a| {
        snapshot(b, a, |_, document| remove(document, "target"));
    }),
    rule("failure-without-error", "A snapshot of a failed execution has no error.", &["MR-EXEC-10"], |b, a| {
        snapshot(b, a, |shown, document| shown.execution.status == Status::Failed && remove(document, "error"));
    }),
    rule("error-of-success", "A snapshot of an execution that succeeded has an error.", &["MR-EXEC-11"], |b, a| {
        snapshot(b, a, |shown, document| {
            let none = json!({ "code": "none", "message": "No error", "retryable": false });
            shown.execution.status == Status::Succeeded && set(document, "error", none)
        });
    }),
    rule("error-in-other-words", "The error of a snapshot is not that of the terminal event.", &["MR-EXEC-23"], |b, a| {
        snapshot(b, a, |shown, document| {
            let error = json!({ "code": "internal_error", "message": "Execution failed", "retryable": false });
            shown.execution.status == Status::Failed && set(document, "error", error)
        });
    }),
    rule("snapshot-without-usage", "The usage of a snapshot is left out when there is none.", &["MR-EXEC-6"], |b, a| {
        snapshot(b, a, |shown, document| shown.made.usage.is_empty() && remove(document, "usage"));
    }),
    rule(
        "cancelled-called-canceled",
        "The status of a cancelled execution is spelled \"canceled\".",
        &["MR-EXEC-3", "MR-EXEC-16"],
        |b, a| {
            snapshot(b, a, |shown, document| shown.execution.status == Status::Cancelled && set(document, "status", json!("canceled")));
        },
    ),
    rule("snapshot-shows-metadata", "The metadata of a request is shown in the snapshot.", &["MR-REDACT-11"], |b, a| {
        snapshot(b, a, |shown, document| set(document, "metadata", json!(shown.execution.request.metadata)));
    }),
    rule("snapshot-shows-extensions", "The extensions of a request are shown in the snapshot.", &["MR-REDACT-12"], |b, a| {
        snapshot(b, a, |shown, document| set(document, "extensions", json!(shown.execution.request.extensions)));
    }),
];

/// Changes snapshots; `change` says whether it did.
fn snapshot(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Shown, &mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.snapshot, applied, |reference, applied| {
        Arc::new(move |views, outcome, shown| {
            let mut document = reference(views, outcome, shown);
            applied.count_if(change(shown, &mut document));
            document
        })
    });
}
