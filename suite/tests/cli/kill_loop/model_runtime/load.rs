//! The load: executions are started, followed, cancelled and started again under their keys.

use super::super::Dice;
use super::super::client::{self, Readers};
use super::super::wire::{ask, ask_under_key, follow};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

/// A start that was answered; its key is the text of its input.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) request: Value,
    pub(crate) id: String,
    pub(crate) created_at: Value,
}

/// What a server has answered, and therefore promised.
#[derive(Clone, Default)]
pub(crate) struct Promises {
    pub(crate) starts: Vec<Start>,
    /// Of each execution, the events that a reader saw.
    pub(crate) events: BTreeMap<String, Vec<Value>>,
    /// Executions that were shown after they had ended.
    pub(crate) ended: Vec<Value>,
    /// Results that were shown.
    pub(crate) results: Vec<Value>,
    /// Executions whose cancel was accepted.
    pub(crate) cancelled: Vec<String>,
}

type Client = client::Client<Promises>;

pub(in super::super) fn turn(client: &Client, name: &str, dice: &mut Dice, readers: &mut Readers) -> Option<()> {
    let kind = dice.below(6);
    let request = request(name, kind, dice);
    let (status, shown) = ask_under_key(&client.url, "/v1/executions", name, &request.to_string())?;
    if status == 500 && shown["error"]["code"] == "queue_full" {
        // Those that run end soon.
        thread::sleep(Duration::from_millis(2));
        return Some(());
    }
    assert_eq!(status, 202, "{shown}");
    let id = shown["execution_id"].as_str().unwrap().to_owned();
    let start = Start { request: request.clone(), id: id.clone(), created_at: shown["created_at"].clone() };
    client.note(|promises| promises.starts.push(start));
    let (reader, execution) = (client.clone(), id.clone());
    readers.push(thread::spawn(move || reader.read(&execution)));
    if dice.below(3) == 0 {
        let (status, again) = ask_under_key(&client.url, "/v1/executions", name, &request.to_string())?;
        assert_eq!((status, &again["execution_id"]), (200, &json!(id)), "the key made another execution: {again}");
    }
    match kind {
        0 if dice.below(2) == 0 => client.cancel(&id),
        1 => client.look(&id),
        _ => Some(()),
    }
}

impl Client {
    /// Follows to the end, and looks at the execution when it has ended.
    fn read(&self, execution: &str) {
        let mut ended = false;
        let _ = follow(&self.url, execution, |event| {
            ended |= event["type"] == "execution.completed" || event["type"] == "execution.failed";
            self.note(|promises| promises.events.entry(execution.to_owned()).or_default().push(event));
        });
        if ended {
            let _ = self.look(execution);
        }
    }

    fn look(&self, execution: &str) -> Option<()> {
        let (status, shown) = ask(&self.url, "GET", &format!("/v1/executions/{execution}"), "")?;
        assert_eq!(status, 200, "{shown}");
        match shown["status"].as_str() {
            Some("succeeded") => {
                let (status, result) = ask(&self.url, "GET", &format!("/v1/executions/{execution}/result"), "")?;
                assert_eq!(status, 200, "{result}");
                self.note(|promises| promises.results.push(result));
            }
            Some("failed" | "cancelled") => {}
            _ => return Some(()),
        }
        self.note(|promises| promises.ended.push(shown));
        Some(())
    }

    fn cancel(&self, execution: &str) -> Option<()> {
        let (status, shown) = ask(&self.url, "POST", &format!("/v1/executions/{execution}/cancel"), "")?;
        if status == 202 {
            self.note(|promises| promises.cancelled.push(execution.to_owned()));
        } else {
            // Its time was up.
            assert_eq!(status, 404, "{shown}");
        }
        Some(())
    }
}

/// A run that holds until its time is up, ends, falls back, gives a result and fails, or goes on for a while, with a deadline or without.
fn request(name: &str, kind: u64, dice: &mut Dice) -> Value {
    let attempts = match kind {
        0 => json!([[{ "delta": "holding" }, { "hold": true }]]),
        1 => json!([[{ "delta": "short" }]]),
        2 => json!([[{ "progress": "queued" }, { "pause": dice.below(20) }, { "fail": { "retryable": true } }], [{ "delta": "second" }]]),
        3 => json!([[
            { "result": { "n": 1 }, "artifacts": [{ "uri": "https://files.example/1" }] },
            { "pause": dice.below(60) },
            { "fail": { "code": "rate_limited" } },
        ]]),
        _ => json!([[{ "repeat": [{ "delta": "tick" }], "times": 10, "every": dice.below(30) }]]),
    };
    let mut request = json!({
        "ability": "text-generation", "input": [{ "type": "text", "text": name }], "routing": { "allow_fallback": true },
        "extensions": { "proofmark": { "tally": name, "attempts": attempts } },
    });
    if kind == 0 || kind == 5 {
        request["deadline_ms"] = json!(50 + dice.below(100));
    }
    request
}
