//! Actions: what a provider may ask, and what an answer does. Section 7 of the contract page.

use super::outcome::Occurrence;
use crate::harness_runtime::json;
use crate::harness_runtime::model::{Action, ActionKind, ActionStatus, JsonObject, Response, State, event};
use crate::harness_runtime::problem::{Code, Problem};
use crate::table::table;
use serde_json::{Value, json};

/// What a provider asks for.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Question {
    pub(crate) kind: ActionKind,
    pub(crate) title: String,
    pub(crate) description: Option<String>,
    pub(crate) payload: JsonObject,
}

table! {
    /// Rules about actions.
    Actions {
        /// HR-ACTION-34: whether the provider may ask in this state, or the message of the refusal.
        may_ask: fn(State) -> Result<(), String> = may_ask;
        /// HR-ACTION-2, -4, -6: reads a question, or says why it is refused.
        question: fn(&Value) -> Result<Question, String> = question;
        /// HR-ACTION-7, -8: the state of an execution that waits for an answer.
        awaiting: fn(ActionKind) -> State = awaiting;
        /// HR-ACTION-15 to -18, -20 to -22, -37, -40: whether the action of that id may be answered for the execution of that id.
        answerable: fn(Option<&Action>, &str, &str) -> Result<(), Problem> = answerable;
        /// HR-ACTION-44: whether an execution in this state takes an answer.
        may_respond: fn(State) -> Result<(), Problem> = may_respond;
        /// HR-ACTION-9 to -13: the events of an accepted answer.
        responded: fn(&Action, &Response) -> Vec<Occurrence> = responded;
        /// HR-ACTION-14, -43: the state after an accepted answer, given the one before.
        resumed: fn(State) -> State = resumed;
        /// HR-ACTION-20, -21, -33, HR-EXEC-27: what becomes of an action when its execution ends or begins to be cancelled.
        abandoned: fn(ActionStatus) -> ActionStatus = abandoned;
    }
}

/// One action at a time, and only while running.
pub(crate) fn may_ask(state: State) -> Result<(), String> {
    if state == State::Running { Ok(()) } else { Err(format!("Provider cannot request an action while the execution is {}", state.name())) }
}

pub(crate) fn question(asked: &Value) -> Result<Question, String> {
    read_question(asked).ok_or_else(|| "Provider requested an invalid action".to_owned())
}

fn read_question(asked: &Value) -> Option<Question> {
    let asked = asked.as_object()?;
    Some(Question {
        kind: match asked.get("kind")?.as_str()? {
            "approval" => ActionKind::Approval,
            "input" => ActionKind::Input,
            _ => return None,
        },
        title: asked.get("title")?.as_str().filter(|title| !title.is_empty())?.to_owned(),
        description: asked.get("description").map(|text| text.as_str().map(str::to_owned).ok_or(())).transpose().ok()?,
        payload: asked.get("payload").map(|payload| payload.as_object().cloned().ok_or(())).transpose().ok()?.unwrap_or_default(),
    })
}

pub(crate) fn awaiting(kind: ActionKind) -> State {
    match kind {
        ActionKind::Approval => State::AwaitingApproval,
        ActionKind::Input => State::AwaitingInput,
    }
}

/// An action belongs to its execution, is answered at most once, and is gone when its execution ended before.
pub(crate) fn answerable(action: Option<&Action>, execution_id: &str, action_id: &str) -> Result<(), Problem> {
    match action {
        Some(action) if action.execution_id == execution_id => match action.status {
            ActionStatus::Pending => Ok(()),
            ActionStatus::Responded => Err(Problem::action_already_resolved(action_id)),
            ActionStatus::Abandoned => Err(Problem::action_not_found(action_id)),
        },
        _ => Err(Problem::action_not_found(action_id)),
    }
}

pub(crate) fn may_respond(state: State) -> Result<(), Problem> {
    if state.is_awaiting() {
        Ok(())
    } else {
        Err(Problem::new(Code::InvalidState, format!("Execution does not await a response while it is {}", state.name())))
    }
}

/// The event says which action, and `approved` if it was sent. Value and metadata go to the provider alone.
pub(crate) fn responded(action: &Action, response: &Response) -> Vec<Occurrence> {
    let mut data = json::object([("actionId", json!(action.id))]);
    if let Some(approved) = response.approved {
        data.insert("approved".to_owned(), json!(approved));
    }
    vec![(event::ACTION_RESPONDED, data)]
}

pub(crate) fn resumed(_before: State) -> State {
    State::Running
}

pub(crate) fn abandoned(status: ActionStatus) -> ActionStatus {
    match status {
        ActionStatus::Pending => ActionStatus::Abandoned,
        settled => settled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_have_a_kind_and_a_title() {
        assert!(question(&json!({ "kind": "approval", "title": "Go?" })).is_ok());
        assert!(question(&json!({ "kind": "approval", "title": "" })).is_err());
        assert!(question(&json!({ "kind": "other", "title": "Go?" })).is_err());
        assert!(question(&json!({ "kind": "input", "title": "Go?", "payload": [] })).is_err());
    }
}
