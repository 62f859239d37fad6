//! The gates of providers: who may work, who waits, who is turned away.

use super::attempts::attempt_failed;
use super::{Change, Effect, Situation, Step};
use crate::model_runtime::model::{Execution, Gate};
use crate::model_runtime::problem::Fault;
use crate::model_runtime::rules::admission::Admit;

pub(crate) fn enter(situation: &Situation, execution_id: &str, attempt: usize) -> Step<()> {
    let Some((execution, provider)) = current(situation, execution_id, attempt) else {
        return Step::unchanged(());
    };
    let mut at = situation.store.gate(&provider);
    match (situation.rules.admission.gate)(gate(situation, &provider), at.working, at.waiting.len()) {
        Admit::Now => {
            at.working += 1;
            let run = Effect::Run { execution_id: execution_id.to_owned(), attempt };
            Step { answer: (), changes: vec![Change::Gate { provider, at }], effects: vec![run] }
        }
        Admit::Later => {
            at.waiting.push_back((execution_id.to_owned(), attempt));
            Step { answer: (), changes: vec![Change::Gate { provider, at }], effects: Vec::new() }
        }
        Admit::Never => attempt_failed(situation, execution, &Fault::provider_busy()),
    }
}

/// The first who waits and has not ended meanwhile takes the place.
pub(crate) fn leave(situation: &Situation, provider: &str) -> Step<()> {
    let mut at = situation.store.gate(provider);
    at.working = at.working.saturating_sub(1);
    let mut effects = Vec::new();
    while let Some((execution_id, attempt)) = at.waiting.pop_front() {
        if current(situation, &execution_id, attempt).is_some() {
            at.working += 1;
            effects.push(Effect::Run { execution_id, attempt });
            break;
        }
    }
    Step { answer: (), changes: vec![Change::Gate { provider: provider.to_owned(), at }], effects }
}

/// The execution and its provider, if the attempt is still the one at hand.
fn current<'a>(situation: &Situation<'a>, execution_id: &str, attempt: usize) -> Option<(&'a Execution, String)> {
    let execution = situation.store.execution(execution_id)?;
    let counts = (situation.rules.emissions.counts)(execution, attempt);
    execution.target().filter(|_| counts).map(|target| (execution, target.provider.clone()))
}

fn gate(situation: &Situation, provider: &str) -> Gate {
    let manifest = situation.providers.iter().find(|manifest| manifest.provider == provider);
    manifest.and_then(|manifest| manifest.limits).unwrap_or(Gate::USUAL)
}
