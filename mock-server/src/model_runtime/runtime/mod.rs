//! The machine in the world: one store behind a lock, a clock, ids, running providers, and whoever waits for a change.
//!
//! A command is decided and written under one hold of the lock (unless a seam is open). Once that is durable its effects are carried out
//! and its answer is given, and nobody is shown anything before it is durable.

mod effects;
mod session;

pub(crate) use session::Session;

use super::machine::{Change, Decisions, Effect, Emission, Ending, Situation, Step, Store, Submission, Submitted, Taken};
use super::model::{Execution, Manifest};
use super::problem::Problem;
use super::providers::Provider;
use super::records::Record;
use super::rules::Rules;
use super::rules::views::Shown;
use super::seams::{Hold, Moment, Seams};
use crate::bells::Bells;
use crate::lock::lock;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;
use tokio::task::JoinSet;

/// What the time is.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;
/// A new execution id.
pub(crate) type Ids = Arc<dyn Fn() -> String + Send + Sync>;

/// The way to the disk.
pub(crate) type Journal = crate::durable::Journal<Record>;

/// What a runtime is made of.
pub(crate) struct Parts {
    pub(crate) rules: Rules,
    pub(crate) decisions: Decisions,
    pub(crate) seams: Seams,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    /// What there is from the beginning.
    pub(crate) store: Store,
    pub(crate) journal: Journal,
}

pub(crate) struct Runtime {
    pub(crate) rules: Rules,
    decisions: Decisions,
    pub(crate) seams: Seams,
    clock: Clock,
    ids: Ids,
    providers: BTreeMap<&'static str, Arc<dyn Provider>>,
    manifests: Vec<Manifest>,
    store: Mutex<Store>,
    journal: Journal,
    bells: Bells,
    /// Of each execution that a provider works on: true when it shall stop.
    aborts: Mutex<BTreeMap<String, watch::Sender<bool>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Runtime {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let manifests: Vec<Manifest> = parts.providers.iter().map(|provider| provider.manifest()).collect();
        let names = manifests.iter().map(|manifest| manifest.provider);
        Arc::new(Self {
            rules: parts.rules,
            decisions: parts.decisions,
            seams: parts.seams,
            clock: parts.clock,
            ids: parts.ids,
            providers: names.zip(parts.providers).collect(),
            manifests,
            store: Mutex::new(parts.store),
            journal: parts.journal,
            bells: Bells::default(),
            aborts: Mutex::default(),
            tasks: Mutex::default(),
        })
    }

    /// In the order in which they are configured.
    pub(crate) fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }

    pub(crate) async fn submit(self: &Arc<Self>, submission: &Submission) -> Result<Submitted, Problem> {
        self.perform(Moment::Submit, |situation| (self.decisions.submit)(situation, submission)).await
    }

    /// Whether there was something to cancel; if so, it has ended.
    pub(crate) async fn cancel(self: &Arc<Self>, execution_id: &str) -> bool {
        self.perform(Moment::Cancel, |situation| (self.decisions.cancel)(situation, execution_id)).await
    }

    pub(crate) async fn execution(&self, id: &str) -> Result<Execution, Problem> {
        self.show(|store| store.execution(id).cloned()).await.ok_or(Problem::ExecutionNotFound)
    }

    /// An execution and what its history adds up to, of one moment.
    pub(crate) async fn shown(&self, id: &str) -> Result<Shown, Problem> {
        let found = self.show(|store| store.execution(id).map(|execution| (execution.clone(), store.log(id).to_vec()))).await;
        let (execution, log) = found.ok_or(Problem::ExecutionNotFound)?;
        let made = (self.rules.materialise.made)(&self.rules.materialise, &log);
        let updated_at = log.last().map_or(execution.created_at, |event| event.time);
        Ok(Shown { made, updated_at, last_sequence: log.last().map_or(0, |event| event.sequence), execution })
    }

    /// Looks at the store for somebody outside: waits until what was seen is durable. Whatever it holds belongs to one moment.
    pub(crate) async fn show<T>(&self, look: impl FnOnce(&Store) -> T) -> T {
        let seen = self.read(look);
        self.journal.settled().await;
        seen
    }

    /// Looks at the store, at what is not durable yet too.
    pub(in crate::model_runtime) fn read<T>(&self, look: impl FnOnce(&Store) -> T) -> T {
        look(&lock(&self.store))
    }

    /// Rings at every later change of the execution.
    pub(crate) fn bell(&self, execution_id: &str) -> watch::Receiver<()> {
        self.bells.of(execution_id)
    }

    /// How many wait for changes of the execution.
    #[cfg(test)]
    pub(crate) fn watchers(&self, execution_id: &str) -> usize {
        self.bells.listeners(execution_id)
    }

    /// What had not ended when the server last did comes to its end, all of it before anybody is answered.
    pub(crate) async fn recover(self: &Arc<Self>) {
        let open = |store: &Store| store.executions().filter(|execution| !execution.status.is_terminal()).map(|e| e.id.clone()).collect();
        let ids: Vec<String> = self.read(open);
        ids.iter().for_each(|id| self.bells.hang(id));
        let recoveries = ids.iter().map(|id| self.perform(Moment::Recover, move |situation| (self.decisions.recover)(situation, id)));
        futures_util::future::join_all(recoveries).await;
    }

    /// Waits until the store cannot be written, and says why; for ever if that does not happen.
    pub(crate) async fn failed(&self) -> String {
        self.journal.failed().await
    }

    /// Ends every provider; nothing runs afterwards, and the store is free.
    pub(crate) async fn shut_down(&self) {
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        tasks.shutdown().await;
        self.journal.close().await;
    }

    async fn route(self: &Arc<Self>, execution_id: &str) {
        self.perform(Moment::Route, |situation| (self.decisions.route)(situation, execution_id)).await;
    }

    async fn enter(self: &Arc<Self>, execution_id: &str, attempt: usize) {
        self.perform(Moment::Enter, |situation| (self.decisions.enter)(situation, execution_id, attempt)).await;
    }

    async fn leave(self: &Arc<Self>, provider: &str) {
        self.perform(Moment::Leave, |situation| (self.decisions.leave)(situation, provider)).await;
    }

    async fn emit(self: &Arc<Self>, emission: &Emission) -> Taken {
        self.perform(Moment::Emit, |situation| (self.decisions.emit)(situation, emission)).await
    }

    async fn end(self: &Arc<Self>, ending: &Ending) {
        self.perform(Moment::End, |situation| (self.decisions.end)(situation, ending)).await;
    }

    async fn expire(self: &Arc<Self>, execution_id: &str) {
        self.perform(Moment::Expire, |situation| (self.decisions.expire)(situation, execution_id)).await;
    }

    /// Decides, writes, waits until that is durable, carries out.
    async fn perform<T>(self: &Arc<Self>, moment: Moment, decide: impl Fn(&Situation) -> Step<T>) -> T {
        let (mut step, holds) = self.decide(moment, decide);
        if !step.changes.is_empty() {
            self.write_apart(std::mem::take(&mut step.changes), &holds).await;
        }
        self.journal.settled().await;
        self.carry_out(std::mem::take(&mut step.effects)).await;
        step.answer
    }

    /// The decision; its changes are written already unless a seam is open.
    fn decide<T>(&self, moment: Moment, decide: impl Fn(&Situation) -> Step<T>) -> (Step<T>, Vec<Hold>) {
        let mut store = lock(&self.store);
        let situation =
            Situation { store: &store, rules: &self.rules, providers: &self.manifests, now: (self.clock)(), new_id: &*self.ids };
        let mut step = decide(&situation);
        let holds = (self.seams.step)(moment, &step.changes);
        if holds.is_empty() {
            self.write(&mut store, step.changes.drain(..));
        }
        (step, holds)
    }

    async fn write_apart(&self, changes: Vec<Change>, holds: &[Hold]) {
        for (index, change) in changes.into_iter().enumerate() {
            if let Some(hold) = holds.iter().find(|hold| hold.before == index) {
                tokio::time::sleep(hold.pause).await;
            }
            self.write(&mut lock(&self.store), std::iter::once(change));
        }
    }

    fn write(&self, store: &mut Store, changes: impl Iterator<Item = Change>) {
        let mut records = Vec::new();
        for change in changes {
            let touched = touched(&change).map(str::to_owned);
            if self.journal.is_kept() {
                records.extend(store.recorded(&self.rules.events, change).into_iter().map(Record::Row));
            } else {
                store.apply(&self.rules.events, change);
            }
            if let Some(execution_id) = touched {
                self.bells.ring(execution_id);
            }
        }
        // Still under the lock: the records are in the order of the changes.
        self.journal.submit(records);
    }
}

/// The execution whose record or history a change touches.
fn touched(change: &Change) -> Option<&str> {
    match change {
        Change::Execution(execution) => Some(&execution.id),
        Change::Event(event) => Some(&event.execution_id),
        Change::Key { .. } | Change::Gate { .. } => None,
    }
}

/// A list of effects that a step has set off.
type Effects = Vec<Effect>;
