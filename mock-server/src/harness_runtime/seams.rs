//! Where a step of the machine could be taken apart. In the reference every seam is closed: a step is indivisible.

use super::machine::Change;
use super::rules::streaming::Progress;
use crate::table::table;
use std::time::Duration;

/// The command a step belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    CreateConversation,
    Start,
    Begin,
    Emit,
    Ask,
    End,
    Cancel,
    CleanedUp,
    Respond,
    /// After a restart.
    Recover,
}

/// The store is let go for `pause` before the change at that index is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hold {
    pub(crate) before: usize,
    pub(crate) pause: Duration,
    /// Whether the changes that were held back are forgotten if their execution has ended meanwhile.
    pub(crate) unless_ended: bool,
}

table! {
    /// The seams.
    Seams {
        /// Within a step, between the decision and its changes and between the changes, in rising order.
        step: fn(Moment, &[Change]) -> Vec<Hold> = indivisible;
        /// Between the start of an execution and the beginning of its provider's work.
        begin: fn() -> Option<Duration> = at_once;
        /// Whether the head of a stream may be sent, given what its reader can be brought by now.
        head: fn(&Progress) -> bool = always;
        /// In a stream, between the end of its backlog and the beginning of its live phase.
        live: fn(&Progress) -> Option<Duration> = no_pause;
    }
}

pub(crate) fn indivisible(_moment: Moment, _changes: &[Change]) -> Vec<Hold> {
    Vec::new()
}

pub(crate) fn at_once() -> Option<Duration> {
    None
}

pub(crate) fn always(_progress: &Progress) -> bool {
    true
}

pub(crate) fn no_pause(_progress: &Progress) -> Option<Duration> {
    None
}
