//! The machine in the world: one store behind a lock, a clock, ids, running providers, and whoever waits for a change.
//!
//! A command is decided and written under one hold of the lock (unless a seam is open). Once that is durable its effects are carried out
//! and its answer is given, and nobody is shown anything before it is durable.

mod effects;
mod retention;
mod session;

pub(crate) use session::Session;

use super::machine::{
    Answered, Asking, CancelRequest, Change, CleanedUp, Decisions, Effect, Emission, Ending, IdKind, Responding, Situation, Step, Store,
    Taken,
};
use super::model::{Conversation, Description, Execution, JsonObject, Manifest, Response, StartRequest};
use super::problem::Problem;
use super::providers::Provider;
use super::records::Record;
use super::rules::Rules;
use super::seams::{Hold, Moment, Seams};
use crate::bells::Bells;
use crate::lock::lock;
use jiff::Timestamp;
use retention::Retention;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinSet;

/// What the time is.
pub(crate) type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;
/// A new id of a kind.
pub(crate) type Ids = Arc<dyn Fn(IdKind) -> String + Send + Sync>;

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
    /// How many ended executions are kept; all without.
    pub(crate) retain: Option<usize>,
}

pub(crate) struct Runtime {
    pub(crate) rules: Rules,
    decisions: Decisions,
    pub(crate) seams: Seams,
    clock: Clock,
    ids: Ids,
    providers: BTreeMap<String, Arc<dyn Provider>>,
    description: Description,
    store: Mutex<Store>,
    journal: Journal,
    retention: Mutex<Retention>,
    bells: Bells,
    /// Of each running provider: carries the reason when it shall stop.
    aborts: Mutex<BTreeMap<String, watch::Sender<Option<String>>>>,
    /// Of each action: takes the answer to the provider that asked.
    questions: Mutex<BTreeMap<String, oneshot::Sender<Result<Response, String>>>>,
    tasks: Mutex<JoinSet<()>>,
}

impl Runtime {
    pub(crate) fn new(parts: Parts) -> Arc<Self> {
        let manifests: Vec<Manifest> = parts.providers.iter().map(|provider| provider.manifest()).collect();
        let providers = parts.providers.into_iter().zip(&manifests).map(|(provider, manifest)| (manifest.id.clone(), provider)).collect();
        Arc::new(Self {
            rules: parts.rules,
            decisions: parts.decisions,
            seams: parts.seams,
            clock: parts.clock,
            ids: parts.ids,
            providers,
            description: Description {
                name: "proofmark-reference".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                protocol_version: super::model::PROTOCOL_VERSION.to_owned(),
                providers: manifests,
            },
            retention: Mutex::new(Retention::new(parts.retain, &parts.store)),
            store: Mutex::new(parts.store),
            journal: parts.journal,
            bells: Bells::default(),
            aborts: Mutex::default(),
            questions: Mutex::default(),
            tasks: Mutex::default(),
        })
    }

    pub(crate) fn description(&self) -> &Description {
        &self.description
    }

    pub(crate) async fn create_conversation(self: &Arc<Self>, metadata: &JsonObject) -> Conversation {
        self.perform(Moment::CreateConversation, |situation| (self.decisions.create_conversation)(situation, metadata)).await
    }

    pub(crate) async fn start(self: &Arc<Self>, request: &StartRequest) -> Answered {
        self.perform(Moment::Start, |situation| (self.decisions.start)(situation, request)).await
    }

    /// Answers when the cancellation is confirmed.
    pub(crate) async fn cancel(self: &Arc<Self>, request: &CancelRequest) -> Answered {
        let mut bell = self.bell(&request.execution_id);
        let cancelling = self.perform(Moment::Cancel, |situation| (self.decisions.cancel)(situation, request)).await?;
        let mut execution = cancelling.execution;
        while !(self.rules.cancellation.confirmed)(cancelling.effect, execution.state) {
            if bell.changed().await.is_err() {
                break;
            }
            execution = self.execution(&request.execution_id).await?;
        }
        Ok(execution)
    }

    pub(crate) async fn respond(self: &Arc<Self>, responding: &Responding) -> Answered {
        self.perform(Moment::Respond, |situation| (self.decisions.respond)(situation, responding)).await
    }

    pub(crate) async fn conversation(&self, id: &str) -> Result<Conversation, Problem> {
        self.show(|store| store.conversation(id).cloned()).await.ok_or_else(|| Problem::conversation_not_found(id))
    }

    pub(crate) async fn execution(&self, id: &str) -> Answered {
        self.show(|store| store.execution(id).cloned()).await.ok_or_else(|| Problem::execution_not_found(id))
    }

    /// Looks at the store for somebody outside: waits until what was seen is durable. Whatever it holds belongs to one moment.
    pub(crate) async fn show<T>(&self, look: impl FnOnce(&Store) -> T) -> T {
        let seen = self.read(look);
        self.journal.settled().await;
        seen
    }

    /// Looks at the store, at what is not durable yet too.
    pub(in crate::harness_runtime) fn read<T>(&self, look: impl FnOnce(&Store) -> T) -> T {
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
        let open = |store: &Store| store.executions().filter(|execution| !execution.state.is_terminal()).map(|e| e.id.clone()).collect();
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

    async fn begin(self: &Arc<Self>, execution_id: &str) {
        self.perform(Moment::Begin, |situation| (self.decisions.begin)(situation, execution_id)).await;
    }

    async fn emit(self: &Arc<Self>, emission: &Emission) -> Taken {
        self.perform(Moment::Emit, |situation| (self.decisions.emit)(situation, emission)).await
    }

    async fn ask(self: &Arc<Self>, asking: &Asking) -> Taken {
        self.perform(Moment::Ask, |situation| (self.decisions.ask)(situation, asking)).await
    }

    async fn end(self: &Arc<Self>, ending: &Ending) {
        self.perform(Moment::End, |situation| (self.decisions.end)(situation, ending)).await;
    }

    async fn cleaned_up(self: &Arc<Self>, cleaned: &CleanedUp) {
        self.perform(Moment::CleanedUp, |situation| (self.decisions.cleaned_up)(situation, cleaned)).await;
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
            Situation { store: &store, rules: &self.rules, providers: &self.description.providers, now: (self.clock)(), ids: &*self.ids };
        let mut step = decide(&situation);
        let holds = (self.seams.step)(moment, &step.changes);
        if holds.is_empty() {
            self.write(&mut store, step.changes.drain(..));
        }
        (step, holds)
    }

    async fn write_apart(&self, changes: Vec<Change>, holds: &[Hold]) {
        for (index, change) in changes.into_iter().enumerate() {
            let hold = holds.iter().find(|hold| hold.before == index);
            if let Some(hold) = hold {
                tokio::time::sleep(hold.pause).await;
            }
            let mut store = lock(&self.store);
            if hold.is_some_and(|hold| hold.unless_ended) && has_ended(&store, &change) {
                return;
            }
            self.write(&mut store, std::iter::once(change));
        }
    }

    fn write(&self, store: &mut Store, changes: impl Iterator<Item = Change>) {
        let mut records = Vec::new();
        for change in changes {
            let touched = touched(&change).map(str::to_owned);
            if let Some(id) = ends(store, &change) {
                lock(&self.retention).ended(id);
            }
            if self.journal.is_kept() {
                records.extend(store.recorded(&self.rules.events, change).into_iter().map(Record::Row));
            } else {
                store.apply(&self.rules.events, change);
            }
            if let Some(execution_id) = touched {
                self.bells.ring(execution_id);
            }
        }
        records.extend(self.let_go(store));
        // Still under the lock: the records are in the order of the changes.
        self.journal.submit(records);
    }

    /// Lets go of the ended executions that are not to be kept any longer.
    fn let_go(&self, store: &mut Store) -> Vec<Record> {
        let due = self.bells.take_down(|is_read| lock(&self.retention).due(is_read));
        due.iter().map(|id| Record::Forgotten(store.forget(id))).collect()
    }
}

/// The execution that ends with a change.
fn ends<'a>(store: &Store, change: &'a Change) -> Option<&'a str> {
    let Change::Execution(execution) = change else { return None };
    let ended = store.execution(&execution.id).is_some_and(|before| before.state.is_terminal());
    (execution.state.is_terminal() && !ended).then_some(&execution.id)
}

/// The execution whose record or history a change touches.
fn touched(change: &Change) -> Option<&str> {
    match change {
        Change::Execution(execution) => Some(&execution.id),
        Change::Event(event) => Some(&event.execution_id),
        _ => None,
    }
}

fn has_ended(store: &Store, change: &Change) -> bool {
    touched(change).and_then(|id| store.execution(id)).is_some_and(|execution| execution.state.is_terminal())
}

/// The name of the provider that an execution belongs to, with what it is given.
fn assignment(execution: &Execution) -> (String, String, JsonObject) {
    (execution.provider_id.clone(), execution.input.clone(), execution.effective_config.clone())
}

/// A list of effects that a step has set off.
type Effects = Vec<Effect>;
