//! What is refused, how, and in which order.

use crate::client::Server;
use serde_json::json;

async fn refused(server: &Server, method: &str, path: &str, body: Option<&str>) -> (u16, String) {
    let answer = server.send(method, path, &[], body).await;
    let document = answer.json();
    let message = document["message"].as_str().expect("a message");
    (answer.status, format!("{}: {message}", document["code"].as_str().expect("a code")))
}

#[tokio::test]
async fn each_request_has_its_problem() {
    let server = Server::plain().await;
    for (method, path, body, status, problem) in [
        ("POST", "/v1/conversations", Some("{"), 400, "VALIDATION_ERROR: Request body is not valid JSON"),
        ("POST", "/v1/conversations", Some("{\"metadata\":null}"), 400, "VALIDATION_ERROR: Invalid conversation request"),
        ("POST", "/v1/executions", None, 400, "VALIDATION_ERROR: Request body is required"),
        ("POST", "/v1/executions", Some("[]"), 400, "VALIDATION_ERROR: Invalid execution request"),
        ("POST", "/v1/executions/x:cancel", Some("{\"reason\":42}"), 400, "VALIDATION_ERROR: Invalid cancellation request"),
        ("POST", "/v1/executions/x:cancel", None, 404, "NOT_FOUND: Execution not found: x"),
        ("POST", "/v1/executions/x", None, 400, "VALIDATION_ERROR: Path parameter suffix is invalid"),
        ("POST", "/v1/executions/:cancel", None, 400, "VALIDATION_ERROR: Path parameter suffix is invalid"),
        ("POST", "/v1/executions/x/actions/y:respond", Some("{}"), 404, "NOT_FOUND: Execution not found: x"),
        ("POST", "/v1/executions/x/actions/y:respond", Some(" "), 400, "VALIDATION_ERROR: Request body is required"),
        ("POST", "/v1/executions/x/actions/y", Some("{}"), 400, "VALIDATION_ERROR: Path parameter suffix is invalid"),
        ("GET", "/v1/executions/x", None, 404, "NOT_FOUND: Execution not found: x"),
        ("GET", "/v1/executions/x/artifacts", None, 404, "NOT_FOUND: Execution not found: x"),
        ("GET", "/v1/executions/x/events", None, 404, "NOT_FOUND: Execution not found: x"),
        ("GET", "/v1/executions/x/events?after=-1", None, 400, "VALIDATION_ERROR: after must be a non-negative integer"),
        ("GET", "/v1/conversations/x%2Fy", None, 404, "NOT_FOUND: Conversation not found: x/y"),
    ] {
        assert_eq!(refused(&server, method, path, body).await, (status, problem.to_owned()), "{method} {path} {body:?}");
    }
}

#[tokio::test]
async fn a_start_is_looked_at_in_order() {
    let server = Server::plain().await;
    let mut body = json!({ "conversationId": "none", "providerId": "none", "input": "", "requiredCapabilities": ["none"] });
    assert_eq!(refused(&server, "POST", "/v1/executions", Some(&body.to_string())).await.1, "NOT_FOUND: Conversation not found: none");
    body["conversationId"] = json!(server.conversation().await);
    assert_eq!(refused(&server, "POST", "/v1/executions", Some(&body.to_string())).await.1, "PROVIDER_NOT_FOUND: Provider not found: none");
    body["providerId"] = json!("mock-echo");
    let expected = "CAPABILITY_UNSUPPORTED: Provider mock-echo does not support required capabilities";
    assert_eq!(refused(&server, "POST", "/v1/executions", Some(&body.to_string())).await, (422, expected.to_owned()));
}

#[tokio::test]
async fn streams_are_refused_before_they_begin() {
    let server = Server::plain().await;
    let stream = [("accept", "text/event-stream")];
    for (path, status) in [("/v1/executions/x/events?after=1.5", 400), ("/v1/executions/x/events", 404)] {
        let answer = server.send("GET", path, &stream, None).await;
        assert_eq!((answer.status, answer.header("content-type")), (status, Some("application/json")), "{path}");
    }
}

#[tokio::test]
async fn unknown_routes_and_methods_are_not_found_in_plain_text() {
    let server = Server::plain().await;
    for (method, path) in
        [("GET", "/"), ("PUT", "/v1/runtime"), ("OPTIONS", "/v1/runtime"), ("GET", "/v1/runtime/"), ("DELETE", "/v1/executions/x")]
    {
        let answer = server.send(method, path, &[], None).await;
        assert_eq!((answer.status, answer.text().as_str()), (404, "404 Not Found"), "{method} {path}");
        assert_eq!(answer.header("content-type"), Some("text/plain; charset=UTF-8"));
    }
}

#[tokio::test]
async fn head_answers_without_a_body() {
    let server = Server::plain().await;
    let id = server.run(json!([{ "hold": true }])).await;
    let answer = server.send("HEAD", &format!("/v1/executions/{id}/events"), &[("accept", "text/event-stream")], None).await;
    assert_eq!((answer.status, answer.header("content-type"), answer.body.len()), (200, Some("text/event-stream"), 0));
    let answer = server.send("HEAD", "/healthz", &[], None).await;
    assert_eq!((answer.status, answer.header("content-length"), answer.body.len()), (200, Some("15"), 0));
}
