//! What a client of `harness-runtime` does.

pub(crate) use crate::raw::{Answer, Exchange, Server, merge, types};

use proofmark_mock_server::Behaviour;
use serde_json::{Value, json};

impl Answer {
    /// Status and code of a problem.
    pub(crate) fn problem(&self) -> (u16, String) {
        (self.status, self.json()["code"].as_str().unwrap_or_default().to_owned())
    }
}

impl Server {
    pub(crate) async fn plain() -> Self {
        Self::with(Behaviour::default()).await
    }

    pub(crate) async fn weather(name: &str) -> Self {
        Self::with(Behaviour { weather: vec![name.to_owned()], seed: 7, ..Behaviour::default() }).await
    }

    pub(crate) async fn with(behaviour: Behaviour) -> Self {
        Self::of("harness-runtime", &behaviour).await
    }

    /// The id of a new conversation.
    pub(crate) async fn conversation(&self) -> String {
        let answer = self.send("POST", "/v1/conversations", &[], None).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        answer.json()["id"].as_str().expect("an id").to_owned()
    }

    /// Starts an execution of a new conversation; the members of `more` are added.
    pub(crate) async fn start(&self, more: Value) -> Answer {
        let mut body = json!({ "conversationId": self.conversation().await, "providerId": "scripted", "input": "hello" });
        merge(&mut body, more);
        self.post("/v1/executions", &body).await
    }

    /// The id of an execution that performs `script`.
    pub(crate) async fn run(&self, script: Value) -> String {
        self.run_with(json!({ "script": script })).await
    }

    pub(crate) async fn run_with(&self, config: Value) -> String {
        let answer = self.start(json!({ "config": config })).await;
        assert_eq!(answer.status, 202, "{}", answer.text());
        answer.json()["id"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn execution(&self, id: &str) -> Value {
        self.get(&format!("/v1/executions/{id}")).await.json()
    }

    pub(crate) async fn cancel(&self, id: &str, body: Value) -> Answer {
        self.post(&format!("/v1/executions/{id}:cancel"), &body).await
    }

    pub(crate) async fn respond(&self, id: &str, action: &str, body: Value) -> Answer {
        self.post(&format!("/v1/executions/{id}/actions/{action}:respond"), &body).await
    }

    pub(crate) async fn follow(&self, id: &str, after: u64) -> Exchange {
        self.open("GET", &format!("/v1/executions/{id}/events?after={after}"), &[("accept", "text/event-stream")], None).await
    }

    /// Follows an execution to the end of its stream.
    pub(crate) async fn stream(&self, id: &str) -> Vec<Value> {
        let answer = self.follow(id, 0).await.finish().await;
        assert!(answer.complete, "cut: {}", answer.text());
        answer.events()
    }

    /// The history as a list.
    pub(crate) async fn events(&self, id: &str) -> Vec<Value> {
        self.get(&format!("/v1/executions/{id}/events")).await.json()["events"].as_array().expect("events").clone()
    }

    /// Follows an execution until an event of `kind` comes; gives that event.
    pub(crate) async fn until(&self, id: &str, kind: &str) -> Value {
        let mut exchange = self.follow(id, 0).await;
        let answer = exchange.read_until(&format!("\"type\":\"{kind}\"")).await;
        answer.events().into_iter().find(|event| event["type"] == kind).expect("the event")
    }

    /// The id of the action that an execution asks for.
    pub(crate) async fn asked(&self, id: &str) -> String {
        self.until(id, "action.required").await["data"]["id"].as_str().expect("an id").to_owned()
    }
}
