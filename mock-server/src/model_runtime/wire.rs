//! The documents of the contract, and the wire that spells them. Section 5 of the contract page for streams.

pub(crate) use crate::http::wire::{Answer, Asked, Frame};

use super::problem::Problem;
use std::sync::Arc;

/// Which document a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Document {
    Runtime,
    Providers,
    Submission,
    Snapshot,
    /// Of an execution that succeeded.
    Result,
    /// Of one that has not.
    NoResult,
    Cancellation,
    /// One event in a stream.
    Event,
    Problem,
}

/// The spelling of answers.
pub(crate) type Wire = crate::http::wire::Wire<Document, Problem>;

/// A wire that several requests share.
pub(crate) type SharedWire = Arc<Wire>;

/// The plainest spelling: a frame is `id`, `event`, `data`.
pub(crate) fn plain() -> Wire {
    Wire { frame: Arc::new(frame), ..Wire::default() }
}

fn frame(wire: &Wire, frame: &Frame) -> Vec<u8> {
    format!("id: {}\nevent: {}\ndata: {}\n\n", frame.sequence, frame.kind, (wire.text)(&frame.document)).into_bytes()
}
