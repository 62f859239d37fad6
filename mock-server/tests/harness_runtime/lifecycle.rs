//! Whole runs: what they leave in the history and in the record.

use crate::client::{Server, types};
use serde_json::json;

#[tokio::test]
async fn the_runtime_and_its_providers_describe_themselves() {
    let server = Server::plain().await;
    let description = server.get("/v1/runtime").await.json();
    assert_eq!(description["protocolVersion"], "2026-09-02");
    assert_eq!(description["providers"], server.get("/v1/runtime/capabilities").await.json()["providers"]);
    let text = description.to_string();
    for level in ["native", "emulated", "degraded", "unsupported"] {
        assert!(text.contains(&format!("\":\"{level}\"")), "{level}");
    }
    assert_eq!(server.get("/healthz").await.json(), json!({ "status": "ok" }));
}

#[tokio::test]
async fn conversations_keep_their_metadata() {
    let server = Server::plain().await;
    let made = server.post("/v1/conversations", &json!({ "metadata": { "a": [1] }, "unknown": true })).await.json();
    assert_eq!(made["metadata"], json!({ "a": [1] }));
    assert_eq!(server.get(&format!("/v1/conversations/{}", made["id"].as_str().expect("an id"))).await.json(), made);
    assert_eq!(server.send("POST", "/v1/conversations", &[], Some(" ")).await.json()["metadata"], json!({}));
}

#[tokio::test]
async fn a_success_says_its_output_twice_and_ends() {
    let server = Server::plain().await;
    let id = server.start(json!({ "providerId": "mock-echo", "input": "hello" })).await.json()["id"].as_str().expect("an id").to_owned();
    let events = server.stream(&id).await;
    assert_eq!(types(&events)[..3], ["run.queued", "run.started", "output.text.delta"]);
    assert_eq!(types(&events)[events.len() - 2..], ["output.text.done", "run.completed"]);
    let said: String =
        events.iter().filter(|event| event["type"] == "output.text.delta").filter_map(|event| event["data"]["text"].as_str()).collect();
    assert_eq!(said, "hello");
    assert_eq!(events.last().expect("events")["data"], json!({ "finalOutput": "hello" }));
    for (index, event) in events.iter().enumerate() {
        assert_eq!(event["sequence"], index + 1);
        assert_eq!(event["id"], format!("{id}:{}", index + 1));
    }
    assert_eq!(events, server.events(&id).await);
    let execution = server.execution(&id).await;
    assert_eq!((execution["state"].as_str(), execution["finalOutput"].as_str()), (Some("succeeded"), Some("hello")));
    assert!(execution.get("error").is_none() && execution.get("endedAt").is_some() && execution.get("startedAt").is_some());
}

#[tokio::test]
async fn a_failure_keeps_what_was_said_and_has_no_output() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "delta": "before" }, { "fail": "broke" }])).await;
    let events = server.stream(&id).await;
    assert_eq!(types(&events), ["run.queued", "run.started", "output.text.delta", "run.failed"]);
    assert_eq!(events[3]["data"], json!({ "code": "PROVIDER_ERROR", "message": "broke" }));
    let execution = server.execution(&id).await;
    assert_eq!(execution["error"], json!({ "code": "PROVIDER_ERROR", "message": "broke" }));
    assert!(execution.get("finalOutput").is_none());
}

#[tokio::test]
async fn what_a_provider_may_not_emit_fails_the_run_and_is_not_kept() {
    let server = Server::plain().await;
    for (step, message) in [
        (
            json!({ "emit": { "type": "run.completed", "data": { "finalOutput": "forged" } } }),
            "Provider emitted a reserved or unknown event type",
        ),
        (json!({ "delta": { "txt": "?" } }), "Provider emitted an invalid text delta"),
        (json!({ "provider-event": [1] }), "Provider emitted invalid JSON event data"),
        (json!({ "return": null }), "Provider returned an invalid final output"),
        (json!({ "dleta": "x" }), "Invalid script: script[1]: unknown step \"dleta\""),
    ] {
        let id = server.run(json!([{ "note": "first" }, step])).await;
        let events = server.stream(&id).await;
        assert_eq!(types(&events), ["run.queued", "run.started", "run.failed"], "{step}");
        assert!(events[2]["data"]["message"].as_str().is_some_and(|said| said.starts_with(message)), "{}", events[2]);
    }
}

#[tokio::test]
async fn a_provider_that_catches_a_refusal_goes_on() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "try": [{ "delta": {} }] }, { "delta": { "text": "on", "extra": 1 } }])).await;
    let events = server.stream(&id).await;
    assert_eq!(types(&events), ["run.queued", "run.started", "output.text.delta", "output.text.done", "run.completed"]);
    assert_eq!(events[2]["data"], json!({ "text": "on", "extra": 1 }));
}
