//! Reads a script strictly: a mistake is named with its place, like `attempts[0][2].repeat[0]: unknown step`.
//!
//! A place is made of indices and of names of the language; nothing that somebody wrote is in it, since it ends in a public error.

use super::{Script, Step};
use crate::json::{JsonObject, object};
use crate::model_runtime::model::event;
use crate::model_runtime::problem::{Code, Fault};
use serde_json::{Value, json};
use std::time::Duration;

/// The keys that make a step, one of which each step has, with the members that may be beside it.
const STEPS: [(&str, &[&str]); 15] = [
    ("delta", &["index"]),
    ("echo", &["index"]),
    ("call", &["name"]),
    ("arguments", &["of"]),
    ("progress", &["fraction"]),
    ("result", &["artifacts"]),
    ("usage", &[]),
    ("emit", &[]),
    ("pause", &[]),
    ("hold", &[]),
    ("repeat", &["times", "every"]),
    ("fail", &[]),
    ("complete", &[]),
    ("report-tally", &[]),
    ("note", &[]),
];

const LONGEST_PAUSE: u64 = 600_000;
const DEEPEST: usize = 8;

type Parsed<T> = Result<T, String>;

/// Reads `extensions.proofmark`; other members of `extensions` are ignored, other members inside it are not.
///
/// # Errors
/// The first mistake, with its place.
pub(crate) fn parse(extensions: &JsonObject) -> Parsed<Script> {
    let Some(script) = extensions.get("proofmark") else { return Ok(Script::default()) };
    let members = script.as_object().ok_or("proofmark: not an object")?;
    if members.keys().any(|name| !["script", "attempts", "deaf", "tally"].contains(&name.as_str())) {
        return Err("proofmark: unknown member; known are script, attempts, deaf, tally".to_owned());
    }
    let script = Script {
        attempts: attempts(members)?,
        deaf: members.get("deaf").map_or(Ok(false), |deaf| deaf.as_bool().ok_or("deaf: not a boolean"))?,
        tally: members.get("tally").map(|name| text("tally", name)).transpose()?,
    };
    if script.deaf && script.attempts.iter().flatten().any(endless) {
        return Err("attempts: a deaf script can neither hold nor repeat without `times`".to_owned());
    }
    Ok(script)
}

fn attempts(members: &JsonObject) -> Parsed<Vec<Vec<Step>>> {
    match (members.get("script"), members.get("attempts")) {
        (Some(_), Some(_)) => Err("proofmark: both script and attempts".to_owned()),
        (Some(steps), None) => Ok(vec![parse_steps("script", steps, 0)?]),
        (None, Some(attempts)) => {
            let attempts = attempts.as_array().ok_or("attempts: not a list of scripts")?;
            attempts.iter().enumerate().map(|(index, steps)| parse_steps(&format!("attempts[{index}]"), steps, 0)).collect()
        }
        (None, None) => Ok(Vec::new()),
    }
}

fn endless(step: &Step) -> bool {
    match step {
        Step::Hold | Step::Repeat { times: None, .. } => true,
        Step::Repeat { steps, .. } => steps.iter().any(endless),
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
    let mut found = STEPS.iter().filter(|(key, _)| members.contains_key(*key));
    let (key, beside) = found.next().ok_or_else(|| format!("{place}: unknown step"))?;
    if found.next().is_some() {
        return Err(format!("{place}: two steps in one"));
    }
    if members.keys().any(|name| name != key && !beside.contains(&name.as_str())) {
        return Err(format!("{place}.{key}: unknown member"));
    }
    let value = &members[*key];
    let inner = format!("{place}.{key}");
    Ok(Some(match *key {
        "delta" => delta(&inner, members)?,
        "echo" => echo(&inner, members)?,
        "call" => call(&inner, members)?,
        "arguments" => arguments(&inner, members)?,
        "progress" => progress(&inner, members)?,
        "result" => result(members),
        "usage" => emit(event::USAGE, [("facts", value.clone())]),
        "emit" => anything(&inner, value)?,
        "pause" => Step::Pause(milliseconds(&inner, value)?),
        "hold" => only_true(&inner, value, Step::Hold)?,
        "complete" => only_true(&inner, value, Step::Complete)?,
        "repeat" => repeat(place, members, depth)?,
        "fail" => Step::Fail(fault(&inner, value)?),
        "report-tally" => Step::ReportTally(text(&inner, value)?),
        _ => return Ok(None),
    }))
}

fn emit<const N: usize>(kind: &str, members: [(&str, Value); N]) -> Step {
    Step::Emit { kind: kind.to_owned(), data: object(members) }
}

fn index(place: &str, members: &JsonObject) -> Parsed<u64> {
    members.get("index").map_or(Ok(0), |index| index.as_u64().ok_or_else(|| format!("{place}: index is not a whole number from 0")))
}

fn delta(place: &str, members: &JsonObject) -> Parsed<Step> {
    let said = text(place, &members["delta"])?;
    Ok(emit(event::DELTA, [("output_index", json!(index(place, members)?)), ("delta", json!(said))]))
}

fn echo(place: &str, members: &JsonObject) -> Parsed<Step> {
    match members["echo"].as_str() {
        Some("input") => Ok(Step::Echo { index: index(place, members)? }),
        _ => Err(format!("{place}: can only be \"input\"")),
    }
}

fn call(place: &str, members: &JsonObject) -> Parsed<Step> {
    let name = members.get("name").ok_or_else(|| format!("{place}: no name"))?;
    let id = text(place, &members["call"])?;
    Ok(emit(event::TOOL_STARTED, [("call_id", json!(id)), ("name", json!(text(place, name)?))]))
}

fn arguments(place: &str, members: &JsonObject) -> Parsed<Step> {
    let of = members.get("of").ok_or_else(|| format!("{place}: no call"))?;
    let fragment = text(place, &members["arguments"])?;
    Ok(emit(event::TOOL_ARGUMENTS, [("call_id", json!(text(place, of)?)), ("delta", json!(fragment))]))
}

fn progress(place: &str, members: &JsonObject) -> Parsed<Step> {
    let phase = text(place, &members["progress"])?;
    let mut data = object([("phase", json!(phase))]);
    if let Some(fraction) = members.get("fraction") {
        data.insert("progress".to_owned(), fraction.clone());
    }
    Ok(Step::Emit { kind: event::PROGRESS.to_owned(), data })
}

fn result(members: &JsonObject) -> Step {
    let mut data = object([("result", members["result"].clone())]);
    if let Some(artifacts) = members.get("artifacts") {
        data.insert("artifacts".to_owned(), artifacts.clone());
    }
    Step::Emit { kind: event::RESULT.to_owned(), data }
}

/// All members but `kind` are those of the event, `type` too: what a provider should not say can be said.
fn anything(place: &str, value: &Value) -> Parsed<Step> {
    let members = value.as_object().ok_or_else(|| format!("{place}: not an object"))?;
    let kind = members.get("kind").and_then(Value::as_str).ok_or_else(|| format!("{place}: no kind"))?;
    let data = members.iter().filter(|(name, _)| *name != "kind").map(|(name, value)| (name.clone(), value.clone())).collect();
    Ok(Step::Emit { kind: kind.to_owned(), data })
}

fn repeat(place: &str, members: &JsonObject, depth: usize) -> Parsed<Step> {
    let times = members.get("times").map(|times| times.as_u64().ok_or_else(|| format!("{place}.times: not a whole number"))).transpose()?;
    let every = members.get("every").map_or(Ok(Duration::ZERO), |every| milliseconds(&format!("{place}.every"), every))?;
    Ok(Step::Repeat { steps: parse_steps(&format!("{place}.repeat"), &members["repeat"], depth + 1)?, times, every })
}

fn fault(place: &str, value: &Value) -> Parsed<Fault> {
    let members = value.as_object().ok_or_else(|| format!("{place}: not an object"))?;
    if members.keys().any(|name| !["code", "message", "retryable", "provider_code"].contains(&name.as_str())) {
        return Err(format!("{place}: unknown member"));
    }
    let code = members.get("code").map_or(Some(Code::ProviderUnavailable), |code| {
        let name = code.as_str()?;
        Code::ALL.into_iter().find(|code| code.name() == name)
    });
    let code = code.ok_or_else(|| format!("{place}.code: not a portable code"))?;
    let message = members.get("message").map_or(Ok("Provider failed".to_owned()), |message| text(place, message))?;
    let retryable =
        members.get("retryable").map_or(Some(false), Value::as_bool).ok_or_else(|| format!("{place}.retryable: not a boolean"))?;
    let provider_code = members.get("provider_code").map(|code| text(place, code)).transpose()?;
    Ok(Fault { code, message, retryable, provider_code })
}

fn only_true(place: &str, value: &Value, step: Step) -> Parsed<Step> {
    if value.as_bool() == Some(true) { Ok(step) } else { Err(format!("{place}: can only be true")) }
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

    fn read(script: &Value) -> Parsed<Script> {
        parse(json!({ "proofmark": script, "other": { "script": 1 } }).as_object().expect("an object"))
    }

    #[test]
    fn attempts_beyond_the_last_script_have_the_last_one() {
        let script = read(&json!({ "attempts": [[{ "fail": { "retryable": true } }], [{ "delta": "hi" }]] })).expect("a script");
        assert_eq!(script.steps(2), script.steps(9));
        assert_ne!(script.steps(1), script.steps(2));
        assert_eq!(read(&json!({})).expect("a script").steps(1), None);
        assert_eq!(read(&json!({ "script": [] })).expect("a script").steps(1), Some([].as_slice()));
    }

    #[test]
    fn mistakes_are_named_with_their_place_and_nothing_that_was_written() {
        for (script, message) in [
            (json!([]), "proofmark: not an object"),
            (json!({ "canary": 1 }), "proofmark: unknown member"),
            (json!({ "script": {} }), "script: not a list of steps"),
            (json!({ "attempts": [[{ "repeat": [{ "pause": -1 }] }]] }), "attempts[0][0].repeat[0].pause: not a whole number"),
            (json!({ "script": [{ "canary": "x" }] }), "script[0]: unknown step"),
            (json!({ "script": [{ "delta": "x", "pause": 1 }] }), "script[0]: two steps in one"),
            (json!({ "script": [{ "delta": "x", "canary": 1 }] }), "script[0].delta: unknown member"),
            (json!({ "script": [{ "fail": { "code": "canary" } }] }), "script[0].fail.code: not a portable code"),
            (json!({ "deaf": true, "script": [{ "hold": true }] }), "attempts: a deaf script"),
            (json!({ "script": [], "attempts": [] }), "proofmark: both script and attempts"),
        ] {
            let mistake = read(&script).expect_err("a mistake");
            assert!(mistake.starts_with(message), "{mistake}");
            assert!(!mistake.contains("canary"), "{mistake}");
        }
    }
}
