//! What comes from a provider: events, and its end.

use super::attempts::attempt_failed;
use super::{Change, Situation, Step, Taken, event};
use crate::json::JsonObject;
use crate::model_runtime::model::{Execution, Status, event};
use crate::model_runtime::problem::Fault;

/// A provider says something in one attempt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Emission {
    pub(crate) execution_id: String,
    pub(crate) attempt: usize,
    pub(crate) kind: String,
    pub(crate) data: JsonObject,
}

/// A provider has completed, or failed, in one attempt.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ending {
    pub(crate) execution_id: String,
    pub(crate) attempt: usize,
    pub(crate) result: Result<(), Fault>,
}

/// What comes after the end, or from an attempt that is over, is dropped.
pub(crate) fn emit(situation: &Situation, emission: &Emission) -> Step<Taken> {
    let Some(execution) = listened(situation, &emission.execution_id, emission.attempt) else {
        return Step::unchanged(Taken::GoOn);
    };
    if emission.kind == event::COMPLETED {
        return succeed(situation, execution).answering(Taken::GoOn);
    }
    let rules = situation.rules;
    match (rules.emissions.accepted)(&rules.usage, &emission.kind, &emission.data) {
        Ok(()) => record(situation, execution, emission).answering(Taken::GoOn),
        Err(fault) => attempt_failed(situation, execution, &fault).answering(Taken::Refused),
    }
}

fn record(situation: &Situation, execution: &Execution, emission: &Emission) -> Step<()> {
    let committed = execution.committed || (situation.rules.routing.commits)(&emission.kind);
    let running = Execution { status: Status::Running, committed, ..execution.clone() };
    let event = event(situation, &running, &emission.kind, emission.data.clone());
    Step { answer: (), changes: vec![Change::Execution(Box::new(running)), event], effects: Vec::new() }
}

pub(crate) fn end(situation: &Situation, ending: &Ending) -> Step<()> {
    let Some(execution) = listened(situation, &ending.execution_id, ending.attempt) else {
        return Step::unchanged(());
    };
    match &ending.result {
        Ok(()) => succeed(situation, execution),
        Err(fault) => attempt_failed(situation, execution, fault),
    }
}

fn succeed(situation: &Situation, execution: &Execution) -> Step<()> {
    let Some(target) = execution.target() else { return Step::unchanged(()) };
    let ended = Execution { status: Status::Succeeded, ..execution.clone() };
    let completed = event(situation, &ended, event::COMPLETED, (situation.rules.outcome.completed)(target));
    Step { answer: (), changes: vec![Change::Execution(Box::new(ended)), completed], effects: Vec::new() }
}

fn listened<'a>(situation: &Situation<'a>, execution_id: &str, attempt: usize) -> Option<&'a Execution> {
    let execution = situation.store.execution(execution_id)?;
    (situation.rules.emissions.counts)(execution, attempt).then_some(execution)
}
