//! The store: all rows, in memory. It knows how rows hang together and nothing of when they may change.

use super::{Change, NewEvent};
use crate::model_runtime::model::{Event, Execution, Request};
use crate::model_runtime::rules::events::Events;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Which request used an idempotency key, and the execution it made.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KeyUse {
    pub(crate) request: Arc<Request>,
    pub(crate) execution_id: String,
}

/// A row as it stands after a change; what has to survive a restart. Gates do not: nobody works after one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Row {
    /// An execution that is new, with its request.
    Accepted(Box<Execution>),
    /// One that has changed; its request has not.
    Execution(Box<Execution>),
    Key {
        name: String,
        used: Box<KeyUse>,
    },
    Event(Arc<Event>),
}

/// Who is at the gate of a provider.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AtGate {
    pub(crate) working: usize,
    /// Executions with the numbers of their attempts.
    pub(crate) waiting: VecDeque<(String, usize)>,
}

/// An execution with everything that belongs to it.
#[derive(Clone, Debug)]
struct Run {
    execution: Execution,
    log: Vec<Arc<Event>>,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct Store {
    runs: BTreeMap<String, Run>,
    keys: BTreeMap<String, KeyUse>,
    gates: BTreeMap<String, AtGate>,
    /// Events of all executions together.
    events: u64,
}

impl Store {
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

    pub(crate) fn key(&self, name: &str) -> Option<&KeyUse> {
        self.keys.get(name)
    }

    pub(crate) fn gate(&self, provider: &str) -> AtGate {
        self.gates.get(provider).cloned().unwrap_or_default()
    }

    /// Writes one change. Events of an execution that does not exist are dropped.
    pub(crate) fn apply(&mut self, rules: &Events, change: Change) {
        match change {
            Change::Execution(execution) => self.put_execution(*execution),
            Change::Key { name, used } => {
                self.keys.insert(name, *used);
            }
            Change::Event(event) => {
                for event in (rules.appended)(self.log(&event.execution_id.clone()), event) {
                    self.append(rules, event);
                }
            }
            Change::Gate { provider, at } => {
                self.gates.insert(provider, at);
            }
        }
    }

    /// Applies a change, and gives the rows as they stand then, events with their numbers.
    pub(crate) fn recorded(&mut self, rules: &Events, change: Change) -> Vec<Row> {
        let row = match &change {
            Change::Execution(execution) if self.execution(&execution.id).is_none() => Row::Accepted(execution.clone()),
            Change::Execution(execution) => Row::Execution(execution.clone()),
            Change::Key { name, used } => Row::Key { name: name.clone(), used: used.clone() },
            Change::Event(event) => {
                let (execution_id, length) = (event.execution_id.clone(), self.log(&event.execution_id).len());
                self.apply(rules, change);
                return self.log(&execution_id)[length..].iter().cloned().map(Row::Event).collect();
            }
            Change::Gate { .. } => {
                self.apply(rules, change);
                return Vec::new();
            }
        };
        self.apply(rules, change);
        vec![row]
    }

    /// Puts back a row that was recorded, in the order of the records.
    pub(crate) fn restore(&mut self, row: Row) {
        match row {
            Row::Accepted(execution) | Row::Execution(execution) => self.put_execution(*execution),
            Row::Key { name, used } => {
                self.keys.insert(name, *used);
            }
            Row::Event(event) => {
                if let Some(run) = self.runs.get_mut(&event.execution_id) {
                    run.log.push(event);
                    self.events += 1;
                }
            }
        }
    }

    fn put_execution(&mut self, execution: Execution) {
        if let Some(run) = self.runs.get_mut(&execution.id) {
            run.execution = execution;
        } else {
            self.runs.insert(execution.id.clone(), Run { execution, log: Vec::new() });
        }
    }

    fn append(&mut self, rules: &Events, event: NewEvent) {
        let Some(run) = self.runs.get_mut(&event.execution_id) else { return };
        let sequence = (rules.sequence)(&run.log, self.events);
        self.events += 1;
        let NewEvent { execution_id, kind, status, time, data } = event;
        run.log.push(Arc::new(Event { execution_id, sequence, kind, status, time, data }));
    }
}
