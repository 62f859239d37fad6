//! Requests that are refused, and the bounds on either side.

use crate::client::{Server, request};
use serde_json::{Map, Value, json};

fn members(count: usize, value: &Value) -> Value {
    Value::Object((0..count).map(|index| (format!("m{index}"), value.clone())).collect::<Map<_, _>>())
}

fn media(members: &Value) -> Value {
    let mut part = json!({ "type": "image", "uri": "u" });
    crate::client::merge(&mut part, members.clone());
    json!({ "input": [part] })
}

#[tokio::test]
async fn bounds_hold_on_either_side() {
    let server = Server::plain().await;
    let text = json!({ "type": "text", "text": "" });
    let many = |count: usize| vec![text.clone(); count];
    for good in [
        json!({ "ability": "\u{1F600}".repeat(256) }),
        json!({ "input": many(1024) }),
        media(&json!({ "uri": "u".repeat(8192), "media_type": "m".repeat(256) })),
        media(&json!({ "media_type": "" })),
        json!({ "metadata": members(64, &json!(0.5)), "extensions": members(64, &json!(null)) }),
        json!({ "routing": { "max_attempts": 32, "retry_budget_ms": 86_400_000, "strategy": "ordered" }, "deadline_ms": 86_400_000 }),
        json!({ "routing": { "max_attempts": 1, "retry_budget_ms": 1, "provider_order": [] }, "deadline_ms": 5e3 }),
        json!({ "input": [{ "type": "json", "value": null }], "requirements": { "input_modalities": [] } }),
    ] {
        let answer = server.submit(good.clone()).await;
        assert_eq!(answer.status, 202, "{} {}", answer.text(), &good.to_string()[..60.min(good.to_string().len())]);
    }
    for bad in [
        json!({ "ability": "" }),
        json!({ "ability": "a".repeat(257) }),
        json!({ "ability": null }),
        json!({ "input": [] }),
        json!({ "input": many(1025) }),
        media(&json!({ "uri": "" })),
        media(&json!({ "uri": "u".repeat(8193) })),
        media(&json!({ "media_type": "m".repeat(257) })),
        json!({ "metadata": members(65, &json!(1)) }),
        json!({ "metadata": { "m": null } }),
        json!({ "metadata": { "m": [] } }),
        json!({ "extensions": members(65, &json!(1)) }),
        json!({ "routing": { "max_attempts": 0 } }),
        json!({ "routing": { "max_attempts": 33 } }),
        json!({ "routing": { "retry_budget_ms": 0 } }),
        json!({ "routing": { "retry_budget_ms": 86_400_001 } }),
        json!({ "routing": { "provider_order": [""] } }),
        json!({ "routing": { "provider_order": ["a", "a"] } }),
        json!({ "routing": { "strategy": "cheapest" } }),
        json!({ "deadline_ms": 0 }),
        json!({ "deadline_ms": 1.5 }),
        json!({ "deadline_ms": 86_400_001 }),
        json!({ "requirements": { "input_modalities": ["text", "text"] } }),
        json!({ "requirements": { "output_modalities": ["smell"] } }),
        json!({ "requirements": { "tools": 1 } }),
        json!({ "unknown": 1 }),
        json!({ "requirements": { "unknown": true } }),
        json!({ "routing": { "unknown": 1 } }),
        media(&json!({ "unknown": 1 })),
        json!({ "input": [{ "type": "text", "text": "", "uri": "u" }] }),
        json!({ "input": [{ "type": "json", "value": 1, "text": "" }] }),
        json!({ "input": [{ "type": "json" }] }),
        json!({ "input": [{ "type": "smell", "uri": "u" }] }),
    ] {
        assert_eq!(server.submit(bad.clone()).await.refusal(), (400, "invalid_request".to_owned()), "{:.80}", bad.to_string());
    }
}

#[tokio::test]
async fn bodies_have_a_kind_a_form_and_a_length() {
    let server = Server::plain().await;
    let send = async |kind: &str, body: &str| server.send("POST", "/v1/executions", &[("content-type", kind)], Some(body)).await;
    let good = request(json!({})).to_string();
    assert_eq!(send("text/plain", &good).await.status, 400);
    assert_eq!(send("application/jsonp", &good).await.status, 202);
    for bad in ["", "{", "null", "[]", &format!("\u{FEFF}{good}")] {
        assert_eq!(send("application/json", bad).await.refusal(), (400, "invalid_request".to_owned()), "{bad}");
    }
    let padded = |length: usize| format!("{good}{}", " ".repeat(length - good.len()));
    assert_eq!(send("application/json", &padded(1 << 20)).await.status, 202);
    assert_eq!(send("application/json", &padded((1 << 20) + 1)).await.refusal(), (400, "invalid_request".to_owned()));
    assert_eq!(send("application/json", &padded(9 << 20)).await.status, 400);
}

#[tokio::test]
async fn refusals_repeat_nothing() {
    let server = Server::plain().await;
    let canary = "canary-7";
    let bodies = [
        request(json!({ "ability": canary, "unknown-canary-7": 1 })),
        request(json!({ "metadata": { "canary-7": null } })),
        request(json!({ "input": [{ "type": canary }] })),
    ];
    for body in bodies {
        let headers = [("content-type", "application/json"), ("authorization", canary), ("idempotency-key", canary)];
        let answer = server.send("POST", "/v1/executions", &headers, Some(&body.to_string())).await;
        assert_eq!(answer.status, 400);
        assert!(!answer.text().contains(canary) && answer.headers.iter().all(|(_, value)| !value.contains(canary)));
    }
    for answer in [server.get("/v1/executions/canary-7").await, server.get("/v1/canary-7").await, server.get("/v1/executions/%zz").await] {
        assert!(!answer.text().contains(canary));
    }
    let id = server.start(json!({ "ability": canary })).await;
    assert!(!format!("{:?}{}", server.events(&id).await, server.snapshot(&id).await).contains(canary));
}
