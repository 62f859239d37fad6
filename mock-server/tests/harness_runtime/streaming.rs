//! Event streams and cursors.

use crate::client::{Server, types};
use serde_json::{Value, json};

#[tokio::test]
async fn frames_have_type_envelope_and_number() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "delta": "line\nbreak" }])).await;
    let answer = server.follow(&id, 0).await.finish().await;
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    assert_eq!(answer.header("cache-control"), Some("no-cache"));
    let text = answer.text();
    let frames: Vec<&str> = text.split_terminator("\n\n").collect();
    assert_eq!(frames.len(), 5);
    let lines: Vec<&str> = frames[2].lines().collect();
    assert_eq!((lines.len(), lines[0], lines[2]), (3, "event: output.text.delta", "id: 3"));
    let data: Value = serde_json::from_str(lines[1].strip_prefix("data: ").expect("data")).expect("JSON");
    assert_eq!(data, server.events(&id).await[2]);
    assert!(text.ends_with("\n\n"));
}

#[tokio::test]
async fn readers_of_a_live_history_lose_nothing_and_see_nothing_twice() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "repeat": [{ "delta": "x" }], "times": 300 }])).await;
    let (server, id) = (&server, &id);
    let readers = (0..6).map(|after| async move { server.follow(id, after * 5).await.finish().await.events() });
    let seen = futures_util::future::join_all(readers).await;
    let history = server.events(id).await;
    for (index, events) in seen.iter().enumerate() {
        assert_eq!(*events, history[index * 5..]);
    }
}

#[tokio::test]
async fn cursors_select_what_is_greater() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "delta": "x" }])).await;
    let all = server.stream(&id).await;
    for after in 0..=all.len() + 2 {
        let list = server.get(&format!("/v1/executions/{id}/events?after={after}")).await.json();
        let rest = all.get(after..).unwrap_or_default();
        assert_eq!(list["events"], json!(rest));
        assert_eq!(list["nextCursor"], after.max(if rest.is_empty() { 0 } else { all.len() }));
        let streamed = server.follow(&id, after as u64).await.finish().await;
        assert!(streamed.complete);
        assert_eq!(streamed.events(), rest);
    }
}

#[tokio::test]
async fn a_reader_ahead_of_a_live_history_waits_for_its_end() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "ask": { "kind": "input", "title": "?" } }])).await;
    let action = server.asked(&id).await;
    let ahead = server.follow(&id, 99).await;
    server.respond(&id, &action, json!({})).await;
    let answer = ahead.finish().await;
    assert!(answer.complete && answer.body.is_empty());
}

#[tokio::test]
async fn leaving_cancels_nothing() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "ask": { "kind": "input", "title": "?" } }])).await;
    let action = server.asked(&id).await;
    assert_eq!(server.execution(&id).await["state"], "awaiting_input");
    assert_eq!(server.respond(&id, &action, json!({ "value": "v" })).await.status, 200);
    assert_eq!(types(&server.stream(&id).await).last(), Some(&"run.completed"));
}

#[tokio::test]
async fn only_the_exact_media_type_asks_for_a_stream() {
    let server = Server::plain().await;
    let id = server.run(json!([])).await;
    server.stream(&id).await;
    for (accept, content_type) in [
        ("text/event-stream;q=0", "text/event-stream"),
        ("application/json, text/event-stream", "text/event-stream"),
        ("*/*", "application/json"),
        ("TEXT/EVENT-STREAM", "application/json"),
    ] {
        let answer = server.send("GET", &format!("/v1/executions/{id}/events"), &[("accept", accept)], None).await;
        assert_eq!(answer.header("content-type"), Some(content_type), "{accept}");
    }
}

#[tokio::test]
async fn open_streams_end_when_the_server_stops() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "delta": "x" }, { "hold": true }])).await;
    let mut stream = server.follow(&id, 0).await;
    stream.read_until("output.text.delta").await;
    server.running.stop().await;
    assert_eq!(stream.finish().await.events().len(), 3);
}
