//! Scripts: what the providers do, as data in `extensions.proofmark` of a request. `mock-server/README.md` is the manual.

pub(crate) mod habit;
mod parse;
mod perform;

pub(crate) use parse::parse;
pub(crate) use perform::{Stage, perform};

use super::problem::Fault;
use crate::json::JsonObject;
use std::time::Duration;

/// What `extensions.proofmark` says.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Script {
    /// One script an attempt; further attempts have the last one. Empty: the habit of the provider.
    pub(crate) attempts: Vec<Vec<Step>>,
    /// Never looks at the signal to stop.
    pub(crate) deaf: bool,
    /// The counter of starts.
    pub(crate) tally: Option<String>,
}

impl Script {
    /// The steps of an attempt, counted from 1; `None` when nothing is scripted.
    pub(crate) fn steps(&self, attempt: usize) -> Option<&[Step]> {
        self.attempts.get(attempt.saturating_sub(1)).or(self.attempts.last()).map(Vec::as_slice)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Emits any type with any members, allowed or not. All that is said is said with it.
    Emit {
        kind: String,
        data: JsonObject,
    },
    Echo {
        index: u64,
    },
    Pause(Duration),
    /// Waits until the execution is stopped.
    Hold,
    Repeat {
        steps: Vec<Step>,
        times: Option<u64>,
        every: Duration,
    },
    Fail(Fault),
    Complete,
    ReportTally(String),
}
