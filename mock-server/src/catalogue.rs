//! The catalogue: every defect and every weather that a reference server can be started with.
//!
//! A defect is something wrong that an implementer could have built. Weather is what a correct server may do and a client must stand.

use crate::applied::{Applied, Ledger};
use crate::running::{Behaviour, StartError};
use crate::{agentsessions, harness_runtime, model_runtime, weather};
use std::sync::LazyLock;

/// Where a defect sits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DefectKind {
    /// A decision is wrong: the state itself comes out wrong.
    Rule,
    /// A step that must be indivisible is taken apart: wrong only when something comes between.
    Race,
    /// The state is right, and what is said of it on the wire is wrong.
    Wire,
    /// What should survive a restart does not, or does it wrongly: shows on a server with a store once it is restarted.
    Restart,
}

/// Something wrong that a reference server can be started with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Defect {
    /// The contract that is broken, like `harness-runtime`.
    pub contract: &'static str,
    /// Kebab-case, unique within the contract.
    pub name: &'static str,
    /// What an implementer got wrong, in a sentence.
    pub about: &'static str,
    pub kind: DefectKind,
    /// Exactly the requirements (of level `must` and `should`) that a target with this defect breaks.
    pub breaks: &'static [&'static str],
}

/// Legal behaviour that is not the plainest one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weather {
    pub contract: &'static str,
    /// Kebab-case, unique within the contract.
    pub name: &'static str,
    /// What differs, in a sentence.
    pub about: &'static str,
}

/// A defect and how it gets into a blueprint.
pub(crate) struct DefectEntry<B> {
    pub(crate) defect: Defect,
    pub(crate) install: fn(&mut B, &Applied),
}

/// Puts into `blueprint` what `behaviour` names, weather first, and hands out the counters.
pub(crate) fn install<B: 'static>(
    blueprint: &mut B,
    contract: &str,
    behaviour: &Behaviour,
    weathers: &[&'static weather::Entry<B>],
    defects: &[&'static DefectEntry<B>],
) -> Result<Ledger, StartError> {
    let mut ledger = Ledger::default();
    for name in &behaviour.weather {
        let unknown = || StartError::UnknownWeather { contract: contract.to_owned(), name: name.clone() };
        let entry = weathers.iter().find(|entry| entry.weather.name == name).ok_or_else(unknown)?;
        (entry.install)(blueprint, &ledger.open(name));
    }
    for name in &behaviour.defects {
        let unknown = || StartError::UnknownDefect { contract: contract.to_owned(), name: name.clone() };
        let entry = defects.iter().find(|entry| entry.defect.name == name).ok_or_else(unknown)?;
        (entry.install)(blueprint, &ledger.open(name));
    }
    Ok(ledger)
}

/// The defects of all contracts.
pub fn defects() -> &'static [Defect] {
    static DEFECTS: LazyLock<Vec<Defect>> = LazyLock::new(|| {
        let harness_runtime = harness_runtime::defects::all().map(|entry| &entry.defect);
        let model_runtime = model_runtime::defects::all().map(|entry| &entry.defect);
        let agentsessions = agentsessions::defects::all().map(|entry| &entry.defect);
        harness_runtime.chain(model_runtime).chain(agentsessions).cloned().collect()
    });
    &DEFECTS
}

/// The weathers of all contracts.
pub fn weathers() -> &'static [Weather] {
    static WEATHERS: LazyLock<Vec<Weather>> = LazyLock::new(|| {
        let harness_runtime = harness_runtime::weather::all().map(|entry| &entry.weather);
        let model_runtime = model_runtime::weather::all().map(|entry| &entry.weather);
        let agentsessions = agentsessions::weather::all().map(|entry| &entry.weather);
        harness_runtime.chain(model_runtime).chain(agentsessions).cloned().collect()
    });
    &WEATHERS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_in_kebab_case() {
        let names: Vec<_> = defects()
            .iter()
            .map(|defect| (defect.contract, defect.name))
            .chain(weathers().iter().map(|weather| (weather.contract, weather.name)))
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        let kebab =
            |name: &str| name.split('-').all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit()));
        assert!(names.iter().all(|(_, name)| kebab(name)));
    }
}
