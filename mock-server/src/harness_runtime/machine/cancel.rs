//! Cancellation: it begins with the provider's cleanup and is confirmed when that is over, well or not.

use super::{Change, Effect, Situation, Step, abandon, events};
use crate::harness_runtime::model::{Execution, State};
use crate::harness_runtime::problem::Problem;
use crate::harness_runtime::rules::cancellation::CancelEffect;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CancelRequest {
    pub(crate) execution_id: String,
    pub(crate) reason: Option<String>,
}

/// The provider's cleanup is over; `error` is the message of one that failed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct CleanedUp {
    pub(crate) execution_id: String,
    pub(crate) error: Option<String>,
}

/// What a cancel request has set off, and the record at that moment. The answer to the caller waits for the confirmation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cancelling {
    pub(crate) effect: CancelEffect,
    pub(crate) execution: Execution,
}

pub(crate) fn cancel(situation: &Situation, request: &CancelRequest) -> Step<Result<Cancelling, Problem>> {
    let execution = match situation.execution(&request.execution_id) {
        Ok(execution) => execution,
        Err(problem) => return Step::unchanged(Err(problem)),
    };
    match (situation.rules.cancellation.effect)(execution.state) {
        Err(problem) => Step::unchanged(Err(problem)),
        Ok(effect @ (CancelEffect::Unchanged | CancelEffect::Join)) => {
            Step::unchanged(Ok(Cancelling { effect, execution: execution.clone() }))
        }
        Ok(CancelEffect::Begin) => begin(situation, execution, request.reason.clone()),
    }
}

fn begin(situation: &Situation, execution: &Execution, reason: Option<String>) -> Step<Result<Cancelling, Problem>> {
    let message = reason.clone().unwrap_or_else(|| "Execution aborted".to_owned());
    let (mut changes, mut effects) = abandon(situation, &execution.id, &message);
    let cancelling = Execution { state: State::Cancelling, updated_at: situation.now, cancel_reason: reason, ..execution.clone() };
    changes.push(Change::Execution(Box::new(cancelling.clone())));
    effects.push(Effect::Abort { execution_id: execution.id.clone(), reason: message });
    effects.push(Effect::CleanUp { execution_id: execution.id.clone() });
    Step { answer: Ok(Cancelling { effect: CancelEffect::Begin, execution: cancelling }), changes, effects }
}

pub(crate) fn cleaned_up(situation: &Situation, cleaned: &CleanedUp) -> Step<()> {
    let concludes = |execution: &&Execution| (situation.rules.cancellation.concludes)(execution.state);
    let Some(execution) = situation.store.execution(&cleaned.execution_id).filter(concludes) else {
        return Step::unchanged(());
    };
    let occurrences = (situation.rules.outcome.cancelled)(execution.cancel_reason.as_deref(), cleaned.error.as_deref());
    let cancelled = Execution { state: State::Cancelled, updated_at: situation.now, ended_at: Some(situation.now), ..execution.clone() };
    let mut changes = vec![Change::Execution(Box::new(cancelled))];
    changes.extend(events(&execution.id, situation.now, occurrences));
    Step { answer: (), changes, effects: Vec::new() }
}
