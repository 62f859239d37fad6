//! The HTTP binding: finds the operation, reads the request, asks the runtime, frames the answer. It decides nothing.

mod body;
mod operations;
mod reply;
mod routes;
mod stream;

use super::problem::Problem;
use super::runtime::Runtime;
use super::wire::{Asked, SharedWire};
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use std::sync::Arc;
use tokio::sync::watch;

/// What every request needs.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) wire: SharedWire,
    /// True once the server stops: open streams end.
    pub(crate) stopping: watch::Receiver<bool>,
}

/// The service of all routes.
pub(crate) fn router(context: Context) -> Router {
    Router::new().fallback(move |request: Request| {
        let context = context.clone();
        async move { serve(context, request).await }
    })
}

pub(super) async fn serve(context: Context, request: Request) -> Response {
    let delay = (context.wire.delay)();
    if !delay.is_zero() {
        tokio::time::sleep(delay).await;
    }
    let (head, body) = request.into_parts();
    let asked = asked(&head);
    let reply = match routes::find(&(context.wire.mount)(), &asked.method, &asked.path) {
        None => reply::problem(&context.wire, &Problem::RouteNotFound),
        Some(route) => {
            let body = body::read(body).await;
            operations::perform(&context, route, &operations::Request { asked: &asked, query: head.uri.query(), body }).await
        }
    };
    reply.into_response(&context.wire, &asked)
}

/// Header bytes are read one by one, as Latin-1.
fn asked(head: &axum::http::request::Parts) -> Asked {
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), value.as_bytes().iter().copied().map(char::from).collect()));
    Asked { method: head.method.as_str().to_owned(), path: head.uri.path().to_owned(), headers: headers.collect() }
}
