//! `await`: a read is repeated until its answer matches. Running out of time blocks, and so does an execution that is over: nothing will
//! come true of it any more. Neither accuses anybody.

use super::super::case::{BUSY, Round, filled};
use super::super::outcome::Stop;
use super::{call, result};
use crate::judge::evaluate::satisfied;
use crate::scenario::model::{Call, Expectation, Step};
use crate::scenario::operations::Executions;
use crate::scenario::pattern::{fits, show};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(50);
/// What is told of an execution after it was first seen to be over: a target may write its record and its events one after the other.
const LAST_WORDS: Duration = Duration::from_millis(250);

pub async fn run(round: &mut Round<'_>, step: &Step, what: &Call, until: &Expectation) -> Result<Value, Stop> {
    let ask = call::ask(round, what)?;
    let about = call::about(round, step, &ask);
    let bound = round.session.settings.timeout;
    let mut deadline = Instant::now() + bound;
    let mut over = false;
    let mut pause = FIRST_PAUSE;
    let mut gate = round.gate.take();
    // Only a read that has no effect may be asked over and over.
    let reads = ask.method == "GET";
    loop {
        let exchange = match gate.take() {
            None if reads => round.session.read(&ask, &about).await,
            gate => round.session.send(&ask, &about, gate.as_ref(), false).await,
        };
        let result = result::of(&exchange);
        if satisfied(until, &result, &round.scope).map_err(|e| filled(&e))? {
            return Ok(result);
        }
        // What was turned away will not come true any more; the case is tried again.
        let executions = round.session.catalogue.operations.executions.as_ref();
        if executions.is_some_and(|executions| executions.turned_away(&result["body"])) {
            return Err(Stop::Blocked(format!("`{}` ({}): {BUSY}", step.label, step.at)));
        }
        if !over && executions.is_some_and(|executions| is_over(executions, &what.operation, &result)) {
            over = true;
            deadline = deadline.min(Instant::now() + LAST_WORDS);
        }
        if Instant::now() + pause >= deadline {
            let last = result["reason"].as_str().map_or_else(|| show(Some(&result["body"])), str::to_owned);
            let when = if over { "before the execution was over".to_owned() } else { format!("within {bound:?}") };
            return Err(Stop::Blocked(format!("`{}` ({}) did not come true {when}; last: {last}", step.label, step.at)));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Whether what was read of an execution, its record or its events, will not change any more.
fn is_over(executions: &Executions, operation: &str, result: &Value) -> bool {
    if *operation == executions.read {
        return executions.is_terminal(&result["body"]);
    }
    let newest = result["events"].as_array().and_then(|events| events.last());
    executions.list.as_deref() == Some(operation) && newest.is_some_and(|newest| fits(&executions.terminal_event, Some(newest)))
}
