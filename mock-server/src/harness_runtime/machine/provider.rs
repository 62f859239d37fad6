//! What comes from a provider: emissions, questions, its end.

use super::{Change, NewEvent, Situation, Step, Taken, abandon, events};
use crate::harness_runtime::model::{Action, ActionStatus, Artifact, Execution, JsonObject, State, event};
use crate::harness_runtime::rules::artifacts::duplicate;
use crate::harness_runtime::rules::emissions::reserved;
use serde_json::Value;

/// A provider emits an event.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Emission {
    pub(crate) execution_id: String,
    pub(crate) kind: String,
    pub(crate) data: Value,
}

/// A provider asks its caller for something.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Asking {
    pub(crate) execution_id: String,
    pub(crate) action_id: String,
    pub(crate) question: Value,
}

/// A provider has returned a final output (or none), or failed with a message.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ending {
    pub(crate) execution_id: String,
    pub(crate) result: Result<Option<Value>, String>,
}

pub(crate) fn emit(situation: &Situation, emission: &Emission) -> Step<Taken> {
    let counts = |execution: &&Execution| (situation.rules.emissions.counts)(execution.state);
    let Some(execution) = situation.store.execution(&emission.execution_id).filter(counts) else {
        return Step::unchanged(Ok(()));
    };
    match emitted(situation, execution, emission) {
        Ok(changes) => Step { answer: Ok(()), changes, effects: Vec::new() },
        Err(message) => Step::unchanged(Err(message)),
    }
}

fn emitted(situation: &Situation, execution: &Execution, emission: &Emission) -> Result<Vec<Change>, String> {
    let rules = &situation.rules.emissions;
    if !(rules.allowed)(&emission.kind) {
        return Err(reserved());
    }
    let data = (rules.data)(&emission.kind, &emission.data)?;
    if emission.kind == event::ARTIFACT_CREATED {
        return artifact(situation, execution, &data);
    }
    Ok(vec![appended(situation, execution, &emission.kind, data)])
}

/// The runtime says whose the artifact is and when it was accepted.
fn artifact(situation: &Situation, execution: &Execution, data: &JsonObject) -> Result<Vec<Change>, String> {
    let descriptor = (situation.rules.artifacts.descriptor)(data)?;
    if (situation.rules.artifacts.taken)(situation.store, &execution.id, &descriptor.id) {
        return Err(duplicate(&descriptor.id));
    }
    let artifact = Artifact {
        id: descriptor.id,
        execution_id: execution.id.clone(),
        name: descriptor.name,
        media_type: descriptor.media_type,
        uri: descriptor.uri,
        metadata: descriptor.metadata,
        created_at: situation.now,
    };
    let views = &situation.rules.views;
    let event = appended(situation, execution, event::ARTIFACT_CREATED, (views.artifact)(views, &artifact));
    Ok(vec![Change::Artifact(Box::new(artifact)), event])
}

fn appended(situation: &Situation, execution: &Execution, kind: &str, data: JsonObject) -> Change {
    Change::Event(NewEvent { execution_id: execution.id.clone(), kind: kind.to_owned(), time: situation.now, data })
}

pub(crate) fn ask(situation: &Situation, asking: &Asking) -> Step<Taken> {
    match asked(situation, asking) {
        Ok(changes) => Step { answer: Ok(()), changes, effects: Vec::new() },
        Err(message) => Step::unchanged(Err(message)),
    }
}

fn asked(situation: &Situation, asking: &Asking) -> Result<Vec<Change>, String> {
    let execution = situation.execution(&asking.execution_id).map_err(|problem| problem.message)?;
    let rules = &situation.rules.actions;
    (rules.may_ask)(execution.state)?;
    let question = (rules.question)(&asking.question)?;
    let waiting = Execution { state: (rules.awaiting)(question.kind), updated_at: situation.now, ..execution.clone() };
    let action = Action {
        id: asking.action_id.clone(),
        execution_id: execution.id.clone(),
        kind: question.kind,
        title: question.title,
        description: question.description,
        payload: question.payload,
        created_at: situation.now,
        status: ActionStatus::Pending,
    };
    let views = &situation.rules.views;
    let required = appended(situation, execution, event::ACTION_REQUIRED, (views.action)(views, &action));
    Ok(vec![Change::Action(Box::new(action)), Change::Execution(Box::new(waiting)), required])
}

/// A result counts while the execution runs or waits; a success with an open question, or with an output that is no text, is a failure.
pub(crate) fn end(situation: &Situation, ending: &Ending) -> Step<()> {
    let rules = &situation.rules.outcome;
    let counts = |execution: &&Execution| (rules.counts)(execution.state);
    let Some(execution) = situation.store.execution(&ending.execution_id).filter(counts) else {
        return Step::unchanged(());
    };
    let output = match &ending.result {
        Ok(output) => match (rules.unresolved)(execution.state) {
            Some(message) => Err(message),
            None => (rules.final_output)(output.as_ref()),
        },
        Err(message) => Err(message.clone()),
    };
    match output {
        Ok(output) => succeed(situation, execution, output),
        Err(message) => fail(situation, execution, message),
    }
}

fn succeed(situation: &Situation, execution: &Execution, output: String) -> Step<()> {
    let occurrences = (situation.rules.outcome.completed)(&output);
    let ended = Execution {
        state: State::Succeeded,
        updated_at: situation.now,
        ended_at: Some(situation.now),
        final_output: Some(output),
        ..execution.clone()
    };
    let mut changes = vec![Change::Execution(Box::new(ended))];
    changes.extend(events(&execution.id, situation.now, occurrences));
    Step { answer: (), changes, effects: Vec::new() }
}

pub(super) fn fail(situation: &Situation, execution: &Execution, message: String) -> Step<()> {
    let occurrences = (situation.rules.outcome.failed)(&message);
    let (mut changes, effects) = abandon(situation, &execution.id, &message);
    let ended = Execution {
        state: State::Failed,
        updated_at: situation.now,
        ended_at: Some(situation.now),
        error: Some(message),
        ..execution.clone()
    };
    changes.push(Change::Execution(Box::new(ended)));
    changes.extend(events(&execution.id, situation.now, occurrences));
    Step { answer: (), changes, effects }
}
