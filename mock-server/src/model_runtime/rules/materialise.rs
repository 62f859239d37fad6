//! What a history adds up to: text, tool calls, results, artifacts, usage. Section 6 of the contract page.

use crate::json::JsonObject;
use crate::model_runtime::model::{Event, event};
use crate::table::table;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What was made so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Made {
    /// `None` when nothing was produced; a result may be `null`.
    pub(crate) result: Option<Value>,
    /// `None` when there is nothing to say about artifacts.
    pub(crate) artifacts: Option<Vec<Value>>,
    pub(crate) usage: Vec<Value>,
}

/// A tool call, as far as it was told.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) id: String,
    pub(crate) name: String,
    /// The fragments in a row, not parsed.
    pub(crate) arguments: String,
}

table! {
    /// Rules about materialisation.
    Materialise {
        /// MR-MAT-1, -2, -4, -5, -18, -21: the texts of all outputs, in the order in which they are shown.
        texts: fn(&[Arc<Event>]) -> Vec<(u64, String)> = texts;
        /// MR-MAT-6, -7, -9 to -12: the tool calls, in the order in which they are shown.
        calls: fn(&[Arc<Event>]) -> Vec<Call> = calls;
        /// MR-USAGE-7 to -9, -19: the usage facts, in order.
        usage: fn(&[Arc<Event>]) -> Vec<Value> = usage;
        /// MR-MAT-13 to -17, -19, -20, -22, MR-ART-1, -4, -6, -7: the whole.
        made: fn(&Materialise, &[Arc<Event>]) -> Made = made;
    }
}

/// One text an index: its deltas in the order in which they came. Sorted by index.
pub(crate) fn texts(log: &[Arc<Event>]) -> Vec<(u64, String)> {
    let mut texts: BTreeMap<u64, String> = BTreeMap::new();
    for event in of_kind(log, event::DELTA) {
        let index = event.data.get("output_index").and_then(Value::as_u64).unwrap_or_default();
        texts.entry(index).or_default().push_str(text(&event.data, "delta"));
    }
    texts.into_iter().collect()
}

/// In the order of their first start. A second start of one call begins it anew in its place; fragments of an unknown call are dropped.
pub(crate) fn calls(log: &[Arc<Event>]) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    for event in log {
        let call_id = text(&event.data, "call_id");
        let known = calls.iter_mut().find(|call| call.id == call_id);
        match (event.kind.as_str(), known) {
            (event::TOOL_STARTED, known) => {
                let call = Call { id: call_id.to_owned(), name: text(&event.data, "name").to_owned(), arguments: String::new() };
                match known {
                    Some(known) => *known = call,
                    None => calls.push(call),
                }
            }
            (event::TOOL_ARGUMENTS, Some(call)) => call.arguments.push_str(text(&event.data, "delta")),
            _ => {}
        }
    }
    calls
}

/// All facts of all attempts, not summed.
pub(crate) fn usage(log: &[Arc<Event>]) -> Vec<Value> {
    of_kind(log, event::USAGE).filter_map(|event| event.data.get("facts").and_then(Value::as_array)).flatten().cloned().collect()
}

/// The last `output.result` that has one is the result, as it is; otherwise texts and calls are. Artifacts are those of the last one.
pub(crate) fn made(rules: &Materialise, log: &[Arc<Event>]) -> Made {
    let results: Vec<&Arc<Event>> = of_kind(log, event::RESULT).collect();
    let given = results.iter().rev().find_map(|event| event.data.get("result").cloned());
    let artifacts = results.last().and_then(|event| event.data.get("artifacts")).and_then(Value::as_array).cloned();
    Made { result: given.or_else(|| folded(rules, log)), artifacts, usage: (rules.usage)(log) }
}

fn folded(rules: &Materialise, log: &[Arc<Event>]) -> Option<Value> {
    let produced = log.iter().any(|event| matches!(event.kind.as_str(), event::DELTA | event::TOOL_STARTED));
    let texts = (rules.texts)(log).into_iter().map(|(index, text)| json!({ "index": index, "type": "text", "text": text }));
    let calls = (rules.calls)(log).into_iter().map(|call| json!({ "call_id": call.id, "name": call.name, "arguments": call.arguments }));
    produced.then(|| json!({ "outputs": texts.collect::<Vec<_>>(), "tool_calls": calls.collect::<Vec<_>>() }))
}

pub(crate) fn of_kind<'a>(log: &'a [Arc<Event>], kind: &'a str) -> impl Iterator<Item = &'a Arc<Event>> {
    log.iter().filter(move |event| event.kind == kind)
}

pub(crate) fn text<'a>(data: &'a JsonObject, name: &str) -> &'a str {
    data.get(name).and_then(Value::as_str).unwrap_or_default()
}
