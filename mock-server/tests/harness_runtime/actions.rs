//! Approvals and inputs.

use crate::client::{Server, types};
use serde_json::json;

#[tokio::test]
async fn an_answer_resumes_the_run_once() {
    let server = Server::plain().await;
    let script = json!([
        { "ask": { "kind": "approval", "title": "Go?", "payload": { "p": 1 } } }, { "delta": "going" },
        { "ask": { "kind": "input", "title": "Name?", "description": "yours" } }, { "echo": "answer" },
    ]);
    let id = server.run(script).await;
    let action = server.asked(&id).await;
    assert_eq!(server.execution(&id).await["state"], "awaiting_approval");
    assert_eq!(server.respond(&id, &action, json!({ "approved": "yes" })).await.problem().0, 400);
    assert_eq!(server.execution(&id).await["state"], "awaiting_approval", "a refused answer changes nothing");
    let answer = server.respond(&id, &action, json!({ "approved": true, "value": 1, "metadata": {} })).await;
    assert_eq!((answer.status, answer.json()["state"].as_str()), (200, Some("running")));
    let again = server.respond(&id, &action, json!({ "nonsense": true, "approved": "x" })).await;
    assert_eq!(again.problem(), (409, "ACTION_ALREADY_RESOLVED".to_owned()));

    let mut exchange = server.follow(&id, 0).await;
    let events = exchange.read_until("\"kind\":\"input\"").await.events();
    let second = events.last().expect("events")["data"]["id"].as_str().expect("an id").to_owned();
    assert_eq!(server.execution(&id).await["state"], "awaiting_input");
    server.respond(&id, &second, json!({ "value": { "n": 1 } })).await;
    let events = server.stream(&id).await;
    let expected = [
        "run.queued",
        "run.started",
        "action.required",
        "action.responded",
        "output.text.delta",
        "action.required",
        "action.responded",
        "output.text.delta",
        "output.text.done",
        "run.completed",
    ];
    assert_eq!(types(&events), expected);
    assert_eq!(events[2]["data"]["payload"], json!({ "p": 1 }));
    assert_eq!(events[3]["data"], json!({ "actionId": action, "approved": true }));
    assert_eq!(events[6]["data"], json!({ "actionId": second }));
    assert_eq!(events[7]["data"]["text"], "{\"n\":1}");
    assert_eq!(server.respond(&id, &action, json!({})).await.problem().0, 409, "also after the end");
}

#[tokio::test]
async fn an_action_belongs_to_its_execution() {
    let server = Server::plain().await;
    let script = json!([{ "ask": { "kind": "approval", "title": "Go?" } }]);
    let (left, right) = (server.run(script.clone()).await, server.run(script).await);
    let action = server.asked(&left).await;
    server.asked(&right).await;
    assert_eq!(server.respond(&right, &action, json!({ "approved": true })).await.problem(), (404, "ACTION_NOT_FOUND".to_owned()));
    assert_eq!(server.respond(&left, "other", json!({ "approved": true })).await.problem(), (404, "ACTION_NOT_FOUND".to_owned()));
    assert_eq!(server.respond("other", &action, json!({ "approved": true })).await.problem(), (404, "NOT_FOUND".to_owned()));
    assert_eq!(server.execution(&left).await["state"], "awaiting_approval");
    assert_eq!(server.execution(&right).await["state"], "awaiting_approval");
}

#[tokio::test]
async fn without_approval_the_script_fails_unless_it_goes_on() {
    let server = Server::plain().await;
    let question = json!({ "kind": "approval", "title": "Go?" });
    let strict = server.run(json!([{ "ask": question }])).await;
    let lax = server.run(json!([{ "ask": question, "unless-approved": "go-on" }])).await;
    for (id, state) in [(strict, "failed"), (lax, "succeeded")] {
        let action = server.asked(&id).await;
        assert_eq!(server.respond(&id, &action, json!({ "approved": false })).await.status, 200);
        server.stream(&id).await;
        assert_eq!(server.execution(&id).await["state"], state);
    }
}

#[tokio::test]
async fn a_run_may_go_on_end_or_fail_while_it_asks() {
    let server = Server::plain().await;
    let question = json!({ "kind": "approval", "title": "Go?" });
    for (meanwhile, message) in [
        (json!([{ "delta": "on" }, { "return": "done" }]), "Provider finished with an unresolved action"),
        (json!([{ "delta": "on" }, { "fail": "broke" }]), "broke"),
        (json!([{ "delta": "on" }, { "ask": { "kind": "input", "title": "?" } }]), "Provider cannot request an action while"),
    ] {
        let id = server.run(json!([{ "ask": question, "meanwhile": meanwhile }])).await;
        let events = server.stream(&id).await;
        assert_eq!(types(&events), ["run.queued", "run.started", "action.required", "output.text.delta", "run.failed"]);
        assert!(events[4]["data"]["message"].as_str().is_some_and(|said| said.starts_with(message)), "{}", events[4]);
        let action = events[2]["data"]["id"].as_str().expect("an id");
        assert_eq!(server.respond(&id, action, json!({ "approved": true })).await.problem(), (404, "ACTION_NOT_FOUND".to_owned()));
    }
}

#[tokio::test]
async fn the_unattended_provider_has_nobody_to_ask() {
    let server = Server::plain().await;
    let request = json!({ "providerId": "scripted-unattended", "requiredCapabilities": ["action.approval"] });
    assert_eq!(server.start(request).await.problem().0, 422);
    let config = json!({ "script": [{ "ask": { "kind": "approval", "title": "Go?" } }] });
    let id = server.start(json!({ "providerId": "scripted-unattended", "config": config })).await.json()["id"].clone();
    assert_eq!(types(&server.stream(id.as_str().expect("an id")).await), ["run.queued", "run.started", "run.failed"]);
}
