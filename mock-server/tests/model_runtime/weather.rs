//! What weather looks like on the wire, and that it changes nothing else.

use crate::client::{Server, request};
use serde_json::{Value, json};

#[tokio::test]
async fn sequences_may_have_gaps() {
    let server = Server::weather("gaps").await;
    let id = server.start(json!({})).await;
    let events = server.events(&id).await;
    let sequences: Vec<u64> = events.iter().filter_map(|event| event["sequence"].as_u64()).collect();
    assert!(sequences.windows(2).all(|pair| pair[0] < pair[1]), "{sequences:?}");
    assert!(sequences[6] > 7, "{sequences:?}");
    assert_eq!(server.snapshot(&id).await["last_sequence"], sequences[6]);
}

#[tokio::test]
async fn refusals_may_have_other_statuses() {
    let other = request(json!({ "ability": "tool-use" })).to_string();
    let body = request(json!({})).to_string();
    let server = Server::weather("conflict-409").await;
    server.submit_keyed("k", &body).await;
    assert_eq!(server.submit_keyed("k", &other).await.refusal(), (409, "invalid_request".to_owned()));
    assert_eq!(server.submit_keyed("", &other).await.status, 400);
    let server = Server::weather("replay-accepted").await;
    server.submit_keyed("k", &body).await;
    let again = server.submit_keyed("k", &body).await;
    assert_eq!((again.status, &again.json()["idempotent_replay"]), (202, &json!(true)));
    let server = Server::weather("refused-at-once").await;
    assert_eq!(server.submit(json!({ "ability": "none" })).await.refusal(), (422, "capability_unavailable".to_owned()));
    assert_eq!(server.submit(json!({})).await.status, 202);
}

#[tokio::test]
async fn documents_may_say_more() {
    let server = Server::weather("extra-members").await;
    let id = server.start(json!({})).await;
    let events = server.events(&id).await;
    let result: Value = server.result(&id).await.json();
    for document in [&server.get("/v1/providers").await.json()["data"][0], &events[0], &events[1]["target"], &result] {
        assert!(document.get("x-vendor").is_some(), "{document}");
    }
    assert!(result["result"].get("x-vendor").is_none());
}
