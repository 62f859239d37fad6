//! `operations.yaml`: the routes of a contract, what a success is, the shapes of bodies and events, and where executions show.

use super::fields::{Fields, Result, open};
use super::fill;
use super::keys;
use super::node::{Node, Place};
use super::operators::{check_pattern, unknown_schema};
use super::pattern::fits;
use super::spelling::integer;
use proofmark_schema::validate;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Operations {
    pub by_name: BTreeMap<String, Operation>,
    pub shapes: BTreeMap<String, Vec<ShapeLine>>,
    /// Documented error codes and their HTTP status.
    pub problems: BTreeMap<String, u16>,
    pub executions: Option<Executions>,
    /// How the contract is recognised: an operation and the pattern of its answer.
    pub detect: Option<(String, Value)>,
    pub grpc: bool,
}

#[derive(Clone, Debug)]
pub struct Operation {
    pub method: String,
    /// `/v1/executions/{id}`; for gRPC the full method path.
    pub path: String,
    pub success: Success,
    /// The shape of one event, for operations that answer with a stream.
    pub stream: Option<String>,
    pub at: Place,
}

#[derive(Clone, Debug)]
pub struct Success {
    /// HTTP status, or gRPC code by name.
    pub status: Value,
    pub rule: String,
    pub shape: Option<String>,
}

#[derive(Clone, Debug)]
pub enum ShapeLine {
    /// The value, if it fits `when`, must be valid under `schema`.
    Rule { rule: String, when: Option<Value>, schema: String, at: Place },
    /// Every element at `path` has the shape.
    Each { path: String, shape: String },
}

/// How a contract shows its executions; what the engine needs to follow, to sweep and to tidy up.
#[derive(Clone, Debug)]
pub struct Executions {
    pub start: String,
    pub read: String,
    /// Lists events as JSON, where the contract has that.
    pub list: Option<String>,
    pub follow: String,
    /// Starts one and answers with its event stream, where the contract has that.
    pub submit: Option<String>,
    pub cancel: String,
    /// Reads of the final sweep.
    pub sweep: Vec<String>,
    /// Below the body of a start: the id.
    pub id: String,
    /// Below the body of a read: the state.
    pub state: String,
    pub terminal_states: Vec<Value>,
    /// Pattern of a terminal event.
    pub terminal_event: Value,
    /// Below an event: its sequence.
    pub sequence: String,
    /// Query parameter of the cursor.
    pub cursor: String,
    /// Request header of the cursor, where there is one.
    pub resume: Option<String>,
    /// Answers that mean the target is busy, besides 429 and 503: pattern over the body.
    pub busy: Option<Value>,
}

impl Operations {
    /// Every requirement id that the file names, with the place.
    pub fn rules(&self) -> Vec<(&str, &Place)> {
        let lines = self.shapes.values().flatten().filter_map(|line| match line {
            ShapeLine::Rule { rule, at, .. } => Some((rule.as_str(), at)),
            ShapeLine::Each { .. } => None,
        });
        self.by_name.values().map(|operation| (operation.success.rule.as_str(), &operation.at)).chain(lines).collect()
    }
}

impl Executions {
    pub fn id_of(&self, body: &Value) -> Option<String> {
        fill::walk(body, self.id.trim_start_matches('$'))?.as_str().map(str::to_owned)
    }

    pub fn is_terminal(&self, body: &Value) -> bool {
        fill::walk(body, self.state.trim_start_matches('$')).is_some_and(|state| self.terminal_states.contains(state))
    }

    /// Whether an execution as read, or its last event, says that it ended only because the target had too much to do.
    pub fn turned_away(&self, body: &Value) -> bool {
        let ended = || self.is_terminal(body) || fits(&self.terminal_event, Some(body));
        self.busy.as_ref().is_some_and(|busy| fits(busy, Some(body)) && ended())
    }

    pub fn sequence_of(&self, event: &Value) -> Option<i64> {
        integer(fill::walk(event, self.sequence.trim_start_matches('$'))?)
    }
}

pub fn decode(node: &Node, file: &Arc<str>, contract: &str) -> Result<Operations> {
    let fields = open(node, file, "the operations file", keys::OPERATIONS_FILE)?;
    fields.contract(contract)?;
    let mut operations = Operations::default();
    for (key, node) in fields.entries("operations")? {
        let (operation, grpc) = operation(node, file, contract, &key.name)?;
        operations.grpc |= grpc;
        operations.by_name.insert(key.name.clone(), operation);
    }
    for (key, node) in fields.entries("shapes")? {
        let lines = node.items().iter().map(|line| shape_line(line, file)).collect::<Result<Vec<_>>>()?;
        operations.shapes.insert(key.name.clone(), lines);
    }
    for (key, node) in fields.entries("problems")? {
        let status = node.to_json().as_u64().and_then(|n| u16::try_from(n).ok());
        let status = status.ok_or_else(|| fields.error(node, "a problem code has an HTTP status"))?;
        operations.problems.insert(key.name.clone(), status);
    }
    if let Some(node) = fields.get("detect") {
        let detect = open(node, file, "`detect`", keys::DETECT)?;
        let operation = detect.string("operation")?;
        check_operation(&operations, &detect, detect.required("operation")?, &operation)?;
        operations.detect = Some((operation, pattern(&detect, "body")?));
    }
    if let Some(node) = fields.get("executions") {
        let fields = open(node, file, "`executions`", keys::EXECUTIONS)?;
        let executions = executions(&fields)?;
        check_executions(&operations, &fields, &executions)?;
        operations.executions = Some(executions);
    }
    check_shapes(&operations, &fields)?;
    Ok(operations)
}

fn check_operation(operations: &Operations, fields: &Fields, at: &Node, name: &str) -> Result<()> {
    if operations.by_name.contains_key(name) {
        return Ok(());
    }
    Err(fields.error(at, format!("there is no operation `{name}`")).did_you_mean(name, operations.by_name.keys().map(String::as_str)))
}

fn check_executions(operations: &Operations, fields: &Fields, executions: &Executions) -> Result<()> {
    let Executions { start, read, list, follow, submit, cancel, sweep, .. } = executions;
    let named = [("start", start), ("read", read), ("follow", follow), ("cancel", cancel)].into_iter();
    for (key, name) in named.chain(list.as_ref().map(|name| ("list", name))).chain(submit.as_ref().map(|name| ("submit", name))) {
        check_operation(operations, fields, fields.required(key)?, name)?;
    }
    fields.list("sweep")?.iter().zip(sweep).try_for_each(|(node, name)| check_operation(operations, fields, node, name))
}

fn check_shapes(operations: &Operations, fields: &Fields) -> Result<()> {
    let of_operations = fields.entries("operations")?.iter().flat_map(|(_, node)| [node.get("success"), Some(node)]);
    let named = of_operations.zip(["shape", "stream"].into_iter().cycle()).filter_map(|(node, key)| node?.get(key));
    let nested = fields.entries("shapes")?.iter().flat_map(|(_, lines)| lines.items()).filter_map(|line| line.get("shape"));
    for node in named.chain(nested) {
        let Some(shape) = node.str().filter(|shape| !operations.shapes.contains_key(*shape)) else { continue };
        let error = fields.error(node, format!("there is no shape `{shape}`"));
        return Err(error.did_you_mean(shape, operations.shapes.keys().map(String::as_str)));
    }
    Ok(())
}

fn operation(node: &Node, file: &Arc<str>, contract: &str, name: &str) -> Result<(Operation, bool)> {
    let fields = open(node, file, "an operation", keys::OPERATION)?;
    let grpc = fields.optional_string("grpc")?.is_some();
    let (method, path) =
        if grpc { ("POST".to_owned(), format!("/{contract}.v1.{name}")) } else { (fields.string("method")?, fields.string("path")?) };
    let success = open(fields.required("success")?, file, "`success`", keys::SUCCESS)?;
    let success =
        Success { status: success.required("status")?.to_json(), rule: success.string("rule")?, shape: success.optional_string("shape")? };
    Ok((Operation { method, path, success, stream: fields.optional_string("stream")?, at: fields.place() }, grpc))
}

fn shape_line(node: &Node, file: &Arc<str>) -> Result<ShapeLine> {
    if node.get("each").is_some() {
        let fields = open(node, file, "a shape line", keys::SHAPE_EACH)?;
        return Ok(ShapeLine::Each { path: fields.string("each")?, shape: fields.string("shape")? });
    }
    let fields = open(node, file, "a shape line", keys::SHAPE_RULE)?;
    let schema = fields.string("schema")?;
    if let Err(error) = validate::compile(&schema) {
        return Err(unknown_schema(fields.required("schema")?.place(file), &schema, &error));
    }
    let when = fields.get("when").map(|_| pattern(&fields, "when")).transpose()?;
    Ok(ShapeLine::Rule { rule: fields.string("rule")?, when, schema, at: fields.place() })
}

fn executions(fields: &Fields) -> Result<Executions> {
    Ok(Executions {
        start: fields.string("start")?,
        read: fields.string("read")?,
        list: fields.optional_string("list")?,
        follow: fields.string("follow")?,
        submit: fields.optional_string("submit")?,
        cancel: fields.string("cancel")?,
        sweep: fields.strings("sweep")?,
        id: fields.string("id")?,
        state: fields.string("state")?,
        terminal_states: fields.list("terminal-states")?.iter().map(Node::to_json).collect(),
        terminal_event: pattern(fields, "terminal-event")?,
        sequence: fields.string("sequence")?,
        cursor: fields.string("cursor")?,
        resume: fields.optional_string("resume")?,
        busy: fields.get("busy").map(|_| pattern(fields, "busy")).transpose()?,
    })
}

fn pattern(fields: &Fields, key: &str) -> Result<Value> {
    let node = fields.required(key)?;
    check_pattern(node, fields.file)?;
    Ok(node.to_json())
}
