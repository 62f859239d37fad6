//! What went over the wire, as drivers record it and monitors read it. Owns no judgement and no rendering.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// One request of the kit and what came back.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// Unique in the run, in the order in which requests were begun.
    pub id: u64,
    /// Path of the case that sent it (`contract/area/scenario/case`), or `contract/sweep`, `contract/discovery`, `contract/tidy`.
    pub case: Arc<str>,
    /// The step as a reader would name it: `given conversation`, `call cancelExecution`, `follow`.
    pub step: String,
    /// Name in operations.yaml; `None` for raw bytes and overridden URLs.
    pub operation: Option<String>,
    /// Path parameters as given, not percent-encoded: `id`, `actionId`.
    pub params: BTreeMap<String, String>,
    /// Query parameters as given.
    pub query: BTreeMap<String, String>,
    pub request: Request,
    /// Since the start of the run.
    pub began: Duration,
    /// When the reply was complete, or when the kit gave up or hung up.
    pub ended: Duration,
    pub reply: Reply,
}

#[derive(Clone, Debug)]
pub struct Request {
    pub method: String,
    pub url: String,
    /// As sent, credentials included: only `redact` may print them.
    pub headers: Vec<(String, String)>,
    pub body: Option<Bytes>,
}

#[derive(Clone, Debug)]
pub enum Reply {
    Http(HttpReply),
    Grpc(GrpcReply),
    /// No complete reply head arrived.
    None(NoReply),
}

#[derive(Clone, Debug)]
pub struct HttpReply {
    pub status: u16,
    /// Names in lower case, in the order of arrival.
    pub headers: Vec<(String, String)>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub enum Body {
    /// The whole body, content coding removed.
    Whole(Bytes),
    /// The body broke off or crossed a bound; what arrived, and why it ended.
    Partial(Bytes, String),
    /// An event stream.
    Stream { frames: Vec<Frame>, end: StreamEnd },
}

/// One event of a stream, as the server-sent-events text defines it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// When it was complete, since the start of the run.
    pub at: Duration,
    /// The `event` field; `None` when the frame has none.
    pub event: Option<String>,
    /// The `id` field of this frame.
    pub id: Option<String>,
    /// The `data` lines joined with LF; `None` when the frame has no data line (such a frame is not dispatched).
    pub data: Option<String>,
    pub retry: Option<String>,
    pub comments: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StreamEnd {
    /// The server ended the body properly.
    Closed,
    /// The kit had what it wanted and hung up.
    HungUp,
    /// The connection broke.
    Cut(String),
    /// The bound of the wait was reached first.
    TimedOut(Duration),
    /// A bound on size or number was crossed; which one.
    Bound(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct GrpcReply {
    pub http_status: u16,
    /// Reply messages as proto3-JSON with proto field names.
    pub messages: Vec<serde_json::Value>,
    /// The numeric status; `None` when the answer ended without one, or was not read to its end.
    pub code: Option<u32>,
    pub message: String,
    pub headers: Vec<(String, String)>,
    /// An answer without a body has one block of fields, which stands here and in `headers`.
    pub trailers: Vec<(String, String)>,
    /// How the answer ended; with anything but `Closed` there is no status.
    pub end: StreamEnd,
    /// Fields that the descriptors do not know and `messages` therefore do not show: `messages[0].metadata: field 99`.
    pub unknown: Vec<String>,
    /// Where the answer leaves the gRPC wire format, in words; empty for a sound one.
    pub faults: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoReply {
    /// The connection could not be opened.
    Unreachable(String),
    /// The connection was closed or reset before a complete reply head.
    Closed(String),
    /// What came was not HTTP, or crossed a bound; which one.
    Garbled(String),
    /// Nothing within the bound.
    TimedOut(Duration),
}

impl Exchange {
    /// The HTTP reply, if there was one.
    pub fn http(&self) -> Option<&HttpReply> {
        match &self.reply {
            Reply::Http(reply) => Some(reply),
            _ => None,
        }
    }
}

impl HttpReply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, v)| v.as_str())
    }

    /// The body as JSON, when it is whole and parses.
    pub fn json(&self) -> Option<serde_json::Value> {
        match &self.body {
            Body::Whole(bytes) => serde_json::from_slice(bytes).ok(),
            _ => None,
        }
    }

    pub fn frames(&self) -> Option<(&[Frame], &StreamEnd)> {
        match &self.body {
            Body::Stream { frames, end } => Some((frames, end)),
            _ => None,
        }
    }
}
