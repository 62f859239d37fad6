//! Bodies and events against the shapes of operations.yaml: one rule a line, credited only when the line applied.

use super::evaluate::Verdict;
use crate::runner::outcome::Evaluation;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::operations::ShapeLine;
use crate::scenario::pattern::{self, pointer_as_path, show};
use crate::scenario::{fill, operations::Operations};
use crate::transcript::{Body, Exchange, Reply};
use proofmark_reports::model::Mismatch;
use proofmark_schema::validate;
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

/// What the shapes say of every success body and every event seen, by case.
pub fn judge(catalogue: &Catalogue, exchanges: &[Arc<Exchange>]) -> BTreeMap<Arc<str>, Vec<Evaluation>> {
    let mut found: BTreeMap<Arc<str>, Vec<Evaluation>> = BTreeMap::new();
    let mut judged = HashSet::new();
    // The same bytes need not even be parsed.
    let mut seen: HashSet<(&str, &[u8])> = HashSet::new();
    for exchange in exchanges {
        let Some(operation) = exchange.operation.as_ref().and_then(|name| catalogue.operations.by_name.get(name)) else { continue };
        let mut shapes = Shapes { operations: &catalogue.operations, exchange, judged: &mut judged, evaluations: Vec::new() };
        match &exchange.reply {
            Reply::Http(reply) => {
                if let (Some(shape), Body::Whole(bytes)) = (&operation.success.shape, &reply.body)
                    && (200..300).contains(&reply.status)
                    && seen.insert((shape, bytes))
                    && let Some(body) = reply.json()
                {
                    shapes.value(shape, &body, "$");
                }
                if let (Some(shape), Some((frames, _))) = (&operation.stream, reply.frames()) {
                    for (i, frame) in frames.iter().enumerate() {
                        let Some(data) = frame.data.as_deref().filter(|data| seen.insert((shape, data.as_bytes()))) else { continue };
                        let event = serde_json::from_str(data).unwrap_or(Value::from(data));
                        shapes.value(shape, &event, &format!("frames[{i}].data"));
                    }
                }
            }
            Reply::Grpc(reply) if reply.code == Some(0) => {
                if let Some(shape) = &operation.success.shape {
                    reply.messages.iter().for_each(|message| shapes.value(shape, message, "$"));
                }
            }
            Reply::Grpc(_) | Reply::None(_) => {}
        }
        if !shapes.evaluations.is_empty() {
            found.entry(exchange.case.clone()).or_default().append(&mut shapes.evaluations);
        }
    }
    found
}

struct Shapes<'a> {
    operations: &'a Operations,
    exchange: &'a Exchange,
    /// What was judged already: the same event is read many times, and says the same each time.
    judged: &'a mut HashSet<(String, String)>,
    evaluations: Vec<Evaluation>,
}

impl Shapes<'_> {
    fn value(&mut self, shape: &str, value: &Value, path: &str) {
        if !self.judged.insert((shape.to_owned(), value.to_string())) {
            return;
        }
        for line in self.operations.shapes.get(shape).map(Vec::as_slice).unwrap_or_default() {
            match line {
                ShapeLine::Each { path: below, shape } => {
                    let elements = fill::walk(value, below.trim_start_matches('$')).and_then(Value::as_array);
                    for (i, element) in elements.into_iter().flatten().enumerate() {
                        self.value(shape, element, &format!("{path}{}[{i}]", below.trim_start_matches('$')));
                    }
                }
                ShapeLine::Rule { rule, when, schema, at } => {
                    if when.as_ref().is_some_and(|when| !pattern::fits(when, Some(value))) {
                        continue;
                    }
                    let verdict = verdict(schema, value, path);
                    let exchanges = vec![self.exchange.id];
                    self.evaluations.push(Evaluation { rule: rule.clone(), at: Some(at.clone()), verdict, exchanges, given: true });
                }
            }
        }
    }
}

fn verdict(schema: &str, value: &Value, path: &str) -> Verdict {
    // The catalogue compiled every schema when it was loaded.
    let violations = validate::check(schema, value).unwrap_or_default();
    if violations.is_empty() {
        return Verdict::Held { readings: Vec::new() };
    }
    let mismatch = |v: &validate::Violation| Mismatch {
        path: format!("{path}{}", pointer_as_path(&v.pointer)),
        expected: format!("{} ({schema})", v.message),
        actual: show(value.pointer(&v.pointer)),
    };
    Verdict::Broken(violations.iter().map(mismatch).collect())
}
