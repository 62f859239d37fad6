//! The suite's own fold of the events of model-runtime: what text and which tool calls a history adds up to. It has nothing to do with
//! any server's. What a history and a result say comes out in the same words, so that each can be compared under the rule it belongs to.

use crate::scenario::pattern;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// What the events add up to: `{ outputs: { index: text }, indices, sorted, calls: { id: { name, arguments } }, order }`. Outputs without
/// text are left out; `indices` lists every output with text as it stands there, `sorted` rising, `order` the calls as they were first
/// started.
pub(super) fn events(events: &[Value]) -> Value {
    let mut outputs: BTreeMap<u64, String> = BTreeMap::new();
    let mut calls: Vec<(String, Value, String)> = Vec::new();
    for event in events {
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "output.delta" => {
                if let Some(index) = event["output_index"].as_u64() {
                    outputs.entry(index).or_default().push_str(delta);
                }
            }
            "tool.call.started" => {
                let id = event["call_id"].as_str().unwrap_or_default();
                match calls.iter_mut().find(|(known, ..)| known == id) {
                    Some(call) => *call = (id.to_owned(), event["name"].clone(), String::new()),
                    None => calls.push((id.to_owned(), event["name"].clone(), String::new())),
                }
            }
            "tool.call.arguments.delta" => {
                let id = event["call_id"].as_str().unwrap_or_default();
                if let Some((.., arguments)) = calls.iter_mut().find(|(known, ..)| known == id) {
                    arguments.push_str(delta);
                }
            }
            _ => {}
        }
    }
    told(outputs.into_iter().map(|(index, text)| (json!(index), text)), calls)
}

/// The usage facts of a history, one after the other.
pub(super) fn usage(events: &[Value]) -> Value {
    let reported = events.iter().filter(|event| event["type"] == "usage.reported");
    reported.flat_map(|event| event["facts"].as_array().cloned().unwrap_or_default()).collect()
}

/// Facts of the events that a list of usage does not have, each by unit and quantity and as often as it was reported.
pub(super) fn unlisted(events: &[Value], listed: &[Value]) -> Value {
    let mut left: Vec<&Value> = listed.iter().collect();
    let reported = usage(events);
    let missing = reported.as_array().into_iter().flatten().filter(|fact| {
        let same = |other: &&Value| other["unit"] == fact["unit"] && pattern::equal(&other["quantity"], &fact["quantity"]);
        left.iter().position(same).map(|place| left.swap_remove(place)).is_none()
    });
    missing.cloned().collect()
}

/// The targets of a history, attempt by attempt.
pub(super) fn targets(events: &[Value]) -> Vec<Value> {
    events.iter().filter(|event| event["type"] == "route.selected").map(|event| event["target"].clone()).collect()
}

/// Targets with those of the named providers first, as they are named, and all others behind them as they were.
pub(super) fn ordered(targets: &[Value], names: &[Value]) -> Vec<Value> {
    let mut ordered = targets.to_vec();
    ordered.sort_by_key(|target| names.iter().position(|name| *name == target["provider"]).unwrap_or(names.len()));
    ordered
}

/// How the frames of a stream are labelled: `{ events, ids, names }`, how many frames carry an event, and which of them have another id
/// than its sequence, another event field than its type.
pub(super) fn labels(frames: &[Value]) -> Value {
    let (mut events, mut ids, mut names) = (0, Vec::new(), Vec::new());
    for frame in frames {
        let Some(event) = frame["data"].as_str().and_then(|data| serde_json::from_str::<Value>(data).ok()) else { continue };
        events += 1;
        if frame["id"].as_str() != Some(&event["sequence"].to_string()) {
            ids.push(json!({ "id": frame["id"], "sequence": event["sequence"] }));
        }
        if frame["event"] != event["type"] {
            names.push(json!({ "event": frame["event"], "type": event["type"] }));
        }
    }
    json!({ "events": events, "ids": ids, "names": names })
}

/// Whether the times of a history never go backwards; what is no time is passed over.
pub(super) fn is_timely(events: &[Value]) -> bool {
    let times: Vec<jiff::Timestamp> = events.iter().filter_map(|event| event["time"].as_str()?.parse().ok()).collect();
    times.is_sorted()
}

/// What a result says, in the same words; its own order stays.
pub(super) fn result(result: &Value) -> Value {
    let list = |name: &str| result[name].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let outputs = list("outputs");
    let outputs = outputs.iter().map(|output| (output["index"].clone(), text(&output["text"])));
    let calls = list("tool_calls");
    let calls = calls.iter().map(|call| (text(&call["call_id"]), call["name"].clone(), text(&call["arguments"])));
    told(outputs, calls.collect())
}

fn told(outputs: impl Iterator<Item = (Value, String)>, calls: Vec<(String, Value, String)>) -> Value {
    let (mut texts, mut indices) = (Map::new(), Vec::new());
    for (index, text) in outputs.filter(|(_, text)| !text.is_empty()) {
        texts.insert(index.to_string(), json!(text));
        indices.push(index);
    }
    let mut sorted = indices.clone();
    sorted.sort_by(|left, right| left.as_f64().unwrap_or(f64::MAX).total_cmp(&right.as_f64().unwrap_or(f64::MAX)));
    let order: Vec<&String> = calls.iter().map(|(id, ..)| id).collect();
    let order = json!(order);
    let calls: Map<String, Value> =
        calls.into_iter().map(|(id, name, arguments)| (id, json!({ "name": name, "arguments": arguments }))).collect();
    json!({ "outputs": texts, "indices": indices, "sorted": sorted, "calls": calls, "order": order })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delta(index: u64, text: &str) -> Value {
        json!({ "type": "output.delta", "output_index": index, "delta": text })
    }

    #[test]
    fn text_is_joined_by_index_and_listed_by_rising_index() {
        let folded = events(&[delta(5, "b"), delta(0, "a"), delta(5, "c"), delta(3, "")]);
        assert_eq!(folded["outputs"], json!({ "0": "a", "5": "bc" }));
        assert_eq!(folded["indices"], json!([0, 5]));
        let output = |index: u64| json!({ "index": index, "type": "text", "text": "x" });
        let shown = result(&json!({ "outputs": [output(0), output(11), output(2)] }));
        assert_eq!(shown["indices"], json!([0, 11, 2]));
        assert_eq!(shown["sorted"], json!([0, 2, 11]));
    }

    #[test]
    fn an_order_of_providers_leaves_the_others_as_they_were() {
        let target = |provider: &str, model: &str| json!({ "provider": provider, "model": model });
        let selected = |target: Value| json!({ "type": "route.selected", "target": target });
        let all = [target("a", "1"), target("b", "1"), target("b", "2"), target("c", "1")];
        let history: Vec<Value> = all.iter().cloned().map(selected).chain([json!({ "type": "execution.failed" })]).collect();
        assert_eq!(targets(&history), all);
        let [first, second, third, last] = all;
        let names = [json!("nobody"), json!("c")];
        assert_eq!(ordered(&targets(&history), &names), [last, first, second, third]);
    }

    #[test]
    fn fragments_belong_to_their_call_and_a_second_start_begins_anew() {
        let start = |id: &str, name: &str| json!({ "type": "tool.call.started", "call_id": id, "name": name });
        let part = |id: &str, text: &str| json!({ "type": "tool.call.arguments.delta", "call_id": id, "delta": text });
        let folded = events(&[part("x", "lost"), start("a", "f"), start("b", "g"), part("a", "{"), part("b", "["), part("a", "}")]);
        assert_eq!(folded["calls"], json!({ "a": { "name": "f", "arguments": "{}" }, "b": { "name": "g", "arguments": "[" } }));
        assert_eq!(folded["order"], json!(["a", "b"]));
        let folded = events(&[start("a", "f"), part("a", "old"), start("b", "g"), start("a", "h"), part("a", "new")]);
        assert_eq!(folded["calls"]["a"], json!({ "name": "h", "arguments": "new" }));
        assert_eq!(folded["order"], json!(["a", "b"]));
    }

    #[test]
    fn every_fact_is_listed_as_often_as_it_was_reported() {
        let fact = |unit: &str, quantity: u64| json!({ "unit": unit, "quantity": quantity });
        let events = [json!({ "type": "usage.reported", "facts": [fact("a", 1), fact("a", 1), fact("b", 0)] })];
        assert_eq!(unlisted(&events, &[fact("b", 0), fact("a", 1), fact("c", 9), fact("a", 1)]), json!([]));
        assert_eq!(unlisted(&events, &[fact("a", 2), fact("b", 0)]), json!([fact("a", 1), fact("a", 1)]));
    }

    #[test]
    fn labels_are_looked_at_where_there_is_an_event() {
        let frame = |id: Value, event: &str, data: Value| json!({ "id": id, "event": event, "data": data });
        let event = |sequence: u64| json!(json!({ "sequence": sequence, "type": "output.delta" }).to_string());
        let sound = [frame(json!("3"), "output.delta", event(3)), frame(json!(null), "x", json!(null))];
        assert_eq!(labels(&sound), json!({ "events": 1, "ids": [], "names": [] }));
        let wrong = labels(&[frame(json!(null), "message", event(4))]);
        assert_eq!(wrong["ids"], json!([{ "id": null, "sequence": 4 }]));
        assert_eq!(wrong["names"], json!([{ "event": "message", "type": "output.delta" }]));
    }

    #[test]
    fn a_result_says_the_same_in_the_same_words() {
        let shown = json!({
            "outputs": [{ "index": 2, "type": "text", "text": "x" }, { "index": 0, "type": "text", "text": "" }],
            "tool_calls": [{ "call_id": "a", "name": "f", "arguments": "{}" }],
        });
        let expected = json!({ "outputs": { "2": "x" }, "indices": [2], "sorted": [2], "calls": { "a": { "name": "f", "arguments": "{}" } }, "order": ["a"] });
        assert_eq!(result(&shown), expected);
        assert_eq!(result(&json!(null))["outputs"], json!({}));
    }
}
