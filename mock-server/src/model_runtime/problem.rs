//! Failures: what an event says of one, and what an HTTP answer says. Section 2 of the contract page.
//!
//! Messages are constants. Nothing of a request is ever in them.

use crate::http::wire::Refusal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The portable codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Code {
    InvalidRequest,
    CapabilityUnavailable,
    QueueFull,
    RateLimited,
    ProviderUnavailable,
    ProviderProtocolError,
    DeadlineExceeded,
    Cancelled,
    InternalError,
}

impl Code {
    pub(crate) const ALL: [Code; 9] = [
        Code::InvalidRequest,
        Code::CapabilityUnavailable,
        Code::QueueFull,
        Code::RateLimited,
        Code::ProviderUnavailable,
        Code::ProviderProtocolError,
        Code::DeadlineExceeded,
        Code::Cancelled,
        Code::InternalError,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Code::InvalidRequest => "invalid_request",
            Code::CapabilityUnavailable => "capability_unavailable",
            Code::QueueFull => "queue_full",
            Code::RateLimited => "rate_limited",
            Code::ProviderUnavailable => "provider_unavailable",
            Code::ProviderProtocolError => "provider_protocol_error",
            Code::DeadlineExceeded => "deadline_exceeded",
            Code::Cancelled => "cancelled",
            Code::InternalError => "internal_error",
        }
    }
}

/// Why an execution, an attempt or a request failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fault {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) retryable: bool,
    /// What the provider called it: evidence, never the code.
    pub(crate) provider_code: Option<String>,
}

impl Fault {
    pub(crate) fn new(code: Code, message: &str, retryable: bool) -> Self {
        Self { code, message: message.to_owned(), retryable, provider_code: None }
    }

    pub(crate) fn no_candidate() -> Self {
        Self::new(Code::CapabilityUnavailable, "No configured model can serve the request", false)
    }

    pub(crate) fn provider_busy() -> Self {
        Self::new(Code::QueueFull, "Provider queue is full", true)
    }

    pub(crate) fn too_many_executions() -> Self {
        Self::new(Code::QueueFull, "Too many executions are active", true)
    }

    pub(crate) fn deadline() -> Self {
        Self::new(Code::DeadlineExceeded, "Execution deadline exceeded", false)
    }

    pub(crate) fn cancelled() -> Self {
        Self::new(Code::Cancelled, "Execution was cancelled", false)
    }

    pub(crate) fn interrupted() -> Self {
        Self::new(Code::InternalError, "Execution was interrupted by a restart", false)
    }

    pub(crate) fn bad_usage() -> Self {
        Self::new(Code::ProviderProtocolError, "Provider reported an invalid usage fact", false)
    }

    pub(crate) fn bad_event() -> Self {
        Self::new(Code::InternalError, "Provider emitted an invalid event", false)
    }

    pub(crate) fn document(&self) -> Value {
        let mut document = json!({ "code": self.code.name(), "message": self.message, "retryable": self.retryable });
        if let Some(code) = &self.provider_code {
            document["provider_code"] = json!(code);
        }
        document
    }
}

/// A refused request.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub(crate) enum Problem {
    #[error("{}", .0.message)]
    Refused(Fault),
    #[error("Idempotency-Key was already used with another request")]
    Conflict,
    #[error("Route not found")]
    RouteNotFound,
    #[error("Execution not found")]
    ExecutionNotFound,
}

impl Problem {
    pub(crate) fn invalid(message: &str) -> Self {
        Problem::Refused(Fault::new(Code::InvalidRequest, message, false))
    }

    pub(crate) fn code(&self) -> Option<Code> {
        match self {
            Problem::Refused(fault) => Some(fault.code),
            Problem::Conflict => Some(Code::InvalidRequest),
            Problem::RouteNotFound | Problem::ExecutionNotFound => None,
        }
    }
}

impl Refusal for Problem {
    fn spelled(&self) -> (u16, Value) {
        match self {
            Problem::Refused(fault) => {
                let status = if fault.code == Code::InvalidRequest { 400 } else { 500 };
                (status, json!({ "error": fault.document() }))
            }
            Problem::Conflict => Self::invalid(&self.to_string()).spelled(),
            missing => (404, json!({ "error": { "code": "not_found", "message": missing.to_string() } })),
        }
    }
}
