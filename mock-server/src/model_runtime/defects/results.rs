//! Results that come too early, too often, or with something missing.

use super::{Entry, remove, rule, set, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::Status;
use crate::model_runtime::rules::outcome::target_document;
use crate::model_runtime::rules::views::Shown;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("result-while-running", "What was produced so far is answered as the result.", &["MR-RESULT-6"], |b, a| {
        also(b, a, |status| matches!(status, Status::Accepted | Status::Routing | Status::Running));
    }),
    rule("result-of-failed", "What was produced before a failure is answered as the result.", &["MR-RESULT-7", "MR-RESULT-16"], |b, a| {
        also(b, a, |status| status == Status::Failed);
    }),
    rule("result-of-cancelled", "What was produced before a cancellation is answered as the result.", &["MR-RESULT-8"], |b, a| {
        also(b, a, |status| status == Status::Cancelled);
    }),
    rule("no-result-without-status", "The answer that there is no result does not say the status.", &["MR-RESULT-9"], |b, a| {
        no_result(b, a, |document| remove(document, "status"));
    }),
    rule("no-result-without-error", "The answer that there is no result does not say the error.", &["MR-RESULT-10"], |b, a| {
        no_result(b, a, |document| remove(document, "error"));
    }),
    rule("result-without-artifacts", "A result without artifacts has no list of them.", &["MR-RESULT-5"], |b, a| {
        result(b, a, |_, document| document["artifacts"] == json!([]) && remove(document, "artifacts"));
    }),
    rule("result-without-id", "A result does not say whose it is.", &["MR-RESULT-2"], |b, a| {
        result(b, a, |_, document| remove(document, "execution_id"));
    }),
    rule("result-of-first-target", "The target of a result is the one that was selected first.", &["MR-RESULT-14"], |b, a| {
        result(b, a, |shown, document| {
            let first = shown.execution.candidates.first().filter(|_| shown.execution.attempt > 1).map(target_document);
            first.is_some_and(|first| set(document, "target", first))
        });
    }),
    rule("empty-result-is-null", "A model that produced nothing has the result null.", &["MR-RESULT-13"], |b, a| {
        result(b, a, |shown, document| shown.made.result.is_none() && set(document, "result", Value::Null));
    }),
    rule("result-without-usage", "The usage of a result is always empty.", &["MR-RESULT-17"], |b, a| {
        result(b, a, |_, document| set(document, "usage", json!([])));
    }),
    rule("result-of-text-only", "A result has the texts, and the tool calls are in the snapshot only.", &["MR-RESULT-12"], |b, a| {
        result(b, a, |_, document| {
            let calls = document["result"]["tool_calls"].as_array().is_some_and(|calls| !calls.is_empty());
            calls && set(&mut document["result"], "tool_calls", json!([]))
        });
    }),
];

/// Answers a result in further states.
fn also(blueprint: &mut Blueprint, applied: &Applied, shows: fn(Status) -> bool) {
    wrap(&mut blueprint.rules.views.result, applied, |reference, applied| {
        Arc::new(move |shown| {
            if !shows(shown.execution.status) {
                return reference(shown);
            }
            applied.count();
            let mut succeeded = shown.clone();
            succeeded.execution.status = Status::Succeeded;
            reference(&succeeded)
        })
    });
}

fn result(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Shown, &mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.result, applied, |reference, applied| {
        Arc::new(move |shown| {
            let mut document = reference(shown)?;
            applied.count_if(change(shown, &mut document));
            Some(document)
        })
    });
}

fn no_result(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.no_result, applied, |reference, applied| {
        Arc::new(move |outcome, execution| {
            let mut document = reference(outcome, execution);
            applied.count_if(change(&mut document));
            document
        })
    });
}
