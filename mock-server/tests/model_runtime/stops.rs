//! Cancellations and deadlines, also of providers that do not listen.

use crate::client::{Server, scripted, types};
use serde_json::{Value, json};

fn deaf(tally: &str) -> Value {
    json!({ "deaf": true, "tally": tally, "script": [
        { "delta": "early" }, { "repeat": [{ "pause": 5 }, { "delta": "late" }], "times": 60 },
    ] })
}

/// What the narrow provider does.
fn narrow(proofmark: &Value) -> Value {
    let mut more = scripted(proofmark);
    more["ability"] = json!("narrow-generation");
    more
}

/// The history once the narrow provider has really come to its end: it works on one execution at a time, so that another one waits for it.
async fn settled(server: &Server, id: &str) -> Vec<Value> {
    let next = server.start(narrow(&json!({ "script": [] }))).await;
    assert_eq!(server.events(&next).await.last().expect("events")["type"], "execution.completed");
    server.events(id).await
}

#[tokio::test]
async fn a_cancel_ends_the_execution() {
    let server = Server::plain().await;
    let id = server.play(json!([{ "delta": "x" }, { "hold": true }])).await;
    server.until(&id, "output.delta").await;
    let answer = server.cancel(&id).await;
    assert_eq!((answer.status, answer.json()), (202, json!({ "status": "cancellation_requested" })));
    let events = server.events(&id).await;
    assert_eq!(types(&events)[2..], ["output.delta", "execution.failed"]);
    let error = json!({ "code": "cancelled", "message": "Execution was cancelled", "retryable": false });
    assert_eq!((&events[3]["status"], &events[3]["error"]), (&json!("cancelled"), &error));
    let snapshot = server.snapshot(&id).await;
    assert_eq!((&snapshot["status"], &snapshot["result"]["outputs"][0]["text"]), (&json!("cancelled"), &json!("x")));
    let result = server.result(&id).await;
    assert_eq!((result.status, result.json()), (409, json!({ "status": "cancelled", "error": error })));
    for gone in [id.as_str(), "unknown"] {
        let answer = server.cancel(gone).await;
        assert_eq!((answer.status, answer.json()), (404, json!({ "status": "not_found" })));
    }
}

#[tokio::test]
async fn a_deaf_provider_keeps_nobody_from_cancelling() {
    let server = Server::plain().await;
    let id = server.start(narrow(&deaf("t"))).await;
    server.until(&id, "output.delta").await;
    assert_eq!(server.cancel(&id).await.status, 202);
    let snapshot = server.snapshot(&id).await;
    assert_eq!(snapshot["status"], "cancelled");
    let events = settled(&server, &id).await;
    assert_eq!(events.last().expect("events")["type"], "execution.failed");
    assert_eq!(server.snapshot(&id).await, snapshot);
    assert_eq!(events.len(), snapshot["last_sequence"]);
}

#[tokio::test]
async fn a_deadline_ends_the_execution_whatever_its_provider_does() {
    let server = Server::plain().await;
    for mut more in [narrow(&deaf("d")), narrow(&json!({ "script": [{ "delta": "x" }, { "hold": true }] }))] {
        more["deadline_ms"] = json!(40);
        let id = server.start(more).await;
        let events = server.events(&id).await;
        let last = events.last().expect("events");
        assert_eq!((&last["status"], &last["error"]["code"]), (&json!("failed"), &json!("deadline_exceeded")));
        assert_eq!(settled(&server, &id).await, events);
    }
    let id = server.start(json!({ "deadline_ms": 86_400_000 })).await;
    assert_eq!(server.events(&id).await.last().expect("events")["type"], "execution.completed");
}

#[tokio::test]
async fn who_waits_at_a_gate_can_be_stopped() {
    let server = Server::plain().await;
    let held = |deadline: Value| {
        let mut more = narrow(&json!({ "script": [{ "hold": true }] }));
        more["deadline_ms"] = deadline;
        more
    };
    server.start(held(json!(null))).await;
    let waiting = server.start(held(json!(30))).await;
    let events = server.events(&waiting).await;
    assert_eq!(types(&events), ["execution.accepted", "route.selected", "execution.failed"]);
    assert_eq!(events[2]["error"]["code"], "deadline_exceeded");
}
