//! What an operation replies, and how it becomes an HTTP response.

use super::stream::Follow;
use crate::harness_runtime::problem::Problem;
use crate::harness_runtime::wire::{Answer, Asked, Document, SharedWire, Wire};
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::stream;
use serde_json::Value;
use std::convert::Infallible;

pub(super) enum Reply {
    Answer(Answer),
    Stream(Box<Follow>),
}

impl Reply {
    pub(super) fn json(wire: &Wire, status: u16, kind: Document, document: Value) -> Self {
        let document = (wire.document)(kind, document);
        Reply::Answer(Answer::new(status, "application/json", (wire.text)(&document).into_bytes()))
    }

    pub(super) fn problem(wire: &Wire, problem: &Problem) -> Self {
        let (status, document) = (wire.problem)(problem);
        Self::json(wire, status, Document::Problem, document)
    }

    pub(super) fn too_large(wire: &Wire) -> Self {
        Self::problem(wire, &Problem::validation("Request body is too large"))
    }

    pub(super) fn into_response(self, wire: &SharedWire, asked: &Asked) -> Response {
        let head_only = asked.method == "HEAD";
        match self {
            Reply::Answer(answer) => {
                let answer = (wire.answer)(asked, answer);
                let length = answer.body.len();
                let mut response = respond(&answer, Body::empty());
                if head_only {
                    response.headers_mut().insert("content-length", HeaderValue::from(length));
                } else {
                    *response.body_mut() = whole(wire, answer.body);
                }
                response
            }
            Reply::Stream(follow) => {
                let mut answer = Answer::new(200, "text/event-stream", Vec::new());
                answer.set_header("cache-control", "no-cache");
                answer.set_header("connection", "keep-alive");
                let answer = (wire.answer)(asked, answer);
                let body = if head_only { Body::empty() } else { Body::from_stream(follow.frames()) };
                respond(&answer, body)
            }
        }
    }
}

/// A body of known length, unless it is sent in pieces.
fn whole(wire: &Wire, body: Vec<u8>) -> Body {
    let mut pieces = (wire.pieces)(body);
    if pieces.len() <= 1 {
        return Body::from(pieces.pop().unwrap_or_default());
    }
    Body::from_stream(stream::iter(pieces.into_iter().map(|piece| Ok::<_, Infallible>(Bytes::from(piece)))))
}

/// Headers that are no legal HTTP are left out, an illegal status becomes 500.
fn respond(answer: &Answer, body: Body) -> Response {
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &answer.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
