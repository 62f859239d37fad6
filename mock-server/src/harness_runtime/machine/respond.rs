//! The answer to an action: applied at most once, and only to the execution that asked.

use super::{Answered, Change, Effect, Situation, Step, events};
use crate::harness_runtime::model::{Action, ActionStatus, Execution, Response};
use crate::harness_runtime::problem::Problem;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Responding {
    pub(crate) execution_id: String,
    pub(crate) action_id: String,
    /// The body, JSON but not yet looked at: an answered action is refused whatever was sent.
    pub(crate) body: Value,
}

pub(crate) fn respond(situation: &Situation, responding: &Responding) -> Step<Answered> {
    match accepted(situation, responding) {
        Ok((execution, action, response)) => apply(situation, execution, action, response),
        Err(problem) => Step::unchanged(Err(problem)),
    }
}

/// Execution, then action, then state, then the body: a body that is refused leaves the action as it was.
fn accepted<'a>(situation: &Situation<'a>, responding: &Responding) -> Result<(&'a Execution, &'a Action, Response), Problem> {
    let rules = &situation.rules.actions;
    let execution =
        situation.store.execution(&responding.execution_id).ok_or_else(|| Problem::execution_not_found(&responding.execution_id))?;
    let action = situation.store.action(&responding.action_id);
    (rules.answerable)(action, &execution.id, &responding.action_id)?;
    let action = action.ok_or_else(|| Problem::action_not_found(&responding.action_id))?;
    (rules.may_respond)(execution.state)?;
    let response = (situation.rules.requests.response)(&responding.body)?;
    Ok((execution, action, response))
}

fn apply(situation: &Situation, execution: &Execution, action: &Action, response: Response) -> Step<Answered> {
    let rules = &situation.rules.actions;
    let running = Execution { state: (rules.resumed)(execution.state), updated_at: situation.now, ..execution.clone() };
    let answered = Action { status: ActionStatus::Responded, ..action.clone() };
    let mut changes = vec![Change::Action(Box::new(answered)), Change::Execution(Box::new(running.clone()))];
    changes.extend(events(&execution.id, situation.now, (rules.responded)(action, &response)));
    Step { answer: Ok(running), changes, effects: vec![Effect::Resume { action_id: action.id.clone(), response }] }
}
