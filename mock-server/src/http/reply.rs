//! What an operation replies, and how it becomes an HTTP response.

use super::follow::{Follow, Source};
use super::wire::{Answer, Asked, Refusal, Wire};
use axum::body::{Body, Bytes};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use futures_util::stream;
use std::convert::Infallible;

pub(crate) enum Reply<S: Source> {
    Answer(Answer),
    /// Status and headers, and whoever reads on.
    Stream(Answer, Box<Follow<S>>),
}

impl<S: Source> Reply<S> {
    pub(crate) fn into_response<D: Copy, P: Refusal>(self, wire: &Wire<D, P>, asked: &Asked) -> Response {
        let head_only = asked.method == "HEAD";
        match self {
            Reply::Answer(answer) => {
                let answer = (wire.answer)(asked, answer);
                let length = answer.body.len();
                let mut response = respond(&answer, Body::empty());
                if head_only {
                    response.headers_mut().insert("content-length", HeaderValue::from(length));
                } else {
                    *response.body_mut() = whole((wire.pieces)(answer.body));
                }
                response
            }
            Reply::Stream(head, follow) => {
                let answer = (wire.answer)(asked, head);
                let body = if head_only { Body::empty() } else { Body::from_stream(follow.frames()) };
                respond(&answer, body)
            }
        }
    }
}

/// A body of known length, unless it is sent in pieces.
fn whole(mut pieces: Vec<Vec<u8>>) -> Body {
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
