//! Cancellations and deadlines. Section 9 of the contract page.
//!
//! The runtime keeps the promise: an execution that is cancelled or out of time has ended, whatever its provider goes on doing.

use crate::model_runtime::model::Status;
use crate::table::table;

table! {
    /// Rules about the end that comes from outside.
    Cancellation {
        /// MR-CANCEL-1, -9 to -11, -21: whether an execution can be cancelled.
        cancellable: fn(Status) -> bool = cancellable;
        /// MR-DEAD-1, -5, -6, -10, -12: how many milliseconds an execution may take from its acceptance, given its `deadline_ms`.
        time_allowed: fn(Option<u64>) -> Option<u64> = time_allowed;
    }
}

/// Until it has ended.
pub(crate) fn cancellable(status: Status) -> bool {
    !status.is_terminal()
}

/// All of them, whatever the execution does meanwhile.
pub(crate) fn time_allowed(deadline_ms: Option<u64>) -> Option<u64> {
    deadline_ms
}
