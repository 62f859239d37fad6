//! Defects: what an implementer could have built wrongly. Each replaces a rule of the reference, opens a seam or misspells an answer.

mod create;
mod get;
mod service;

use super::Blueprint;
use crate::catalogue::{Defect, DefectEntry, DefectKind};

/// A defect and how it gets into a blueprint.
pub(crate) type Entry = DefectEntry<Blueprint>;

/// Every defect of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    [create::DEFECTS, get::DEFECTS, service::DEFECTS].into_iter().flatten()
}

/// A defect of this contract.
const fn defect(kind: DefectKind, name: &'static str, about: &'static str, breaks: &'static [&'static str]) -> Defect {
    Defect { contract: super::CONTRACT, name, about, kind, breaks }
}
