//! Cursors: which events a reader gets. Sections 3 and 10 (rules 2 and 20) of the contract page.

use crate::harness_runtime::model::{Event, Execution};
use crate::table::table;
use std::sync::Arc;

/// How a history is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reader {
    List,
    Stream,
}

table! {
    /// Rules about reading a history after a cursor.
    Replay {
        /// HR-REPLAY-3 to -5: whether a reader with the cursor `after` gets the event of that number.
        follows: fn(Reader, u64, u64) -> bool = follows;
        /// HR-REPLAY-13, -14, HR-EVENT-8: the events that a list shows, from those that follow the cursor.
        listed: fn(&Execution, Vec<Arc<Event>>) -> Vec<Arc<Event>> = listed;
        /// HR-REPLAY-6, -7: the cursor for the next read, given this read's cursor and the number of its last event.
        next_cursor: fn(u64, Option<u64>) -> u64 = next_cursor;
    }
}

/// Greater than the cursor, never equal.
pub(crate) fn follows(_reader: Reader, after: u64, sequence: u64) -> bool {
    sequence > after
}

/// All of them, in order.
pub(crate) fn listed(_execution: &Execution, events: Vec<Arc<Event>>) -> Vec<Arc<Event>> {
    events
}

/// The last number that was returned; without events the cursor stays.
pub(crate) fn next_cursor(after: u64, last: Option<u64>) -> u64 {
    last.unwrap_or(after)
}
