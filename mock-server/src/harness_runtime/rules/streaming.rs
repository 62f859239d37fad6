//! Event streams: backlog, then live, through the terminal event. Sections 5 and 10 (rule 20) of the contract page.

use crate::harness_runtime::model::{Event, event};
use crate::table::table;
use std::sync::Arc;

/// How far a stream has come in a history. Positions count events of the log.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    /// What is behind this position was looked at.
    pub(crate) position: usize,
    /// How many events there are.
    pub(crate) length: usize,
    /// The newest event.
    pub(crate) newest: Option<Arc<Event>>,
    /// Whether the backlog has been passed.
    pub(crate) live: bool,
    /// The reader's cursor.
    pub(crate) after: u64,
    /// Whether the execution is in a terminal state.
    pub(crate) ended: bool,
}

table! {
    /// Rules about streams.
    Streaming {
        /// HR-STREAM-11, -13: the position from which a stream goes on live when it has passed the backlog.
        live_from: fn(&Progress) -> usize = live_from;
        /// HR-STREAM-2, -4, -11: the positions that a reader is given next, out of those that wait.
        batch: fn(&Progress, usize) -> std::ops::Range<usize> = batch;
        /// HR-STREAM-3, -12: whether the server ends the stream now.
        ends: fn(&Progress) -> bool = ends;
        /// HR-STREAM-15: whether a reader that goes away cancels the execution.
        leaving_cancels: fn() -> bool = leaving_cancels;
    }
}

/// Exactly where the backlog ended: nothing is lost between, nothing comes twice.
pub(crate) fn live_from(progress: &Progress) -> usize {
    progress.position
}

/// The next ones in order, at most `limit`, so that a slow reader costs no memory: what it has not read stays in the log.
pub(crate) fn batch(progress: &Progress, limit: usize) -> std::ops::Range<usize> {
    progress.position..progress.length.min(progress.position.saturating_add(limit))
}

/// Right after the terminal event, also when that was not above the cursor.
pub(crate) fn ends(progress: &Progress) -> bool {
    progress.position >= progress.length && progress.newest.as_ref().is_some_and(|newest| event::is_terminal(&newest.kind))
}

/// Observing is not owning.
pub(crate) fn leaving_cancels() -> bool {
    false
}
