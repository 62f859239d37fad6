//! `generate`: what data cannot say well. Named, seeded functions; each makes requests and hands back a result.

mod fold;

use super::super::case::{Round, filled};
use super::super::outcome::Stop;
use super::{call, follow, result};
use crate::scenario::keys::GENERATORS;
use crate::scenario::model::{Follow, Step, Until};
use crate::scenario::pattern;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Cursors that a walk reads from at the most; beyond that they are drawn by the seed, both ends always among them.
const CURSORS: usize = 24;

pub async fn run(round: &mut Round<'_>, step: &Step, name: &str, with: &Value) -> Result<Value, Stop> {
    let with = round.scope.fill(with).map_err(|e| filled(&e))?;
    match name {
        "cursor-walk" if lists(round) => cursor_walk(round, step, &with).await,
        "cursor-walk" => stream_walk(round, step, &with).await,
        "fold" => Ok(folded(&with)),
        _ => Err(Stop::Errored(format!("no generator `{name}`; known: {}", GENERATORS.join(", ")))),
    }
}

fn lists(round: &Round<'_>) -> bool {
    round.session.catalogue.operations.executions.as_ref().is_some_and(|executions| executions.list.is_some())
}

/// What events add up to, and what a result says, both in the same words. `with: { events: [...], result: VALUE, usage: [...],
/// frames: [...], order: [PROVIDER, ...] }`, as far as each matters; sends nothing. The result has as body `{ expected, shown, usage,
/// unlisted, timely, labels, targets, ordered }`: the first two are `{ outputs, indices, sorted, calls, order }`, then come all usage
/// facts in a row, those that the given usage lacks, whether times only rise, how the frames are labelled, the selected targets, and
/// the same with those of the given providers first.
fn folded(with: &Value) -> Value {
    let list = |name: &str| with[name].as_array().map(Vec::as_slice).unwrap_or_default();
    let events = list("events");
    let targets = fold::targets(events);
    json!({
        "answered": true,
        "body": {
            "expected": fold::events(events),
            "shown": fold::result(&with["result"]),
            "usage": fold::usage(events),
            "unlisted": fold::unlisted(events, list("usage")),
            "timely": fold::is_timely(events),
            "labels": fold::labels(list("frames")),
            "ordered": fold::ordered(&targets, list("order")),
            "targets": targets,
        },
    })
}

/// Reads a finished history from every cursor by the query parameter and by the header, where the contract has no list. `with: {
/// execution: ID }`. The result has the whole history as `events`, and as body `{ last, cursors, query: [cursors whose rest differs],
/// header: [...] }`.
async fn stream_walk(round: &mut Round<'_>, step: &Step, with: &Value) -> Result<Value, Stop> {
    let session = round.session;
    let executions = session.catalogue.operations.executions.as_ref();
    let executions = executions.ok_or_else(|| Stop::Errored("operations.yaml says nothing of executions".to_owned()))?;
    let from = |after: Option<Value>, headers: BTreeMap<String, Value>| Follow {
        execution: with["execution"].clone(),
        submit: None,
        after,
        headers,
        until: Until::Closed,
    };
    let mut result = follow::run(round, step, &from(None, BTreeMap::new())).await?;
    let Some(events) = result["events"].as_array().filter(|_| result["complete"] == json!(true)).cloned() else { return Ok(result) };
    let sequences: Vec<i64> = std::iter::once(0).chain(events.iter().filter_map(|event| executions.sequence_of(event))).collect();
    let mut ids = result["exchanges"].as_array().cloned().unwrap_or_default();
    let (mut queries, mut headers) = (Vec::new(), Vec::new());
    let cursors: Vec<i64> = cursors(round, sequences.len() - 1).into_iter().map(|place| sequences[place]).collect();
    for cursor in &cursors {
        let rest: Vec<Value> = events.iter().filter(|event| executions.sequence_of(event).is_some_and(|s| s > *cursor)).cloned().collect();
        let rest = Value::Array(rest);
        let mut ways = vec![(from(Some(json!(cursor)), BTreeMap::new()), &mut queries)];
        if let Some(header) = &executions.resume {
            ways.push((from(None, BTreeMap::from([(header.clone(), json!(cursor.to_string()))])), &mut headers));
        }
        for (what, differing) in ways {
            let read = follow::run(round, step, &what).await?;
            // A stream that was not read to its end bears no witness here.
            if read["complete"] == json!(true) && !pattern::equal(&rest, &read["events"]) {
                differing.push(json!(cursor));
            }
            ids.extend(read["exchanges"].as_array().cloned().unwrap_or_default());
        }
    }
    result["body"] = json!({ "last": sequences.last(), "cursors": cursors, "query": queries, "header": headers });
    result["exchanges"] = Value::Array(ids);
    Ok(result)
}

/// Reads a finished history from every cursor, as JSON and as a stream. `with: { execution: ID }`. The result has the whole history as
/// `events`, and as body `{ last, cursors, list: [cursors whose JSON tail differs], stream: [...] }`.
async fn cursor_walk(round: &mut Round<'_>, step: &Step, with: &Value) -> Result<Value, Stop> {
    let execution = with["execution"].clone();
    let whole = list(round, step, &execution, 0).await?;
    let mut result = result::of(&whole);
    let Some(events) = result["events"].as_array().cloned() else { return Ok(result) };
    let mut ids = vec![json!(whole.id)];
    let (mut lists, mut streams) = (Vec::new(), Vec::new());
    let cursors = cursors(round, events.len());
    for cursor in &cursors {
        let listed = list(round, step, &execution, *cursor).await?;
        let listed_events = result::of(&listed)["events"].clone();
        let what = Follow {
            execution: execution.clone(),
            submit: None,
            after: Some(json!(cursor)),
            headers: BTreeMap::new(),
            until: Until::Closed,
        };
        let streamed = follow::run(round, step, &what).await?;
        let tail = Value::Array(events.get(*cursor..).unwrap_or_default().to_vec());
        if !pattern::equal(&tail, &listed_events) {
            lists.push(json!(cursor));
        }
        if !pattern::equal(&tail, &streamed["events"]) {
            streams.push(json!(cursor));
        }
        ids.push(json!(listed.id));
        ids.extend(streamed["exchanges"].as_array().cloned().unwrap_or_default());
    }
    result["body"] = json!({ "last": events.len(), "cursors": cursors, "list": lists, "stream": streams });
    result["exchanges"] = Value::Array(ids);
    Ok(result)
}

async fn list(
    round: &mut Round<'_>,
    step: &Step,
    execution: &Value,
    after: usize,
) -> Result<std::sync::Arc<crate::transcript::Exchange>, Stop> {
    let session = round.session;
    let executions = session.catalogue.operations.executions.as_ref();
    let named = executions.and_then(|e| Some((e, e.list.as_ref()?)));
    let operation = named.and_then(|(e, name)| session.catalogue.operations.by_name.get(name).map(|o| (e, name, o)));
    let (executions, name, operation) = operation.ok_or_else(|| Stop::Errored("operations.yaml names no list of events".to_owned()))?;
    let params: BTreeMap<String, String> = [(follow::param_of(&operation.path), call::text(execution))].into();
    let query: BTreeMap<String, String> = [(executions.cursor.clone(), after.to_string())].into();
    let ask = session.ask(name, operation, &params, &query);
    let about = call::about(round, step, &ask);
    Ok(session.send(&ask, &about, None, false).await)
}

fn cursors(round: &Round<'_>, last: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..=last).collect();
    if all.len() > CURSORS {
        round.random.lock().expect("no panic while holding it").shuffle(&mut all);
        all.truncate(CURSORS - 2);
        all.extend([0, last]);
        all.sort_unstable();
        all.dedup();
    }
    all
}
