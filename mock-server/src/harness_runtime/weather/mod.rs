//! Weather: what a correct server may do, and a client has to stand.

use super::Blueprint;
use crate::applied::Applied;
use crate::catalogue::Weather;

/// A weather and how it gets into a blueprint.
pub(crate) struct Entry {
    pub(crate) weather: Weather,
    pub(crate) install: fn(&mut Blueprint, &Applied),
}

/// Every weather of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    std::iter::empty()
}
