//! Effects: running providers and their cleanups, stopping them, taking answers to them.

use super::{Effects, Runtime, Session, assignment};
use crate::harness_runtime::machine::{CleanedUp, Effect, Ending};
use crate::harness_runtime::providers::Provider;
use crate::lock::lock;
use futures_util::future::BoxFuture;
use std::future::Future;
use std::sync::Arc;
use tokio::sync::watch;

impl Runtime {
    /// A step may set off another one, hence the box.
    pub(super) fn carry_out(self: &Arc<Self>, effects: Effects) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            for effect in effects {
                match effect {
                    Effect::Begin { execution_id } => self.set_off(execution_id).await,
                    Effect::Run { execution_id } => self.run(&execution_id),
                    Effect::Abort { execution_id, reason } => self.abort(&execution_id, reason),
                    Effect::CleanUp { execution_id } => self.clean_up(execution_id),
                    Effect::Resume { action_id, response } => self.settle(&action_id, Ok(response)),
                    Effect::Reject { action_id, message } => self.settle(&action_id, Err(message)),
                }
            }
        })
    }

    /// At once, so that who started an execution finds it begun; unless the seam is open.
    async fn set_off(self: &Arc<Self>, execution_id: String) {
        let Some(pause) = (self.seams.begin)() else { return self.begin(&execution_id).await };
        let runtime = Arc::clone(self);
        self.spawn(async move {
            tokio::time::sleep(pause).await;
            runtime.begin(&execution_id).await;
        });
    }

    fn run(self: &Arc<Self>, execution_id: &str) {
        let Some((provider, session)) = self.engage(execution_id) else { return };
        let runtime = Arc::clone(self);
        self.spawn(async move {
            let execution_id = session.execution_id.clone();
            let result = provider.run(session).await;
            runtime.end(&Ending { execution_id: execution_id.clone(), result }).await;
            lock(&runtime.aborts).remove(&execution_id);
        });
    }

    fn clean_up(self: &Arc<Self>, execution_id: String) {
        let Some((provider, session)) = self.engage(&execution_id) else { return };
        let runtime = Arc::clone(self);
        self.spawn(async move {
            let error = provider.clean_up(session).await.err();
            runtime.cleaned_up(&CleanedUp { execution_id: execution_id.clone(), error }).await;
            let mut aborts = lock(&runtime.aborts);
            // The provider itself may have ended long ago.
            if aborts.get(&execution_id).is_some_and(|abort| abort.receiver_count() == 0) {
                aborts.remove(&execution_id);
            }
        });
    }

    /// The provider of an execution, with a session for it.
    fn engage(self: &Arc<Self>, execution_id: &str) -> Option<(Arc<dyn Provider>, Session)> {
        let (provider_id, input, config) = self.read(|store| store.execution(execution_id).map(assignment))?;
        let provider = self.providers.get(&provider_id)?;
        let abort = lock(&self.aborts).entry(execution_id.to_owned()).or_insert_with(|| watch::channel(None).0).subscribe();
        let session = Session { runtime: Arc::clone(self), execution_id: execution_id.to_owned(), input, config, abort };
        Some((Arc::clone(provider), session))
    }

    fn abort(&self, execution_id: &str, reason: String) {
        if let Some(abort) = lock(&self.aborts).get(execution_id) {
            abort.send_replace(Some(reason));
        }
    }

    fn settle(&self, action_id: &str, answer: Result<crate::harness_runtime::model::Response, String>) {
        if let Some(question) = lock(&self.questions).remove(action_id) {
            // The provider may have stopped waiting; then nobody needs the answer.
            let _ = question.send(answer);
        }
    }

    /// Runs `task` until it ends or the server stops.
    pub(in crate::harness_runtime) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = lock(&self.tasks);
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task);
    }
}
