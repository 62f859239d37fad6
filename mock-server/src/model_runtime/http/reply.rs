//! What an operation replies.

use super::stream::Reading;
use crate::http::follow::Follow;
use crate::model_runtime::problem::Problem;
use crate::model_runtime::wire::{Answer, Document, Wire};
use serde_json::Value;

pub(super) type Reply = crate::http::reply::Reply<Reading>;

pub(super) fn json(wire: &Wire, status: u16, kind: Document, document: Value) -> Reply {
    let document = (wire.document)(kind, document);
    Reply::Answer(guarded(Answer::new(status, "application/json; charset=utf-8", (wire.text)(&document).into_bytes())))
}

pub(super) fn problem(wire: &Wire, problem: &Problem) -> Reply {
    let (status, document) = (wire.problem)(problem);
    json(wire, status, Document::Problem, document)
}

pub(super) fn stream(reading: Reading) -> Reply {
    Reply::Stream(guarded(Answer::new(200, "text/event-stream", Vec::new())), Box::new(Follow::new(reading)))
}

fn guarded(mut answer: Answer) -> Answer {
    answer.set_header("x-content-type-options", "nosniff");
    answer.set_header("cache-control", "no-store");
    answer
}
