//! The state machine: pure. A command and the situation go in; an answer, changes of the store and effects on the world come out.
//!
//! Nothing here waits, sends or looks at a clock. `decide` reads the store, [`Store::apply`] writes what was decided; who keeps changes
//! durable takes the rows of [`Store::recorded`]. Each decision stands in a table, [`Decisions`].

mod attempts;
mod gates;
mod provider;
mod recover;
mod stop;
mod store;
mod submit;

pub(crate) use attempts::fail;
pub(crate) use provider::{Emission, Ending};
pub(crate) use store::{AtGate, KeyUse, Row, Store};
pub(crate) use submit::{Submission, Submitted};

use super::model::{Execution, Manifest, Status};
use super::problem::Problem;
use super::rules::Rules;
use crate::json::JsonObject;
use crate::table::table;
use jiff::Timestamp;

/// What a decision may look at.
pub(crate) struct Situation<'a> {
    pub(crate) store: &'a Store,
    pub(crate) rules: &'a Rules,
    /// In the order in which they are configured.
    pub(crate) providers: &'a [Manifest],
    pub(crate) now: Timestamp,
    /// A new execution id.
    pub(crate) new_id: &'a dyn Fn() -> String,
}

/// An event before the log gives it a number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewEvent {
    pub(crate) execution_id: String,
    pub(crate) kind: String,
    pub(crate) status: Status,
    pub(crate) time: Timestamp,
    pub(crate) data: JsonObject,
}

/// A row of the store as it shall be from now on; events are added, everything else replaces what was there under its id.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Change {
    Execution(Box<Execution>),
    Key { name: String, used: Box<KeyUse> },
    Event(NewEvent),
    Gate { provider: String, at: AtGate },
}

/// What has to happen outside of the store once the changes are in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Effect {
    /// Decide about the route.
    Route { execution_id: String },
    /// Decide about the gate of the provider that was selected.
    Enter { execution_id: String, attempt: usize },
    /// Run the provider.
    Run { execution_id: String, attempt: usize },
    /// Tell the provider that it shall stop.
    Abort { execution_id: String },
    /// Say so when the time of an execution is up.
    Watch { execution_id: String, milliseconds: u64 },
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

    /// The same changes and effects with another answer.
    pub(crate) fn answering<U>(self, answer: U) -> Step<U> {
        Step { answer, changes: self.changes, effects: self.effects }
    }
}

/// The provider shall go on, or what it said was refused and its attempt is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    GoOn,
    Refused,
}

table! {
    /// Every decision of the machine, one a command.
    Decisions {
        submit: fn(&Situation, &Submission) -> Step<Result<Submitted, Problem>> = submit::submit;
        /// The route of the execution with that id.
        route: fn(&Situation, &str) -> Step<()> = attempts::route;
        /// The attempt of that number reaches the gate of its provider.
        enter: fn(&Situation, &str, usize) -> Step<()> = gates::enter;
        /// A provider has come to its end, and another execution may have its place.
        leave: fn(&Situation, &str) -> Step<()> = gates::leave;
        emit: fn(&Situation, &Emission) -> Step<Taken> = provider::emit;
        end: fn(&Situation, &Ending) -> Step<()> = provider::end;
        /// Whether there was something to cancel.
        cancel: fn(&Situation, &str) -> Step<bool> = stop::cancel;
        /// The time of the execution with that id is up.
        expire: fn(&Situation, &str) -> Step<()> = stop::expire;
        /// What becomes of an execution that had not ended when the server did.
        recover: fn(&Situation, &str) -> Step<()> = recover::recover;
    }
}

/// An event of the runtime or of a provider, about an execution whose status is known.
pub(crate) fn event(situation: &Situation, execution: &Execution, kind: &str, data: JsonObject) -> Change {
    let (status, time) = (execution.status, situation.now);
    Change::Event(NewEvent { execution_id: execution.id.clone(), kind: kind.to_owned(), status, time, data })
}

#[cfg(test)]
mod tests;
