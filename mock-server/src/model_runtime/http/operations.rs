//! The operations, one function each: request in, reply out.

use super::Context;
use super::body::Read;
use super::reply::{self, Reply};
use super::routes::Route;
use super::stream::Reading;
use crate::http::paths::parameter;
use crate::model_runtime::machine::Submission;
use crate::model_runtime::model::Request as ExecutionRequest;
use crate::model_runtime::problem::Problem;
use crate::model_runtime::rules::bounds::Bound;
use crate::model_runtime::rules::requests::within;
use crate::model_runtime::wire::{Asked, Document};
use serde_json::{Value, json};
use std::sync::Arc;

/// A request as it came.
pub(super) struct Request<'a> {
    pub(super) asked: &'a Asked,
    pub(super) query: Option<&'a str>,
    pub(super) body: Read,
}

impl Request<'_> {
    /// A header, if it is there; several are joined by `, `.
    fn header(&self, name: &str) -> Option<String> {
        let there = self.asked.headers.iter().any(|(header, _)| header == name);
        there.then(|| self.asked.header(name))
    }

    fn wants_stream(&self) -> bool {
        self.asked.header("accept").contains("text/event-stream")
    }
}

type Outcome = Result<Reply, Problem>;

pub(super) async fn perform(context: &Context, route: Route, request: &Request<'_>) -> Reply {
    let outcome = match route {
        Route::Runtime => Ok(runtime(context)),
        Route::Providers => Ok(providers(context)),
        Route::Submit => submit(context, request).await,
        Route::Snapshot(id) => snapshot(context, id).await,
        Route::Events(id) => events(context, id, request).await,
        Route::Result(id) => result(context, id).await,
        Route::Cancel(id) => cancel(context, id).await,
    };
    outcome.unwrap_or_else(|problem| reply::problem(&context.wire, &problem))
}

fn answer(context: &Context, status: u16, document: Document, value: Value) -> Reply {
    reply::json(&context.wire, status, document, value)
}

fn named(id: Option<String>) -> Result<String, Problem> {
    id.ok_or_else(|| Problem::invalid("Execution id is not encoded properly"))
}

fn runtime(context: &Context) -> Reply {
    let stopping = *context.stopping.borrow();
    let document = (context.runtime.rules.views.runtime)(context.runtime.manifests().len(), stopping);
    answer(context, if stopping { 503 } else { 200 }, Document::Runtime, document)
}

fn providers(context: &Context) -> Reply {
    let views = &context.runtime.rules.views;
    let manifests: Vec<Value> = context.runtime.manifests().iter().map(|manifest| (views.manifest)(manifest)).collect();
    answer(context, 200, Document::Providers, json!({ "data": manifests }))
}

async fn submit(context: &Context, request: &Request<'_>) -> Outcome {
    let rules = &context.runtime.rules;
    let key = (rules.requests.key)(&rules.requests, request.header("idempotency-key").as_deref())?;
    let submission = Submission { request: read(context, request).map(Arc::new), key };
    let submitted = context.runtime.submit(&submission).await?;
    if request.wants_stream() {
        let execution_id = context.runtime.read(|store| (rules.streaming.of_submission)(store, &submitted));
        return Ok(reply::stream(Reading::new(context.clone(), execution_id, 0)));
    }
    let document = (rules.views.submission)(&rules.views, &submitted.execution, submitted.replay);
    Ok(answer(context, if submitted.replay { 200 } else { 202 }, Document::Submission, document))
}

/// The request of a body: its kind, its length, its text, its schema.
fn read(context: &Context, request: &Request<'_>) -> Result<ExecutionRequest, Problem> {
    let requests = &context.runtime.rules.requests;
    if !(requests.content_type)(&request.asked.header("content-type")) {
        return Err(Problem::invalid("Content-Type must be application/json"));
    }
    let too_large = || Problem::invalid("Request body is too large");
    if !within(requests, Bound::Body, request.body.length) {
        return Err(too_large());
    }
    let text = request.body.text().ok_or_else(too_large)?;
    let body: Value = serde_json::from_str(&text).map_err(|_| (requests.unreadable)(&text))?;
    (requests.request)(requests, &body, &text).map_err(|mistake| (requests.refused)(&mistake, &body))
}

async fn snapshot(context: &Context, id: Option<String>) -> Outcome {
    let shown = context.runtime.shown(&named(id)?).await?;
    let rules = &context.runtime.rules;
    Ok(answer(context, 200, Document::Snapshot, (rules.views.snapshot)(&rules.views, &rules.outcome, &shown)))
}

/// The execution is looked at before the cursor.
async fn events(context: &Context, id: Option<String>, request: &Request<'_>) -> Outcome {
    let id = named(id)?;
    context.runtime.execution(&id).await?;
    let cursor = &context.runtime.rules.requests.cursor;
    let after = cursor(parameter(request.query, "after").as_deref(), request.header("last-event-id").as_deref())?;
    Ok(reply::stream(Reading::new(context.clone(), id, after)))
}

async fn result(context: &Context, id: Option<String>) -> Outcome {
    let shown = context.runtime.shown(&named(id)?).await?;
    let rules = &context.runtime.rules;
    Ok(match (rules.views.result)(&shown) {
        Some(document) => answer(context, 200, Document::Result, document),
        None => answer(context, 409, Document::NoResult, (rules.views.no_result)(&rules.outcome, &shown.execution)),
    })
}

async fn cancel(context: &Context, id: Option<String>) -> Outcome {
    let (status, said) = if context.runtime.cancel(&named(id)?).await { (202, "cancellation_requested") } else { (404, "not_found") };
    Ok(answer(context, status, Document::Cancellation, json!({ "status": said })))
}
