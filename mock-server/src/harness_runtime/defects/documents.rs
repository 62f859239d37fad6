//! Executions whose record misses or mixes up members.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::model::{Execution, State};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "no-end-of-cancelled", "An execution that was cancelled has no endedAt.", &["HR-EXEC-6"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| execution.state == State::Cancelled && remove(document, "endedAt"));
        },
    },
    Entry {
        defect: defect(Rule, "no-beginning-of-failed", "An execution that failed has no startedAt.", &["HR-EXEC-8"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| execution.state == State::Failed && remove(document, "startedAt"));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "record-thinned",
            "Of an execution that has ended the required capabilities are dropped, and of one that was cancelled startedAt.",
            &["HR-EXEC-17", "HR-EXEC-30"],
        ),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| {
                let ended = execution.state.is_terminal() && set(document, "requiredCapabilities", json!([]));
                ended | (execution.state == State::Cancelled && remove(document, "startedAt"))
            });
        },
    },
    Entry {
        defect: defect(Rule, "no-output-of-succeeded", "An execution that succeeded has no finalOutput.", &["HR-EXEC-10"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| execution.state == State::Succeeded && remove(document, "finalOutput"));
        },
    },
    Entry {
        defect: defect(Rule, "error-with-own-code", "The error of an execution has a code of the provider's own.", &["HR-EXEC-13"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| {
                execution.state == State::Failed && set(&mut document["error"], "code", json!("SCRIPT_FAILED"))
            });
        },
    },
    Entry {
        defect: defect(Rule, "error-of-cancelled", "An execution that was cancelled has an error.", &["HR-EXEC-14"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| {
                let error = json!({ "code": "PROVIDER_ERROR", "message": "cancelled" });
                execution.state == State::Cancelled && set(document, "error", error)
            });
        },
    },
    Entry {
        defect: defect(Rule, "end-dated-when-read", "The endedAt of an execution is the time at which it is read.", &["HR-EXEC-18"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| {
                execution.state.is_terminal() && set(document, "endedAt", json!(jiff::Timestamp::now().to_string()))
            });
        },
    },
    Entry {
        defect: defect(Rule, "null-for-nothing", "Of an execution that has not ended, endedAt is null.", &["HR-EXEC-15"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| execution.ended_at.is_none() && set(document, "endedAt", Value::Null));
        },
    },
    Entry {
        defect: defect(Rule, "output-of-unfinished", "An execution that has not ended has an empty finalOutput.", &["HR-EXEC-11"]),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| !execution.state.is_terminal() && set(document, "finalOutput", json!("")));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "state-in-its-own-words",
            "An execution that waits is called \"waiting\", whatever it waits for.",
            &["HR-ACTION-7", "HR-ACTION-8", "HR-EXEC-3"],
        ),
        install: |blueprint, applied| {
            record(blueprint, applied, |execution, document| execution.state.is_awaiting() && set(document, "state", json!("waiting")));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "time-with-offset",
            "Times are written with the offset +00:00.",
            &["HR-ACTION-5", "HR-ART-4", "HR-CONV-3", "HR-EVENT-5", "HR-EXEC-4", "HR-EXEC-5"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.time, applied, |reference, applied| {
                Arc::new(move |instant| {
                    applied.count();
                    reference(instant).replace('Z', "+00:00")
                })
            });
        },
    },
];

/// Changes the record of executions; `change` says whether it did.
fn record(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Execution, &mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.execution, applied, |reference, applied| {
        Arc::new(move |views, execution| {
            let mut document = reference(views, execution);
            applied.count_if(change(execution, &mut document));
            document
        })
    });
}

fn remove(document: &mut Value, name: &str) -> bool {
    document.as_object_mut().is_some_and(|members| members.remove(name).is_some())
}

fn set(document: &mut Value, name: &str, value: Value) -> bool {
    document[name] = value;
    true
}
