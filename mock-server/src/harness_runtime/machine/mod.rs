//! The state machine: pure. A command and the situation go in; an answer, changes of the store and effects on the world come out.
//!
//! Nothing here waits, sends or looks at a clock. `decide` reads the store, [`Store::apply`] writes what was decided; who keeps changes
//! durable writes them between the two. Each decision stands in a table, [`Decisions`].

mod cancel;
mod conversation;
mod provider;
mod recover;
mod respond;
mod start;
mod store;

pub(crate) use cancel::{CancelRequest, Cancelling, CleanedUp};
pub(crate) use provider::{Asking, Emission, Ending};
pub(crate) use respond::Responding;
pub(crate) use store::{Forgotten, KeyUse, Row, Store};

use super::model::{Action, Artifact, Conversation, Execution, JsonObject, Manifest, Response};
use super::problem::Problem;
use super::rules::Rules;
use super::rules::outcome::Occurrence;
use crate::table::table;
use jiff::Timestamp;

/// What ids are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IdKind {
    Conversation,
    Execution,
    Action,
}

impl IdKind {
    pub(crate) fn prefix(self) -> &'static str {
        match self {
            IdKind::Conversation => "conv",
            IdKind::Execution => "exec",
            IdKind::Action => "action",
        }
    }
}

/// What a decision may look at.
pub(crate) struct Situation<'a> {
    pub(crate) store: &'a Store,
    pub(crate) rules: &'a Rules,
    pub(crate) providers: &'a [Manifest],
    pub(crate) now: Timestamp,
    pub(crate) ids: &'a dyn Fn(IdKind) -> String,
}

impl Situation<'_> {
    /// The execution of that id, or the problem that says there is none.
    pub(crate) fn execution(&self, id: &str) -> Result<&Execution, Problem> {
        self.store.execution(id).ok_or_else(|| Problem::execution_not_found(id))
    }
}

/// An event before the log gives it a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewEvent {
    pub(crate) execution_id: String,
    pub(crate) kind: String,
    pub(crate) time: Timestamp,
    pub(crate) data: JsonObject,
}

/// A row of the store as it shall be from now on; events are added, everything else replaces what was there under its id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Conversation(Conversation),
    Execution(Box<Execution>),
    Key { name: String, used: Box<KeyUse> },
    Event(NewEvent),
    Action(Box<Action>),
    Artifact(Box<Artifact>),
}

/// What has to happen outside of the store once the changes are in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Decide about the beginning of the provider's work.
    Begin { execution_id: String },
    /// Run the provider.
    Run { execution_id: String },
    /// Tell the provider that it shall stop.
    Abort { execution_id: String, reason: String },
    /// Run the provider's cleanup.
    CleanUp { execution_id: String },
    /// Hand the answer to the provider that asked.
    Resume { action_id: String, response: Response },
    /// Tell the provider that asked that nobody will answer.
    Reject { action_id: String, message: String },
}

/// A decision.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Step<T> {
    pub(crate) answer: T,
    pub(crate) changes: Vec<Change>,
    pub(crate) effects: Vec<Effect>,
}

impl<T> Step<T> {
    /// An answer that changes nothing.
    pub(crate) fn unchanged(answer: T) -> Self {
        Self { answer, changes: Vec::new(), effects: Vec::new() }
    }
}

/// An execution, or why there is none.
pub(crate) type Answered = Result<Execution, Problem>;

/// Nothing, or the message that the provider gets as an error.
pub(crate) type Taken = Result<(), String>;

table! {
    /// Every decision of the machine, one a command.
    Decisions {
        create_conversation: fn(&Situation, &JsonObject) -> Step<Conversation> = conversation::create;
        start: fn(&Situation, &super::model::StartRequest) -> Step<Answered> = start::start;
        /// The beginning of the provider's work, of the execution with that id.
        begin: fn(&Situation, &str) -> Step<()> = start::begin;
        emit: fn(&Situation, &Emission) -> Step<Taken> = provider::emit;
        ask: fn(&Situation, &Asking) -> Step<Taken> = provider::ask;
        end: fn(&Situation, &Ending) -> Step<()> = provider::end;
        cancel: fn(&Situation, &CancelRequest) -> Step<Result<Cancelling, Problem>> = cancel::cancel;
        cleaned_up: fn(&Situation, &CleanedUp) -> Step<()> = cancel::cleaned_up;
        respond: fn(&Situation, &Responding) -> Step<Answered> = respond::respond;
        /// What becomes of an execution that had not ended when the server did.
        recover: fn(&Situation, &str) -> Step<()> = recover::recover;
    }
}

/// The events that `occurrences` append to the history of an execution.
pub(crate) fn events(execution_id: &str, now: Timestamp, occurrences: Vec<Occurrence>) -> impl Iterator<Item = Change> + use<> {
    let execution_id = execution_id.to_owned();
    occurrences
        .into_iter()
        .map(move |(kind, data)| Change::Event(NewEvent { execution_id: execution_id.clone(), kind: kind.to_owned(), time: now, data }))
}

/// What becomes of the actions of an execution that nobody answered: they are abandoned, and who asked learns of it.
pub(crate) fn abandon(situation: &Situation, execution_id: &str, message: &str) -> (Vec<Change>, Vec<Effect>) {
    let mut changes = Vec::new();
    let mut effects = Vec::new();
    for action in situation.store.pending_actions(execution_id) {
        let status = (situation.rules.actions.abandoned)(action.status);
        changes.push(Change::Action(Box::new(Action { status, ..action.clone() })));
        effects.push(Effect::Reject { action_id: action.id.clone(), message: message.to_owned() });
    }
    (changes, effects)
}

#[cfg(test)]
mod tests;
