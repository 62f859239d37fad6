//! `call` and `given` of an HTTP operation: one request, one answer.

use super::super::case::{Round, filled};
use super::super::outcome::Stop;
use super::super::session::Ask;
use super::result;
use crate::recorder::About;
use crate::scenario::fill::finish;
use crate::scenario::model::{Call, Step, Test};
use crate::scenario::pattern;
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub async fn run(round: &mut Round<'_>, step: &Step, call: &Call) -> Result<Value, Stop> {
    let ask = ask(round, call)?;
    let about = about(round, step, &ask);
    let gate = round.gate.take();
    let exchange = round.session.send(&ask, &about, gate.as_ref(), expects_busy(step)).await;
    Ok(result::of(&exchange))
}

pub fn about(round: &Round<'_>, step: &Step, ask: &Ask) -> About {
    About {
        case: round.case.clone(),
        step: step.label.clone(),
        operation: ask.operation.clone(),
        params: ask.params.clone(),
        query: ask.query.clone(),
    }
}

/// Fills in everything a call says.
pub fn ask(round: &Round<'_>, call: &Call) -> Result<Ask, Stop> {
    let texts = |map: &BTreeMap<String, Value>| -> Result<BTreeMap<String, String>, Stop> {
        map.iter().map(|(name, template)| Ok((name.clone(), text(&fill(round, template)?)))).collect()
    };
    let operation = round.session.catalogue.operations.by_name.get(&call.operation);
    let operation = operation.ok_or_else(|| Stop::Errored(format!("no operation {}", call.operation)))?;
    let mut ask = round.session.ask(&call.operation, operation, &texts(&call.path)?, &texts(&call.query)?);
    if let Some(url) = &call.url {
        ask.target = round.scope.fill_text(url).map_err(|e| filled(&e))?;
        ask.operation = None;
    }
    if let Some(method) = &call.method {
        ask.method.clone_from(method);
        ask.operation = None;
    }
    for (name, template) in &call.headers {
        let value = fill(round, template)?;
        ask.headers.insert(name.clone(), (!value.is_null()).then(|| text(&value)));
    }
    if let Some(template) = &call.body {
        ask.body = Some(finish(fill(round, template)?).to_string().into());
    }
    if let Some(template) = &call.text {
        ask.body = Some(round.scope.fill_text(template).map_err(|e| filled(&e))?.into());
    }
    Ok(ask)
}

pub fn fill(round: &Round<'_>, template: &Value) -> Result<Value, Stop> {
    round.scope.fill(template).map_err(|e| filled(&e))
}

pub use crate::scenario::spelling::plain as text;

/// A step that is about a busy answer must see it; all others wait it out. One that takes any refusal is not about a busy one.
pub fn expects_busy(step: &Step) -> bool {
    let fits = |pattern: &Value, statuses: &[u16]| statuses.iter().any(|status| pattern::fits(pattern, Some(&json!(status))));
    let busy = |pattern: &Value| fits(pattern, &[429, 503]) && !fits(pattern, &[400, 404, 500]);
    step.expect.iter().flat_map(|e| &e.tests).any(|test| matches!(test, Test::Status(pattern) if busy(pattern)))
}
