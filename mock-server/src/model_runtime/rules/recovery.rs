//! What becomes of executions that had not ended when the server did. Section 12 of the contract page, rule 40.

use crate::model_runtime::model::Status;
use crate::model_runtime::problem::Fault;
use crate::table::table;

/// How an execution goes on after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It has failed.
    Fail,
    /// Nothing happens to it.
    Leave,
}

table! {
    /// Rules about restarts.
    Recovery {
        /// MR-DUR-3, -5, -7: what a status that was found becomes.
        outcome: fn(Status) -> Outcome = outcome;
        /// MR-DUR-2: what an interrupted execution has failed of.
        fault: fn() -> Fault = fault;
    }
}

/// What was accepted has failed too: nobody can say how far its provider came. What has ended stays.
pub(crate) fn outcome(status: Status) -> Outcome {
    if status.is_terminal() { Outcome::Leave } else { Outcome::Fail }
}

/// Nobody knows what the provider did, so it is not worth another try.
pub(crate) fn fault() -> Fault {
    Fault::interrupted()
}
