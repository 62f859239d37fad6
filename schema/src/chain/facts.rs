//! What the rules of a journal look at in an event. Read after the event was found well-formed, so nothing here can fail.

use crate::canonical::scalar;
use crate::canonical::table::{Field, Kind, Message, Shape, table};
use crate::json::Json;

use crate::agentsessions::v1::{EventKind, Mediation, lifecycle};

/// The few things of an event that other records are held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// Empty on session-scoped records.
    pub execution: String,
    pub body: Body,
    /// The name of a URI without a digest beside it, when the event carries one.
    pub loose_uri: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Body {
    Start {
        input_count: Option<i64>,
    },
    Input,
    ToolCall {
        id: String,
        /// Waits for an approval.
        gated: bool,
        keyed: bool,
    },
    Request {
        call: String,
    },
    Decision {
        call: String,
        request_seq: i64,
        approved: bool,
    },
    Receipt {
        call: String,
        request_seq: i64,
        decision_seq: i64,
        /// The number of a `ToolResult.Code`.
        code: i32,
        is_error: bool,
    },
    End,
    Error,
    Fork,
    Lifecycle,
    Parked,
    Other,
    /// A kind from a newer contract.
    Unknown,
}

impl Facts {
    pub(super) fn of(event: &Json<'_>) -> Self {
        let event = View { message: table().message(table().event), json: event };
        Self { execution: event.string("execution_id"), body: event.body(), loose_uri: event.loose_uri() }
    }
}

/// A message and the object it was read from.
#[derive(Clone, Copy)]
struct View<'j> {
    message: &'static Message,
    json: &'j Json<'j>,
}

impl<'j> View<'j> {
    fn field(&self, name: &str) -> Option<(&'static Field, &'j Json<'j>)> {
        let field = self.message.fields.iter().find(|field| field.name == name)?;
        let value = self.json.get(field.name).or_else(|| self.json.get(field.camel))?;
        (*value != Json::Null).then_some((field, value))
    }

    /// A sub-message; an absent one has the fields of an empty one.
    fn child(&self, name: &str) -> View<'j> {
        let field = self.message.fields.iter().find(|field| field.name == name).expect("a field of the contract");
        let Kind::Message(index) = field.kind else { panic!("{name} is a message") };
        View { message: table().message(index), json: self.field(name).map_or(&Json::Null, |(_, value)| value) }
    }

    fn string(&self, name: &str) -> String {
        self.field(name).and_then(|(_, value)| value.as_str()).unwrap_or_default().to_owned()
    }

    fn has_text(&self, name: &str) -> bool {
        self.field(name).and_then(|(_, value)| value.as_str()).is_some_and(|text| !text.is_empty())
    }

    fn bool(&self, name: &str) -> bool {
        matches!(self.field(name), Some((_, Json::Bool(true))))
    }

    fn integer(&self, name: &str) -> Option<i64> {
        match self.field(name)?.1 {
            Json::Number(text) => scalar::integer(text),
            Json::String(text) => scalar::integer(text),
            _ => None,
        }
    }

    /// The number of an enum value; 0 when unset, -1 when it has a name that nobody here knows.
    fn enumeration(&self, name: &str) -> i32 {
        match self.field(name) {
            Some((Field { kind: Kind::Enum(list), .. }, Json::String(text))) => list.number(text).unwrap_or(-1),
            _ => self.integer(name).and_then(|number| i32::try_from(number).ok()).unwrap_or_default(),
        }
    }

    fn body(&self) -> Body {
        match EventKind::try_from(self.enumeration("kind")) {
            Ok(EventKind::EventExecutionStart) => Body::Start { input_count: self.child("execution_start").integer("input_count") },
            Ok(EventKind::EventInput) => Body::Input,
            Ok(EventKind::EventToolCall) => self.tool_call(),
            Ok(EventKind::EventApprovalRequest) => Body::Request { call: self.child("approval").string("tool_call_id") },
            Ok(EventKind::EventApprovalResult) => {
                let decision = self.child("approval_result");
                Body::Decision {
                    call: decision.string("tool_call_id"),
                    request_seq: decision.integer("request_seq").unwrap_or_default(),
                    approved: decision.bool("approved"),
                }
            }
            Ok(EventKind::EventToolResult) => self.receipt(),
            Ok(EventKind::EventEnd) => Body::End,
            Ok(EventKind::EventError) => Body::Error,
            Ok(EventKind::EventLifecycle) => match self.child("lifecycle").enumeration("kind") {
                kind if kind == lifecycle::Kind::LifecycleFork as i32 => Body::Fork,
                _ => Body::Lifecycle,
            },
            Ok(EventKind::EventParked) => Body::Parked,
            Ok(_) => Body::Other,
            Err(_) => Body::Unknown,
        }
    }

    fn tool_call(&self) -> Body {
        let call = self.child("tool");
        Body::ToolCall {
            id: call.string("id"),
            gated: call.enumeration("mediation") == Mediation::RequiresApproval as i32,
            keyed: call.has_text("idempotency_key"),
        }
    }

    fn receipt(&self) -> Body {
        let result = self.child("result");
        Body::Receipt {
            call: result.string("id"),
            request_seq: result.integer("approval_request_seq").unwrap_or_default(),
            decision_seq: result.integer("approval_decision_seq").unwrap_or_default(),
            code: result.enumeration("code"),
            is_error: result.bool("is_error"),
        }
    }

    /// Looks for content outside the journal that no digest ties to the chain.
    fn loose_uri(&self) -> Option<&'static str> {
        match self.message.external {
            Some((uri, digest)) if self.has_text(uri) && !self.has_text(digest) => Some(uri),
            _ => self.children().find_map(|child| child.loose_uri()),
        }
    }

    fn children(&self) -> impl Iterator<Item = View<'j>> {
        let message = self.message;
        let members: &[_] = if let Json::Object(members) = self.json { members } else { &[] };
        members.iter().flat_map(move |(name, value)| {
            let field = message.find(name).map(|index| &message.fields[index]);
            let values: &[Json<'j>] = match (field, value) {
                (Some(Field { shape: Shape::Repeated, .. }), Json::Array(items)) => items,
                (Some(Field { shape: Shape::Explicit, .. }), Json::Object(_)) => std::slice::from_ref(value),
                _ => &[],
            };
            let child = match field.map(|field| field.kind) {
                Some(Kind::Message(index)) => Some(table().message(index)),
                _ => None,
            };
            values.iter().filter_map(move |json| child.map(|message| View { message, json }))
        })
    }
}
