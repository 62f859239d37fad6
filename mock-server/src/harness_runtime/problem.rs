//! Failures that cross the wire: a stable code, its status, a readable message. Section 2 of the contract page.

use crate::http::wire::Refusal;
use serde_json::{Value, json};

/// The documented codes that an HTTP answer can carry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    Validation,
    NotFound,
    ProviderNotFound,
    ActionNotFound,
    IdempotencyConflict,
    ActionAlreadyResolved,
    InvalidState,
    CapabilityUnsupported,
}

impl Code {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Code::Validation => "VALIDATION_ERROR",
            Code::NotFound => "NOT_FOUND",
            Code::ProviderNotFound => "PROVIDER_NOT_FOUND",
            Code::ActionNotFound => "ACTION_NOT_FOUND",
            Code::IdempotencyConflict => "IDEMPOTENCY_CONFLICT",
            Code::ActionAlreadyResolved => "ACTION_ALREADY_RESOLVED",
            Code::InvalidState => "INVALID_STATE",
            Code::CapabilityUnsupported => "CAPABILITY_UNSUPPORTED",
        }
    }

    pub(crate) fn status(self) -> u16 {
        match self {
            Code::Validation => 400,
            Code::NotFound | Code::ProviderNotFound | Code::ActionNotFound => 404,
            Code::IdempotencyConflict | Code::ActionAlreadyResolved | Code::InvalidState => 409,
            Code::CapabilityUnsupported => 422,
        }
    }
}

/// A refused command.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}: {message}", code.name())]
pub(crate) struct Problem {
    pub(crate) code: Code,
    pub(crate) message: String,
    pub(crate) details: Option<Value>,
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: None }
    }

    pub(crate) fn validation(message: &str) -> Self {
        Self::new(Code::Validation, message)
    }

    pub(crate) fn conversation_not_found(id: &str) -> Self {
        Self::new(Code::NotFound, format!("Conversation not found: {id}"))
    }

    pub(crate) fn execution_not_found(id: &str) -> Self {
        Self::new(Code::NotFound, format!("Execution not found: {id}"))
    }

    pub(crate) fn provider_not_found(id: &str) -> Self {
        Self::new(Code::ProviderNotFound, format!("Provider not found: {id}"))
    }

    pub(crate) fn action_not_found(id: &str) -> Self {
        Self::new(Code::ActionNotFound, format!("Action not found: {id}"))
    }

    pub(crate) fn action_already_resolved(id: &str) -> Self {
        Self::new(Code::ActionAlreadyResolved, format!("Action already resolved: {id}"))
    }

    pub(crate) fn idempotency_conflict() -> Self {
        Self::new(Code::IdempotencyConflict, "Idempotency key was already used with a different execution request")
    }

    /// `missing`: the names that the provider does not support, sorted and unique.
    pub(crate) fn capability_unsupported(provider_id: &str, missing: &[String]) -> Self {
        Self {
            code: Code::CapabilityUnsupported,
            message: format!("Provider {provider_id} does not support required capabilities"),
            details: Some(json!({ "providerId": provider_id, "capabilities": missing })),
        }
    }

    /// The body of the answer: `{code, message, details?}`.
    pub(crate) fn document(&self) -> Value {
        let mut body = json!({ "code": self.code.name(), "message": self.message });
        if let Some(details) = &self.details {
            body["details"] = details.clone();
        }
        body
    }
}

impl Refusal for Problem {
    fn spelled(&self) -> (u16, Value) {
        (self.code.status(), self.document())
    }
}
