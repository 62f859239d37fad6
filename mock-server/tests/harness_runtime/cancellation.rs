//! Cancelling.

use crate::client::{Server, types};
use serde_json::json;

#[tokio::test]
async fn cancelling_waits_for_the_cleanup_and_keeps_what_is_said_meanwhile() {
    let server = Server::plain().await;
    let id =
        server.run_with(json!({ "script": [{ "delta": "a" }, { "hold": true }], "cleanup": [{ "pause": 30 }, { "delta": "b" }] })).await;
    server.until(&id, "output.text.delta").await;
    let answer = server.cancel(&id, json!({ "reason": "enough" })).await;
    assert_eq!((answer.status, answer.json()["state"].as_str()), (200, Some("cancelled")));
    let events = server.stream(&id).await;
    assert_eq!(types(&events), ["run.queued", "run.started", "output.text.delta", "output.text.delta", "run.cancelled"]);
    assert_eq!(events[4]["data"], json!({ "reason": "enough" }));
    let before = server.execution(&id).await;
    assert!(before.get("endedAt").is_some() && before.get("error").is_none());
    assert_eq!(server.cancel(&id, json!({ "reason": "again" })).await.json(), before);
    assert_eq!(server.stream(&id).await, events);
}

#[tokio::test]
async fn concurrent_cancels_share_one_cleanup() {
    let server = Server::plain().await;
    let id = server.run_with(json!({ "tally": "c", "script": [{ "hold": true }], "cleanup": [{ "pause": 30 }] })).await;
    let (left, right) = tokio::join!(server.cancel(&id, json!({ "reason": "l" })), server.cancel(&id, json!({ "reason": "r" })));
    assert_eq!(left.json(), right.json());
    assert_eq!(types(&server.stream(&id).await), ["run.queued", "run.started", "run.cancelled"]);
    let report = server.run(json!([{ "report-tally": "c" }])).await;
    assert_eq!(server.stream(&report).await[2]["data"]["params"], json!({ "started": 1, "cleanedUp": 1 }));
}

#[tokio::test]
async fn a_failed_cleanup_confirms_all_the_same() {
    let server = Server::plain().await;
    let id = server.run_with(json!({ "script": [{ "hold": true }], "cleanup": [{ "fail": "stuck" }] })).await;
    let answer = server.cancel(&id, json!({})).await;
    assert_eq!((answer.status, answer.json()["state"].as_str()), (200, Some("cancelled")));
    let events = server.stream(&id).await;
    assert_eq!(events[2]["data"], json!({ "providerCleanupError": "stuck" }));
}

#[tokio::test]
async fn a_cancelled_run_waits_for_nobody_and_its_result_is_dropped() {
    let server = Server::plain().await;
    let deaf = json!({ "deaf": true, "script": [{ "delta": "a" }, { "repeat": [{ "delta": "b" }], "times": 20, "every": 5 }, { "delta": "late" }] });
    let id = server.run_with(deaf).await;
    server.until(&id, "output.text.delta").await;
    assert_eq!(server.cancel(&id, json!({})).await.json()["state"], "cancelled");
    let events = server.stream(&id).await;
    assert_eq!(types(&events).last(), Some(&"run.cancelled"));
    // A run that starts now ends well after the deaf one has.
    let later = server.run(json!([{ "pause": 200 }])).await;
    server.stream(&later).await;
    assert_eq!(server.stream(&id).await, events);
    assert_eq!(server.execution(&id).await["state"], "cancelled");
}

#[tokio::test]
async fn a_question_dies_with_the_cancellation() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "ask": { "kind": "input", "title": "?" } }])).await;
    let action = server.asked(&id).await;
    server.cancel(&id, json!({ "reason": "r" })).await;
    assert_eq!(types(&server.stream(&id).await), ["run.queued", "run.started", "action.required", "run.cancelled"]);
    assert_eq!(server.respond(&id, &action, json!({ "value": 1 })).await.problem(), (404, "ACTION_NOT_FOUND".to_owned()));
}

#[tokio::test]
async fn a_cleanup_that_never_ends_leaves_the_execution_cancelling_and_stops_with_the_server() {
    let server = Server::plain().await;
    let id = server.run_with(json!({ "script": [{ "hold": true }], "cleanup": [{ "delta": "cleaning" }, { "hold": true }] })).await;
    let _waiting = server.open("POST", &format!("/v1/executions/{id}:cancel"), &[], None).await;
    server.until(&id, "output.text.delta").await;
    let execution = server.execution(&id).await;
    assert_eq!(execution["state"], "cancelling");
    assert!(execution.get("endedAt").is_none());
    server.running.stop().await;
}
