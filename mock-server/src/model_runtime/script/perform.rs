//! Performs the steps of a script, in a session.

use super::{Step, habit};
use crate::json::{JsonObject, object};
use crate::model_runtime::machine::Taken;
use crate::model_runtime::model::event;
use crate::model_runtime::problem::Fault;
use crate::model_runtime::providers::Tallies;
use crate::model_runtime::runtime::Session;
use serde_json::json;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// An endless repetition falls silent after so many rounds: what nobody stops does not fill the memory.
const MOST_ROUNDS: u64 = 100_000;

/// A repetition without pauses lets others have their turn after so many rounds.
const BURST: u64 = 16;

/// What a script may use while it plays.
pub(crate) struct Stage<'a> {
    pub(crate) session: &'a Session,
    pub(crate) tallies: &'a Tallies,
}

/// Where a script goes after a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    GoOn,
    /// Nobody listens any longer: the attempt is over.
    Stop,
}

type Performed<'a> = Pin<Box<dyn Future<Output = Result<Flow, Fault>> + Send + 'a>>;

/// Performs steps in order.
///
/// # Errors
/// The fault with which the script fails.
pub(crate) fn perform<'a>(stage: &'a mut Stage<'_>, steps: &'a [Step]) -> Performed<'a> {
    Box::pin(async move {
        for step in steps {
            if perform_step(stage, step).await? == Flow::Stop {
                return Ok(Flow::Stop);
            }
        }
        Ok(Flow::GoOn)
    })
}

async fn perform_step(stage: &mut Stage<'_>, step: &Step) -> Result<Flow, Fault> {
    match step {
        Step::Emit { kind, data } => return Ok(emit(stage, kind, data.clone()).await),
        Step::Echo { index } => {
            let said = habit::spoken(&stage.session.request);
            return Ok(emit(stage, event::DELTA, object([("output_index", json!(index)), ("delta", json!(said))])).await);
        }
        Step::Pause(pause) => tokio::time::sleep(*pause).await,
        Step::Hold => std::future::pending().await,
        Step::Repeat { steps, times, every } => return repeat(stage, steps, *times, *every).await,
        Step::Fail(fault) => return Err(fault.clone()),
        Step::Complete => return Ok(emit(stage, event::COMPLETED, JsonObject::new()).await),
        Step::ReportTally(name) => {
            let started = stage.tallies.read(name).started;
            return Ok(emit(stage, event::RESULT, object([("result", json!({ "started": started }))])).await);
        }
    }
    Ok(Flow::GoOn)
}

async fn emit(stage: &mut Stage<'_>, kind: &str, data: JsonObject) -> Flow {
    match stage.session.emit(kind, data).await {
        Taken::GoOn => Flow::GoOn,
        Taken::Refused => Flow::Stop,
    }
}

async fn repeat(stage: &mut Stage<'_>, steps: &[Step], times: Option<u64>, every: Duration) -> Result<Flow, Fault> {
    for round in 1..=times.unwrap_or(MOST_ROUNDS) {
        if perform(stage, steps).await? == Flow::Stop {
            return Ok(Flow::Stop);
        }
        if !every.is_zero() {
            tokio::time::sleep(every).await;
        } else if round % BURST == 0 {
            tokio::task::yield_now().await;
        }
    }
    if times.is_none() {
        std::future::pending::<()>().await;
    }
    Ok(Flow::GoOn)
}
