//! What an operation replies.

use super::stream::Reading;
use crate::harness_runtime::problem::Problem;
use crate::harness_runtime::wire::{Answer, Document, Wire};
use crate::http::follow::Follow;
use serde_json::Value;

pub(super) type Reply = crate::http::reply::Reply<Reading>;

pub(super) fn json(wire: &Wire, status: u16, kind: Document, document: Value) -> Reply {
    let document = (wire.document)(kind, document);
    Reply::Answer(Answer::new(status, "application/json", (wire.text)(&document).into_bytes()))
}

pub(super) fn problem(wire: &Wire, problem: &Problem) -> Reply {
    let (status, document) = (wire.problem)(problem);
    json(wire, status, Document::Problem, document)
}

pub(super) fn too_large(wire: &Wire) -> Reply {
    problem(wire, &Problem::validation("Request body is too large"))
}

pub(super) fn stream(reading: Reading) -> Reply {
    let mut head = Answer::new(200, "text/event-stream", Vec::new());
    head.set_header("cache-control", "no-cache");
    head.set_header("connection", "keep-alive");
    Reply::Stream(head, Box::new(Follow::new(reading)))
}
