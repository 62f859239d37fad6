//! The HTTP binding: finds the operation, reads the request, asks the runtime, frames the answer. It decides nothing.

mod body;
mod operations;
mod reply;
mod routes;
mod stream;

use super::runtime::Runtime;
use super::wire::{Answer, Asked, SharedWire};
use axum::Router;
use axum::extract::Request;
use axum::response::Response;
use reply::Reply;
use std::sync::Arc;
use tokio::sync::watch;

/// The largest body that is read, in bytes.
const LARGEST_BODY: usize = 16 << 20;

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
        None => Reply::Answer(not_found()),
        Some(route) => match axum::body::to_bytes(body, LARGEST_BODY).await {
            Ok(body) => {
                operations::perform(&context, route, &operations::Request { asked: &asked, query: head.uri.query(), body: &body }).await
            }
            Err(_) => reply::too_large(&context.wire),
        },
    };
    reply.into_response(&context.wire, &asked)
}

fn asked(head: &axum::http::request::Parts) -> Asked {
    let headers =
        head.headers.iter().map(|(name, value)| (name.as_str().to_owned(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
    Asked { method: head.method.as_str().to_owned(), path: head.uri.path().to_owned(), headers: headers.collect() }
}

/// Unknown routes and methods alike; not a problem body.
fn not_found() -> Answer {
    Answer::new(404, "text/plain; charset=UTF-8", b"404 Not Found".to_vec())
}
