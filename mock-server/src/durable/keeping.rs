//! How what is decided is kept on disk. In the reference: all of it, and nobody hears of it before it is there.

use super::Record;
use crate::table::table;
use std::time::Duration;

table! {
    /// What a durable server promises of its store.
    Keeping<R: Record> {
        /// What is written of a record.
        kept: fn(R) -> Option<R> = all;
        /// Whether an answer, an event and a provider wait until what they rest on is durable.
        waits: fn() -> bool = always;
        /// How long the writer waits before it takes what waits for it.
        linger: fn() -> Duration = at_once;
    }
}

#[expect(clippy::unnecessary_wraps, reason = "what takes its place may leave records out")]
pub(crate) fn all<R>(record: R) -> Option<R> {
    Some(record)
}

pub(crate) fn always() -> bool {
    true
}

pub(crate) fn at_once() -> Duration {
    Duration::ZERO
}
