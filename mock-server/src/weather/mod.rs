//! Weather that is the same for every contract over HTTP: how bytes, frames and documents are delivered and spelled.

mod delivery;
mod documents;
mod frames;

use crate::applied::Applied;
use crate::catalogue::Weather;
use crate::http::wire::{Refusal, Wire};
use crate::random::Dice;
use std::sync::Arc;

pub(crate) use frames::lines;

/// A weather and how it gets into a blueprint.
pub(crate) struct Entry<B> {
    pub(crate) weather: Weather,
    pub(crate) install: fn(&mut B, &Applied),
}

/// A blueprint with a wire of HTTP.
pub(crate) trait Dressed: 'static {
    type Document: Copy + 'static;
    type Problem: Refusal + 'static;

    fn wire(&mut self) -> &mut Wire<Self::Document, Self::Problem>;

    /// What weather draws from.
    fn dice(&self) -> Arc<Dice>;
}

/// What every contract over HTTP can be served in.
pub(crate) const fn common<B: Dressed>(contract: &'static str) -> [Entry<B>; 12] {
    const fn entry<B>(contract: &'static str, name: &'static str, about: &'static str, install: fn(&mut B, &Applied)) -> Entry<B> {
        Entry { weather: Weather { contract, name, about }, install }
    }
    [
        entry(
            contract,
            "heartbeats",
            "Comments and `retry:` come between the events of a stream, and while nothing happens.",
            frames::heartbeats::<B>,
        ),
        entry(contract, "crlf", "The lines of a stream end in CR LF.", frames::crlf::<B>),
        entry(contract, "cr", "The lines of a stream end in CR alone.", frames::cr::<B>),
        entry(contract, "bom", "A stream begins with a byte order mark.", frames::bom::<B>),
        entry(
            contract,
            "multi-line-data",
            "The data of a frame is spread over several lines, some without a space after the colon.",
            frames::multi_line_data::<B>,
        ),
        entry(
            contract,
            "split-frames",
            "Bodies are sent in pieces that end anywhere, inside a character or a line end too.",
            delivery::split_frames::<B>,
        ),
        entry(contract, "latency", "Every request waits up to eight milliseconds before it is looked at.", delivery::latency::<B>),
        entry(contract, "connection-close", "Every connection is closed after one answer.", delivery::connection_close::<B>),
        entry(contract, "gzip", "JSON comes compressed when the request says that it may.", delivery::gzip::<B>),
        entry(contract, "base-path", "The API is mounted under /some/base.", delivery::base_path::<B>),
        entry(
            contract,
            "other-order",
            "JSON has its members in reverse, blanks between its tokens, and escapes where it can.",
            documents::other_order::<B>,
        ),
        entry(contract, "charset", "Content types name their character set.", documents::charset::<B>),
    ]
}
