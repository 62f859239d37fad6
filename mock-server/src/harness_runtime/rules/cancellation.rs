//! Cancellation: a request first, confirmed by its terminal event. Sections 3 and 10 (rules 6, 9, 12, 15, 25) of the contract page.

use crate::harness_runtime::model::State;
use crate::harness_runtime::problem::Problem;
use crate::table::table;

/// What a cancel request sets off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CancelEffect {
    /// The execution has ended: it is answered as it is.
    Unchanged,
    /// Another cancellation is at work: wait for it.
    Join,
    /// Cancellation begins, with the provider's cleanup.
    Begin,
}

table! {
    /// Rules about cancellation.
    Cancellation {
        /// HR-CANCEL-16 to -18, -20 to -22: what a cancel request does in this state.
        effect: fn(State) -> Result<CancelEffect, Problem> = effect;
        /// HR-CANCEL-2, -23, -35: whether a cancel request that had this effect may be answered in this state.
        confirmed: fn(CancelEffect, State) -> bool = confirmed;
        /// HR-CANCEL-21, -25: whether the outcome of the provider's cleanup ends an execution in this state.
        concludes: fn(State) -> bool = concludes;
    }
}

/// It may begin from every state that is not terminal; requests that come together share one cleanup.
#[expect(clippy::unnecessary_wraps, reason = "the reference refuses no cancellation, but a runtime may")]
pub(crate) fn effect(state: State) -> Result<CancelEffect, Problem> {
    Ok(match state {
        State::Cancelling => CancelEffect::Join,
        state if state.is_terminal() => CancelEffect::Unchanged,
        _ => CancelEffect::Begin,
    })
}

/// A cancel request is answered once the execution has ended, whoever began the cancellation.
pub(crate) fn confirmed(_effect: CancelEffect, state: State) -> bool {
    state.is_terminal()
}

/// A failed cleanup confirms the cancellation as well as one that worked.
pub(crate) fn concludes(state: State) -> bool {
    state == State::Cancelling
}
