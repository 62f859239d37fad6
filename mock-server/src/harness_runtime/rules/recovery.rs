//! What becomes of executions that had not ended when the server did. Section 10 of the contract page, rules 3, 11, 13 and 15.

use crate::harness_runtime::model::State;
use crate::table::table;

/// How an execution goes on after a restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its provider was never started: it is now.
    Begin,
    /// Its provider is gone: the execution has failed.
    Fail,
    /// Its cancellation had begun: it is cancelled, and the cleanup has failed.
    Conclude,
    /// Nothing happens to it.
    Leave,
}

table! {
    /// Rules about restarts.
    Recovery {
        /// HR-DURA-1, -7, -9: what a state that was found becomes.
        outcome: fn(State) -> Outcome = outcome;
        /// The message of the failure, and of the cleanup that did not end.
        message: fn() -> String = message;
    }
}

/// What has begun never begins again; what is terminal stays; a cancellation owns its outcome.
pub(crate) fn outcome(state: State) -> Outcome {
    match state {
        State::Queued => Outcome::Begin,
        State::Starting | State::Running | State::AwaitingInput | State::AwaitingApproval => Outcome::Fail,
        State::Cancelling => Outcome::Conclude,
        State::Succeeded | State::Failed | State::Cancelled => Outcome::Leave,
    }
}

pub(crate) fn message() -> String {
    "The server was stopped while the provider worked".to_owned()
}
