//! Readers of a stream: those that leave are forgotten, those that read slowly lose nothing.

use crate::harness_runtime::Blueprint;
use crate::harness_runtime::http::{Context, serve};
use crate::harness_runtime::machine::CancelRequest;
use crate::harness_runtime::model::{JsonObject, StartRequest};
use crate::harness_runtime::runtime::Runtime;
use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt;
use http_body_util::BodyExt;
use std::sync::Arc;
use tokio::sync::watch;

struct Service {
    runtime: Arc<Runtime>,
    context: Context,
    _stop: watch::Sender<bool>,
}

impl Service {
    fn new() -> Self {
        let (runtime, wire) = Blueprint::new(0).build();
        let (stop, stopping) = watch::channel(false);
        let context = Context { runtime: Arc::clone(&runtime), wire, stopping };
        Self { runtime, context, _stop: stop }
    }

    /// The id of an execution that says so much and then waits.
    async fn run(&self, deltas: u64) -> String {
        let conversation = self.runtime.create_conversation(&JsonObject::new()).await;
        let config = serde_json::json!({ "script": [{ "repeat": [{ "delta": "x" }], "times": deltas }, { "hold": true }] });
        let request = StartRequest {
            conversation_id: conversation.id,
            provider_id: "scripted".to_owned(),
            config: config.as_object().cloned(),
            ..StartRequest::default()
        };
        self.runtime.start(&request).await.expect("started").id
    }

    async fn follow(&self, id: &str) -> Body {
        let request = Request::get(format!("/v1/executions/{id}/events")).header("accept", "text/event-stream").body(Body::empty());
        serve(self.context.clone(), request.expect("a request")).await.into_body()
    }
}

#[tokio::test]
async fn a_reader_that_leaves_is_forgotten_and_cancels_nothing() {
    let service = Service::new();
    let id = service.run(1).await;
    let mut body = service.follow(&id).await;
    let unread = service.follow(&id).await;
    assert_eq!(service.runtime.watchers(&id), 2);
    assert!(body.frame().await.is_some());
    drop((body, unread));
    assert_eq!(service.runtime.watchers(&id), 0);
    assert!(!service.runtime.execution(&id).await.expect("an execution").state.is_terminal());
}

#[tokio::test]
async fn a_reader_that_comes_late_or_reads_slowly_gets_everything() {
    let service = Service::new();
    let id = service.run(500).await;
    let slow = service.follow(&id).await;
    let request = CancelRequest { execution_id: id.clone(), reason: None };
    while service.runtime.read(|store| store.log(&id).len()) < 502 {
        tokio::task::yield_now().await;
    }
    service.runtime.cancel(&request).await.expect("cancelled");
    let frames = slow.into_data_stream().map(|frame| frame.expect("a frame").to_vec()).collect::<Vec<_>>().await.concat();
    assert_eq!(String::from_utf8_lossy(&frames).matches("\nid: ").count(), 503);
    assert_eq!(service.follow(&id).await.collect().await.expect("a body").to_bytes(), frames);
}
