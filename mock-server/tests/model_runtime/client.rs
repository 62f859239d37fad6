//! What a client of `model-runtime` does.

pub(crate) use crate::raw::{Answer, Exchange, Server, merge, types};

use proofmark_mock_server::Behaviour;
use serde_json::{Value, json};

impl Answer {
    /// Status and code of a refusal.
    pub(crate) fn refusal(&self) -> (u16, String) {
        (self.status, self.json()["error"]["code"].as_str().unwrap_or_default().to_owned())
    }
}

impl Server {
    pub(crate) async fn plain() -> Self {
        Self::of("model-runtime", &Behaviour::default()).await
    }

    pub(crate) async fn weather(name: &str) -> Self {
        Self::of("model-runtime", &Behaviour { weather: vec![name.to_owned()], seed: 7, ..Behaviour::default() }).await
    }

    /// Submits the usual request with the members of `more`.
    pub(crate) async fn submit(&self, more: Value) -> Answer {
        self.post("/v1/executions", &request(more)).await
    }

    pub(crate) async fn submit_keyed(&self, key: &str, body: &str) -> Answer {
        self.send("POST", "/v1/executions", &[("content-type", "application/json"), ("idempotency-key", key)], Some(body)).await
    }

    /// The id of a new execution.
    pub(crate) async fn start(&self, more: Value) -> String {
        let answer = self.submit(more).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["execution_id"].as_str().expect("an id").to_owned()
    }

    /// The id of an execution that plays `script`.
    pub(crate) async fn play(&self, script: Value) -> String {
        self.start(scripted(&json!({ "script": script }))).await
    }

    pub(crate) async fn snapshot(&self, id: &str) -> Value {
        self.get(&format!("/v1/executions/{id}")).await.json()
    }

    pub(crate) async fn result(&self, id: &str) -> Answer {
        self.get(&format!("/v1/executions/{id}/result")).await
    }

    pub(crate) async fn cancel(&self, id: &str) -> Answer {
        self.send("POST", &format!("/v1/executions/{id}/cancel"), &[], None).await
    }

    pub(crate) async fn follow(&self, id: &str, after: u64) -> Exchange {
        self.open("GET", &format!("/v1/executions/{id}/events?after={after}"), &[], None).await
    }

    /// Follows an execution to the end of its stream.
    pub(crate) async fn events(&self, id: &str) -> Vec<Value> {
        let answer = self.follow(id, 0).await.finish().await;
        assert!(answer.complete, "cut: {}", answer.text());
        answer.events()
    }

    /// Follows an execution until an event of `kind` comes.
    pub(crate) async fn until(&self, id: &str, kind: &str) {
        self.follow(id, 0).await.read_until(&format!("\"type\":\"{kind}\"")).await;
    }
}

/// The usual request with the members of `more`; a `null` removes.
pub(crate) fn request(more: Value) -> Value {
    let mut body = json!({ "ability": "text-generation", "input": [{ "type": "text", "text": "hello" }] });
    merge(&mut body, more);
    body
}

/// Members of a request that give its providers a script.
pub(crate) fn scripted(proofmark: &Value) -> Value {
    json!({ "extensions": { "proofmark": proofmark } })
}

/// Members of a request whose attempts, of which there may be as many as scripts, play them.
pub(crate) fn attempts(scripts: &Value) -> Value {
    json!({ "routing": { "allow_fallback": true }, "extensions": { "proofmark": { "attempts": scripts } } })
}
