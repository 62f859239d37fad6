//! A visitor that uses everything once, without sockets, and takes every answer as it comes.

use crate::harness_runtime::Blueprint;
use crate::harness_runtime::http::{Context, serve};
use axum::body::Body;
use axum::http::Request;
use futures_util::StreamExt;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::sync::watch;

/// A wait that a change of the reference may make endless ends after this. Time is paused, so it costs nothing.
const BOUND: Duration = Duration::from_secs(2);

pub(super) struct Tour {
    context: Context,
    _stop: watch::Sender<bool>,
    conversation: String,
    other: String,
}

/// What came back: the status, and the body as far as it came.
struct Answer {
    text: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_default()
    }
}

impl Tour {
    pub(super) const PARTS: usize = 6;

    pub(super) async fn new(blueprint: Blueprint) -> Self {
        let (runtime, wire) = blueprint.build();
        let (stop, stopping) = watch::channel(false);
        let mut tour =
            Self { context: Context { runtime, wire, stopping }, _stop: stop, conversation: String::new(), other: String::new() };
        for _twice in 0..2 {
            let answer = tour.post("/v1/conversations", &json!({ "metadata": { "m": 1 } })).await;
            tour.other = std::mem::take(&mut tour.conversation);
            tour.conversation = answer["id"].as_str().unwrap_or_default().to_owned();
        }
        tour
    }

    pub(super) async fn part(&self, part: usize) {
        match part {
            0 => {
                self.get("/v1/runtime").await;
                self.get("/v1/runtime/capabilities").await;
                self.post("/v1/conversations", &json!({ "metadata": { "list": [2, 1] } })).await;
                self.get(&format!("/v1/conversations/{}", self.conversation)).await;
            }
            1 => self.starts().await,
            2 => self.keys().await,
            3 => self.runs().await,
            4 => self.questions().await,
            _ => self.cancels().await,
        }
    }

    async fn send(&self, method: &str, path: &str, accept: &str, body: String) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(format!("{}{path}", (self.context.wire.mount)()))
            .header("accept", accept)
            .header("accept-encoding", "gzip")
            .header("authorization", "secret")
            .body(Body::from(body))
            .expect("a request");
        let Ok(response) = tokio::time::timeout(BOUND, serve(self.context.clone(), request)).await else {
            return Answer { text: String::new() };
        };
        let mut body = response.into_body().into_data_stream();
        let mut bytes = Vec::new();
        while let Ok(Some(Ok(piece))) = tokio::time::timeout(BOUND, body.next()).await {
            bytes.extend_from_slice(&piece);
            // Heartbeats may go on for ever.
            if bytes.len() > 1 << 16 {
                break;
            }
        }
        Answer { text: String::from_utf8_lossy(&bytes).into_owned() }
    }

    async fn get(&self, path: &str) -> Value {
        self.send("GET", path, "application/json", String::new()).await.json()
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", path, "application/json", body.to_string()).await.json()
    }

    async fn follow(&self, id: &str, after: u64) {
        self.send("GET", &format!("/v1/executions/{id}/events?after={after}"), "text/event-stream", String::new()).await;
    }

    /// Starts an execution from members that replace the usual ones; gives its id, or something that is none.
    async fn start(&self, more: Value) -> String {
        let mut body = json!({ "conversationId": self.conversation, "providerId": "scripted", "input": "i" });
        for (name, value) in more.as_object().into_iter().flatten() {
            body[name] = value.clone();
        }
        self.post("/v1/executions", &body).await["id"].as_str().unwrap_or("none").to_owned()
    }

    async fn run(&self, config: Value) -> String {
        self.start(json!({ "config": config })).await
    }

    /// Waits for an event; gives the id in its data, if there is one.
    async fn until(&self, id: &str, kind: &str) -> String {
        for _attempt in 0..50 {
            let found = self.context.runtime.read(|store| {
                let event = store.log(id).iter().find(|event| event.kind == kind);
                event.map(|event| event.data.get("id").and_then(Value::as_str).unwrap_or_default().to_owned())
            });
            if let Some(id) = found {
                return id;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        String::new()
    }

    async fn read(&self, id: &str) {
        for after in [0, 2] {
            self.follow(id, after).await;
        }
        for path in ["", "/events", "/events?after=2", "/events?after=2.5", "/events?after=-1", "/events?after=99", "/artifacts"] {
            self.get(&format!("/v1/executions/{id}{path}")).await;
        }
    }

    async fn cancel(&self, id: &str, body: Value) {
        self.post(&format!("/v1/executions/{id}:cancel"), &body).await;
    }

    async fn respond(&self, id: &str, action: &str, body: Value) {
        self.post(&format!("/v1/executions/{id}/actions/{action}:respond"), &body).await;
    }

    async fn starts(&self) {
        for more in [
            json!({ "input": "" }),
            json!({ "input": 1 }),
            json!({ "input": 1 }),
            json!({ "config": 7 }),
            json!({ "providerId": "none" }),
            json!({ "conversationId": "none" }),
            json!({ "requiredCapabilities": ["extension.sandbox", "action.input", "none", "none"] }),
            json!({ "requiredCapabilities": ["", "conversation.continuity", "extension.mcp"] }),
            json!({ "requiredCapabilities": ["extension.mcp"] }),
            json!({ "requiredCapabilities": ["action.input", "none"] }),
            json!({ "requiredCapabilities": ["conversation.continuity"] }),
            json!({ "config": { "x": 1 } }),
            json!({ "idempotencyKey": "" }),
            json!({ "idempotencyKey": "k".repeat(200) }),
            json!({ "idempotencyKey": "k".repeat(201) }),
        ] {
            self.start(more).await;
        }
        self.send("POST", "/v1/conversations", "application/json", "{} {}".to_owned()).await;
        let echo = self.start(json!({ "providerId": "mock-echo" })).await;
        self.until(&echo, "run.completed").await;
    }

    async fn keys(&self) {
        let first = json!({
            "idempotencyKey": "Key ", "requiredCapabilities": ["event.replay", "event.streaming"],
            "config": { "a": 1, "n": [1, { "x": 1 }] },
        });
        let id = self.start(first.clone()).await;
        for more in [
            json!({}),
            json!({ "input": "other" }),
            json!({ "input": "I " }),
            json!({ "conversationId": self.other }),
            json!({ "providerId": "mock-echo" }),
            json!({ "requiredCapabilities": ["event.replay"] }),
            json!({ "requiredCapabilities": ["event.streaming", "event.replay"] }),
            json!({ "requiredCapabilities": ["event.replay", "event.streaming", "event.replay"] }),
            json!({ "requiredCapabilities": ["none"] }),
            json!({ "config": { "a": 1, "n": [1, { "x": 2 }] } }),
            json!({ "config": { "a": 1, "n": [{ "x": 1 }, 1] } }),
            json!({ "config": { "a": 1.0, "n": [1, { "x": 1 }] } }),
        ] {
            let mut again = first.clone();
            for (name, value) in more.as_object().into_iter().flatten() {
                again[name] = value.clone();
            }
            self.start(again).await;
        }
        let reordered = format!(
            r#"{{"conversationId":"{}","providerId":"scripted","input":"i","idempotencyKey":"Key ",
            "config":{{"n":[1,{{"x":1}}],"a":1}},"requiredCapabilities":["event.replay","event.streaming"]}}"#,
            self.conversation
        );
        self.send("POST", "/v1/executions", "*/*", reordered).await;
        self.follow(&id, 0).await;
        self.start(json!({ "idempotencyKey": "empty" })).await;
        self.start(json!({ "idempotencyKey": "empty", "config": {} })).await;
        for _twice in 0..2 {
            let failing = self.start(json!({ "idempotencyKey": "fails", "config": { "script": [{ "fail": "f" }] } })).await;
            self.until(&failing, "run.failed").await;
        }
        let twice = json!({ "idempotencyKey": "twice" });
        tokio::join!(self.start(twice.clone()), self.start(twice.clone()), self.start(twice));
    }

    async fn runs(&self) {
        let artifact = json!({ "artifact": { "id": "z", "name": "n", "mediaType": "m", "uri": "u" } });
        for script in [
            json!([artifact, { "artifact": { "id": "a", "name": "n", "mediaType": "m" } }]),
            json!([artifact, artifact]),
            json!([artifact, { "artifact": { "id": "b", "name": "n" } }]),
            json!([{ "provider-event": { "method": "m" } }, { "provider-event": { "method": "m" } }, { "delta": {} }]),
            json!([{ "return": "" }]),
            json!([{ "emit": { "type": "run.completed", "data": {} } }]),
            json!([{ "repeat": [{ "delta": "x" }], "times": 120 }]),
            json!([{ "ask": { "kind": "approval", "title": "t" }, "meanwhile": [{ "return": "r" }] }]),
            json!([{ "ask": { "kind": "approval", "title": "t" }, "meanwhile": [{ "fail": "f" }] }]),
        ] {
            let id = self.run(json!({ "script": script })).await;
            self.read(&id).await;
        }
        let making = self.run(json!({ "script": [artifact, { "pause": 50 }] })).await;
        self.until(&making, "artifact.created").await;
        self.get(&format!("/v1/executions/{making}/artifacts")).await;
        let live = self.run(json!({ "script": [{ "repeat": [{ "delta": "x" }], "times": 40, "every": 5 }] })).await;
        self.until(&live, "output.text.delta").await;
        self.get(&format!("/v1/executions/{live}")).await;
        tokio::join!(self.follow(&live, 0), self.follow(&live, 2), self.follow(&live, 99));
    }

    async fn questions(&self) {
        for (kind, answer) in [("approval", json!({ "approved": true, "value": 1 })), ("input", json!({}))] {
            let question = json!({ "kind": kind, "title": "t" });
            let id =
                self.run(json!({ "script": [{ "ask": question, "meanwhile": [{ "pause": 5 }, { "delta": "w" }] }, { "pause": 5 }] })).await;
            let other = self.run(json!({ "script": [{ "ask": question }] })).await;
            let action = self.until(&id, "action.required").await;
            self.until(&other, "action.required").await;
            self.get(&format!("/v1/executions/{id}")).await;
            self.follow(&id, 0).await;
            self.respond(&other, &action, json!({ "approved": true })).await;
            self.respond(&id, &action, json!({ "approved": "yes" })).await;
            tokio::join!(self.respond(&id, &action, answer.clone()), self.respond(&id, &action, answer.clone()));
            self.respond(&id, &action, json!({ "approved": true })).await;
            self.cancel(&other, json!({})).await;
        }
        let question = json!({ "ask": { "kind": "input", "title": "t" } });
        let twice = self.run(json!({ "script": [question, question] })).await;
        self.until(&twice, "action.required").await;
        for _each in 0..2 {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let last = self.context.runtime.read(|store| {
                let event = store.log(&twice).iter().rev().find(|event| event.kind == "action.required");
                event.and_then(|event| event.data.get("id")).and_then(Value::as_str).unwrap_or_default().to_owned()
            });
            self.respond(&twice, &last, json!({})).await;
        }
        let unsaid = self.run(json!({ "script": [{ "ask": { "kind": "approval", "title": "t" } }] })).await;
        let action = self.until(&unsaid, "action.required").await;
        self.respond(&unsaid, &action, json!({})).await;
    }

    async fn cancels(&self) {
        let slow = json!({ "deaf": true, "script": [{ "delta": "a" }, { "pause": 20 }], "cleanup": [{ "pause": 40 }] });
        for reason in [json!({}), json!({ "reason": "" }), json!({ "reason": "r".repeat(500) }), json!({ "reason": "r".repeat(501) })] {
            let sibling = self.run(json!({ "script": [{ "hold": true }] })).await;
            let id = self.run(slow.clone()).await;
            self.until(&id, "output.text.delta").await;
            tokio::join!(self.cancel(&id, reason.clone()), self.cancel(&id, reason.clone()));
            self.cancel(&id, json!({})).await;
            self.cancel(&sibling, json!({})).await;
            self.read(&id).await;
        }
        let late = json!({ "deaf": true, "script": [{ "repeat": [{ "delta": "b" }], "times": 10, "every": 4 }] });
        let id = self.run(late).await;
        self.until(&id, "output.text.delta").await;
        self.cancel(&id, json!({})).await;
        tokio::time::sleep(Duration::from_millis(100)).await;
        for kind in ["approval", "input"] {
            let asks = self.run(json!({ "script": [{ "ask": { "kind": kind, "title": "t" } }], "cleanup": [{ "pause": 40 }] })).await;
            let action = self.until(&asks, "action.required").await;
            let late = async {
                tokio::time::sleep(Duration::from_millis(10)).await;
                self.respond(&asks, &action, json!({})).await;
            };
            tokio::join!(self.cancel(&asks, json!({})), late);
        }
        let id = self.run(json!({ "script": [{ "hold": true }], "cleanup": [{ "fail": "f" }] })).await;
        self.cancel(&id, json!({})).await;
        let id = self.run(json!({ "script": [] })).await;
        self.until(&id, "run.completed").await;
        self.cancel(&id, json!({})).await;
        let left = self.run(json!({ "script": [{ "hold": true }] })).await;
        tokio::join!(self.follow(&left, 0), self.run(json!({ "script": [{ "fail": "f" }] })));
    }
}
