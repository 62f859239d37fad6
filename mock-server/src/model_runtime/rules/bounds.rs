//! The bounds of a request. Section 1 of the contract page. Texts are counted in characters (code points).

use std::ops::RangeInclusive;

/// Something that has a bound on either side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// Raw bytes of a body.
    Body,
    /// Characters of an idempotency key.
    Key,
    /// Characters of an ability.
    Ability,
    /// Parts of an input.
    Parts,
    /// Characters of the URI of a part.
    Uri,
    /// Characters of the media type of a part.
    MediaType,
    /// Attempts.
    Attempts,
    /// Milliseconds.
    RetryBudget,
    /// Milliseconds.
    Deadline,
    /// Members of `metadata`.
    Metadata,
    /// Members of `extensions`.
    Extensions,
}

/// A day.
const LONGEST: u64 = 86_400_000;

pub(crate) fn bounds(bound: Bound) -> RangeInclusive<u64> {
    match bound {
        Bound::Body => 0..=1_048_576,
        Bound::Key | Bound::Ability => 1..=256,
        Bound::Parts => 1..=1024,
        Bound::Uri => 1..=8192,
        Bound::MediaType => 0..=256,
        Bound::Attempts => 1..=32,
        Bound::RetryBudget | Bound::Deadline => 1..=LONGEST,
        Bound::Metadata | Bound::Extensions => 0..=64,
    }
}
