//! Reads a script strictly: a mistake is named with its place, like `script[2].repeat[0]: unknown step "dleta"`.

use super::{Echo, Script, Step, UnlessApproved};
use crate::harness_runtime::json::object;
use crate::harness_runtime::model::{JsonObject, event};
use serde_json::{Value, json};
use std::time::Duration;

/// The keys that make a step, one of which each step has.
const STEPS: [&str; 14] = [
    "delta",
    "echo",
    "pause",
    "ask",
    "artifact",
    "provider-event",
    "emit",
    "repeat",
    "hold",
    "try",
    "fail",
    "return",
    "report-tally",
    "note",
];

const LONGEST_PAUSE: u64 = 600_000;
const DEEPEST: usize = 8;

type Parsed<T> = Result<T, String>;

/// Reads the members of `config` that belong to scripts; others are ignored.
///
/// # Errors
/// The first mistake, with its place.
pub(crate) fn parse(config: &JsonObject) -> Parsed<Script> {
    let script = Script {
        steps: config.get("script").map(|steps| parse_steps("script", steps, 0)).transpose()?,
        cleanup: config.get("cleanup").map_or(Ok(Vec::new()), |steps| parse_steps("cleanup", steps, 0))?,
        deaf: config.get("deaf").map_or(Ok(false), |deaf| deaf.as_bool().ok_or("deaf: not a boolean"))?,
        tally: config.get("tally").map(|name| text("tally", name)).transpose()?,
    };
    if script.deaf && script.steps.iter().flatten().any(endless) {
        return Err("script: a deaf script cannot repeat without `times`".to_owned());
    }
    if script.cleanup.iter().any(endless) {
        return Err("cleanup: a cleanup cannot repeat without `times`".to_owned());
    }
    Ok(script)
}

fn endless(step: &Step) -> bool {
    match step {
        Step::Repeat { times: None, .. } => true,
        Step::Repeat { steps, .. } | Step::Try(steps) | Step::Ask { meanwhile: steps, .. } => steps.iter().any(endless),
        _ => false,
    }
}

fn parse_steps(place: &str, steps: &Value, depth: usize) -> Parsed<Vec<Step>> {
    if depth > DEEPEST {
        return Err(format!("{place}: nested too deeply"));
    }
    let steps = steps.as_array().ok_or_else(|| format!("{place}: not a list of steps"))?;
    let mut parsed = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        parsed.extend(parse_step(&format!("{place}[{index}]"), step, depth)?);
    }
    Ok(parsed)
}

/// `None` for a note, which does nothing.
fn parse_step(place: &str, step: &Value, depth: usize) -> Parsed<Option<Step>> {
    let members = step.as_object().ok_or_else(|| format!("{place}: a step is an object"))?;
    let mut keys = members.keys().filter(|key| STEPS.contains(&key.as_str()));
    let Some(key) = keys.next() else {
        let found = members.keys().next().map_or("{}", String::as_str);
        return Err(format!("{place}: unknown step {found:?}; known are {}", STEPS.join(", ")));
    };
    if let Some(second) = keys.next() {
        return Err(format!("{place}: both {key:?} and {second:?}"));
    }
    let value = &members[key];
    let inner = format!("{place}.{key}");
    let options: &[&str] = match key.as_str() {
        "ask" => &["meanwhile", "unless-approved"],
        "repeat" => &["times", "every"],
        _ => &[],
    };
    if let Some(stray) = members.keys().find(|member| *member != key && !options.contains(&member.as_str())) {
        return Err(format!("{inner}: unknown member {stray:?}"));
    }
    Ok(Some(match key.as_str() {
        "delta" => Step::Emit { kind: event::DELTA.to_owned(), data: delta(&inner, value)? },
        "artifact" => Step::Emit { kind: event::ARTIFACT_CREATED.to_owned(), data: value.clone() },
        "provider-event" => Step::Emit { kind: event::PROVIDER_EVENT.to_owned(), data: value.clone() },
        "emit" => emit(&inner, value)?,
        "echo" => Step::Echo(echo(&inner, value)?),
        "pause" => Step::Pause(milliseconds(&inner, value)?),
        "ask" => ask(place, members, depth)?,
        "repeat" => repeat(place, members, depth)?,
        "hold" => value.as_bool().filter(|hold| *hold).map(|_| Step::Hold).ok_or_else(|| format!("{inner}: can only be true"))?,
        "try" => Step::Try(parse_steps(&inner, value, depth + 1)?),
        "fail" => Step::Fail(text(&inner, value)?),
        "return" => Step::Return(value.clone()),
        "report-tally" => Step::ReportTally(text(&inner, value)?),
        _ => return Ok(None),
    }))
}

fn delta(place: &str, value: &Value) -> Parsed<Value> {
    match value {
        Value::String(text) => Ok(Value::Object(object([("text", json!(text))]))),
        Value::Object(_) => Ok(value.clone()),
        _ => Err(format!("{place}: neither a text nor an object")),
    }
}

fn emit(place: &str, value: &Value) -> Parsed<Step> {
    let kind = value.get("type").and_then(Value::as_str).ok_or_else(|| format!("{place}: no type"))?;
    Ok(Step::Emit { kind: kind.to_owned(), data: value.get("data").cloned().unwrap_or(Value::Null) })
}

fn echo(place: &str, value: &Value) -> Parsed<Echo> {
    match value.as_str() {
        Some("input") => Ok(Echo::Input),
        Some("answer") => Ok(Echo::Answer),
        _ => Err(format!("{place}: neither \"input\" nor \"answer\"")),
    }
}

fn ask(place: &str, members: &JsonObject, depth: usize) -> Parsed<Step> {
    let unless_approved = match members.get("unless-approved").map(Value::as_str) {
        None | Some(Some("fail")) => UnlessApproved::Fail,
        Some(Some("go-on")) => UnlessApproved::GoOn,
        Some(_) => return Err(format!("{place}.unless-approved: neither \"fail\" nor \"go-on\"")),
    };
    let meanwhile =
        members.get("meanwhile").map_or(Ok(Vec::new()), |steps| parse_steps(&format!("{place}.meanwhile"), steps, depth + 1))?;
    Ok(Step::Ask { question: members["ask"].clone(), meanwhile, unless_approved })
}

fn repeat(place: &str, members: &JsonObject, depth: usize) -> Parsed<Step> {
    let times = members.get("times").map(|times| times.as_u64().ok_or_else(|| format!("{place}.times: not a whole number"))).transpose()?;
    let every = members.get("every").map_or(Ok(Duration::ZERO), |every| milliseconds(&format!("{place}.every"), every))?;
    Ok(Step::Repeat { steps: parse_steps(&format!("{place}.repeat"), &members["repeat"], depth + 1)?, times, every })
}

fn milliseconds(place: &str, value: &Value) -> Parsed<Duration> {
    let milliseconds = value.as_u64().filter(|pause| *pause <= LONGEST_PAUSE);
    milliseconds.map(Duration::from_millis).ok_or_else(|| format!("{place}: not a whole number of milliseconds up to {LONGEST_PAUSE}"))
}

fn text(place: &str, value: &Value) -> Parsed<String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{place}: not a text"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(config: &Value) -> Parsed<Script> {
        parse(config.as_object().expect("an object"))
    }

    #[test]
    fn steps_have_their_members() {
        let script = read(&json!({ "script": [
            { "delta": "hi" },
            { "ask": { "kind": "input", "title": "?" }, "meanwhile": [{ "pause": 5 }] },
            { "repeat": [{ "echo": "input" }], "times": 2, "every": 3 },
        ], "deaf": true, "unknown": 1 }))
        .expect("a script");
        assert!(script.deaf);
        assert_eq!(script.steps.expect("steps").len(), 3);
    }

    #[test]
    fn mistakes_are_named_with_their_place() {
        for (config, message) in [
            (json!({ "script": {} }), "script: not a list of steps"),
            (json!({ "script": [{ "repeat": [{ "pause": -1 }] }] }), "script[0].repeat[0].pause: not a whole number"),
            (json!({ "script": [{ "dleta": "x" }] }), "script[0]: unknown step \"dleta\""),
            (json!({ "script": [{ "delta": "x", "pause": 1 }] }), "script[0]: both \"delta\" and \"pause\""),
            (json!({ "script": [{ "delta": "x", "every": 1 }] }), "script[0].delta: unknown member \"every\""),
            (json!({ "cleanup": [{ "fail": 1 }] }), "cleanup[0].fail: not a text"),
            (json!({ "deaf": true, "script": [{ "repeat": [] }] }), "script: a deaf script"),
            (json!({ "deaf": 1 }), "deaf: not a boolean"),
        ] {
            let mistake = read(&config).expect_err("a mistake");
            assert!(mistake.starts_with(message), "{mistake}");
        }
    }
}
