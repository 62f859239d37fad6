//! Whole executions: what they leave in the history, the snapshot and the result.

use crate::client::{Server, types};
use serde_json::json;

#[tokio::test]
async fn the_runtime_and_its_providers_describe_themselves() {
    let server = Server::plain().await;
    let runtime = server.get("/v1/runtime").await.json();
    assert_eq!((runtime["protocol_version"].as_str(), runtime["state"].as_str()), (Some("0.1.0"), Some("ready")));
    let answer = server.get("/v1/providers").await;
    assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
    let providers = answer.json();
    assert_eq!(runtime["provider_count"], providers["data"].as_array().expect("manifests").len());
    let text = providers.to_string();
    for feature in ["stream", "tools", "structured_output", "async", "cancel"] {
        assert!(text.contains(&format!("\"{feature}\":true")) && text.contains(&format!("\"{feature}\":false")), "{feature}");
    }
}

#[tokio::test]
async fn a_success_adds_up_to_its_result() {
    let server = Server::plain().await;
    let answer = server.submit(json!({})).await;
    assert_eq!((answer.status, answer.json()["status"].as_str()), (202, Some("accepted")));
    let id = answer.json()["execution_id"].as_str().expect("an id").to_owned();
    let events = server.events(&id).await;
    let expected = ["execution.accepted", "route.selected", "output.delta", "output.delta", "output.delta", "usage.reported"];
    assert_eq!(types(&events)[..6], expected);
    assert_eq!(types(&events)[6..], ["execution.completed"]);
    for (index, event) in events.iter().enumerate() {
        assert_eq!((&event["sequence"], &event["execution_id"]), (&json!(index + 1), &json!(id)));
    }
    let result = server.result(&id).await;
    assert_eq!(result.status, 200);
    assert_eq!(result.json()["result"]["outputs"], json!([{ "index": 0, "type": "text", "text": "hello" }]));
    assert_eq!((&result.json()["artifacts"], &result.json()["target"]["model"]), (&json!([]), &json!("alpha")));
    let snapshot = server.snapshot(&id).await;
    assert_eq!((&snapshot["status"], &snapshot["last_sequence"]), (&json!("succeeded"), &json!(7)));
    assert_eq!(snapshot["updated_at"], events[6]["time"]);
    assert_eq!(snapshot["result"], result.json()["result"]);
}

#[tokio::test]
async fn nothing_produced_is_no_result() {
    let server = Server::plain().await;
    let id = server.play(json!([])).await;
    assert_eq!(types(&server.events(&id).await), ["execution.accepted", "route.selected", "execution.completed"]);
    assert!(server.result(&id).await.json().get("result").is_none());
}

#[tokio::test]
async fn texts_and_calls_are_kept_apart() {
    let server = Server::plain().await;
    let id = server
        .play(json!([
            { "delta": "b", "index": 5 }, { "call": "c1", "name": "one" }, { "delta": "a" }, { "call": "c2", "name": "two" },
            { "arguments": "{\"x\":", "of": "c1" }, { "arguments": "[", "of": "c2" }, { "delta": "B", "index": 5 },
            { "arguments": "?", "of": "c3" }, { "arguments": "1}", "of": "c1" }, { "arguments": "]", "of": "c2" },
        ]))
        .await;
    server.events(&id).await;
    let expected = json!({
        "outputs": [{ "index": 0, "type": "text", "text": "a" }, { "index": 5, "type": "text", "text": "bB" }],
        "tool_calls": [
            { "call_id": "c1", "name": "one", "arguments": "{\"x\":1}" }, { "call_id": "c2", "name": "two", "arguments": "[]" },
        ],
    });
    assert_eq!(server.result(&id).await.json()["result"], expected);
}

#[tokio::test]
async fn media_is_kept_as_it_is_with_its_artifacts_apart() {
    let server = Server::plain().await;
    let id = server.start(json!({ "ability": "image-generation", "requirements": { "async": true } })).await;
    let events = server.events(&id).await;
    assert_eq!(types(&events)[2..5], ["execution.progress", "execution.progress", "output.result"]);
    let result = server.result(&id).await.json();
    assert_eq!((&result["result"], &result["artifacts"][0]["media_type"]), (&json!({ "made": 1 }), &json!("image/png")));
    let id = server.play(json!([{ "delta": "lost" }, { "result": null }])).await;
    server.events(&id).await;
    assert_eq!(server.result(&id).await.json().get("result"), Some(&json!(null)));
}

#[tokio::test]
async fn usage_is_a_list_of_facts_and_bad_facts_fail_the_attempt() {
    let server = Server::plain().await;
    let fact = json!({ "unit": "acme:credit", "quantity": 0.5, "source": "provider" });
    let id = server.play(json!([{ "usage": [fact, fact] }, { "usage": [] }, { "usage": [fact] }])).await;
    server.events(&id).await;
    assert_eq!(server.result(&id).await.json()["usage"], json!([fact, fact, fact]));
    for bad in [
        json!({ "quantity": -1 }),
        json!({ "quantity": "1" }),
        json!({ "unit": "" }),
        json!({ "unit": "credit" }),
        json!({ "source": "me" }),
    ] {
        let mut fact = json!({ "unit": "request", "quantity": 1, "source": "runtime" });
        crate::client::merge(&mut fact, bad.clone());
        let id = server.play(json!([{ "usage": [fact] }, { "delta": "never" }])).await;
        let events = server.events(&id).await;
        assert_eq!(types(&events), ["execution.accepted", "route.selected", "execution.failed"], "{bad}");
        assert_eq!(events[2]["error"]["code"], "provider_protocol_error");
    }
}

#[tokio::test]
async fn the_envelope_is_the_runtimes() {
    let server = Server::plain().await;
    let forged = json!({ "kind": "output.delta", "output_index": 0, "delta": "x", "sequence": 99, "time": "never", "execution_id": "other",
        "status": "succeeded", "type": "execution.completed", "more": 1 });
    let id = server.play(json!([{ "emit": forged }])).await;
    let events = server.events(&id).await;
    let event = &events[2];
    assert_eq!((&event["sequence"], &event["execution_id"], &event["status"]), (&json!(3), &json!(id), &json!("running")));
    assert_eq!((&event["type"], &event["more"]), (&json!("output.delta"), &json!(1)));
    assert_ne!(event["time"], "never");
}

#[tokio::test]
async fn what_a_provider_may_not_say_fails_its_attempt() {
    let server = Server::plain().await;
    for bad in [
        json!({ "emit": { "kind": "execution.accepted" } }),
        json!({ "emit": { "kind": "output.delta", "output_index": -1, "delta": "x" } }),
        json!({ "emit": { "kind": "output.delta", "output_index": 0, "delta": 7 } }),
        json!({ "emit": { "kind": "no.such.event" } }),
    ] {
        let id = server.play(json!([bad])).await;
        let events = server.events(&id).await;
        assert_eq!(types(&events), ["execution.accepted", "route.selected", "execution.failed"], "{bad}");
        assert_eq!((&events[2]["error"]["code"], &events[2]["error"]["retryable"]), (&json!("internal_error"), &json!(false)));
    }
}

#[tokio::test]
async fn reading_ends_at_the_first_completion() {
    let server = Server::plain().await;
    let id = server.play(json!([{ "delta": "a" }, { "complete": true }, { "delta": "b" }, { "complete": true }])).await;
    assert_eq!(types(&server.events(&id).await)[2..], ["output.delta", "execution.completed"]);
}
