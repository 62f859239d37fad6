//! What a provider holds of its execution: its input and config, and the ways to emit, to ask and to learn that it shall stop.

use super::Runtime;
use crate::harness_runtime::machine::{Asking, Emission, IdKind};
use crate::harness_runtime::model::{JsonObject, Response};
use crate::lock::lock;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::{oneshot, watch};

#[derive(Clone)]
pub(crate) struct Session {
    pub(super) runtime: Arc<Runtime>,
    pub(crate) execution_id: String,
    pub(crate) input: String,
    pub(crate) config: JsonObject,
    pub(super) abort: watch::Receiver<Option<String>>,
}

impl Session {
    /// Appends an event of a type that providers may emit.
    ///
    /// # Errors
    /// The message of a refusal. An emission after the end is no error: it is dropped.
    pub(crate) async fn emit(&self, kind: &str, data: Value) -> Result<(), String> {
        let emission = Emission { execution_id: self.execution_id.clone(), kind: kind.to_owned(), data };
        self.runtime.emit(&emission).await
    }

    /// Asks the caller, and waits for the answer.
    ///
    /// # Errors
    /// The message of a refusal, or why nobody will answer.
    pub(crate) async fn ask(&self, question: Value) -> Result<Response, String> {
        let action_id = (self.runtime.ids)(IdKind::Action);
        let (sender, receiver) = oneshot::channel();
        // Before the event can be seen: an answer may come at once.
        lock(&self.runtime.questions).insert(action_id.clone(), sender);
        let asking = Asking { execution_id: self.execution_id.clone(), action_id: action_id.clone(), question };
        if let Err(message) = self.runtime.ask(&asking).await {
            lock(&self.runtime.questions).remove(&action_id);
            return Err(message);
        }
        receiver.await.unwrap_or_else(|_| Err("Execution aborted".to_owned()))
    }

    /// Waits until the execution shall stop; gives the reason.
    pub(crate) async fn aborted(&self) -> String {
        let mut abort = self.abort.clone();
        let reason = abort.wait_for(Option::is_some).await.map(|reason| reason.clone().unwrap_or_default());
        match reason {
            Ok(reason) => reason,
            Err(_) => std::future::pending().await,
        }
    }
}
