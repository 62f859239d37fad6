//! Performs the steps of a script, in a session.

use super::{Echo, Step, UnlessApproved};
use crate::harness_runtime::model::{Response, event};
use crate::harness_runtime::providers::Tallies;
use crate::harness_runtime::runtime::Session;
use serde_json::{Value, json};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// An endless repetition falls silent after so many rounds: what nobody cancels does not fill the memory.
const MOST_ROUNDS: u64 = 100_000;

/// A repetition without pauses lets others have their turn after so many rounds.
const BURST: u64 = 16;

/// What a script may use while it plays.
pub(crate) struct Stage<'a> {
    pub(crate) session: &'a Session,
    pub(crate) tallies: &'a Tallies,
    /// Whether somebody answers what the provider asks.
    pub(crate) attended: bool,
    /// All deltas so far: the final output when the script returns none.
    pub(crate) said: String,
    /// The value of the last answer.
    pub(crate) answer: Value,
}

/// Where a script goes after a step.
#[derive(Debug)]
pub(crate) enum Flow {
    GoOn,
    Return(Value),
}

type Performed<'a> = Pin<Box<dyn Future<Output = Result<Flow, String>> + Send + 'a>>;

/// Performs steps in order.
///
/// # Errors
/// The message with which a step was refused, or with which the script fails.
pub(crate) fn perform<'a>(stage: &'a mut Stage<'_>, steps: &'a [Step]) -> Performed<'a> {
    Box::pin(async move {
        for step in steps {
            if let Flow::Return(output) = perform_step(stage, step).await? {
                return Ok(Flow::Return(output));
            }
        }
        Ok(Flow::GoOn)
    })
}

async fn perform_step(stage: &mut Stage<'_>, step: &Step) -> Result<Flow, String> {
    match step {
        Step::Emit { kind, data } => emit(stage, kind, data.clone()).await?,
        Step::Echo(Echo::Input) => emit(stage, event::DELTA, json!({ "text": stage.session.input })).await?,
        Step::Echo(Echo::Answer) => emit(stage, event::DELTA, json!({ "text": spoken(&stage.answer) })).await?,
        Step::Pause(pause) => tokio::time::sleep(*pause).await,
        Step::Ask { question, meanwhile, unless_approved } => return ask(stage, question, meanwhile, *unless_approved).await,
        Step::Repeat { steps, times, every } => return repeat(stage, steps, *times, *every).await,
        Step::Hold => std::future::pending().await,
        Step::Try(steps) => match perform(stage, steps).await {
            Ok(flow) => return Ok(flow),
            Err(_refused) => {}
        },
        Step::Fail(message) => return Err(message.clone()),
        Step::Return(output) => return Ok(Flow::Return(output.clone())),
        Step::ReportTally(name) => report(stage, name).await?,
    }
    Ok(Flow::GoOn)
}

async fn emit(stage: &mut Stage<'_>, kind: &str, data: Value) -> Result<(), String> {
    let text = (kind == event::DELTA).then(|| data.get("text").and_then(Value::as_str).map(str::to_owned)).flatten();
    stage.session.emit(kind, data).await?;
    stage.said.push_str(&text.unwrap_or_default());
    Ok(())
}

fn spoken(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

async fn report(stage: &mut Stage<'_>, name: &str) -> Result<(), String> {
    let tally = stage.tallies.read(name);
    let params = json!({ "started": tally.started, "cleanedUp": tally.cleaned_up });
    emit(stage, event::PROVIDER_EVENT, json!({ "provider": "scripted", "method": "tally", "params": params })).await
}

async fn repeat(stage: &mut Stage<'_>, steps: &[Step], times: Option<u64>, every: Duration) -> Result<Flow, String> {
    for round in 1..=times.unwrap_or(MOST_ROUNDS) {
        if let Flow::Return(output) = perform(stage, steps).await? {
            return Ok(Flow::Return(output));
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

/// Asks, performs `meanwhile` until the answer comes, and takes the answer. What `meanwhile` returns or fails with ends the script,
/// with the question still open.
async fn ask(stage: &mut Stage<'_>, question: &Value, meanwhile: &[Step], unless_approved: UnlessApproved) -> Result<Flow, String> {
    let approval = question.get("kind").and_then(Value::as_str) == Some("approval");
    if approval && !stage.attended {
        return Err("This provider has nobody to approve anything".to_owned());
    }
    let session = stage.session;
    let mut asked = std::pin::pin!(session.ask(question.clone()));
    let early = {
        let meanwhile = perform(stage, meanwhile);
        tokio::select! {
            biased; // the question comes before what happens meanwhile
            response = &mut asked => Some(response),
            flow = meanwhile => match flow? {
                Flow::Return(output) => return Ok(Flow::Return(output)),
                Flow::GoOn => None,
            },
        }
    };
    let response = match early {
        Some(response) => response?,
        None => asked.await?,
    };
    take(stage, response, approval && unless_approved == UnlessApproved::Fail)
}

fn take(stage: &mut Stage<'_>, response: Response, must_approve: bool) -> Result<Flow, String> {
    if must_approve && response.approved != Some(true) {
        return Err("Scripted execution was not approved".to_owned());
    }
    stage.answer = response.value.unwrap_or_default();
    Ok(Flow::GoOn)
}
