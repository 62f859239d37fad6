//! The load: executions are started, followed, answered, cancelled and started again under their keys.

use super::super::Dice;
use super::super::client::{self, Readers};
use super::super::wire::{ask, follow};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::thread;

/// A start that was answered.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) request: Value,
    /// The execution as it was shown first.
    pub(crate) shown: Value,
}

/// What a server has answered, and therefore promised.
#[derive(Clone, Default)]
pub(crate) struct Promises {
    /// As they were shown.
    pub(crate) conversations: Vec<Value>,
    pub(crate) starts: Vec<Start>,
    /// Of each execution, the events that a reader saw.
    pub(crate) events: BTreeMap<String, Vec<Value>>,
    /// Executions that were shown after they had ended.
    pub(crate) ended: Vec<Value>,
    /// Execution and action of each answer that was taken.
    pub(crate) answered: Vec<(String, String)>,
}

type Client = client::Client<Promises>;

pub(in super::super) fn turn(client: &Client, name: &str, dice: &mut Dice, readers: &mut Readers) -> Option<()> {
    let (status, conversation) = ask(&client.url, "POST", "/v1/conversations", &json!({ "metadata": { "name": name } }).to_string())?;
    assert_eq!(status, 201, "{conversation}");
    let id = conversation["id"].as_str().unwrap().to_owned();
    client.note(|promises| promises.conversations.push(conversation));
    let kind = dice.below(5);
    let request = json!({
        "conversationId": id, "providerId": "scripted", "input": name, "idempotencyKey": name,
        "config": { "tally": name, "script": script(kind, dice), "cleanup": [{ "pause": 5 }] },
    });
    let (status, shown) = ask(&client.url, "POST", "/v1/executions", &request.to_string())?;
    assert_eq!(status, 202, "{shown}");
    let id = shown["id"].as_str().unwrap().to_owned();
    client.note(|promises| promises.starts.push(Start { request: request.clone(), shown }));
    let (reader, execution) = (client.clone(), id.clone());
    readers.push(thread::spawn(move || reader.read(&execution)));
    if dice.below(3) == 0 {
        let (status, again) = ask(&client.url, "POST", "/v1/executions", &request.to_string())?;
        assert_eq!((status, &again["id"]), (202, &json!(id)), "the key made another execution: {again}");
    }
    match kind {
        0 if dice.below(2) == 0 => client.cancel(&id),
        1 => client.look(&id),
        _ => Some(()),
    }
}

impl Client {
    /// Follows to the end, answers what is asked, and looks at the execution when it has ended.
    fn read(&self, execution: &str) {
        let mut ended = false;
        let _ = follow(&self.url, execution, |event| {
            let kind = event["type"].as_str().unwrap().to_owned();
            let action = event["data"]["id"].as_str().unwrap_or_default().to_owned();
            self.note(|promises| promises.events.entry(execution.to_owned()).or_default().push(event));
            match kind.as_str() {
                "action.required" => {
                    let path = format!("/v1/executions/{execution}/actions/{action}:respond");
                    if let Some((200, _)) = ask(&self.url, "POST", &path, r#"{"approved":true}"#) {
                        self.note(|promises| promises.answered.push((execution.to_owned(), action)));
                    }
                }
                "run.completed" | "run.failed" | "run.cancelled" => ended = true,
                _ => {}
            }
        });
        if ended {
            let _ = self.look(execution);
        }
    }

    fn look(&self, execution: &str) -> Option<()> {
        let (status, shown) = ask(&self.url, "GET", &format!("/v1/executions/{execution}"), "")?;
        assert_eq!(status, 200, "{shown}");
        if shown.get("endedAt").is_some() {
            self.note(|promises| promises.ended.push(shown));
        }
        Some(())
    }

    fn cancel(&self, execution: &str) -> Option<()> {
        let (status, shown) = ask(&self.url, "POST", &format!("/v1/executions/{execution}:cancel"), r#"{"reason":"enough"}"#)?;
        assert_eq!(status, 200, "{shown}");
        self.note(|promises| promises.ended.push(shown));
        Some(())
    }
}

/// A run that holds, ends, asks, makes an artifact, or goes on for a while.
fn script(kind: u64, dice: &mut Dice) -> Value {
    match kind {
        0 => json!([{ "delta": "holding" }, { "hold": true }]),
        1 => json!([{ "delta": "short" }]),
        2 => json!([{ "delta": "asking" }, { "ask": { "kind": "approval", "title": "Go on?" } }, { "delta": "thanks" }]),
        3 => {
            json!([{ "artifact": { "id": "a", "name": "A", "mediaType": "text/plain" } }, { "pause": dice.below(60) }, { "fail": "as planned" }])
        }
        _ => json!([{ "repeat": [{ "delta": "tick" }], "times": 10, "every": dice.below(30) }]),
    }
}
