//! Defects: what an implementer could have built wrongly. Each replaces rules, decisions or spellings of the reference, or opens a seam.
//!
//! One file an area. `breaks` names the requirements of level `must` and `should` that a target with the defect breaks, and no others.

mod answers;
mod artifacts;
mod cancels;
mod comparisons;
mod courses;
mod cursors;
mod descriptions;
mod documents;
mod histories;
mod isolation;
mod keys;
mod numbering;
mod outcomes;
mod preflight;
mod questions;
mod refusals;
mod requests;
mod restarts;
mod shapes;
mod spelling;
mod streams;

use super::Blueprint;
use super::seams::Hold;
use crate::applied::Applied;
use crate::catalogue::{Defect, DefectEntry, DefectKind};
use std::sync::Arc;
use std::time::Duration;

/// A defect and how it gets into a blueprint.
pub(crate) type Entry = DefectEntry<Blueprint>;

/// Every defect of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    [
        descriptions::DEFECTS,
        shapes::DEFECTS,
        requests::DEFECTS,
        refusals::DEFECTS,
        answers::DEFECTS,
        preflight::DEFECTS,
        comparisons::DEFECTS,
        keys::DEFECTS,
        documents::DEFECTS,
        numbering::DEFECTS,
        histories::DEFECTS,
        outcomes::DEFECTS,
        courses::DEFECTS,
        cursors::DEFECTS,
        streams::DEFECTS,
        questions::DEFECTS,
        artifacts::DEFECTS,
        cancels::DEFECTS,
        isolation::DEFECTS,
        spelling::DEFECTS,
        restarts::DEFECTS,
    ]
    .into_iter()
    .flatten()
}

/// A defect of this contract.
const fn defect(kind: DefectKind, name: &'static str, about: &'static str, breaks: &'static [&'static str]) -> Defect {
    Defect { contract: super::CONTRACT, name, about, kind, breaks }
}

/// Puts something in the place of one function of a table, made from the original and the counter.
fn wrap<F: ?Sized>(field: &mut Arc<F>, applied: &Applied, make: impl FnOnce(Arc<F>, Applied) -> Arc<F>) {
    *field = make(Arc::clone(field), applied.clone());
}

const fn hold(before: usize, pause: Duration) -> Hold {
    Hold { before, pause, unless_ended: false }
}

const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}
