//! What weather looks like on the wire, and that it changes nothing else.

use crate::client::{Server, types};
use serde_json::{Value, json};

async fn stream_under(weather: &str, script: Value) -> (Server, String, String) {
    let server = Server::weather(weather).await;
    let id = server.run(script).await;
    let answer = server.follow(&id, 0).await.finish().await;
    assert!(answer.complete);
    (server, id, answer.text())
}

#[tokio::test]
async fn lines_end_in_other_ways() {
    let (_, _, text) = stream_under("crlf", json!([{ "delta": "x" }])).await;
    assert_eq!(text.matches("\r\n").count(), text.matches('\n').count());
    assert_eq!(text.matches("\r\n\r\n").count(), 5);
    let (_, _, text) = stream_under("cr", json!([{ "delta": "x" }])).await;
    assert!(!text.contains('\n'));
    assert_eq!(text.matches("\r\r").count(), 5);
}

#[tokio::test]
async fn a_mark_comes_first_and_comments_between() {
    let (_, _, text) = stream_under("bom", json!([])).await;
    assert!(text.starts_with("\u{FEFF}event: run.queued\n"));
    let (_, _, text) = stream_under("heartbeats", json!([{ "pause": 60 }])).await;
    assert!(text.starts_with(": welcome\nretry: 1500\n\n"));
    assert!(text.contains("\n\n: still here\n\n"));
}

#[tokio::test]
async fn data_may_take_several_lines_and_be_alone() {
    let (server, id, text) = stream_under("multi-line-data", json!([{ "delta": "x" }])).await;
    let frame = text.split("\n\n").nth(2).expect("a frame");
    let data: Vec<&str> = frame.lines().filter_map(|line| line.strip_prefix("data:")).collect();
    assert!(data.len() > 3);
    assert_eq!(serde_json::from_str::<Value>(&data.join("\n")).expect("JSON"), server.events(&id).await[2]);
    let (_, _, text) = stream_under("no-event-field", json!([])).await;
    assert!(text.lines().all(|line| line.is_empty() || line.starts_with("data: ")));
}

#[tokio::test]
async fn an_event_of_the_seam_comes_twice_and_only_above_the_cursor() {
    let server = Server::weather("duplicate-at-seam").await;
    let id = server.run(json!([{ "delta": "x" }, { "ask": { "kind": "input", "title": "?" } }])).await;
    let action = server.asked(&id).await;
    let (mut all, mut none) = (server.follow(&id, 0).await, server.follow(&id, 4).await);
    all.read_until("\"sequence\":4").await;
    server.respond(&id, &action, json!({})).await;
    let seen: Vec<Value> = all.finish().await.events().iter().map(|event| event["sequence"].clone()).collect();
    assert_eq!(seen, [1, 2, 3, 4, 4, 5, 6, 7]);
    none.read_until("run.completed").await;
    assert_eq!(none.finish().await.events().len(), 3);
}

#[tokio::test]
async fn pieces_make_the_same_body() {
    let server = Server::weather("split-frames").await;
    let id = server.run(json!([{ "delta": "\u{E4}\u{2603}\u{1F600}" }])).await;
    let streamed = server.stream(&id).await;
    assert_eq!(types(&streamed).last(), Some(&"run.completed"));
    let list = server.get(&format!("/v1/executions/{id}/events")).await;
    assert_eq!(list.header("transfer-encoding"), Some("chunked"));
    assert_eq!(list.json()["events"], json!(streamed));
}

#[tokio::test]
async fn compression_is_for_those_who_ask() {
    let server = Server::weather("gzip").await;
    let plain = server.get("/v1/runtime").await;
    assert_eq!(plain.header("content-encoding"), None);
    let packed = server.send("GET", "/v1/runtime", &[("accept-encoding", "gzip")], None).await;
    assert_eq!(packed.header("content-encoding"), Some("gzip"));
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(packed.body.as_slice()), &mut text).expect("gzip");
    assert_eq!(text, plain.text());
}

#[tokio::test]
async fn the_api_may_be_mounted_elsewhere() {
    let server = Server::weather("base-path").await;
    assert!(server.running.url().ends_with("/some/base"));
    assert_eq!(server.get("/healthz").await.status, 200);
    let id = server.run(json!([])).await;
    assert_eq!(types(&server.stream(&id).await).len(), 4);
}

#[tokio::test]
async fn documents_keep_what_they_say() {
    let server = Server::with(proofmark_mock_server::Behaviour {
        weather: ["extra-members", "other-ids", "other-times", "other-order", "charset"].map(str::to_owned).to_vec(),
        ..Default::default()
    })
    .await;
    let id = server.run(json!([{ "artifact": { "id": "a", "name": "n", "mediaType": "m" } }, { "provider-event": {} }])).await;
    assert!(id.contains('~'));
    let answer = server.get(&format!("/v1/executions/{id}")).await;
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    assert!(answer.text().starts_with("{ \"x-vendor\" : {"));
    let streamed = server.follow(&id, 0).await.finish().await.events();
    assert_eq!(streamed, server.events(&id).await);
    assert_eq!(streamed[3]["data"], json!({}), "what a provider gave stays as it is");
    let artifacts = server.get(&format!("/v1/executions/{id}/artifacts")).await.json();
    assert_eq!(artifacts["artifacts"][0], streamed[2]["data"]);
}

#[tokio::test]
async fn keys_may_belong_to_conversations_or_conflict_first() {
    let server = Server::weather("key-per-conversation").await;
    let start = |conversation: &str, more: Value| {
        let mut body = json!({ "conversationId": conversation, "providerId": "mock-echo", "input": "", "idempotencyKey": "k" });
        crate::client::merge(&mut body, more);
        body
    };
    let (left, right) = (server.conversation().await, server.conversation().await);
    let first = server.post("/v1/executions", &start(&left, json!({}))).await.json();
    assert_ne!(server.post("/v1/executions", &start(&right, json!({}))).await.json()["id"], first["id"]);
    let server = Server::weather("conflict-first").await;
    let conversation = server.conversation().await;
    server.post("/v1/executions", &start(&conversation, json!({}))).await;
    for more in [json!({ "requiredCapabilities": ["none"] }), json!({ "providerId": "none" }), json!({ "conversationId": "none" })] {
        assert_eq!(server.post("/v1/executions", &start(&conversation, more)).await.problem().0, 409);
    }
}
