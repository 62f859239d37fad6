//! Scripts: what the scripted provider does, as data in the `config` of an execution. `mock-server/README.md` is the manual.

mod parse;
mod perform;

pub(crate) use parse::parse;
pub(crate) use perform::{Flow, Stage, perform};

use serde_json::Value;
use std::time::Duration;

/// What `config` says to the scripted provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Script {
    /// `None`: echo the input.
    pub(crate) steps: Option<Vec<Step>>,
    pub(crate) cleanup: Vec<Step>,
    /// Never looks at cancellation.
    pub(crate) deaf: bool,
    /// The counter of starts and cleanups.
    pub(crate) tally: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Step {
    /// Emits any type with any data, allowed or not. Deltas, artifacts and provider events are emissions of their type.
    Emit {
        kind: String,
        data: Value,
    },
    Echo(Echo),
    Pause(Duration),
    Ask {
        question: Value,
        meanwhile: Vec<Step>,
        unless_approved: UnlessApproved,
    },
    Repeat {
        steps: Vec<Step>,
        times: Option<u64>,
        every: Duration,
    },
    /// Waits until the run is cancelled.
    Hold,
    /// Goes on when a step inside is refused.
    Try(Vec<Step>),
    Fail(String),
    Return(Value),
    ReportTally(String),
}

/// What a delta repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Echo {
    Input,
    Answer,
}

/// What follows an approval that was not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnlessApproved {
    Fail,
    GoOn,
}
