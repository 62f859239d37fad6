//! The start of an execution: preflight, the idempotency key, the record, the beginning of the provider's work.

use super::{Answered, Change, Effect, IdKind, KeyUse, Situation, Step, events};
use crate::harness_runtime::json::object;
use crate::harness_runtime::model::{Execution, StartRequest, State, event};
use crate::harness_runtime::problem::Problem;
use serde_json::json;

/// Conversation, provider and capabilities first, so that a refused request leaves nothing, its key included; then the key.
pub(crate) fn start(situation: &Situation, request: &StartRequest) -> Step<Answered> {
    if let Err(problem) = preflight(situation, request) {
        return Step::unchanged(Err(problem));
    }
    let key = (situation.rules.idempotency.filed_under)(request);
    if let Some(used) = key.as_ref().and_then(|name| situation.store.key(name)) {
        return Step::unchanged(replay(situation, used, request));
    }
    create(situation, request, key)
}

fn preflight(situation: &Situation, request: &StartRequest) -> Result<(), Problem> {
    if situation.store.conversation(&request.conversation_id).is_none() {
        return Err(Problem::conversation_not_found(&request.conversation_id));
    }
    let provider = situation
        .providers
        .iter()
        .find(|manifest| manifest.id == request.provider_id)
        .ok_or_else(|| Problem::provider_not_found(&request.provider_id))?;
    let rules = &situation.rules.preflight;
    let missing = (rules.missing)(rules, provider, &request.required_capabilities);
    if missing.is_empty() { Ok(()) } else { Err(Problem::capability_unsupported(&provider.id, &missing)) }
}

/// The execution that the key made, as it is now; or the conflict.
fn replay(situation: &Situation, used: &KeyUse, request: &StartRequest) -> Answered {
    if (situation.rules.idempotency.equivalent)(&used.request, request) {
        situation.execution(&used.execution_id).cloned()
    } else {
        Err(Problem::idempotency_conflict())
    }
}

fn create(situation: &Situation, request: &StartRequest, key: Option<String>) -> Step<Answered> {
    let now = situation.now;
    let execution = Execution {
        id: (situation.ids)(IdKind::Execution),
        conversation_id: request.conversation_id.clone(),
        provider_id: request.provider_id.clone(),
        state: State::Queued,
        input: request.input.clone(),
        required_capabilities: (situation.rules.preflight.normalised)(&request.required_capabilities),
        effective_config: request.effective_config(),
        created_at: now,
        updated_at: now,
        started_at: None,
        ended_at: None,
        final_output: None,
        error: None,
        cancel_reason: None,
    };
    let id = execution.id.clone();
    let mut changes = vec![Change::Execution(Box::new(execution.clone()))];
    if let Some(name) = key {
        let used = Box::new(KeyUse { request: request.clone(), execution_id: id.clone() });
        changes.push(Change::Key { name, used });
    }
    let queued = (event::QUEUED, object([("providerId", json!(execution.provider_id))]));
    changes.extend(events(&id, now, vec![queued]));
    Step { answer: Ok(execution), changes, effects: vec![Effect::Begin { execution_id: id }] }
}

/// From queued over starting to running, in one step; nothing if the execution was cancelled before.
pub(crate) fn begin(situation: &Situation, execution_id: &str) -> Step<()> {
    let Some(queued) = situation.store.execution(execution_id).filter(|execution| execution.state == State::Queued) else {
        return Step::unchanged(());
    };
    let now = situation.now;
    let starting = Execution { state: State::Starting, updated_at: now, ..queued.clone() };
    let running = Execution { state: State::Running, started_at: Some(now), ..starting.clone() };
    let started = (event::STARTED, object([("providerId", json!(running.provider_id))]));
    let mut changes = vec![Change::Execution(Box::new(starting)), Change::Execution(Box::new(running))];
    changes.extend(events(execution_id, now, vec![started]));
    Step { answer: (), changes, effects: vec![Effect::Run { execution_id: execution_id.to_owned() }] }
}
