//! How an event enters the history of its execution. Sections 3 and 10 (rules 1 and 2) of the contract page.

use crate::harness_runtime::machine::NewEvent;
use crate::table::table;

table! {
    /// Rules about the log.
    Events {
        /// HR-EVENT-3, -7: the number of the next event, given how many its execution has, and how many all executions have together.
        sequence: fn(u64, u64) -> u64 = sequence;
        /// HR-EVENT-1, -36: the id of an event.
        id: fn(&str, u64) -> String = id;
        /// HR-EVENT-8: what is appended for a new event, in order.
        appended: fn(NewEvent) -> Vec<NewEvent> = appended;
    }
}

/// Numbers start at 1, have no gaps, and belong to one execution.
pub(crate) fn sequence(of_execution: u64, _of_all: u64) -> u64 {
    of_execution + 1
}

pub(crate) fn id(execution_id: &str, sequence: u64) -> String {
    format!("{execution_id}:{sequence}")
}

/// A new event is appended once, as it is.
pub(crate) fn appended(event: NewEvent) -> Vec<NewEvent> {
    vec![event]
}
