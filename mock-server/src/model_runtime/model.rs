//! The nouns of the contract: requests, executions, events, targets, models. Plain data without behaviour.

use crate::json::JsonObject;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

use super::problem::Fault;

/// The version of the protocol this server speaks.
pub(crate) const PROTOCOL_VERSION: &str = "0.1.0";

/// What a part of an input can be, and what a model can take and give.
pub(crate) const MODALITIES: [&str; 6] = ["text", "image", "audio", "video", "file", "json"];

/// What a model can do apart from its modalities.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Feature {
    Stream,
    Tools,
    StructuredOutput,
    Async,
    Cancel,
}

impl Feature {
    pub(crate) const ALL: [Feature; 5] = [Feature::Stream, Feature::Tools, Feature::StructuredOutput, Feature::Async, Feature::Cancel];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Feature::Stream => "stream",
            Feature::Tools => "tools",
            Feature::StructuredOutput => "structured_output",
            Feature::Async => "async",
            Feature::Cancel => "cancel",
        }
    }
}

/// What must be there before anything is routed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Requirements {
    pub(crate) input_modalities: Vec<String>,
    pub(crate) output_modalities: Vec<String>,
    /// Those that are required. One that is `false` in the request is not asked for.
    pub(crate) features: BTreeSet<Feature>,
}

/// How an execution shall be routed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Preferences {
    pub(crate) provider_order: Vec<String>,
    /// `None` when the request does not say.
    pub(crate) allow_fallback: Option<bool>,
    pub(crate) max_attempts: Option<u64>,
    pub(crate) retry_budget_ms: Option<u64>,
}

/// A request as it passed validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) ability: String,
    /// The parts as they were sent, one at least.
    pub(crate) input: Vec<JsonObject>,
    pub(crate) requirements: Requirements,
    pub(crate) routing: Preferences,
    pub(crate) deadline_ms: Option<u64>,
    pub(crate) metadata: JsonObject,
    pub(crate) extensions: JsonObject,
    /// The whole request: what requests with one key are compared by.
    pub(crate) document: Value,
    /// The body as it was written. Equivalence looks at what it says, never at how it is spelled.
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Status {
    Accepted,
    Routing,
    Running,
    Succeeded,
    Failed,
    Cancelled,
}

impl Status {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Status::Accepted => "accepted",
            Status::Routing => "routing",
            Status::Running => "running",
            Status::Succeeded => "succeeded",
            Status::Failed => "failed",
            Status::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, Status::Succeeded | Status::Failed | Status::Cancelled)
    }
}

/// One model of one provider.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) provider: String,
    pub(crate) model: String,
}

/// The record of one execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Execution {
    pub(crate) id: String,
    /// Does not change, and is kept apart from what does.
    #[serde(skip)]
    pub(crate) request: Arc<Request>,
    pub(crate) status: Status,
    pub(crate) created_at: Timestamp,
    /// Who may be tried, in order; known once it was routed.
    pub(crate) candidates: Vec<Target>,
    /// The attempt at hand, from 1; `0` before the first.
    pub(crate) attempt: usize,
    /// Whether the attempt at hand has given output, after which there is no other attempt.
    pub(crate) committed: bool,
    pub(crate) error: Option<Fault>,
}

impl Execution {
    /// Who is being tried.
    pub(crate) fn target(&self) -> Option<&Target> {
        self.attempt.checked_sub(1).and_then(|index| self.candidates.get(index))
    }
}

/// One record of the append-only history of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) execution_id: String,
    pub(crate) sequence: u64,
    pub(crate) kind: String,
    pub(crate) status: Status,
    pub(crate) time: Timestamp,
    /// The members beside the envelope, as the runtime or the provider gave them.
    pub(crate) data: JsonObject,
}

/// The names of the events.
pub(crate) mod event {
    pub(crate) const ACCEPTED: &str = "execution.accepted";
    pub(crate) const SELECTED: &str = "route.selected";
    pub(crate) const ATTEMPT_FAILED: &str = "route.attempt_failed";
    pub(crate) const DELTA: &str = "output.delta";
    pub(crate) const TOOL_STARTED: &str = "tool.call.started";
    pub(crate) const TOOL_ARGUMENTS: &str = "tool.call.arguments.delta";
    pub(crate) const PROGRESS: &str = "execution.progress";
    pub(crate) const RESULT: &str = "output.result";
    pub(crate) const USAGE: &str = "usage.reported";
    pub(crate) const COMPLETED: &str = "execution.completed";
    pub(crate) const FAILED: &str = "execution.failed";

    /// Whether an event of this type ends its history.
    pub(crate) fn is_terminal(kind: &str) -> bool {
        matches!(kind, COMPLETED | FAILED)
    }
}

/// What a configured model can do.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Model {
    pub(crate) name: &'static str,
    pub(crate) abilities: Vec<&'static str>,
    pub(crate) input_modalities: Vec<&'static str>,
    pub(crate) output_modalities: Vec<&'static str>,
    pub(crate) features: BTreeSet<Feature>,
}

/// How many executions a provider works on at once, and how many may wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gate {
    pub(crate) concurrency: usize,
    pub(crate) queue: usize,
}

impl Gate {
    /// Where a provider says nothing.
    pub(crate) const USUAL: Gate = Gate { concurrency: 16, queue: 64 };
}

/// What a provider says of itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) provider: &'static str,
    pub(crate) models: Vec<Model>,
    pub(crate) limits: Option<Gate>,
}
