//! Event streams: backlog, then live, through the terminal event. Section 5 of the contract page.

use crate::model_runtime::machine::{Store, Submitted};
use crate::model_runtime::model::{Event, event};
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
}

table! {
    /// Rules about streams.
    Streaming {
        /// MR-IDEM-38, MR-STREAM-12: the execution whose stream answers a submission.
        of_submission: fn(&Store, &Submitted) -> String = of_submission;
        /// MR-STREAM-8, -23, MR-CURSOR-15: the position from which a stream goes on live when it has passed the backlog.
        live_from: fn(&Progress) -> usize = live_from;
        /// MR-STREAM-6, -9, -13, -16: the positions that a reader is given next, out of those that wait.
        batch: fn(&Progress, usize) -> std::ops::Range<usize> = batch;
        /// MR-STREAM-7, MR-CURSOR-6, -7: whether the server ends the stream now.
        ends: fn(&Progress) -> bool = ends;
        /// MR-STREAM-10, -11: whether a reader that goes away cancels the execution.
        leaving_cancels: fn() -> bool = leaving_cancels;
    }
}

/// Its own, which is that of the original when it is a replay.
pub(crate) fn of_submission(_store: &Store, submitted: &Submitted) -> String {
    submitted.execution.id.clone()
}

/// Exactly where the backlog ended: nothing is lost between, nothing comes twice.
pub(crate) fn live_from(progress: &Progress) -> usize {
    progress.position
}

/// The next ones in order, at most `limit`.
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
