//! How answers are spelled on the wire: JSON text, event frames, headers, pieces.

use crate::table::table;
use serde_json::Value;
use std::time::Duration;

/// A refused command, as far as its spelling is concerned.
pub(crate) trait Refusal {
    /// Status and body of the answer.
    fn spelled(&self) -> (u16, Value);
}

/// What is known of the request that is answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl Asked {
    /// The values of a header, joined by `, `; empty when there is none.
    pub(crate) fn header(&self, name: &str) -> String {
        let values: Vec<&str> = self.headers.iter().filter(|(header, _)| header == name).map(|(_, value)| value.as_str()).collect();
        values.join(", ")
    }
}

/// An answer before it is sent. The body of a stream follows frame by frame and is not in here.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn new(status: u16, content_type: &str, body: Vec<u8>) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), content_type.to_owned())], body }
    }

    pub(crate) fn set_header(&mut self, name: &str, value: &str) {
        self.headers.retain(|(header, _)| header != name);
        self.headers.push((name.to_owned(), value.to_owned()));
    }
}

/// An event frame before it is spelled.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Frame {
    pub(crate) kind: String,
    pub(crate) sequence: u64,
    /// The envelope.
    pub(crate) document: Value,
}

table! {
    /// The spelling of answers; `D` are the documents of a contract, `P` its problems.
    Wire<D: Copy, P: Refusal> {
        /// The path under which the API is mounted, without a slash at the end.
        mount: fn() -> String = mount;
        /// How long a request waits before it is handled.
        delay: fn() -> Duration = delay;
        /// The last look at a document before it is written.
        document: fn(D, Value) -> Value = document;
        /// Status and body of a problem.
        problem: fn(&P) -> (u16, Value) = problem;
        /// A document as text, in one line.
        text: fn(&Value) -> String = text;
        /// One frame of a stream, with its empty line.
        frame: fn(&Wire<D, P>, &Frame) -> Vec<u8> = frame;
        /// What precedes the first frame.
        opening: fn() -> Vec<u8> = opening;
        /// What a stream says while nothing happens, and after how long.
        idle: fn() -> Option<(Duration, Vec<u8>)> = idle;
        /// The last look at bytes of a stream.
        stream: fn(Vec<u8>) -> Vec<u8> = stream;
        /// The pieces in which a body is sent.
        pieces: fn(Vec<u8>) -> Vec<Vec<u8>> = pieces;
        /// The last look at an answer (of a stream: at its status and headers).
        answer: fn(&Asked, Answer) -> Answer = answer;
        /// How many bytes one write to the connection may take; `None` as many as there are.
        stride: fn() -> Option<usize> = stride;
    }
}

pub(crate) fn mount() -> String {
    String::new()
}

pub(crate) fn delay() -> Duration {
    Duration::ZERO
}

pub(crate) fn document<D>(_kind: D, document: Value) -> Value {
    document
}

pub(crate) fn problem<P: Refusal>(problem: &P) -> (u16, Value) {
    problem.spelled()
}

pub(crate) fn text(document: &Value) -> String {
    document.to_string()
}

/// `event`, `data`, `id`, each in one line.
pub(crate) fn frame<D, P>(wire: &Wire<D, P>, frame: &Frame) -> Vec<u8> {
    format!("event: {}\ndata: {}\nid: {}\n\n", frame.kind, (wire.text)(&frame.document), frame.sequence).into_bytes()
}

pub(crate) fn opening() -> Vec<u8> {
    Vec::new()
}

pub(crate) fn idle() -> Option<(Duration, Vec<u8>)> {
    None
}

pub(crate) fn stream(bytes: Vec<u8>) -> Vec<u8> {
    bytes
}

pub(crate) fn pieces(body: Vec<u8>) -> Vec<Vec<u8>> {
    vec![body]
}

pub(crate) fn answer(_asked: &Asked, answer: Answer) -> Answer {
    answer
}

pub(crate) fn stride() -> Option<usize> {
    None
}
