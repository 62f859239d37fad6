//! From a checked mapping to a scenario: steps and what they send. Expectations are decoded in `expectations`.

use super::diagnostic::Diagnostic;
use super::expectations;
use super::fields::{Fields, Result, kind_name, open};
use super::model::{Action, Area, Call, Follow, GrpcCall, SavePath, Scenario, Step, Until};
use super::node::{Kind, Node, Place};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const FILE: &[&str] = &["contract", "area", "about", "scenarios"];
const SCENARIO: &[&str] = &["id", "title", "needs", "capabilities", "exclusive", "rounds", "vars", "cases", "steps"];
const CALL: &[&str] = &["path", "query", "headers", "body", "text", "method", "url", "request", "metadata", "expect", "save"];
/// The keys that say what a step does; a step has exactly one of them.
const KINDS: &[&str] = &["given", "call", "raw", "follow", "await", "together", "check", "generate"];

/// What decoding has to look up: the preambles and the operations of the contract.
pub struct Names<'a> {
    pub contract: &'a str,
    pub preambles: &'a BTreeMap<String, Vec<Step>>,
    pub operations: &'a BTreeSet<String>,
    pub grpc: bool,
}

pub fn area(node: &Node, file: &Arc<str>, names: &Names) -> Result<Area> {
    let fields = open(node, file, "a scenario file", FILE)?;
    let contract = fields.string("contract")?;
    if contract != names.contract {
        let message = format!("this folder holds `{}`, not `{contract}`", names.contract);
        return Err(fields.error(fields.required("contract")?, message));
    }
    let mut seen = BTreeSet::new();
    let mut scenarios = Vec::new();
    for node in fields.list("scenarios")? {
        let scenario = scenario(node, file, names)?;
        if !seen.insert(scenario.id.clone()) {
            return Err(Diagnostic::new(scenario.at, format!("the area has two scenarios `{}`", scenario.id)));
        }
        scenarios.push(scenario);
    }
    Ok(Area { name: name_of(&fields, "area")?, about: fields.string("about")?, scenarios })
}

fn scenario(node: &Node, file: &Arc<str>, names: &Names) -> Result<Scenario> {
    let fields = open(node, file, "a scenario", SCENARIO)?;
    let cases: Vec<(Option<String>, Value)> =
        fields.entries("cases")?.iter().map(|(key, node)| (Some(key.name.clone()), node.to_json())).collect();
    if fields.get("cases").is_some() && cases.is_empty() {
        return Err(fields.error(node, "`cases` must have at least one case"));
    }
    let steps = steps(fields.list("steps")?, file, names)?;
    if steps.is_empty() {
        return Err(fields.error(node, "a scenario needs at least one step"));
    }
    Ok(Scenario {
        id: name_of(&fields, "id")?,
        title: fields.string("title")?,
        at: fields.place(),
        needs: fields.strings("needs")?,
        capabilities: fields.strings("capabilities")?,
        exclusive: fields.flag("exclusive")?,
        rounds: fields.integer("rounds")?.map_or(1, |n| u32::try_from(n).unwrap_or(u32::MAX)).max(1),
        vars: fields.map("vars")?,
        cases: if cases.is_empty() { vec![(None, Value::Null)] } else { cases },
        steps,
    })
}

/// A name that can stand in a path: lower-case letters, digits and dashes.
fn name_of(fields: &Fields, key: &str) -> Result<String> {
    let name = fields.string(key)?;
    if name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-') {
        return Ok(name);
    }
    Err(fields.error(fields.required(key)?, format!("`{name}` must be lower-case letters, digits and dashes")))
}

pub fn steps(nodes: &[Node], file: &Arc<str>, names: &Names) -> Result<Vec<Step>> {
    nodes.iter().map(|node| step(node, file, names)).collect()
}

fn step(node: &Node, file: &Arc<str>, names: &Names) -> Result<Step> {
    let kinds: Vec<&str> = KINDS.iter().copied().filter(|kind| node.get(kind).is_some()).collect();
    let [kind] = kinds[..] else {
        let message = if kinds.is_empty() {
            format!("a step needs one of the keys {}", KINDS.join(", "))
        } else {
            format!("a step has only one of the keys {}; this one has {}", KINDS.join(", "), kinds.join(" and "))
        };
        let error = Diagnostic::new(node.place(file), message);
        return Err(match node.entries().first() {
            Some((key, _)) if kinds.is_empty() => error.did_you_mean(&key.name, KINDS.iter().copied()),
            _ => error,
        });
    };
    let decoded = match kind {
        "given" => given(node, file, names)?,
        "call" => (call_action(node, file, "call", names, &["call"])?, node.get("call").and_then(Node::str).unwrap_or_default().to_owned()),
        "await" => waiting(node, file, names)?,
        "raw" => raw(node, file)?,
        "follow" => follow(node, file)?,
        "together" => together(node, file, names)?,
        "check" => (open(node, file, "a check", &["check"]).map(|_| Action::Check)?, String::new()),
        _ => generate(node, file)?,
    };
    let (action, name) = decoded;
    let label = if name.is_empty() { kind.to_owned() } else { format!("{kind} {name}") };
    let expect = node.get(if kind == "check" { "check" } else { "expect" });
    Ok(Step {
        at: node.place(file),
        label,
        given: kind == "given",
        expect: expect.map_or(Ok(Vec::new()), |expect| expectations::list(expect, file))?,
        save: saves(node, file)?,
        action,
    })
}

fn given(node: &Node, file: &Arc<str>, names: &Names) -> Result<(Action, String)> {
    let at = node.get("given").unwrap_or(node);
    let name = at.str().ok_or_else(|| Diagnostic::new(at.place(file), "`given` names a preamble or an operation"))?;
    if let Some(steps) = names.preambles.get(name) {
        let fields = open(node, file, &format!("`given: {name}`"), &["given", "with"])?;
        return Ok((Action::Preamble { with: fields.map("with")?, steps: steps.clone() }, name.to_owned()));
    }
    if !names.operations.contains(name) {
        let error = Diagnostic::new(at.place(file), format!("`{name}` is neither a preamble nor an operation of {}", names.contract));
        let known = names.preambles.keys().chain(names.operations).map(String::as_str);
        return Err(error.did_you_mean(name, known));
    }
    Ok((call_action(node, file, "given", names, &["given"])?, name.to_owned()))
}

fn call_action(node: &Node, file: &Arc<str>, key: &str, names: &Names, more: &[&str]) -> Result<Action> {
    let allowed: Vec<&str> = more.iter().chain(CALL).copied().collect();
    let fields = open(node, file, &format!("`{key}`"), &allowed)?;
    if names.grpc {
        let method = operation(&fields, key, names)?;
        return Ok(Action::Grpc(GrpcCall {
            method,
            request: fields.json("request").unwrap_or_else(|| Value::Object(serde_json::Map::new())),
            metadata: fields.map("metadata")?,
        }));
    }
    call(&fields, key, names).map(Action::Call)
}

fn call(fields: &Fields, key: &str, names: &Names) -> Result<Call> {
    if let (Some(_), Some(text)) = (fields.get("body"), fields.get("text")) {
        return Err(fields.error(text, "a request has a `body` or a `text`, not both"));
    }
    Ok(Call {
        operation: operation(fields, key, names)?,
        path: fields.map("path")?,
        query: fields.map("query")?,
        headers: fields.map("headers")?,
        body: fields.json("body"),
        text: fields.optional_string("text")?,
        method: fields.optional_string("method")?,
        url: fields.optional_string("url")?,
    })
}

fn operation(fields: &Fields, key: &str, names: &Names) -> Result<String> {
    let operation = fields.string(key)?;
    if names.operations.contains(&operation) {
        return Ok(operation);
    }
    let error = fields.error(fields.required(key)?, format!("{} has no operation `{operation}`", names.contract));
    Err(error.did_you_mean(&operation, names.operations.iter().map(String::as_str)))
}

fn waiting(node: &Node, file: &Arc<str>, names: &Names) -> Result<(Action, String)> {
    let allowed: Vec<&str> = ["await", "until"].iter().chain(CALL).copied().collect();
    let fields = open(node, file, "`await`", &allowed)?;
    let until = expectations::one(fields.required("until")?, file, false)?;
    let call = call(&fields, "await", names)?;
    let name = call.operation.clone();
    Ok((Action::Await { call, until: Box::new(until) }, name))
}

fn raw(node: &Node, file: &Arc<str>) -> Result<(Action, String)> {
    let fields = open(node, file, "`raw`", &["raw", "expect", "save"])?;
    Ok((Action::Raw { bytes: fields.string("raw")? }, String::new()))
}

fn follow(node: &Node, file: &Arc<str>) -> Result<(Action, String)> {
    let fields = open(node, file, "`follow`", &["follow", "after", "headers", "until", "expect", "save"])?;
    let until = match fields.get("until") {
        None => Until::Closed,
        Some(at) => match (at.str(), at.entries()) {
            (Some("closed"), _) => Until::Closed,
            (Some("terminal"), _) => Until::Terminal,
            (None, [(key, value)]) if key.name == "count" => Until::Count(value.to_json()),
            (None, [(key, value)]) if key.name == "event" => Until::Event(event(value)),
            _ => return Err(fields.error(at, "`until` is closed, terminal, { count: N } or { event: PATTERN }")),
        },
    };
    let follow =
        Follow { execution: fields.required("follow")?.to_json(), after: fields.json("after"), headers: fields.map("headers")?, until };
    Ok((Action::Follow(follow), String::new()))
}

/// A type name stands for the pattern of an event of that type.
pub fn event(node: &Node) -> Value {
    match node.str() {
        Some(name) => serde_json::json!({ "type": name }),
        None => node.to_json(),
    }
}

fn together(node: &Node, file: &Arc<str>, names: &Names) -> Result<(Action, String)> {
    let fields = open(node, file, "`together`", &["together", "expect", "save"])?;
    let branches = fields
        .list("together")?
        .iter()
        .map(|branch| match &branch.kind {
            Kind::Seq(nodes) => steps(nodes, file, names),
            _ => step(branch, file, names).map(|step| vec![step]),
        })
        .collect::<Result<Vec<_>>>()?;
    if branches.len() < 2 {
        return Err(fields.error(node, "`together` needs at least two branches"));
    }
    Ok((Action::Together(branches), String::new()))
}

fn generate(node: &Node, file: &Arc<str>) -> Result<(Action, String)> {
    let fields = open(node, file, "`generate`", &["generate", "with", "expect", "save"])?;
    let name = fields.string("generate")?;
    let with = fields.json("with").unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    Ok((Action::Generate { name: name.clone(), with }, name))
}

fn saves(node: &Node, file: &Arc<str>) -> Result<Vec<(String, SavePath)>> {
    let Some(save) = node.get("save") else { return Ok(Vec::new()) };
    let Kind::Map(entries) = &save.kind else {
        return Err(Diagnostic::new(save.place(file), format!("`save` must be a mapping, not {}", kind_name(save))));
    };
    entries
        .iter()
        .map(|(key, node)| {
            let path = node.str().and_then(save_path);
            let place: Place = node.place(file);
            path.map(|path| (key.name.clone(), path)).ok_or_else(|| {
                Diagnostic::new(place, "a saved value starts with $, $response, $status, $header.NAME, $events, $frames or $text")
                    .hint("for example `save: { execution: $.id }`")
            })
        })
        .collect()
}

fn save_path(text: &str) -> Option<SavePath> {
    let below = |prefix: &str| text.strip_prefix(prefix).filter(|rest| rest.is_empty() || rest.starts_with(['.', '['])).map(str::to_owned);
    if let Some(rest) = below("$response") {
        return Some(SavePath::Response(rest));
    }
    if let Some(rest) = below("$events") {
        return Some(SavePath::Events(rest));
    }
    if let Some(rest) = below("$frames") {
        return Some(SavePath::Frames(rest));
    }
    if let Some(name) = text.strip_prefix("$header.") {
        return Some(SavePath::Header(name.to_ascii_lowercase()));
    }
    match text {
        "$status" => Some(SavePath::Status),
        "$text" => Some(SavePath::Text),
        _ => below("$").map(SavePath::Body),
    }
}
