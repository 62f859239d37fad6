//! A server that keeps its newest executions only.

use crate::client::{Server, types};
use proofmark_mock_server::{Behaviour, StartError};
use serde_json::json;
use std::num::NonZero;
use tokio::net::TcpListener;

fn keeping(most: usize) -> Behaviour {
    Behaviour { retain: NonZero::new(most), ..Behaviour::default() }
}

/// Runs an execution with `key` to its end.
async fn run(server: &Server, key: &str) -> String {
    let conversation = server.conversation().await;
    let script = json!([{ "artifact": { "id": "a", "name": "a", "mediaType": "text/plain" } }, { "return": "done" }]);
    let start = json!({
        "conversationId": conversation, "providerId": "scripted", "input": "", "idempotencyKey": key, "config": { "script": script },
    });
    let id = server.post("/v1/executions", &start).await.json()["id"].as_str().expect("an id").to_owned();
    assert_eq!(types(&server.stream(&id).await).last(), Some(&"run.completed"));
    id
}

#[tokio::test]
async fn the_newest_are_kept_and_the_others_unknown() {
    let server = Server::with(keeping(2)).await;
    let mut ids = Vec::new();
    for key in ["a", "b", "c", "d"] {
        ids.push(run(&server, key).await);
    }
    // Whoever read the last ones may still be leaving when the next one ends; one more end is looked at when nobody reads.
    for (id, known) in ids.iter().zip([false, false, true, true]) {
        let status = if known { 200 } else { 404 };
        for below in ["", "/events", "/artifacts"] {
            assert_eq!(server.get(&format!("/v1/executions/{id}{below}")).await.status, status, "{id}{below}");
        }
    }
}

#[tokio::test]
async fn a_key_goes_with_its_execution() {
    let server = Server::with(keeping(1)).await;
    let first = run(&server, "again").await;
    run(&server, "other").await;
    run(&server, "another").await;
    assert_eq!(server.get(&format!("/v1/executions/{first}")).await.status, 404);
    assert_ne!(run(&server, "again").await, first);
}

#[tokio::test]
async fn what_is_read_is_kept_until_it_was_read() {
    let server = Server::with(keeping(1)).await;
    let id = server.run(json!([{ "delta": "a" }, { "hold": true }])).await;
    let mut exchange = server.follow(&id, 0).await;
    exchange.read_until("output.text.delta").await;
    server.cancel(&id, json!({})).await;
    for key in ["a", "b", "c"] {
        run(&server, key).await;
    }
    let answer = exchange.finish().await;
    assert!(answer.complete, "cut: {}", answer.text());
    assert_eq!(types(&answer.events()).last(), Some(&"run.cancelled"));
}

#[tokio::test]
async fn contracts_that_forget_nothing_say_so() {
    for contract in ["model-runtime", "agentsessions"] {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let refused = proofmark_mock_server::start(contract, listener, &keeping(1)).await.err().expect("a refusal");
        assert!(matches!(&refused, StartError::NoRetention(of) if of == contract), "{refused}");
    }
}
