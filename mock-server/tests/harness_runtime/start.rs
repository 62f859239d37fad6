//! Starting executions: preflight, idempotency keys.

use crate::client::{Server, types};
use serde_json::json;

#[tokio::test]
async fn an_answer_shows_the_request_and_a_queued_execution() {
    let server = Server::plain().await;
    let answer =
        server.start(json!({ "requiredCapabilities": ["event.streaming", "action.input", "event.streaming"], "config": { "x": 1 } })).await;
    assert_eq!(answer.status, 202);
    assert_eq!(answer.header("content-type"), Some("application/json"));
    let execution = answer.json();
    assert_eq!(execution["state"], "queued");
    assert_eq!(execution["requiredCapabilities"], json!(["action.input", "event.streaming"]));
    assert_eq!(execution["effectiveConfig"], json!({ "x": 1 }));
    assert!(execution.get("idempotencyKey").is_none());
    assert_ne!(server.execution(execution["id"].as_str().expect("an id")).await["state"], "queued");
}

#[tokio::test]
async fn missing_capabilities_are_named_and_nothing_is_made() {
    let server = Server::plain().await;
    let conversation = server.conversation().await;
    let request = json!({ "conversationId": conversation, "providerId": "mock-echo", "input": "", "idempotencyKey": "k" });
    let mut refused = request.clone();
    refused["requiredCapabilities"] = json!(["x.unknown", "extension.mcp", "event.replay", "x.unknown"]);
    let answer = server.post("/v1/executions", &refused).await;
    assert_eq!(answer.problem(), (422, "CAPABILITY_UNSUPPORTED".to_owned()));
    assert_eq!(answer.json()["details"], json!({ "providerId": "mock-echo", "capabilities": ["extension.mcp", "x.unknown"] }));
    assert_eq!(server.post("/v1/executions", &request).await.status, 202, "the key is still free");
}

#[tokio::test]
async fn a_key_stands_for_one_request() {
    let server = Server::plain().await;
    let conversation = server.conversation().await;
    let first = json!({
        "conversationId": conversation, "providerId": "mock-echo", "input": "x", "idempotencyKey": "k",
        "requiredCapabilities": ["event.replay", "event.streaming"], "config": { "a": 1, "b": { "c": [1, 2] } },
    });
    let id = server.post("/v1/executions", &first).await.json()["id"].clone();
    let equivalent =
        r#"{ "config": {"b":{"c":[1.0,2]},"a":1}, "requiredCapabilities": ["event.streaming", "event.replay", "event.replay"] }"#;
    let mut again = first.clone();
    crate::client::merge(&mut again, serde_json::from_str(equivalent).expect("JSON"));
    assert_eq!(server.post("/v1/executions", &again).await.json()["id"], id);
    for other in [
        json!({ "input": "y" }),
        json!({ "providerId": "mock-loud", "requiredCapabilities": ["event.replay", "event.streaming"] }),
        json!({ "config": { "a": 1, "b": { "c": [2, 1] } } }),
        json!({ "config": null }),
        json!({ "requiredCapabilities": null }),
        json!({ "conversationId": server.conversation().await }),
    ] {
        let mut request = first.clone();
        crate::client::merge(&mut request, other.clone());
        let answer = server.post("/v1/executions", &request).await;
        assert_eq!(answer.problem(), (409, "IDEMPOTENCY_CONFLICT".to_owned()), "{other}");
    }
    let events = server.stream(id.as_str().expect("an id")).await;
    assert_eq!(types(&events).iter().filter(|kind| **kind == "run.started").count(), 1);
    assert_eq!(server.post("/v1/executions", &first).await.json()["state"], "succeeded", "a replay shows the present");
}

#[tokio::test]
async fn equal_requests_at_once_make_one_execution() {
    let server = Server::plain().await;
    let request = json!({
        "conversationId": server.conversation().await, "providerId": "scripted", "input": "", "idempotencyKey": "k",
        "config": { "tally": "t", "script": [] },
    });
    let (left, right, third) = tokio::join!(
        server.post("/v1/executions", &request),
        server.post("/v1/executions", &request),
        server.post("/v1/executions", &request)
    );
    assert_eq!(left.json()["id"], right.json()["id"]);
    assert_eq!(left.json()["id"], third.json()["id"]);
    let id = server.run(json!([{ "report-tally": "t" }])).await;
    let events = server.stream(&id).await;
    assert_eq!(events[2]["data"], json!({ "provider": "scripted", "method": "tally", "params": { "started": 1, "cleanedUp": 0 } }));
}
