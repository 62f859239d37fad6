//! After a kill: everything that was promised is there, everything that ran has ended once, and nothing ran twice.

use super::super::Figures;
use super::super::wire::{ask_under_key, follow, get};
use super::load::{Promises, Start};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub(in super::super) fn check(url: &str, promises: &Promises, figures: &mut Figures) -> usize {
    let mut interrupted = 0;
    let mut attempts = BTreeMap::new();
    for start in &promises.starts {
        key(url, start);
        figures.count("keys");
        let seen = promises.events.get(&start.id).map_or(&[][..], Vec::as_slice);
        let events = history(url, &start.id);
        interrupted += usize::from(execution(url, start, seen, &events));
        figures.count("executions");
        figures.add("events", seen.len());
        attempts.insert(start.id.as_str(), events.iter().filter(|event| event["type"] == "route.selected").count() as u64);
    }
    for ended in &promises.ended {
        assert_eq!(&get(url, &format!("/v1/executions/{}", text(&ended["execution_id"]))), ended, "a record changed after the end");
        figures.count("ended records");
    }
    for result in &promises.results {
        assert_eq!(&get(url, &format!("/v1/executions/{}/result", text(&result["execution_id"]))), result, "a result changed");
        figures.count("results");
    }
    for id in &promises.cancelled {
        assert_eq!(get(url, &format!("/v1/executions/{id}"))["status"], "cancelled", "a cancel was forgotten");
        figures.count("cancels");
    }
    once(url, &promises.starts, &attempts);
    interrupted
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// All events of an execution that has ended.
fn history(url: &str, id: &str) -> Vec<Value> {
    let mut events = Vec::new();
    // It gives nothing after the last chunk either.
    let _ = follow(url, id, |event| events.push(event));
    events
}

/// The key returns the execution, and refuses another request.
fn key(url: &str, start: &Start) {
    let key = text(&start.request["input"][0]["text"]);
    let (status, again) = ask_under_key(url, "/v1/executions", key, &start.request.to_string()).expect("an answer");
    let told = (status, text(&again["execution_id"]), &again["created_at"]);
    assert_eq!(told, (200, start.id.as_str(), &start.created_at), "a key was forgotten: {again}");
    let mut other = start.request.clone();
    other["ability"] = json!("something-else");
    let (status, body) = ask_under_key(url, "/v1/executions", key, &other.to_string()).expect("an answer");
    assert_eq!((status, text(&body["error"]["code"])), (400, "invalid_request"), "a fingerprint was forgotten");
}

/// The history is whole and begins with what was seen; there is one end, and it is the last. Whether the kill has interrupted it.
fn execution(url: &str, start: &Start, seen: &[Value], events: &[Value]) -> bool {
    let record = get(url, &format!("/v1/executions/{}", start.id));
    for (number, event) in (1..).zip(events) {
        assert_eq!((&event["sequence"], text(&event["execution_id"])), (&json!(number), start.id.as_str()), "in {events:?}");
    }
    assert!(events.starts_with(seen), "a reader saw {seen:?}, and there is {events:?}");
    assert_eq!(events.iter().filter(|event| is_end(event)).count(), 1, "{events:?}");
    let last = events.last().expect("an event");
    assert!(is_end(last), "something follows the end: {events:?}");
    assert_eq!((&record["status"], &record["last_sequence"]), (&last["status"], &last["sequence"]));
    assert_eq!(record["error"], last["error"]);
    let selected = events.iter().filter(|event| event["type"] == "route.selected");
    for (attempt, event) in (1..).zip(selected) {
        assert_eq!(event["attempt"], json!(attempt), "an attempt was made again: {events:?}");
    }
    let interrupted = last["error"]["code"] == "internal_error";
    if interrupted {
        assert_eq!((&last["status"], &last["error"]["retryable"]), (&json!("failed"), &json!(false)), "{last}");
    }
    interrupted
}

fn is_end(event: &Value) -> bool {
    event["type"] == "execution.completed" || event["type"] == "execution.failed"
}

/// What the providers themselves counted: no attempt was begun twice.
fn once(url: &str, starts: &[Start], attempts: &BTreeMap<&str, u64>) {
    if starts.is_empty() {
        return;
    }
    let script: Vec<Value> = starts.iter().map(|start| json!({ "report-tally": start.request["input"][0]["text"] })).collect();
    let request = json!({
        "ability": "text-generation", "input": [{ "type": "text", "text": "" }], "extensions": { "proofmark": { "script": script } },
    });
    let key = uuid::Uuid::new_v4().to_string();
    let (status, shown) = ask_under_key(url, "/v1/executions", &key, &request.to_string()).expect("an answer");
    assert_eq!(status, 202, "{shown}");
    let events = history(url, text(&shown["execution_id"]));
    let counts: Vec<u64> = events.iter().filter_map(|event| event["result"]["started"].as_u64()).collect();
    assert_eq!(counts.len(), starts.len(), "{events:?}");
    for (count, start) in counts.iter().zip(starts) {
        assert!(*count <= attempts[start.id.as_str()], "{} was run {count} times", start.request);
    }
}
