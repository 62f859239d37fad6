//! What a provider may say. Sections 3 and 7 of the contract page.

use super::usage::Usage;
use crate::json::JsonObject;
use crate::model_runtime::model::{Execution, event};
use crate::model_runtime::problem::Fault;
use crate::table::table;
use serde_json::Value;

table! {
    /// Rules about what providers emit.
    Emissions {
        /// MR-CANCEL-20, MR-DEAD-9, MR-EXEC-17: whether an attempt is still listened to.
        counts: fn(&Execution, usize) -> bool = counts;
        /// MR-EVENT-9, -24 to -30, MR-USAGE-10, -11, -13, -14, -18: whether an event may be recorded; if not, why the attempt fails.
        accepted: fn(&Usage, &str, &JsonObject) -> Result<(), Fault> = accepted;
    }
}

/// The attempt at hand, until the execution has ended.
pub(crate) fn counts(execution: &Execution, attempt: usize) -> bool {
    !execution.status.is_terminal() && execution.attempt == attempt
}

pub(crate) fn accepted(usage: &Usage, kind: &str, data: &JsonObject) -> Result<(), Fault> {
    let text = |name: &str| data.get(name).is_some_and(Value::is_string);
    let fits = match kind {
        event::DELTA => data.get("output_index").is_some_and(Value::is_u64) && text("delta"),
        event::TOOL_STARTED => text("call_id") && text("name"),
        event::TOOL_ARGUMENTS => text("call_id") && text("delta"),
        event::PROGRESS => matches!(data.get("phase").and_then(Value::as_str), Some("queued" | "processing")),
        event::RESULT => data.get("artifacts").is_none_or(|artifacts| artifacts.as_array().is_some_and(|all| all.iter().all(artifact))),
        event::USAGE => return facts(usage, data),
        _ => false,
    };
    if fits { Ok(()) } else { Err(Fault::bad_event()) }
}

fn artifact(artifact: &Value) -> bool {
    let text = |name: &str| artifact.get(name).is_none_or(Value::is_string);
    artifact.get("uri").is_some_and(Value::is_string) && text("media_type") && text("name") && text("expires_at")
}

fn facts(usage: &Usage, data: &JsonObject) -> Result<(), Fault> {
    let facts = data.get("facts").and_then(Value::as_array).ok_or_else(Fault::bad_event)?;
    if facts.iter().all(|fact| (usage.fact)(usage, fact)) { Ok(()) } else { Err(Fault::bad_usage()) }
}
