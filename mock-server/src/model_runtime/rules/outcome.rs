//! What the events of the runtime itself say. Section 3 of the contract page.

use crate::json::{JsonObject, object};
use crate::model_runtime::model::{Status, Target};
use crate::model_runtime::problem::{Code, Fault};
use crate::table::table;
use serde_json::{Value, json};

table! {
    /// Rules about what is recorded of routes and ends.
    Outcome {
        /// MR-EVENT-21, -22, MR-ROUTE-44, -45: the data of `route.selected`.
        selected: fn(&Target, usize) -> JsonObject = selected;
        /// MR-EVENT-23, MR-ROUTE-46, -47: the data of `route.attempt_failed`.
        attempt_failed: fn(&Outcome, &Target, usize, &Fault) -> JsonObject = attempt_failed;
        /// MR-EVENT-31, -50: the data of `execution.completed`.
        completed: fn(&Target) -> JsonObject = completed;
        /// MR-EVENT-32: the data of `execution.failed`.
        failed: fn(&Outcome, &Fault) -> JsonObject = failed;
        /// MR-EVENT-39, -46, MR-CANCEL-3: the status of an execution that ends with a fault.
        status: fn(&Fault) -> Status = status;
        /// MR-ROUTE-38, -41, MR-ERR-16, -17: the fault that ends an execution, given whether the attempt has given output.
        last: fn(&Fault, bool) -> Fault = last;
        /// MR-ERR-7 to -9, MR-CANCEL-4, -5, MR-DEAD-2, -3, MR-ROUTE-21, -22: what is told of a fault.
        fault: fn(&Fault) -> Value = fault;
    }
}

pub(crate) fn selected(target: &Target, attempt: usize) -> JsonObject {
    object([("target", target_document(target)), ("attempt", json!(attempt))])
}

pub(crate) fn attempt_failed(rules: &Outcome, target: &Target, attempt: usize, fault: &Fault) -> JsonObject {
    object([("target", target_document(target)), ("attempt", json!(attempt)), ("error", (rules.fault)(fault))])
}

pub(crate) fn completed(target: &Target) -> JsonObject {
    object([("target", target_document(target))])
}

pub(crate) fn failed(rules: &Outcome, fault: &Fault) -> JsonObject {
    object([("error", (rules.fault)(fault))])
}

pub(crate) fn status(fault: &Fault) -> Status {
    if fault.code == Code::Cancelled { Status::Cancelled } else { Status::Failed }
}

/// After output nothing is worth another try, whatever the provider says.
pub(crate) fn last(fault: &Fault, committed: bool) -> Fault {
    Fault { retryable: fault.retryable && !committed, ..fault.clone() }
}

pub(crate) fn fault(fault: &Fault) -> Value {
    fault.document()
}

pub(crate) fn target_document(target: &Target) -> Value {
    json!({ "provider": target.provider, "model": target.model })
}
