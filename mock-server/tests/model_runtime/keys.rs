//! Idempotency keys.

use crate::client::{Server, request};
use serde_json::json;

#[tokio::test]
async fn one_key_makes_one_execution() {
    let server = Server::plain().await;
    let body = request(json!({ "metadata": { "a": 1, "b": true }, "deadline_ms": 50000 }));
    let first = server.submit_keyed("k", &body.to_string()).await;
    assert_eq!((first.status, &first.json()["idempotent_replay"]), (202, &json!(false)));
    let id = first.json()["execution_id"].as_str().expect("an id").to_owned();
    server.events(&id).await;
    let reordered =
        r#"{"metadata":{"b":true,"a":1.0},"input":[{"text":"hello","type":"text"}],"deadline_ms":5e4,"ability":"text-generation"}"#;
    let again = server.submit_keyed(" k ", reordered).await;
    assert_eq!((again.status, &again.json()["idempotent_replay"]), (200, &json!(true)));
    assert_eq!((&again.json()["execution_id"], &again.json()["status"]), (&json!(id), &json!("succeeded")));
    assert_eq!(again.json()["created_at"], first.json()["created_at"]);
    for more in
        [json!({ "ability": "other" }), json!({ "metadata": { "a": 1 } }), json!({ "deadline_ms": null }), json!({ "extensions": {} })]
    {
        let mut body = body.clone();
        crate::client::merge(&mut body, more);
        assert_eq!(server.submit_keyed("k", &body.to_string()).await.refusal(), (400, "invalid_request".to_owned()));
    }
    assert_eq!(server.submit_keyed("K", &body.to_string()).await.status, 202);
}

#[tokio::test]
async fn keys_have_1_to_256_characters() {
    let server = Server::plain().await;
    let body = request(json!({})).to_string();
    assert_eq!(server.submit_keyed(&"k".repeat(256), &body).await.status, 202);
    for key in ["", " ", &"k".repeat(257)] {
        assert_eq!(server.submit_keyed(key, &body).await.refusal(), (400, "invalid_request".to_owned()), "{key:?}");
    }
}

#[tokio::test]
async fn a_refused_request_does_not_use_its_key() {
    let server = Server::plain().await;
    assert_eq!(server.submit_keyed("k", "{}").await.status, 400);
    let mut held = Vec::new();
    for _each in 0..16 {
        held.push(server.play(json!([{ "hold": true }])).await);
    }
    let body = request(json!({})).to_string();
    assert_eq!(server.submit_keyed("k", &body).await.status, 500);
    server.cancel(&held[0]).await;
    let other = request(json!({ "metadata": {} })).to_string();
    assert_eq!(server.submit_keyed("k", &other).await.status, 202);
}

#[tokio::test]
async fn a_replay_starts_nothing_even_after_a_failure() {
    let server = Server::plain().await;
    let body = request(json!({ "extensions": { "proofmark": { "tally": "t", "script": [{ "fail": {} }] } } })).to_string();
    let id = server.submit_keyed("k", &body).await.json()["execution_id"].as_str().expect("an id").to_owned();
    server.events(&id).await;
    let again = server.submit_keyed("k", &body).await;
    assert_eq!((&again.json()["execution_id"], &again.json()["status"]), (&json!(id), &json!("failed")));
    let id = server.play(json!([{ "report-tally": "t" }])).await;
    server.events(&id).await;
    assert_eq!(server.result(&id).await.json()["result"]["started"], 1);
}

#[tokio::test]
async fn many_at_once_are_one() {
    let server = Server::plain().await;
    let body = request(json!({})).to_string();
    let answers = futures_util::future::join_all((0..8).map(|_| server.submit_keyed("k", &body))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 202).count(), 1);
    assert!(answers.iter().all(|answer| answer.json()["execution_id"] == answers[0].json()["execution_id"]));
}
