//! From a checked mapping to a scenario: steps and what they send. Expectations are decoded in `expectations`.

use super::diagnostic::Diagnostic;
use super::expectations;
use super::fields::{Fields, Result, kind_name, open};
use super::keys;
use super::model::{Action, Area, Call, Follow, GrpcCall, SavePath, Scenario, Step, Until};
use super::node::{Key, Kind, Node, Place};
use super::operators::{check_pattern, check_template, check_value};
use crate::restart::Way;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// What decoding has to look up: the preambles and the operations of the contract.
pub struct Names<'a> {
    pub contract: &'a str,
    pub preambles: &'a BTreeMap<String, Vec<Step>>,
    pub operations: &'a BTreeSet<String>,
    pub grpc: bool,
}

pub fn area(node: &Node, file: &Arc<str>, names: &Names) -> Result<Area> {
    let fields = open(node, file, "a scenario file", keys::SCENARIO_FILE)?;
    fields.contract(names.contract)?;
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
    let fields = open(node, file, "a scenario", keys::SCENARIO)?;
    let cases = cases(&fields)?;
    let steps = steps(fields.list("steps")?, file, names)?;
    if steps.is_empty() {
        return Err(fields.error(node, "a scenario needs at least one step"));
    }
    let scenario = Scenario {
        id: name_of(&fields, "id")?,
        title: fields.string("title")?,
        at: fields.place(),
        needs: fields.strings("needs")?,
        capabilities: fields.strings("capabilities")?,
        exclusive: fields.flag("exclusive")?,
        rounds: fields.integer("rounds")?.map_or(1, |n| u32::try_from(n).unwrap_or(u32::MAX)).max(1),
        vars: variables(&fields, "vars")?,
        cases,
        no_defect: fields.optional_string("no-defect")?,
        steps,
    };
    if !scenario.exclusive && !scenario.restarts().is_empty() {
        let error = fields.error(node, "a scenario that restarts the target must run alone");
        return Err(error.hint("add `exclusive: true`"));
    }
    Ok(scenario)
}

/// Name and values of each case; one without a name when the scenario has none.
fn cases(fields: &Fields) -> Result<Vec<(Option<String>, Value)>> {
    let Some(node) = fields.get("cases") else { return Ok(vec![(None, Value::Null)]) };
    let cases = fields.entries("cases")?;
    if cases.is_empty() {
        return Err(fields.error(node, "`cases` must have at least one case"));
    }
    cases
        .iter()
        .map(|(key, node)| {
            is_name(&key.name).then_some(()).ok_or_else(|| no_name(key.place(fields.file), &key.name))?;
            check_value(node, fields.file)?;
            Ok((Some(key.name.clone()), node.to_json()))
        })
        .collect()
}

/// Values under names that steps can use.
fn variables(fields: &Fields, key: &str) -> Result<BTreeMap<String, Value>> {
    for (key, node) in fields.entries(key)? {
        check_variable(key, fields.file)?;
        check_value(node, fields.file)?;
    }
    fields.map(key)
}

/// A name that `${...}` can find again and that is not given by the engine itself.
fn check_variable(key: &Key, file: &Arc<str>) -> Result<()> {
    let name = key.name.as_str();
    if keys::GIVEN.contains(&name) {
        let message = format!("`{name}` is given by the kit itself; take another name");
        return Err(Diagnostic::new(key.place(file), message).hint(format!("given: {}", keys::GIVEN.join(", "))));
    }
    if name.is_empty() || !name.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_".contains(&b)) {
        let message = format!("`{name}` cannot be named by `${{...}}`: a name is letters, digits, dashes and underscores");
        return Err(Diagnostic::new(key.place(file), message));
    }
    Ok(())
}

/// A name that can stand in a path: lower-case letters, digits and dashes.
fn name_of(fields: &Fields, key: &str) -> Result<String> {
    let name = fields.string(key)?;
    if is_name(&name) { Ok(name) } else { Err(no_name(fields.required(key)?.place(fields.file), &name)) }
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

fn no_name(place: Place, name: &str) -> Box<Diagnostic> {
    Diagnostic::new(place, format!("`{name}` must be lower-case letters, digits and dashes"))
}

pub fn steps(nodes: &[Node], file: &Arc<str>, names: &Names) -> Result<Vec<Step>> {
    nodes.iter().map(|node| step(node, file, names)).collect()
}

fn step(node: &Node, file: &Arc<str>, names: &Names) -> Result<Step> {
    let kinds: Vec<&str> = keys::STEPS.iter().copied().filter(|kind| node.get(kind).is_some()).collect();
    let [kind] = kinds[..] else {
        let message = if kinds.is_empty() {
            format!("a step needs one of the keys {}", keys::STEPS.join(", "))
        } else {
            format!("a step has only one of the keys {}; this one has {}", keys::STEPS.join(", "), kinds.join(" and "))
        };
        let error = Diagnostic::new(node.place(file), message);
        return Err(match node.entries().first() {
            Some((key, _)) if kinds.is_empty() => error.did_you_mean(&key.name, keys::STEPS.iter().copied()),
            _ => error,
        });
    };
    let decoded = match kind {
        "given" => given(node, file, names)?,
        "call" => (call_action(node, file, "call", names)?, node.get("call").and_then(Node::str).unwrap_or_default().to_owned()),
        "await" => waiting(node, file, names)?,
        "raw" => raw(node, file)?,
        "follow" | "submit" => follow(node, file, kind)?,
        "together" => together(node, file, names)?,
        "check" => (open(node, file, "a check", keys::CHECK).map(|_| Action::Check)?, String::new()),
        "restart" => restart(node, file)?,
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
        let allowed = [&["given"], keys::PREAMBLE].concat();
        let fields = open(node, file, &format!("`given: {name}`"), &allowed)?;
        return Ok((Action::Preamble { with: variables(&fields, "with")?, steps: steps.clone() }, name.to_owned()));
    }
    if !names.operations.contains(name) {
        let error = Diagnostic::new(at.place(file), format!("`{name}` is neither a preamble nor an operation of {}", names.contract));
        let known = names.preambles.keys().chain(names.operations).map(String::as_str);
        return Err(error.did_you_mean(name, known));
    }
    Ok((call_action(node, file, "given", names)?, name.to_owned()))
}

fn call_action(node: &Node, file: &Arc<str>, key: &str, names: &Names) -> Result<Action> {
    let wire = if names.grpc { keys::GRPC } else { keys::HTTP };
    let fields = open(node, file, &format!("`{key}`"), &[&[key], wire, keys::OUTCOME].concat())?;
    if names.grpc { grpc(&fields, key, names).map(Action::Grpc) } else { call(&fields, key, names).map(Action::Call) }
}

fn grpc(fields: &Fields, key: &str, names: &Names) -> Result<GrpcCall> {
    check_sent(fields, keys::GRPC)?;
    Ok(GrpcCall {
        method: operation(fields, key, names)?,
        request: fields.json("request").unwrap_or_else(|| Value::Object(serde_json::Map::new())),
        metadata: fields.map("metadata")?,
    })
}

fn call(fields: &Fields, key: &str, names: &Names) -> Result<Call> {
    if let (Some(_), Some(text)) = (fields.get("body"), fields.get("text")) {
        return Err(fields.error(text, "a request has a `body` or a `text`, not both"));
    }
    check_sent(fields, keys::HTTP)?;
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

fn check_sent(fields: &Fields, keys: &[&str]) -> Result<()> {
    keys.iter().filter_map(|key| fields.get(key)).try_for_each(|node| check_template(node, fields.file))
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
    let fields = open(node, file, "`await`", &[keys::AWAIT, keys::HTTP, keys::OUTCOME].concat())?;
    let until = expectations::one(fields.required("until")?, file, false)?;
    let call = call(&fields, "await", names)?;
    let name = call.operation.clone();
    Ok((Action::Await { call, until: Box::new(until) }, name))
}

fn raw(node: &Node, file: &Arc<str>) -> Result<(Action, String)> {
    let fields = open(node, file, "`raw`", &[keys::RAW, keys::OUTCOME].concat())?;
    Ok((Action::Raw { bytes: fields.string("raw")? }, String::new()))
}

fn follow(node: &Node, file: &Arc<str>, kind: &str) -> Result<(Action, String)> {
    let known = if kind == "submit" { keys::SUBMIT } else { keys::FOLLOW };
    let fields = open(node, file, &format!("`{kind}`"), &[known, keys::OUTCOME].concat())?;
    check_sent(&fields, &["submit", "headers"])?;
    let until = match fields.get("until") {
        None => Until::Closed,
        Some(at) => match (at.str(), at.entries()) {
            (Some("closed"), _) => Until::Closed,
            (Some("terminal"), _) => Until::Terminal,
            (None, [(key, value)]) if key.name == "count" => Until::Count(value.to_json()),
            (None, [(key, value)]) if key.name == "event" => {
                check_pattern(value, file)?;
                Until::Event(event(value))
            }
            _ => return Err(fields.error(at, "`until` is closed, terminal, { count: N } or { event: PATTERN }")),
        },
    };
    let follow = Follow {
        execution: fields.json("follow").unwrap_or_default(),
        submit: fields.json("submit"),
        after: fields.json("after"),
        headers: fields.map("headers")?,
        until,
    };
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
    let fields = open(node, file, "`together`", &[keys::TOGETHER, keys::OUTCOME].concat())?;
    let branches = fields
        .list("together")?
        .iter()
        .map(|branch| match &branch.kind {
            Kind::Seq(nodes) => steps(nodes, file, names),
            _ => step(branch, file, names).map(|step| vec![step]),
        })
        .collect::<Result<Vec<_>>>()?;
    if branches.len() < 2 {
        let at = fields.required("together")?;
        return Err(fields.error(at, "`together` needs at least two branches"));
    }
    Ok((Action::Together(branches), String::new()))
}

fn generate(node: &Node, file: &Arc<str>) -> Result<(Action, String)> {
    let fields = open(node, file, "`generate`", &[keys::GENERATE, keys::OUTCOME].concat())?;
    let name = fields.string("generate")?;
    if !keys::GENERATORS.contains(&name.as_str()) {
        let error = fields.error(fields.required("generate")?, format!("there is no generator `{name}`"));
        return Err(error.did_you_mean(&name, keys::GENERATORS.iter().copied()));
    }
    check_sent(&fields, &["with"])?;
    let with = fields.json("with").unwrap_or_else(|| Value::Object(serde_json::Map::new()));
    Ok((Action::Generate { name: name.clone(), with }, name))
}

fn restart(node: &Node, file: &Arc<str>) -> Result<(Action, String)> {
    let fields = open(node, file, "`restart`", keys::RESTART)?;
    let name = fields.string("restart")?;
    let way = Way::ALL.into_iter().find(|way| way.name() == name);
    let way = way.ok_or_else(|| {
        let at = fields.get("restart").unwrap_or(node);
        fields.error(at, "`restart` is kill or stop").did_you_mean(&name, Way::ALL.iter().map(|way| way.name()))
    })?;
    Ok((Action::Restart(way), name))
}

fn saves(node: &Node, file: &Arc<str>) -> Result<Vec<(String, SavePath)>> {
    let Some(save) = node.get("save") else { return Ok(Vec::new()) };
    let Kind::Map(entries) = &save.kind else {
        return Err(Diagnostic::new(save.place(file), format!("`save` must be a mapping, not {}", kind_name(save))));
    };
    entries
        .iter()
        .map(|(key, node)| {
            check_variable(key, file)?;
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
