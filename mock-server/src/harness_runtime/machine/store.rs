//! The store: all rows, in memory. It knows how rows hang together and nothing of when they may change.

use super::{Change, NewEvent};
use crate::harness_runtime::model::{Action, ActionStatus, Artifact, Conversation, Event, Execution, StartRequest};
use crate::harness_runtime::rules::events::Events;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Which request used an idempotency key, and the execution it made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct KeyUse {
    pub(crate) request: StartRequest,
    pub(crate) execution_id: String,
}

/// A row as it stands after a change; what has to survive a restart.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Row {
    Conversation(Conversation),
    Execution(Box<Execution>),
    Key { name: String, used: Box<KeyUse> },
    Event(Arc<Event>),
    Action(Box<Action>),
    Artifact(Box<Artifact>),
}

/// An execution with everything that belongs to it.
#[derive(Clone, Debug)]
struct Run {
    execution: Execution,
    log: Vec<Arc<Event>>,
    artifacts: Vec<Artifact>,
    /// Ids of its actions.
    actions: Vec<String>,
    /// Names of the keys that led to it.
    keys: Vec<String>,
}

/// What went with an execution that is not kept any longer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Forgotten {
    pub(crate) execution_id: String,
    pub(crate) keys: Vec<String>,
    pub(crate) actions: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    conversations: BTreeMap<String, Conversation>,
    runs: BTreeMap<String, Run>,
    actions: BTreeMap<String, Action>,
    keys: BTreeMap<String, KeyUse>,
    /// Events of all executions together.
    events: u64,
}

impl Store {
    pub(crate) fn conversation(&self, id: &str) -> Option<&Conversation> {
        self.conversations.get(id)
    }

    pub(crate) fn execution(&self, id: &str) -> Option<&Execution> {
        self.runs.get(id).map(|run| &run.execution)
    }

    pub(crate) fn executions(&self) -> impl Iterator<Item = &Execution> {
        self.runs.values().map(|run| &run.execution)
    }

    /// The history of an execution, oldest first; empty for an unknown id.
    pub(crate) fn log(&self, execution_id: &str) -> &[Arc<Event>] {
        self.runs.get(execution_id).map_or(&[], |run| &run.log)
    }

    /// The artifacts of an execution, oldest first; empty for an unknown id.
    pub(crate) fn artifacts(&self, execution_id: &str) -> &[Artifact] {
        self.runs.get(execution_id).map_or(&[], |run| &run.artifacts)
    }

    pub(crate) fn action(&self, id: &str) -> Option<&Action> {
        self.actions.get(id)
    }

    pub(crate) fn pending_actions<'a>(&'a self, execution_id: &str) -> impl Iterator<Item = &'a Action> + use<'a> {
        let ids: &[String] = self.runs.get(execution_id).map_or(&[], |run| &run.actions);
        ids.iter().filter_map(|id| self.actions.get(id)).filter(|action| action.status == ActionStatus::Pending)
    }

    pub(crate) fn key(&self, name: &str) -> Option<&KeyUse> {
        self.keys.get(name)
    }

    /// Writes one change. Rows of an execution that does not exist are dropped.
    pub(crate) fn apply(&mut self, rules: &Events, change: Change) {
        match change {
            Change::Conversation(conversation) => {
                self.conversations.insert(conversation.id.clone(), conversation);
            }
            Change::Execution(execution) => self.put_execution(*execution),
            Change::Key { name, used } => self.put_key(name, *used),
            Change::Event(event) => {
                for event in (rules.appended)(event) {
                    self.append(rules, event);
                }
            }
            Change::Action(action) => self.put_action(*action),
            Change::Artifact(artifact) => self.put_artifact(*artifact),
        }
    }

    /// Applies a change, and gives the rows as they stand then, events with their numbers.
    pub(crate) fn recorded(&mut self, rules: &Events, change: Change) -> Vec<Row> {
        let row = match &change {
            Change::Conversation(conversation) => Row::Conversation(conversation.clone()),
            Change::Execution(execution) => Row::Execution(execution.clone()),
            Change::Key { name, used } => Row::Key { name: name.clone(), used: used.clone() },
            Change::Action(action) => Row::Action(action.clone()),
            Change::Artifact(artifact) => Row::Artifact(artifact.clone()),
            Change::Event(event) => {
                let (execution_id, length) = (event.execution_id.clone(), self.log(&event.execution_id).len());
                self.apply(rules, change);
                return self.log(&execution_id)[length..].iter().cloned().map(Row::Event).collect();
            }
        };
        self.apply(rules, change);
        vec![row]
    }

    /// Puts back a row that was recorded, in the order of the records.
    pub(crate) fn restore(&mut self, row: Row) {
        match row {
            Row::Conversation(conversation) => {
                self.conversations.insert(conversation.id.clone(), conversation);
            }
            Row::Execution(execution) => self.put_execution(*execution),
            Row::Key { name, used } => self.put_key(name, *used),
            Row::Event(event) => {
                if let Some(run) = self.runs.get_mut(&event.execution_id) {
                    run.log.push(event);
                    self.events += 1;
                }
            }
            Row::Action(action) => self.put_action(*action),
            Row::Artifact(artifact) => self.put_artifact(*artifact),
        }
    }

    /// Lets go of an execution and of all that belongs to it, its keys too.
    pub(crate) fn forget(&mut self, execution_id: &str) -> Forgotten {
        let Some(run) = self.runs.remove(execution_id) else { return Forgotten::default() };
        run.actions.iter().for_each(|id| drop(self.actions.remove(id)));
        let mut keys = run.keys;
        keys.retain(|name| self.keys.get(name).is_some_and(|used| used.execution_id == execution_id));
        keys.iter().for_each(|name| drop(self.keys.remove(name)));
        Forgotten { execution_id: execution_id.to_owned(), keys, actions: run.actions }
    }

    fn put_key(&mut self, name: String, used: KeyUse) {
        if let Some(run) = self.runs.get_mut(&used.execution_id) {
            run.keys.push(name.clone());
        }
        self.keys.insert(name, used);
    }

    fn put_artifact(&mut self, artifact: Artifact) {
        if let Some(run) = self.runs.get_mut(&artifact.execution_id) {
            run.artifacts.push(artifact);
        }
    }

    fn put_execution(&mut self, execution: Execution) {
        if let Some(run) = self.runs.get_mut(&execution.id) {
            run.execution = execution;
        } else {
            let run = Run { execution, log: Vec::new(), artifacts: Vec::new(), actions: Vec::new(), keys: Vec::new() };
            self.runs.insert(run.execution.id.clone(), run);
        }
    }

    fn put_action(&mut self, action: Action) {
        let Some(run) = self.runs.get_mut(&action.execution_id) else { return };
        if !run.actions.contains(&action.id) {
            run.actions.push(action.id.clone());
        }
        self.actions.insert(action.id.clone(), action);
    }

    fn append(&mut self, rules: &Events, event: NewEvent) {
        let Some(run) = self.runs.get_mut(&event.execution_id) else { return };
        let sequence = (rules.sequence)(run.log.len() as u64, self.events);
        self.events += 1;
        run.log.push(Arc::new(Event {
            id: (rules.id)(&event.execution_id, sequence),
            execution_id: event.execution_id,
            sequence,
            kind: event.kind,
            time: event.time,
            data: event.data,
        }));
    }
}
