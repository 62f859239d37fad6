//! Cancellations and deadlines. Section 9 of the contract page.
//!
//! The runtime keeps the promise: an execution that is cancelled or out of time has ended, whatever its provider goes on doing.

use crate::model_runtime::model::Status;
use crate::table::table;
use std::time::Duration;

table! {
    /// Rules about the end that comes from outside.
    Cancellation {
        /// Whether an execution can be cancelled.
        cancellable: fn(Status) -> bool = cancellable;
        /// How long an execution may take from its acceptance, given its `deadline_ms`.
        time_allowed: fn(Option<u64>) -> Option<Duration> = time_allowed;
    }
}

/// Until it has ended.
pub(crate) fn cancellable(status: Status) -> bool {
    !status.is_terminal()
}

pub(crate) fn time_allowed(deadline_ms: Option<u64>) -> Option<Duration> {
    deadline_ms.map(Duration::from_millis)
}
