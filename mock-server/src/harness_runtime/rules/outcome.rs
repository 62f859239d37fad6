//! How an execution ends. Section 3 of the contract page; section 10, rules 3, 11, 13 to 15.

use crate::harness_runtime::json;
use crate::harness_runtime::model::{JsonObject, State, event};
use crate::table::table;
use serde_json::{Value, json};

/// The type and data of an event that is about to be appended.
pub(crate) type Occurrence = (&'static str, JsonObject);

table! {
    /// Rules about results, failures and the terminal event.
    Outcome {
        /// HR-CANCEL-28, HR-EXEC-18, -21, -22: whether a result or failure of the provider decides anything in this state.
        counts: fn(State) -> bool = counts;
        /// HR-EXEC-23: why a successful return in this state is a failure.
        unresolved: fn(State) -> Option<String> = unresolved;
        /// HR-EXEC-24, -28: the final output of a successful return; `None` when the provider gave none.
        final_output: fn(Option<&Value>) -> Result<String, String> = final_output;
        /// HR-EVENT-9, -10, -23, -25 to -27: the events of a success, given the final output.
        completed: fn(&str) -> Vec<Occurrence> = completed;
        /// HR-EVENT-17, -18, -24, -28: the events of a failure, given its message.
        failed: fn(&str) -> Vec<Occurrence> = failed;
        /// HR-CANCEL-13 to -15, -19, -26, -27: the events of a cancellation, given its reason and the message of a cleanup that failed.
        cancelled: fn(Option<&str>, Option<&str>) -> Vec<Occurrence> = cancelled;
    }
}

/// Once a cancellation has begun it owns the outcome; a terminal state is final.
pub(crate) fn counts(state: State) -> bool {
    state == State::Running || state.is_awaiting()
}

pub(crate) fn unresolved(state: State) -> Option<String> {
    state.is_awaiting().then(|| "Provider finished with an unresolved action".to_owned())
}

pub(crate) fn final_output(output: Option<&Value>) -> Result<String, String> {
    match output {
        None => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err("Provider returned an invalid final output".to_owned()),
    }
}

pub(crate) fn completed(final_output: &str) -> Vec<Occurrence> {
    vec![
        (event::DONE, json::object([("text", json!(final_output))])),
        (event::COMPLETED, json::object([("finalOutput", json!(final_output))])),
    ]
}

pub(crate) fn failed(message: &str) -> Vec<Occurrence> {
    vec![(event::FAILED, json::object([("code", json!("PROVIDER_ERROR")), ("message", json!(message))]))]
}

pub(crate) fn cancelled(reason: Option<&str>, cleanup_error: Option<&str>) -> Vec<Occurrence> {
    let mut data = JsonObject::new();
    if let Some(reason) = reason {
        data.insert("reason".to_owned(), json!(reason));
    }
    if let Some(message) = cleanup_error {
        data.insert("providerCleanupError".to_owned(), json!(message));
    }
    vec![(event::CANCELLED, data)]
}
