//! The documents of the contract, and the wire that spells them. Section 5 of the contract page for streams.

pub(crate) use crate::http::wire::{Answer, Asked, Frame};

use super::problem::Problem;
use std::sync::Arc;

/// Which document a JSON value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Document {
    Health,
    Description,
    Capabilities,
    Conversation,
    Execution,
    EventList,
    ArtifactList,
    /// One event in a stream.
    Event,
    Problem,
}

/// The spelling of answers.
pub(crate) type Wire = crate::http::wire::Wire<Document, Problem>;

/// A wire that several requests share.
pub(crate) type SharedWire = Arc<Wire>;
