//! Defects: what an implementer could have built wrongly. Each replaces rules, decisions or spellings of the reference, or opens a seam.
//!
//! One file an area. `breaks` names the requirements of level `must` and `should` that a target with the defect breaks, and no others.

use super::Blueprint;
use super::seams::Hold;
use crate::applied::Applied;
use crate::catalogue::{Defect, DefectKind};
use crate::table::wrap;
use std::time::Duration;

/// A defect and how it gets into a blueprint.
pub(crate) struct Entry {
    pub(crate) defect: Defect,
    pub(crate) install: fn(&mut Blueprint, &Applied),
}

/// Every defect of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    std::iter::empty()
}
