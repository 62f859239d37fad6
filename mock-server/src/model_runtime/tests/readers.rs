//! Readers of a stream: those that leave are forgotten, those that read slowly lose nothing.

use crate::model_runtime::Blueprint;
use crate::model_runtime::http::{Context, serve};
use crate::model_runtime::runtime::Runtime;
use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt;
use http_body_util::BodyExt;
use serde_json::{Value, json};
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
        let script = json!([{ "repeat": [{ "delta": "x" }], "times": deltas }, { "hold": true }]);
        let body = json!({
            "ability": "text-generation", "input": [{ "type": "text", "text": "" }],
            "extensions": { "proofmark": { "script": script } },
        });
        let request = Request::post("/v1/executions").header("content-type", "application/json").body(Body::from(body.to_string()));
        let answer = serve(self.context.clone(), request.expect("a request")).await;
        let body = answer.into_body().collect().await.expect("a body").to_bytes();
        let submission: Value = serde_json::from_slice(&body).expect("JSON");
        submission["execution_id"].as_str().expect("an id").to_owned()
    }

    async fn follow(&self, id: &str) -> Body {
        let request = Request::get(format!("/v1/executions/{id}/events")).body(Body::empty());
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
    assert!(!service.runtime.execution(&id).await.expect("an execution").status.is_terminal());
}

#[tokio::test]
async fn a_reader_that_comes_late_or_reads_slowly_gets_everything() {
    let service = Service::new();
    let id = service.run(500).await;
    let slow = service.follow(&id).await;
    while service.runtime.read(|store| store.log(&id).len()) < 502 {
        tokio::task::yield_now().await;
    }
    assert!(service.runtime.cancel(&id).await);
    let frames = slow.into_data_stream().map(|frame| frame.expect("a frame").to_vec()).collect::<Vec<_>>().await.concat();
    assert_eq!(String::from_utf8_lossy(&frames).matches("id: ").count(), 503);
    assert_eq!(service.follow(&id).await.collect().await.expect("a body").to_bytes(), frames);
}
