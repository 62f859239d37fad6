//! Routes: who is tried first, who is tried next, and the end of an execution that nobody can serve.

use super::{Change, Effect, Situation, Step, event};
use crate::model_runtime::model::{Execution, Status, event};
use crate::model_runtime::problem::Fault;
use crate::model_runtime::rules::routing::Chance;

/// The first attempt; or the end, when there is nobody.
pub(crate) fn route(situation: &Situation, execution_id: &str) -> Step<()> {
    let accepted = |execution: &&Execution| execution.status == Status::Accepted;
    let Some(execution) = situation.store.execution(execution_id).filter(accepted) else {
        return Step::unchanged(());
    };
    let rules = &situation.rules.routing;
    let candidates = (rules.candidates)(rules, &execution.request, situation.providers);
    let routed = Execution { candidates, ..execution.clone() };
    if routed.candidates.is_empty() { fail(situation, &routed, &Fault::no_candidate()) } else { select(situation, &routed, 1) }
}

/// The attempt of that number is the one at hand. It is selected before it waits at the gate.
pub(crate) fn select(situation: &Situation, execution: &Execution, attempt: usize) -> Step<()> {
    let routing = Execution { status: Status::Routing, attempt, committed: false, ..execution.clone() };
    let Some(target) = routing.target() else { return Step::unchanged(()) };
    let data = (situation.rules.outcome.selected)(target, attempt);
    let selected = event(situation, &routing, event::SELECTED, data);
    let effects = vec![Effect::Enter { execution_id: routing.id.clone(), attempt }];
    Step { answer: (), changes: vec![Change::Execution(Box::new(routing)), selected], effects }
}

/// The end with a fault.
pub(crate) fn fail(situation: &Situation, execution: &Execution, fault: &Fault) -> Step<()> {
    let outcome = &situation.rules.outcome;
    let ended = Execution { status: (outcome.status)(fault), error: Some(fault.clone()), ..execution.clone() };
    let failed = event(situation, &ended, event::FAILED, (outcome.failed)(outcome, fault));
    Step { answer: (), changes: vec![Change::Execution(Box::new(ended)), failed], effects: Vec::new() }
}

/// The attempt at hand has failed: the next one, or the end.
pub(super) fn attempt_failed(situation: &Situation, execution: &Execution, fault: &Fault) -> Step<()> {
    let routing = &situation.rules.routing;
    let chance = Chance {
        fault,
        committed: execution.committed,
        attempt: execution.attempt,
        candidates: execution.candidates.len(),
        elapsed: situation.now.as_millisecond() - execution.created_at.as_millisecond(),
        preferences: &execution.request.routing,
    };
    let outcome = &situation.rules.outcome;
    let target = execution.target().filter(|_| (routing.falls_back)(routing, &chance));
    let Some(target) = target else {
        return fail(situation, execution, &(outcome.last)(fault, execution.committed));
    };
    let back = Execution { status: Status::Routing, ..execution.clone() };
    let data = (outcome.attempt_failed)(outcome, target, execution.attempt, fault);
    let mut step = select(situation, &back, execution.attempt + 1);
    step.changes.insert(0, event(situation, &back, event::ATTEMPT_FAILED, data));
    step
}
