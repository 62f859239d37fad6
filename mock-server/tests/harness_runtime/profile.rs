//! The profile of the reference server provokes what each stimulus promises.

use crate::client::{Server, merge, types};
use serde_json::{Value, json};

const PROFILE: &str = include_str!("../../../fixtures/profiles/reference-harness-runtime.toml");

struct Run<'a> {
    server: &'a Server,
    id: String,
}

/// Starts a stimulus; `${tally}` in it becomes `tally`.
async fn provoke<'a>(server: &'a Server, name: &str, tally: &str) -> Run<'a> {
    let profile: Value = toml::from_str(&PROFILE.replace("${tally}", tally)).expect("TOML");
    let stimulus = &profile["stimuli"][name];
    let mut request = json!({ "providerId": stimulus["provider"], "input": stimulus["input"] });
    if let Some(config) = stimulus.get("config") {
        merge(&mut request, json!({ "config": config }));
    }
    let answer = server.start(request).await;
    assert_eq!(answer.status, 202, "{name}: {}", answer.text());
    Run { server, id: answer.json()["id"].as_str().expect("an id").to_owned() }
}

impl Run<'_> {
    async fn outcome(&self) -> (Vec<Value>, String) {
        let events = self.server.stream(&self.id).await;
        (events, self.server.execution(&self.id).await["state"].as_str().expect("a state").to_owned())
    }

    /// The state and how many events of `kind` there are at the end.
    async fn counted(&self, kind: &str) -> (String, usize) {
        let (events, state) = self.outcome().await;
        (state, types(&events).iter().filter(|other| **other == kind).count())
    }

    async fn cancelled_at(&self, kind: &str) -> Vec<Value> {
        self.server.until(&self.id, kind).await;
        assert_eq!(self.server.cancel(&self.id, json!({})).await.json()["state"], "cancelled");
        self.outcome().await.0
    }
}

#[tokio::test]
async fn runs_that_end_by_themselves() {
    let server = Server::plain().await;
    for (name, state, kind, count) in [
        ("completes", "succeeded", "output.text.delta", 4),
        ("makes-nothing", "succeeded", "output.text.done", 1),
        ("streams", "succeeded", "output.text.delta", 12),
        ("deaf-to-cancel", "succeeded", "output.text.delta", 48),
        ("fails", "failed", "output.text.delta", 1),
        ("fails-while-asking", "failed", "action.required", 1),
        ("returns-while-asking", "failed", "action.required", 1),
        ("makes-artifacts", "succeeded", "artifact.created", 3),
        ("makes-bad-artifact", "failed", "artifact.created", 1),
        ("makes-duplicate-artifact", "failed", "artifact.created", 1),
        ("emits-provider-events", "succeeded", "provider.event", 2),
        ("imitates-core-event", "failed", "run.completed", 0),
        ("emits-bad-delta", "failed", "output.text.delta", 1),
        ("long-output", "succeeded", "output.text.delta", 250),
    ] {
        assert_eq!(provoke(&server, name, "-").await.counted(kind).await, (state.to_owned(), count), "{name}");
    }
}

#[tokio::test]
async fn runs_that_ask() {
    let server = Server::plain().await;
    for name in ["asks-approval", "asks-input", "asks-with-slow-cleanup", "emits-while-asking"] {
        let run = provoke(&server, name, "-").await;
        let action = server.asked(&run.id).await;
        server.respond(&run.id, &action, json!({ "approved": true, "value": "Ada" })).await;
        assert_eq!(run.counted("action.responded").await, ("succeeded".to_owned(), 1), "{name}");
    }
    let run = provoke(&server, "asks-twice", "-").await;
    let action = server.asked(&run.id).await;
    server.respond(&run.id, &action, json!({ "approved": true })).await;
    let answer = server.follow(&run.id, 5).await.read_until("\"kind\":\"input\"").await;
    let second = answer.events()[0]["data"]["id"].as_str().expect("an id").to_owned();
    server.respond(&run.id, &second, json!({ "value": "Ada" })).await;
    assert_eq!(run.counted("action.responded").await, ("succeeded".to_owned(), 2));
}

#[tokio::test]
async fn runs_that_are_cancelled() {
    let server = Server::plain().await;
    for name in ["slow-run", "emits-until-cancelled", "slow-cleanup", "succeeds-during-cleanup"] {
        let events = provoke(&server, name, "-").await.cancelled_at("output.text.delta").await;
        assert_eq!(events.last().expect("events")["data"], json!({}), "{name}");
    }
    provoke(&server, "makes-artifact-and-stays", "-").await.cancelled_at("artifact.created").await;
    let events = provoke(&server, "failing-cleanup", "-").await.cancelled_at("output.text.delta").await;
    assert_eq!(events.last().expect("events")["data"], json!({ "providerCleanupError": "the broom is broken" }));
}

#[tokio::test]
async fn runs_that_are_counted() {
    let server = Server::plain().await;
    provoke(&server, "counted-run", "t").await.cancelled_at("output.text.delta").await;
    provoke(&server, "counted-success", "t").await.outcome().await;
    let (events, _) = provoke(&server, "reads-count", "t").await.outcome().await;
    assert_eq!(events[2]["data"]["params"], json!({ "started": 2, "cleanedUp": 1 }));
}
