//! The operations, one function each: request in, reply out.

use super::Context;
use super::body::{optional, required, text};
use super::reply::{self, Reply};
use super::routes::Route;
use super::stream::Reading;
use crate::harness_runtime::machine::{CancelRequest, Responding};
use crate::harness_runtime::problem::Problem;
use crate::harness_runtime::rules::replay::Reader;
use crate::harness_runtime::wire::{Asked, Document};
use crate::http::paths::parameter;
use serde_json::{Value, json};

/// A request as it came.
pub(super) struct Request<'a> {
    pub(super) asked: &'a Asked,
    pub(super) query: Option<&'a str>,
    pub(super) body: &'a [u8],
}

type Outcome = Result<Reply, Problem>;

pub(super) async fn perform(context: &Context, route: Route, request: &Request<'_>) -> Reply {
    let outcome = match route {
        Route::Health => Ok(reply(context, 200, Document::Health, json!({ "status": "ok" }))),
        Route::Describe => Ok(describe(context)),
        Route::Capabilities => Ok(capabilities(context)),
        Route::CreateConversation => create_conversation(context, request).await,
        Route::GetConversation { id } => get_conversation(context, &id).await,
        Route::StartExecution => start_execution(context, request).await,
        Route::GetExecution { id } => get_execution(context, &id).await,
        Route::ListArtifacts { id } => list_artifacts(context, &id).await,
        Route::Events { id } => events(context, &id, request).await,
        Route::Cancel { segment } => cancel(context, &segment, request).await,
        Route::Respond { execution_id, segment } => respond(context, execution_id, &segment, request).await,
    };
    outcome.unwrap_or_else(|problem| reply::problem(&context.wire, &problem))
}

fn reply(context: &Context, status: u16, document: Document, value: Value) -> Reply {
    reply::json(&context.wire, status, document, value)
}

fn describe(context: &Context) -> Reply {
    let views = &context.runtime.rules.views;
    reply(context, 200, Document::Description, (views.description)(views, context.runtime.description()))
}

fn capabilities(context: &Context) -> Reply {
    let views = &context.runtime.rules.views;
    reply(context, 200, Document::Capabilities, (views.capabilities)(views, context.runtime.description()))
}

async fn create_conversation(context: &Context, request: &Request<'_>) -> Outcome {
    let body = optional(&context.runtime.rules.requests, &text(request.body))?;
    let metadata = (context.runtime.rules.requests.conversation)(body.as_ref())?;
    let conversation = context.runtime.create_conversation(&metadata).await;
    let views = &context.runtime.rules.views;
    Ok(reply(context, 201, Document::Conversation, (views.conversation)(views, &conversation)))
}

async fn get_conversation(context: &Context, id: &str) -> Outcome {
    let conversation = context.runtime.conversation(id).await?;
    let views = &context.runtime.rules.views;
    Ok(reply(context, 200, Document::Conversation, (views.conversation)(views, &conversation)))
}

async fn start_execution(context: &Context, request: &Request<'_>) -> Outcome {
    let text = text(request.body);
    let rules = &context.runtime.rules;
    let body = required(&rules.requests, &text)?;
    let start = (rules.requests.start)(&rules.requests, &body, &text)?;
    let execution = context.runtime.start(&start).await?;
    Ok(reply(context, 202, Document::Execution, (rules.views.execution)(&rules.views, &execution)))
}

async fn get_execution(context: &Context, id: &str) -> Outcome {
    let execution = context.runtime.execution(id).await?;
    let views = &context.runtime.rules.views;
    Ok(reply(context, 200, Document::Execution, (views.execution)(views, &execution)))
}

async fn list_artifacts(context: &Context, id: &str) -> Outcome {
    let rules = &context.runtime.rules;
    let artifacts = context
        .runtime
        .show(|store| store.execution(id).map(|execution| (rules.artifacts.listed)(store, execution)))
        .await
        .ok_or_else(|| Problem::execution_not_found(id))?;
    let items: Vec<Value> = artifacts.iter().map(|artifact| Value::Object((rules.views.artifact)(&rules.views, artifact))).collect();
    Ok(reply(context, 200, Document::ArtifactList, (rules.views.artifact_list)(&items)))
}

/// The cursor is looked at before the execution, and both before a stream begins.
async fn events(context: &Context, id: &str, request: &Request<'_>) -> Outcome {
    let after = (context.runtime.rules.requests.cursor)(parameter(request.query, "after").as_deref())?;
    if request.asked.header("accept").contains("text/event-stream") {
        context.runtime.execution(id).await?;
        let mut reading = Reading::new(context.clone(), id.to_owned(), after);
        reading.opened().await;
        return Ok(reply::stream(reading));
    }
    list_events(context, id, after).await
}

async fn list_events(context: &Context, id: &str, after: u64) -> Outcome {
    let rules = &context.runtime.rules;
    let events = context
        .runtime
        .show(|store| {
            let follows = |sequence| (rules.replay.follows)(Reader::List, after, sequence);
            let events = store.log(id).iter().filter(|event| follows(event.sequence)).cloned().collect();
            store.execution(id).map(|execution| (rules.replay.listed)(execution, events))
        })
        .await
        .ok_or_else(|| Problem::execution_not_found(id))?;
    let next = (rules.replay.next_cursor)(after, events.last().map(|event| event.sequence));
    let items: Vec<Value> = events.iter().map(|event| (rules.views.event)(&rules.views, event)).collect();
    Ok(reply(context, 200, Document::EventList, (rules.views.event_list)(&items, next)))
}

/// The reason is looked at before the path, and both before the execution.
async fn cancel(context: &Context, segment: &str, request: &Request<'_>) -> Outcome {
    let rules = &context.runtime.rules;
    let body = optional(&rules.requests, &text(request.body))?;
    let reason = (rules.requests.cancellation)(&rules.requests, body.as_ref())?;
    let execution_id = strip(segment, ":cancel")?;
    let execution = context.runtime.cancel(&CancelRequest { execution_id, reason }).await?;
    Ok(reply(context, 200, Document::Execution, (rules.views.execution)(&rules.views, &execution)))
}

async fn respond(context: &Context, execution_id: String, segment: &str, request: &Request<'_>) -> Outcome {
    let body = required(&context.runtime.rules.requests, &text(request.body))?;
    let action_id = strip(segment, ":respond")?;
    let execution = context.runtime.respond(&Responding { execution_id, action_id, body }).await?;
    let views = &context.runtime.rules.views;
    Ok(reply(context, 200, Document::Execution, (views.execution)(views, &execution)))
}

fn strip(segment: &str, suffix: &str) -> Result<String, Problem> {
    let id = segment.strip_suffix(suffix).filter(|id| !id.is_empty());
    id.map(str::to_owned).ok_or_else(|| Problem::validation("Path parameter suffix is invalid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suffixes_leave_an_id() {
        assert_eq!(strip("e:cancel", ":cancel"), Ok("e".to_owned()));
        assert!(strip(":cancel", ":cancel").is_err());
        assert!(strip("e", ":cancel").is_err());
    }
}
