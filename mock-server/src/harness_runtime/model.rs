//! The nouns of the contract: conversations, executions, events, actions, artifacts, providers. Plain data without behaviour.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

pub(crate) use crate::json::JsonObject;

/// The version of the protocol this server speaks.
pub(crate) const PROTOCOL_VERSION: &str = "2026-09-02";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Conversation {
    pub(crate) id: String,
    pub(crate) created_at: Timestamp,
    pub(crate) metadata: JsonObject,
}

/// A request to start an execution, as it passed validation.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct StartRequest {
    pub(crate) conversation_id: String,
    pub(crate) provider_id: String,
    pub(crate) input: String,
    /// As sent: order and duplicates kept; empty when the member is missing.
    pub(crate) required_capabilities: Vec<String>,
    /// `None` when the member is missing, which means the same as `{}`.
    pub(crate) config: Option<JsonObject>,
    pub(crate) idempotency_key: Option<String>,
    /// The body as it was written. Equivalence looks at what it says, never at how it is spelled.
    pub(crate) text: String,
}

impl StartRequest {
    /// The config that applies: a missing one is empty.
    pub(crate) fn effective_config(&self) -> JsonObject {
        self.config.clone().unwrap_or_default()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum State {
    Queued,
    Starting,
    Running,
    AwaitingInput,
    AwaitingApproval,
    Cancelling,
    Succeeded,
    Failed,
    Cancelled,
}

impl State {
    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Starting => "starting",
            State::Running => "running",
            State::AwaitingInput => "awaiting_input",
            State::AwaitingApproval => "awaiting_approval",
            State::Cancelling => "cancelling",
            State::Succeeded => "succeeded",
            State::Failed => "failed",
            State::Cancelled => "cancelled",
        }
    }

    pub(crate) fn is_terminal(self) -> bool {
        matches!(self, State::Succeeded | State::Failed | State::Cancelled)
    }

    pub(crate) fn is_awaiting(self) -> bool {
        matches!(self, State::AwaitingInput | State::AwaitingApproval)
    }
}

/// The record of one execution, as the callers see it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Execution {
    pub(crate) id: String,
    pub(crate) conversation_id: String,
    pub(crate) provider_id: String,
    pub(crate) state: State,
    pub(crate) input: String,
    /// Each name once, sorted.
    pub(crate) required_capabilities: Vec<String>,
    pub(crate) effective_config: JsonObject,
    pub(crate) created_at: Timestamp,
    pub(crate) updated_at: Timestamp,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    pub(crate) final_output: Option<String>,
    /// The message of the provider's failure.
    pub(crate) error: Option<String>,
    /// The reason of the cancellation that has begun.
    pub(crate) cancel_reason: Option<String>,
}

/// One record of the append-only history of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) execution_id: String,
    pub(crate) sequence: u64,
    pub(crate) kind: String,
    pub(crate) time: Timestamp,
    pub(crate) data: JsonObject,
}

/// The names of the standard events.
pub(crate) mod event {
    pub(crate) const QUEUED: &str = "run.queued";
    pub(crate) const STARTED: &str = "run.started";
    pub(crate) const DELTA: &str = "output.text.delta";
    pub(crate) const DONE: &str = "output.text.done";
    pub(crate) const ACTION_REQUIRED: &str = "action.required";
    pub(crate) const ACTION_RESPONDED: &str = "action.responded";
    pub(crate) const ARTIFACT_CREATED: &str = "artifact.created";
    pub(crate) const PROVIDER_EVENT: &str = "provider.event";
    pub(crate) const COMPLETED: &str = "run.completed";
    pub(crate) const FAILED: &str = "run.failed";
    pub(crate) const CANCELLED: &str = "run.cancelled";

    /// Whether an event of this type ends its history.
    pub(crate) fn is_terminal(kind: &str) -> bool {
        matches!(kind, COMPLETED | FAILED | CANCELLED)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActionKind {
    Approval,
    Input,
}

impl ActionKind {
    pub(crate) fn name(self) -> &'static str {
        match self {
            ActionKind::Approval => "approval",
            ActionKind::Input => "input",
        }
    }
}

/// Where an action stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ActionStatus {
    Pending,
    Responded,
    /// Its execution ended or began to end before anyone answered.
    Abandoned,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Action {
    pub(crate) id: String,
    pub(crate) execution_id: String,
    pub(crate) kind: ActionKind,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) payload: JsonObject,
    pub(crate) created_at: Timestamp,
    pub(crate) status: ActionStatus,
}

/// What a caller answered to an action.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Response {
    pub(crate) approved: Option<bool>,
    pub(crate) value: Option<Value>,
    pub(crate) metadata: Option<JsonObject>,
}

/// A descriptor that was accepted. It holds no bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Artifact {
    pub(crate) id: String,
    pub(crate) execution_id: String,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) uri: Option<String>,
    pub(crate) metadata: JsonObject,
    pub(crate) created_at: Timestamp,
}

/// How well a provider supports a capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Support {
    Native,
    Emulated,
    Degraded,
    Unsupported,
}

impl Support {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Support::Native => "native",
            Support::Emulated => "emulated",
            Support::Degraded => "degraded",
            Support::Unsupported => "unsupported",
        }
    }
}

/// What a provider says of itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Manifest {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) topologies: Vec<&'static str>,
    pub(crate) capabilities: BTreeMap<String, Support>,
    pub(crate) metadata: Option<JsonObject>,
}

/// What the runtime says of itself.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Description {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) protocol_version: String,
    pub(crate) providers: Vec<Manifest>,
}
