//! What a provider may emit. Section 3 of the contract page, "Emission checks".

use crate::harness_runtime::model::{JsonObject, State, event};
use crate::table::table;
use serde_json::Value;

table! {
    /// Rules about emissions. A refusal is an error inside the provider; nothing is appended.
    Emissions {
        /// HR-EVENT-30, -31: the types that a provider may emit; all others belong to the runtime.
        allowed: fn(&str) -> bool = allowed;
        /// HR-EVENT-10, HR-ACTION-35: whether an emission in this state is appended. Otherwise it is dropped without an error.
        counts: fn(State) -> bool = counts;
        /// HR-EVENT-14, -32, -33, -37: the data of an emission of an allowed type, or the message of its refusal.
        data: fn(&str, &Value) -> Result<JsonObject, String> = data;
    }
}

pub(crate) fn allowed(kind: &str) -> bool {
    matches!(kind, event::DELTA | event::PROVIDER_EVENT | event::ARTIFACT_CREATED)
}

/// Nothing follows the terminal event; until then, even while a cancellation cleans up, what the provider says is kept.
pub(crate) fn counts(state: State) -> bool {
    !state.is_terminal()
}

pub(crate) fn data(kind: &str, data: &Value) -> Result<JsonObject, String> {
    let Some(data) = data.as_object() else { return Err("Provider emitted invalid JSON event data".to_owned()) };
    if kind == event::DELTA && !data.get("text").is_some_and(Value::is_string) {
        return Err("Provider emitted an invalid text delta".to_owned());
    }
    Ok(data.clone())
}

/// The message that refuses a type that is not allowed.
pub(crate) fn reserved() -> String {
    "Provider emitted a reserved or unknown event type".to_owned()
}
