//! Who is tried, in which order, and how often.

use crate::client::{Server, attempts, merge, scripted, types};
use serde_json::{Value, json};

/// The models of all `route.selected` events.
fn tried(events: &[Value]) -> Vec<&str> {
    events.iter().filter(|event| event["type"] == "route.selected").filter_map(|event| event["target"]["model"].as_str()).collect()
}

#[tokio::test]
async fn what_is_asked_for_decides_who_is_able() {
    let server = Server::plain().await;
    for (more, model) in [
        (json!({}), "alpha"),
        (json!({ "requirements": { "tools": true } }), "beta"),
        (json!({ "requirements": { "tools": false } }), "alpha"),
        (json!({ "input": [{ "type": "text", "text": "" }, { "type": "audio", "uri": "u" }] }), "beta-mini"),
        (json!({ "input": [{ "type": "text", "text": "" }, { "type": "json", "value": null }, { "type": "image", "uri": "u" }] }), "beta"),
        (json!({ "requirements": { "output_modalities": ["json"] } }), "beta"),
        (json!({ "ability": "narrow-generation" }), "delta"),
        (json!({ "routing": { "provider_order": ["nobody", "mock-narrow", "mock-tools"] } }), "delta"),
    ] {
        let id = server.start(more.clone()).await;
        assert_eq!(tried(&server.events(&id).await), [model], "{more}");
    }
}

#[tokio::test]
async fn nobody_able_is_a_failure_before_any_route() {
    let server = Server::plain().await;
    for more in [
        json!({ "ability": "Text-Generation" }),
        json!({ "requirements": { "async": true } }),
        json!({ "requirements": { "input_modalities": ["video"] } }),
        json!({ "input": [{ "type": "image", "uri": "u" }, { "type": "audio", "uri": "u" }], "requirements": { "input_modalities": [] } }),
    ] {
        let id = server.start(more.clone()).await;
        let events = server.events(&id).await;
        assert_eq!(types(&events), ["execution.accepted", "execution.failed"], "{more}");
        assert_eq!(events[1]["error"]["code"], "capability_unavailable");
        assert!(server.snapshot(&id).await.get("target").is_none());
        assert_eq!(server.result(&id).await.status, 409);
    }
}

#[tokio::test]
async fn a_retryable_failure_before_output_falls_back() {
    let server = Server::plain().await;
    let failure = json!([{ "progress": "queued" }, { "fail": { "code": "rate_limited", "retryable": true, "provider_code": "429" } }]);
    let id = server.start(attempts(&json!([failure, [{ "delta": "at last" }]]))).await;
    let events = server.events(&id).await;
    assert_eq!(
        types(&events),
        [
            "execution.accepted",
            "route.selected",
            "execution.progress",
            "route.attempt_failed",
            "route.selected",
            "output.delta",
            "execution.completed"
        ]
    );
    assert_eq!(tried(&events), ["alpha", "beta"]);
    let error = json!({ "code": "rate_limited", "message": "Provider failed", "retryable": true, "provider_code": "429" });
    assert_eq!((&events[3]["error"], &events[3]["attempt"], &events[4]["attempt"]), (&error, &json!(1), &json!(2)));
    assert_eq!(server.result(&id).await.json()["target"]["model"], "beta");
}

#[tokio::test]
async fn attempts_have_their_bounds() {
    let server = Server::plain().await;
    let failing = json!([[{ "fail": { "retryable": true } }]]);
    let retry = json!({ "fail": { "retryable": true } });
    for (routing, script, count) in [
        (json!({}), &failing, 1),
        (json!({ "allow_fallback": false, "max_attempts": 5 }), &failing, 1),
        (json!({ "allow_fallback": true }), &failing, 4),
        (json!({ "allow_fallback": true, "max_attempts": 2 }), &failing, 2),
        (json!({ "allow_fallback": true, "max_attempts": 32 }), &failing, 4),
        (json!({ "allow_fallback": true }), &json!([[{ "fail": {} }]]), 1),
        (json!({ "allow_fallback": true }), &json!([[{ "delta": "" }, retry]]), 1),
        (json!({ "allow_fallback": true, "retry_budget_ms": 20 }), &json!([[{ "pause": 30 }, retry]]), 1),
    ] {
        let mut more = attempts(script);
        merge(&mut more, json!({ "routing": routing }));
        let id = server.start(more).await;
        let events = server.events(&id).await;
        assert_eq!(tried(&events).len(), count, "{routing} {script}");
        let retries = events.iter().filter(|event| event["type"] == "route.attempt_failed").count();
        assert_eq!((retries + 1, &events.last().expect("events")["type"]), (count, &json!("execution.failed")));
        let committed = script.to_string().contains("delta");
        let retryable = script.to_string().contains("true") && !committed;
        assert_eq!(events.last().expect("events")["error"]["retryable"], retryable, "{script}");
    }
}

#[tokio::test]
async fn a_full_gate_is_a_failure_worth_a_retry() {
    let server = Server::plain().await;
    let held = || json!({ "ability": "narrow-generation", "extensions": { "proofmark": { "script": [{ "hold": true }] } } });
    let first = server.start(held()).await;
    let second = server.start(held()).await;
    assert_eq!(server.snapshot(&second).await["status"], "routing");
    let third = server.start(held()).await;
    let events = server.events(&third).await;
    assert_eq!(types(&events), ["execution.accepted", "route.selected", "execution.failed"]);
    assert_eq!((&events[2]["error"]["code"], &events[2]["error"]["retryable"]), (&json!("queue_full"), &json!(true)));
    let routing = json!({ "routing": { "provider_order": ["mock-narrow"], "allow_fallback": true } });
    let fourth = server.start(routing).await;
    assert_eq!(tried(&server.events(&fourth).await), ["delta", "alpha"]);
    assert_eq!(server.cancel(&second).await.status, 202);
    assert_eq!(server.cancel(&first).await.status, 202);
    let again = server.start(json!({ "ability": "narrow-generation" })).await;
    assert_eq!(server.events(&again).await.last().expect("events")["type"], "execution.completed");
}

#[tokio::test]
async fn sixteen_may_be_active() {
    let server = Server::plain().await;
    let mut held = Vec::new();
    for _each in 0..16 {
        held.push(server.play(json!([{ "hold": true }])).await);
    }
    let refused = server.submit(json!({})).await;
    assert_eq!(refused.refusal(), (500, "queue_full".to_owned()));
    assert_eq!(refused.json()["error"]["retryable"], true);
    server.cancel(&held[3]).await;
    assert_eq!(server.submit(json!({})).await.status, 202);
}

#[tokio::test]
async fn starts_are_counted() {
    let server = Server::plain().await;
    let id = server.start(scripted(&json!({ "tally": "t", "script": [] }))).await;
    server.events(&id).await;
    let mut more = attempts(&json!([[{ "fail": { "retryable": true } }], []]));
    more["extensions"]["proofmark"]["tally"] = json!("t");
    let id = server.start(more).await;
    server.events(&id).await;
    let id = server.play(json!([{ "report-tally": "t" }])).await;
    server.events(&id).await;
    assert_eq!(server.result(&id).await.json()["result"], json!({ "started": 3 }));
}
