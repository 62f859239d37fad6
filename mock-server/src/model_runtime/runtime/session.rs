//! What a provider holds of an attempt: the request, and the ways to emit and to learn that it shall stop.

use super::Runtime;
use crate::json::JsonObject;
use crate::model_runtime::machine::{Emission, Taken};
use crate::model_runtime::model::Request;
use std::sync::Arc;
use tokio::sync::watch;

#[derive(Clone)]
pub(crate) struct Session {
    pub(super) runtime: Arc<Runtime>,
    pub(crate) execution_id: String,
    /// The number of the attempt, from 1.
    pub(crate) attempt: usize,
    pub(crate) request: Arc<Request>,
    pub(super) abort: watch::Receiver<bool>,
}

impl Session {
    /// Says something. What is said after the end of the execution is dropped; what is refused ends the attempt.
    pub(crate) async fn emit(&self, kind: &str, data: JsonObject) -> Taken {
        let emission = Emission { execution_id: self.execution_id.clone(), attempt: self.attempt, kind: kind.to_owned(), data };
        self.runtime.emit(&emission).await
    }

    /// Waits until the execution shall stop.
    pub(crate) async fn aborted(&self) {
        let mut abort = self.abort.clone();
        if abort.wait_for(|abort| *abort).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
