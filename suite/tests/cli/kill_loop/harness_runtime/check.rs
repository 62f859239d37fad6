//! After a kill: everything that was promised is there, everything that ran has ended once, and nothing ran twice.

use super::super::Figures;
use super::super::wire::{ask, get};
use super::load::{Promises, Start};
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

pub(in super::super) fn check(url: &str, promises: &Promises, figures: &mut Figures) -> usize {
    for conversation in &promises.conversations {
        assert_eq!(&get(url, &format!("/v1/conversations/{}", text(&conversation["id"]))), conversation);
        figures.count("conversations");
    }
    let mut interrupted = 0;
    for start in &promises.starts {
        key(url, start);
        figures.count("keys");
        let seen = promises.events.get(text(&start.shown["id"])).map_or(&[][..], Vec::as_slice);
        interrupted += usize::from(execution(url, start, seen));
        figures.count("executions");
        figures.add("events", seen.len());
    }
    for ended in &promises.ended {
        assert_eq!(&get(url, &format!("/v1/executions/{}", text(&ended["id"]))), ended, "a record changed after the end");
        figures.count("ended records");
    }
    for (execution, action) in &promises.answered {
        let path = format!("/v1/executions/{execution}/actions/{action}:respond");
        let (status, body) = ask(url, "POST", &path, r#"{"approved":true}"#).expect("an answer");
        assert_eq!((status, text(&body["code"])), (409, "ACTION_ALREADY_RESOLVED"), "an answer was forgotten");
        figures.count("answers");
    }
    once(url, &promises.starts);
    interrupted
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// The key returns the execution, and refuses another request.
fn key(url: &str, start: &Start) {
    let (status, again) = ask(url, "POST", "/v1/executions", &start.request.to_string()).expect("an answer");
    assert_eq!((status, &again["id"]), (202, &start.shown["id"]), "a key was forgotten: {again}");
    for member in ["id", "conversationId", "providerId", "input", "requiredCapabilities", "effectiveConfig", "createdAt"] {
        assert_eq!(again[member], start.shown[member], "{member} changed");
    }
    let mut other = start.request.clone();
    other["input"] = json!("something else");
    let (status, body) = ask(url, "POST", "/v1/executions", &other.to_string()).expect("an answer");
    assert_eq!((status, text(&body["code"])), (409, "IDEMPOTENCY_CONFLICT"), "a fingerprint was forgotten");
}

/// The history is whole and begins with what was seen; there is one end, and it is the last. Whether the kill has interrupted it.
fn execution(url: &str, start: &Start, seen: &[Value]) -> bool {
    let id = text(&start.shown["id"]);
    let record = ended(url, id, seen);
    let events = get(url, &format!("/v1/executions/{id}/events"))["events"].as_array().cloned().unwrap_or_default();
    for (number, event) in (1..).zip(&events) {
        assert_eq!(event["sequence"], json!(number), "a gap in {events:?}");
    }
    assert!(events.starts_with(seen), "a reader saw {seen:?}, and there is {events:?}");
    let ends: Vec<&str> = events.iter().map(|event| text(&event["type"])).filter(|kind| is_end(kind)).collect();
    assert_eq!(ends.len(), 1, "{events:?}");
    let last = events.last().expect("an event");
    assert!(is_end(text(&last["type"])), "something follows the end: {events:?}");
    let told = json!([record["state"], last["type"]]);
    let outcomes = [json!(["succeeded", "run.completed"]), json!(["failed", "run.failed"]), json!(["cancelled", "run.cancelled"])];
    assert!(outcomes.contains(&told), "{told}");
    let started = events.iter().filter(|event| event["type"] == "run.started").count();
    assert_eq!(started, 1, "{events:?}");
    let made = events.iter().filter(|event| event["type"] == "artifact.created").count();
    let listed = get(url, &format!("/v1/executions/{id}/artifacts"))["artifacts"].as_array().map_or(0, Vec::len);
    assert_eq!(made, listed, "{events:?}");
    text(&last["data"]["message"]).starts_with("The server was stopped")
}

fn is_end(kind: &str) -> bool {
    matches!(kind, "run.completed" | "run.failed" | "run.cancelled")
}

/// What had begun has ended before anybody is answered. What had not begun runs now; it is cancelled, since it may hold.
fn ended(url: &str, id: &str, seen: &[Value]) -> Value {
    let path = format!("/v1/executions/{id}");
    let deadline = Instant::now() + PATIENCE;
    let mut record = get(url, &path);
    if record.get("endedAt").is_none() {
        let begun = seen.iter().any(|event| event["type"] == "run.started");
        assert!(!begun, "it had begun, and runs after the restart: {record}");
        ask(url, "POST", &format!("{path}:cancel"), "").expect("an answer");
    }
    while record.get("endedAt").is_none() {
        assert!(Instant::now() < deadline, "it did not end within {PATIENCE:?}: {record}");
        thread::sleep(Duration::from_millis(5));
        record = get(url, &path);
    }
    record
}

/// What the provider itself counted: no run was begun twice.
fn once(url: &str, starts: &[Start]) {
    let Some(first) = starts.first() else { return };
    let script: Vec<Value> = starts.iter().map(|start| json!({ "report-tally": start.request["input"] })).collect();
    let request = json!({
        "conversationId": first.request["conversationId"], "providerId": "scripted", "input": "", "config": { "script": script },
    });
    let (status, shown) = ask(url, "POST", "/v1/executions", &request.to_string()).expect("an answer");
    assert_eq!(status, 202, "{shown}");
    let id = text(&shown["id"]);
    let deadline = Instant::now() + PATIENCE;
    while get(url, &format!("/v1/executions/{id}")).get("endedAt").is_none() {
        assert!(Instant::now() < deadline, "the count did not end within {PATIENCE:?}");
        thread::sleep(Duration::from_millis(5));
    }
    let events = get(url, &format!("/v1/executions/{id}/events"))["events"].as_array().cloned().unwrap_or_default();
    let counts: Vec<u64> = events.iter().filter_map(|event| event["data"]["params"]["started"].as_u64()).collect();
    assert_eq!(counts.len(), starts.len());
    for (count, start) in counts.iter().zip(starts) {
        assert!(*count <= 1, "{} was run {count} times", start.shown);
    }
}
