//! Weather: what a correct server may do, and a client has to stand.
//!
//! What every contract over HTTP can be served in, and what this one leaves open.

mod choices;
mod documents;

use super::problem::Problem;
use super::wire::{Document, Wire};
use super::{Blueprint, CONTRACT};
use crate::catalogue::Weather;
use crate::random::Dice;
use crate::table::wrap;
use crate::weather::{Dressed, common};
use std::sync::Arc;

/// A weather and how it gets into a blueprint.
pub(crate) type Entry = crate::weather::Entry<Blueprint>;

static COMMON: [Entry; 12] = common(CONTRACT);

/// Every weather of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    [&COMMON, documents::WEATHERS, choices::WEATHERS].into_iter().flatten()
}

/// A weather of this contract.
const fn weather(name: &'static str, about: &'static str) -> Weather {
    Weather { contract: CONTRACT, name, about }
}

impl Dressed for Blueprint {
    type Document = Document;
    type Problem = Problem;

    fn wire(&mut self) -> &mut Wire {
        &mut self.wire
    }

    fn dice(&self) -> Arc<Dice> {
        Arc::clone(&self.dice)
    }
}
