//! Decoding of expectations: the tests that one rule puts to a result.

use super::decode::event;
use super::diagnostic::Diagnostic;
use super::fields::{Fields, Result, open};
use super::keys;
use super::model::{Expectation, Subject, Test};
use super::node::{Kind, Node};
use super::operators::check_pattern;
use std::sync::Arc;

pub fn list(node: &Node, file: &Arc<str>) -> Result<Vec<Expectation>> {
    let Kind::Seq(items) = &node.kind else {
        return Err(Diagnostic::new(node.place(file), "expectations are a list: `expect: [ { rule: ID, ... } ]`"));
    };
    items.iter().map(|item| one(item, file, true)).collect()
}

/// One expectation; `with_rule` is false for the `until` of an `await`.
pub fn one(node: &Node, file: &Arc<str>, with_rule: bool) -> Result<Expectation> {
    let allowed = if with_rule { [keys::RULE, keys::EXPECTATION].concat() } else { keys::EXPECTATION.to_vec() };
    let fields = open(node, file, if with_rule { "an expectation" } else { "`until`" }, &allowed)?;
    let rule = if with_rule { fields.string("rule")? } else { String::new() };
    let tests = tests(&fields)?;
    if tests.is_empty() {
        return Err(fields
            .error(node, "an expectation must expect something besides its rule")
            .hint(format!("known: {}", keys::EXPECTATION.join(", "))));
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
    let when = open(node, fields.file, "`when`", keys::WHEN)?;
    check_pattern(when.required("is")?, fields.file)?;
    Ok(Some((when.required("value")?.to_json(), when.required("is")?.to_json())))
}

fn tests(fields: &Fields) -> Result<Vec<Test>> {
    let pattern = |name: &str| -> Result<Option<serde_json::Value>> {
        match fields.get(name) {
            None => Ok(None),
            Some(node) => check_pattern(node, fields.file).map(|()| Some(node.to_json())),
        }
    };
    let event_pattern = |name: &str| -> Result<Option<serde_json::Value>> {
        match fields.get(name) {
            None => Ok(None),
            Some(node) => check_pattern(node, fields.file).map(|()| Some(event(node))),
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
        let order = fields.list("order")?;
        order.iter().try_for_each(|node| check_pattern(node, fields.file))?;
        tests.push(Test::Order(order.iter().map(event).collect()));
    }
    tests.extend(event_pattern("exactlyOne")?.map(Test::ExactlyOne));
    tests.extend(event_pattern("none")?.map(Test::NoEvent));
    tests.extend(event_pattern("some")?.map(Test::Some));
    if let Some(node) = fields.get("count") {
        let count = open(node, fields.file, "`count`", keys::COUNT)?;
        let (of, is) = (count.required("of")?, count.required("is")?);
        [of, is].into_iter().try_for_each(|node| check_pattern(node, fields.file))?;
        tests.push(Test::Count { of: event(of), is: is.to_json() });
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
