//! How an event enters the history of its execution. Section 3 of the contract page.

use crate::model_runtime::machine::NewEvent;
use crate::model_runtime::model::Event;
use crate::table::table;
use std::sync::Arc;

table! {
    /// Rules about the log.
    Events {
        /// MR-EVENT-3, -7, -8: the number of the next event, given the history so far, and how many events all executions have together.
        sequence: fn(&[Arc<Event>], u64) -> u64 = sequence;
        /// MR-EVENT-33 to -36, -47 to -49: what is appended for a new event, in order, given the history so far.
        appended: fn(&[Arc<Event>], NewEvent) -> Vec<NewEvent> = appended;
    }
}

/// Numbers start at 1, have no gaps, and belong to one execution.
pub(crate) fn sequence(log: &[Arc<Event>], _of_all: u64) -> u64 {
    log.last().map_or(1, |last| last.sequence + 1)
}

/// A new event is appended once, as it is.
pub(crate) fn appended(_log: &[Arc<Event>], event: NewEvent) -> Vec<NewEvent> {
    vec![event]
}
