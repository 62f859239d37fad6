//! Which models may serve a request, in which order, and when the next one is tried. Section 8 of the contract page.

use crate::model_runtime::model::{Feature, Manifest, Model, Preferences, Request, Target, event};
use crate::model_runtime::problem::Fault;
use crate::table::table;
use serde_json::Value;
use std::collections::BTreeSet;

/// An attempt that has failed, and what the next one would need.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chance<'a> {
    pub(crate) fault: &'a Fault,
    /// Whether the attempt has given output.
    pub(crate) committed: bool,
    /// Its number, from 1.
    pub(crate) attempt: usize,
    pub(crate) candidates: usize,
    /// Milliseconds since the acceptance of the execution.
    pub(crate) elapsed: i64,
    pub(crate) preferences: &'a Preferences,
}

table! {
    /// Rules about routing.
    Routing {
        /// MR-ROUTE-5 to -8: the modalities that the input has, and the model must take.
        modalities: fn(&Request) -> BTreeSet<String> = modalities;
        /// MR-ROUTE-4, -17: whether a model has an ability.
        able: fn(&Model, &str) -> bool = able;
        /// MR-ROUTE-10 to -14: whether a model has a feature that is required.
        has: fn(&Model, Feature) -> bool = has;
        /// MR-ROUTE-9, -15, -16, -18: whether a model may serve a request.
        serves: fn(&Routing, &Request, &Model) -> bool = serves;
        /// MR-ROUTE-23 to -25: the providers in the order in which they are tried.
        order: fn(&Request, &[Manifest]) -> Vec<Manifest> = order;
        /// MR-ROUTE-19, -20, -48: everyone that may serve a request, in order.
        candidates: fn(&Routing, &Request, &[Manifest]) -> Vec<Target> = candidates;
        /// MR-ROUTE-27 to -30, -39: how many attempts there may be, given how many candidates there are.
        attempts: fn(&Preferences, usize) -> usize = attempts;
        /// MR-ROUTE-32 to -37: whether an event of a provider rules out another attempt.
        commits: fn(&str) -> bool = commits;
        /// MR-ROUTE-40, -53: whether the time for another attempt has not run out.
        in_time: fn(&Chance) -> bool = in_time;
        /// MR-ROUTE-30, -31: whether the next candidate is tried.
        falls_back: fn(&Routing, &Chance) -> bool = falls_back;
    }
}

/// Those of all parts, and those that are required on top: nothing can be taken away.
pub(crate) fn modalities(request: &Request) -> BTreeSet<String> {
    let parts = request.input.iter().filter_map(|part| part.get("type").and_then(Value::as_str)).map(str::to_owned);
    parts.chain(request.requirements.input_modalities.iter().cloned()).collect()
}

pub(crate) fn able(model: &Model, ability: &str) -> bool {
    model.abilities.contains(&ability)
}

pub(crate) fn has(model: &Model, feature: Feature) -> bool {
    model.features.contains(&feature)
}

pub(crate) fn serves(rules: &Routing, request: &Request, model: &Model) -> bool {
    let required = &request.requirements;
    (rules.able)(model, &request.ability)
        && (rules.modalities)(request).iter().all(|modality| model.input_modalities.contains(&modality.as_str()))
        && required.output_modalities.iter().all(|modality| model.output_modalities.contains(&modality.as_str()))
        && required.features.iter().all(|feature| (rules.has)(model, *feature))
}

/// Those that the request names come first, as it names them, the others as they are configured. Nobody is left out.
pub(crate) fn order(request: &Request, providers: &[Manifest]) -> Vec<Manifest> {
    let wanted = &request.routing.provider_order;
    let mut ordered = providers.to_vec();
    ordered.sort_by_key(|manifest| wanted.iter().position(|name| name == manifest.provider).unwrap_or(wanted.len()));
    ordered
}

pub(crate) fn candidates(rules: &Routing, request: &Request, providers: &[Manifest]) -> Vec<Target> {
    let mut candidates = Vec::new();
    for manifest in (rules.order)(request, providers) {
        for model in manifest.models.iter().filter(|model| (rules.serves)(rules, request, model)) {
            candidates.push(Target { provider: manifest.provider.to_owned(), model: model.name.to_owned() });
        }
    }
    candidates
}

/// One, unless the request allows more.
pub(crate) fn attempts(preferences: &Preferences, candidates: usize) -> usize {
    if preferences.allow_fallback != Some(true) {
        return 1;
    }
    let most = preferences.max_attempts.and_then(|most| usize::try_from(most).ok());
    most.unwrap_or(candidates).min(candidates)
}

/// Output does: deltas, also empty ones, tool events, results. Progress and usage do not.
pub(crate) fn commits(kind: &str) -> bool {
    matches!(kind, event::DELTA | event::TOOL_STARTED | event::TOOL_ARGUMENTS | event::RESULT)
}

pub(crate) fn in_time(chance: &Chance) -> bool {
    let budget = chance.preferences.retry_budget_ms.and_then(|budget| i64::try_from(budget).ok());
    budget.is_none_or(|budget| chance.elapsed < budget)
}

pub(crate) fn falls_back(rules: &Routing, chance: &Chance) -> bool {
    chance.fault.retryable
        && !chance.committed
        && chance.attempt < (rules.attempts)(chance.preferences, chance.candidates)
        && (rules.in_time)(chance)
}
