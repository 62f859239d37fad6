//! The submission of an execution: the idempotency key, admission, the record.

use super::{Change, Effect, KeyUse, Situation, Step, event};
use crate::json::JsonObject;
use crate::model_runtime::model::{Execution, Request, Status, event};
use crate::model_runtime::problem::{Fault, Problem};
use std::sync::Arc;

/// A request with its key; or why it is none.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Submission {
    pub(crate) request: Result<Arc<Request>, Problem>,
    pub(crate) key: Option<String>,
}

/// An execution as it is, and whether an earlier request made it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Submitted {
    pub(crate) execution: Execution,
    pub(crate) replay: bool,
}

/// The shape first, then the key, so that a replay needs no place; then the place. A refused request leaves nothing, its key included.
pub(crate) fn submit(situation: &Situation, submission: &Submission) -> Step<Result<Submitted, Problem>> {
    let rules = situation.rules;
    let request = match &submission.request {
        Ok(request) => request,
        Err(problem) => return Step::unchanged(Err(problem.clone())),
    };
    let key = submission.key.as_ref().map(|key| (rules.idempotency.filed_under)(key, request));
    if let Some(used) = key.as_ref().and_then(|name| situation.store.key(name)) {
        return Step::unchanged(replay(situation, used, request));
    }
    let active = situation.store.executions().filter(|execution| !execution.status.is_terminal()).count();
    if active >= (rules.admission.most_active)() {
        return Step::unchanged(Err(Problem::Refused(Fault::too_many_executions())));
    }
    create(situation, request, key)
}

/// The execution that the key made, as it is now; or the conflict.
fn replay(situation: &Situation, used: &KeyUse, request: &Request) -> Result<Submitted, Problem> {
    if !(situation.rules.idempotency.equivalent)(&used.request, request) {
        return Err(Problem::Conflict);
    }
    let execution = situation.store.execution(&used.execution_id).cloned().ok_or(Problem::ExecutionNotFound)?;
    Ok(Submitted { execution, replay: true })
}

fn create(situation: &Situation, request: &Arc<Request>, key: Option<String>) -> Step<Result<Submitted, Problem>> {
    let execution = Execution {
        id: (situation.new_id)(),
        request: Arc::clone(request),
        status: Status::Accepted,
        created_at: situation.now,
        candidates: Vec::new(),
        attempt: 0,
        committed: false,
        error: None,
    };
    let execution_id = execution.id.clone();
    let mut changes = vec![Change::Execution(Box::new(execution.clone()))];
    if let Some(name) = key {
        let used = KeyUse { request: Arc::clone(request), execution_id: execution_id.clone() };
        changes.push(Change::Key { name, used: Box::new(used) });
    }
    changes.push(event(situation, &execution, event::ACCEPTED, JsonObject::new()));
    let time = (situation.rules.cancellation.time_allowed)(request.deadline_ms);
    let mut effects: Vec<Effect> =
        time.map(|milliseconds| Effect::Watch { execution_id: execution_id.clone(), milliseconds }).into_iter().collect();
    effects.push(Effect::Route { execution_id });
    Step { answer: Ok(Submitted { execution, replay: false }), changes, effects }
}
