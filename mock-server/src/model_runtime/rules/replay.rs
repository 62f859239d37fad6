//! Cursors: which events a reader gets. Section 5 of the contract page.

use crate::table::table;

table! {
    /// Rules about reading a history after a cursor.
    Replay {
        /// MR-CURSOR-1, -4 to -7: whether a reader with the cursor gets the event of that number.
        follows: fn(u64, u64) -> bool = follows;
    }
}

/// Greater than the cursor, never equal.
pub(crate) fn follows(after: u64, sequence: u64) -> bool {
    sequence > after
}
