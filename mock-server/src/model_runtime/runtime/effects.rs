//! Effects: routes and gates, running providers, stopping them, watching the time.

use super::{Effects, Runtime, Session};
use crate::lock::lock;
use crate::model_runtime::machine::{Effect, Ending};
use crate::model_runtime::model::Status;
use crate::model_runtime::providers::Provider;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

impl Runtime {
    /// A step may set off another one, hence the box.
    pub(super) fn carry_out(self: &Arc<Self>, effects: Effects) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for effect in effects {
                match effect {
                    Effect::Route { execution_id } => self.set_off(execution_id).await,
                    Effect::Enter { execution_id, attempt } => self.enter(&execution_id, attempt).await,
                    Effect::Run { execution_id, attempt } => self.run(&execution_id, attempt),
                    Effect::Abort { execution_id } => self.abort(&execution_id),
                    Effect::Watch { execution_id, milliseconds } => self.watch(execution_id, Duration::from_millis(milliseconds)),
                }
            }
        })
    }

    /// At once, unless the seam is open.
    async fn set_off(self: &Arc<Self>, execution_id: String) {
        let Some(pause) = (self.seams.route)() else { return self.route(&execution_id).await };
        let runtime = Arc::clone(self);
        self.spawn(async move {
            tokio::time::sleep(pause).await;
            runtime.route(&execution_id).await;
        });
    }

    /// The place at the gate is free again when the provider really has come to its end, however its execution ended.
    fn run(self: &Arc<Self>, execution_id: &str, attempt: usize) {
        let Some((provider, session)) = self.engage(execution_id, attempt) else { return };
        let runtime = Arc::clone(self);
        self.spawn(async move {
            let execution_id = session.execution_id.clone();
            let result = provider.run(session).await;
            runtime.end(&Ending { execution_id: execution_id.clone(), attempt, result }).await;
            if runtime.status(&execution_id).is_some_and(Status::is_terminal) {
                lock(&runtime.aborts).remove(&execution_id);
            }
            runtime.leave(provider.manifest().provider).await;
        });
    }

    /// The provider of an attempt, with a session for it.
    fn engage(self: &Arc<Self>, execution_id: &str, attempt: usize) -> Option<(Arc<dyn Provider>, Session)> {
        let abort = lock(&self.aborts).entry(execution_id.to_owned()).or_insert_with(|| watch::channel(false).0).subscribe();
        let (target, request, ended) = self.read(|store| {
            let execution = store.execution(execution_id)?;
            Some((execution.target().cloned()?, Arc::clone(&execution.request), execution.status.is_terminal()))
        })?;
        if ended {
            // It was stopped before there was anybody to tell.
            self.abort(execution_id);
        }
        let provider = self.providers.get(target.provider.as_str())?;
        let session = Session { runtime: Arc::clone(self), execution_id: execution_id.to_owned(), attempt, request, abort };
        Some((Arc::clone(provider), session))
    }

    fn status(&self, execution_id: &str) -> Option<Status> {
        self.read(|store| store.execution(execution_id).map(|execution| execution.status))
    }

    fn abort(&self, execution_id: &str) {
        if let Some(abort) = lock(&self.aborts).get(execution_id) {
            abort.send_replace(true);
        }
    }

    /// Watches until the time is up or the execution has ended.
    fn watch(self: &Arc<Self>, execution_id: String, time: Duration) {
        let runtime = Arc::clone(self);
        let mut bell = self.bell(&execution_id);
        self.spawn(async move {
            let ended = async {
                while runtime.status(&execution_id).is_some_and(|status| !status.is_terminal()) {
                    if bell.changed().await.is_err() {
                        return;
                    }
                }
            };
            if tokio::time::timeout(time, ended).await.is_err() {
                runtime.expire(&execution_id).await;
            }
        });
    }

    /// Runs `task` until it ends or the server stops.
    pub(in crate::model_runtime) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}
