//! Decoding of expectations: the tests that one rule puts to a result.

use super::decode::event;
use super::diagnostic::Diagnostic;
use super::fields::{Fields, Result, open};
use super::model::{Expectation, Subject, Test};
use super::node::{Kind, Node};
use super::pattern::OPERATORS;
use std::sync::Arc;

const KEYS: &[&str] = &[
    "rule",
    "of",
    "each",
    "when",
    "answered",
    "status",
    "code",
    "message",
    "headers",
    "trailers",
    "body",
    "text",
    "types",
    "order",
    "exactlyOne",
    "none",
    "some",
    "count",
    "first",
    "last",
    "every",
    "history",
    "value",
    "is",
    "same",
    "differ",
];

pub fn list(node: &Node, file: &Arc<str>) -> Result<Vec<Expectation>> {
    let Kind::Seq(items) = &node.kind else {
        return Err(Diagnostic::new(node.place(file), "expectations are a list: `expect: [ { rule: ID, ... } ]`"));
    };
    items.iter().map(|item| one(item, file, true)).collect()
}

/// One expectation; `with_rule` is false for the `until` of an `await`.
pub fn one(node: &Node, file: &Arc<str>, with_rule: bool) -> Result<Expectation> {
    let fields = open(node, file, "an expectation", KEYS)?;
    let rule = if with_rule { fields.string("rule")? } else { String::new() };
    let tests = tests(&fields)?;
    if tests.is_empty() {
        return Err(fields
            .error(node, "an expectation must expect something besides its rule")
            .hint(format!("known: {}", KEYS.join(", "))));
    }
    Ok(Expectation { rule, at: fields.place(), subject: subject(&fields)?, when: when(&fields)?, tests })
}

fn subject(fields: &Fields) -> Result<Subject> {
    match (fields.json("of"), fields.get("each")) {
        (Some(_), Some(each)) => Err(fields.error(each, "`of` and `each` exclude each other")),
        (Some(of), None) => Ok(Subject::Of(of)),
        (None, Some(_)) => Ok(Subject::Each(fields.strings("each")?)),
        (None, None) => Ok(Subject::Step),
    }
}

fn when(fields: &Fields) -> Result<Option<(serde_json::Value, serde_json::Value)>> {
    let Some(node) = fields.get("when") else { return Ok(None) };
    let when = open(node, fields.file, "`when`", &["value", "is"])?;
    check_operators(when.required("is")?, fields.file)?;
    Ok(Some((when.required("value")?.to_json(), when.required("is")?.to_json())))
}

fn tests(fields: &Fields) -> Result<Vec<Test>> {
    let pattern = |name: &str| -> Result<Option<serde_json::Value>> {
        match fields.get(name) {
            None => Ok(None),
            Some(node) => check_operators(node, fields.file).map(|()| Some(node.to_json())),
        }
    };
    let event_pattern = |name: &str| -> Result<Option<serde_json::Value>> {
        match fields.get(name) {
            None => Ok(None),
            Some(node) => check_operators(node, fields.file).map(|()| Some(event(node))),
        }
    };
    let mut tests = Vec::new();
    if fields.flag("answered")? {
        tests.push(Test::Answered);
    }
    tests.extend(pattern("status")?.map(Test::Status));
    tests.extend(pattern("code")?.map(Test::Code));
    tests.extend(pattern("message")?.map(Test::Message));
    if pattern("headers")?.is_some() {
        tests.push(Test::Headers(fields.map("headers")?));
    }
    if pattern("trailers")?.is_some() {
        tests.push(Test::Trailers(fields.map("trailers")?));
    }
    tests.extend(pattern("body")?.map(Test::Body));
    tests.extend(pattern("text")?.map(Test::Text));
    if fields.get("types").is_some() {
        tests.push(Test::Types(fields.strings("types")?));
    }
    if fields.get("order").is_some() {
        tests.push(Test::Order(fields.list("order")?.iter().map(event).collect()));
    }
    tests.extend(event_pattern("exactlyOne")?.map(Test::ExactlyOne));
    tests.extend(event_pattern("none")?.map(Test::NoEvent));
    tests.extend(event_pattern("some")?.map(Test::Some));
    if let Some(node) = fields.get("count") {
        let count = open(node, fields.file, "`count`", &["of", "is"])?;
        tests.push(Test::Count { of: event(count.required("of")?), is: count.required("is")?.to_json() });
    }
    tests.extend(event_pattern("first")?.map(Test::First));
    tests.extend(event_pattern("last")?.map(Test::Last));
    tests.extend(event_pattern("every")?.map(Test::Every));
    tests.extend(pattern("history")?.map(Test::History));
    match (fields.json("value"), pattern("is")?) {
        (Some(value), Some(is)) => tests.push(Test::Value { value, is }),
        (None, None) => {}
        _ => return Err(fields.error(fields.node, "`value` and `is` belong together")),
    }
    for (name, make) in [("same", Test::Same as fn(_) -> _), ("differ", Test::Differ as fn(_) -> _)] {
        if let Some(node) = fields.get(name) {
            let values: Vec<_> = fields.list(name)?.iter().map(Node::to_json).collect();
            if values.len() < 2 {
                return Err(fields.error(node, format!("`{name}` compares at least two values")));
            }
            tests.push(make(values));
        }
    }
    Ok(tests)
}

/// A misspelt operator would otherwise never match anything, or (under `$not`) always.
fn check_operators(node: &Node, file: &Arc<str>) -> Result<()> {
    match &node.kind {
        Kind::Map(entries) => {
            for (key, value) in entries {
                if key.name.starts_with('$')
                    && !key.name.starts_with("${")
                    && !OPERATORS.contains(&key.name.as_str())
                    && key.name != "$merge"
                {
                    let place = super::node::Place { file: file.clone(), line: key.line, column: key.column };
                    let error = Diagnostic::new(place, format!("there is no operator `{}`", key.name));
                    return Err(error.did_you_mean(&key.name, OPERATORS.iter().copied()));
                }
                if key.name == "$matches"
                    && let Some(Err(error)) = value.str().filter(|r| !r.contains("${")).map(regex::Regex::new)
                {
                    return Err(Diagnostic::new(value.place(file), format!("not a regular expression: {error}")));
                }
                if !matches!(key.name.as_str(), "$literal" | "$exactly") {
                    check_operators(value, file)?;
                }
            }
            Ok(())
        }
        Kind::Seq(items) => items.iter().try_for_each(|item| check_operators(item, file)),
        _ => Ok(()),
    }
}
