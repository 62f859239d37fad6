//! Event streams: framing, cursors, ends, readers that leave.

use crate::client::{Server, request, types};
use serde_json::json;

#[tokio::test]
async fn frames_have_id_event_and_data() {
    let server = Server::plain().await;
    let id = server.play(json!([])).await;
    let answer = server.follow(&id, 0).await.finish().await;
    assert_eq!((answer.status, answer.header("content-type")), (200, Some("text/event-stream")));
    assert!(answer.text().starts_with("id: 1\nevent: execution.accepted\ndata: {"), "{}", answer.text());
    assert!(answer.text().ends_with("}\n\n") && answer.complete);
}

#[tokio::test]
async fn a_submission_may_ask_for_the_stream() {
    let server = Server::plain().await;
    let body = request(json!({})).to_string();
    let headers = [
        ("content-type", "Application/JSON; charset=x"),
        ("accept", "application/json;q=0.5, text/event-stream"),
        ("idempotency-key", "k"),
    ];
    let first = server.send("POST", "/v1/executions", &headers, Some(&body)).await;
    assert_eq!((first.status, types(&first.events()).len()), (200, 7));
    let again = server.send("POST", "/v1/executions", &headers, Some(&body)).await;
    assert_eq!(again.text(), first.text());
    let refused = server.send("POST", "/v1/executions", &headers, Some("{}")).await;
    assert_eq!(refused.refusal(), (400, "invalid_request".to_owned()));
}

#[tokio::test]
async fn cursors_are_exclusive_and_after_wins() {
    let server = Server::plain().await;
    let id = server.start(json!({})).await;
    assert_eq!(server.events(&id).await.len(), 7);
    let get = async |query: &str, header: Option<&str>| {
        let headers: Vec<_> = header.map(|value| ("last-event-id", value)).into_iter().collect();
        server.send("GET", &format!("/v1/executions/{id}/events{query}"), &headers, None).await
    };
    for (query, header, first) in [("?after=3", None, 4), ("", Some("5"), 6), ("?after=2", Some("5"), 3), ("?after=", Some("5"), 1)] {
        assert_eq!(get(query, header).await.events()[0]["sequence"], first, "{query} {header:?}");
    }
    for query in ["?after=7", "?after=99"] {
        let answer = get(query, None).await;
        assert_eq!((answer.status, answer.text().as_str(), answer.complete), (200, "", true));
    }
    for (query, header) in [("?after=-1", None), ("?after=1.5", None), ("?after=x", Some("1")), ("", Some("x"))] {
        assert_eq!(get(query, header).await.refusal(), (400, "invalid_request".to_owned()), "{query} {header:?}");
    }
    assert_eq!(server.get("/v1/executions/none/events?after=x").await.refusal(), (404, "not_found".to_owned()));
}

#[tokio::test]
async fn a_reader_that_leaves_cancels_nothing() {
    let server = Server::plain().await;
    let id = server.play(json!([{ "delta": "x" }, { "pause": 50 }, { "delta": "y" }])).await;
    let mut reader = server.follow(&id, 0).await;
    reader.read_until("\"delta\":\"x\"").await;
    drop(reader);
    assert_eq!(types(&server.events(&id).await)[3..], ["output.delta", "execution.completed"]);
}
