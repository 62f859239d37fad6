//! Defects: what an implementer could have built wrongly. Each replaces rules, decisions or spellings of the reference, or opens a seam.
//!
//! One file an area. `breaks` names the requirements of level `must` and `should` that a target with the defect breaks, and no others.

mod attempts;
mod bounds;
mod cancels;
mod capabilities;
mod comparisons;
mod cursors;
mod deadlines;
mod descriptions;
mod echoes;
mod envelopes;
mod extensions;
mod failures;
mod families;
mod histories;
mod keys;
mod materials;
mod restarts;
mod results;
mod shapes;
mod snapshots;
mod spellings;
mod streams;
mod tools;
mod usage;

use super::Blueprint;
use super::seams::Hold;
use crate::applied::Applied;
use crate::catalogue::{Defect, DefectEntry, DefectKind};
use crate::table::wrap;
use serde_json::Value;
use std::time::Duration;

/// A defect and how it gets into a blueprint.
pub(crate) type Entry = DefectEntry<Blueprint>;

/// Every defect of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    [
        descriptions::DEFECTS,
        bounds::DEFECTS,
        shapes::DEFECTS,
        families::DEFECTS,
        capabilities::DEFECTS,
        attempts::DEFECTS,
        comparisons::DEFECTS,
        keys::DEFECTS,
        histories::DEFECTS,
        envelopes::DEFECTS,
        streams::DEFECTS,
        cursors::DEFECTS,
        snapshots::DEFECTS,
        results::DEFECTS,
        materials::DEFECTS,
        tools::DEFECTS,
        usage::DEFECTS,
        cancels::DEFECTS,
        deadlines::DEFECTS,
        failures::DEFECTS,
        spellings::DEFECTS,
        echoes::DEFECTS,
        extensions::DEFECTS,
        restarts::DEFECTS,
    ]
    .into_iter()
    .flatten()
}

/// A defect of this contract.
const fn defect(kind: DefectKind, name: &'static str, about: &'static str, breaks: &'static [&'static str]) -> Defect {
    Defect { contract: super::CONTRACT, name, about, kind, breaks }
}

/// A decision that is wrong.
const fn rule(name: &'static str, about: &'static str, breaks: &'static [&'static str], install: fn(&mut Blueprint, &Applied)) -> Entry {
    Entry { defect: defect(DefectKind::Rule, name, about, breaks), install }
}

/// A step that is taken apart.
const fn race(name: &'static str, about: &'static str, breaks: &'static [&'static str], install: fn(&mut Blueprint, &Applied)) -> Entry {
    Entry { defect: defect(DefectKind::Race, name, about, breaks), install }
}

/// A spelling that is wrong.
const fn spelling(
    name: &'static str,
    about: &'static str,
    breaks: &'static [&'static str],
    install: fn(&mut Blueprint, &Applied),
) -> Entry {
    Entry { defect: defect(DefectKind::Wire, name, about, breaks), install }
}

const fn hold(before: usize, pause: Duration) -> Hold {
    Hold { before, pause }
}

const fn milliseconds(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// Takes a member away; says whether it was there.
fn remove(document: &mut Value, name: &str) -> bool {
    document.as_object_mut().is_some_and(|members| members.remove(name).is_some())
}

/// Gives a member another value; says whether that made a difference.
fn set(document: &mut Value, name: &str, value: Value) -> bool {
    let differs = document.get(name) != Some(&value);
    document[name] = value;
    differs
}
