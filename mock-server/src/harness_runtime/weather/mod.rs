//! Weather: what a correct server may do, and a client has to stand.
//!
//! One file a theme. Weathers combine with each other and with a defect; whatever is drawn at random comes from the seed.

mod choices;
mod delivery;
mod documents;
mod frames;

use super::Blueprint;
use crate::applied::Applied;
use crate::catalogue::Weather;
use std::sync::Arc;

/// A weather and how it gets into a blueprint.
pub(crate) struct Entry {
    pub(crate) weather: Weather,
    pub(crate) install: fn(&mut Blueprint, &Applied),
}

/// Every weather of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    [frames::WEATHERS, delivery::WEATHERS, documents::WEATHERS, choices::WEATHERS].into_iter().flatten()
}

/// A weather of this contract.
const fn weather(name: &'static str, about: &'static str) -> Weather {
    Weather { contract: super::CONTRACT, name, about }
}

/// Puts something in the place of one function of a table, made from the original and the counter.
fn wrap<F: ?Sized>(field: &mut Arc<F>, applied: &Applied, make: impl FnOnce(Arc<F>, Applied) -> Arc<F>) {
    *field = make(Arc::clone(field), applied.clone());
}
