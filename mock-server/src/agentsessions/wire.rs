//! How answers are spelled on the wire: header fields, trailers, pieces.

use crate::connections::Stride;
use axum::Router;
use axum::response::Response;
use std::sync::Arc;

/// Changes an answer after the service has made it.
pub(crate) type Finish = Arc<dyn Fn(Response) -> Response + Send + Sync>;

/// The spellings of a host; by default those of the library.
#[derive(Clone)]
pub(crate) struct Wire {
    pub(crate) finish: Finish,
    pub(crate) stride: Stride,
}

impl Default for Wire {
    fn default() -> Self {
        Self { finish: Arc::new(|answer| answer), stride: Arc::new(|| None) }
    }
}

/// The router with its answers spelled as `wire` says.
pub(crate) fn dress(router: Router, wire: Wire) -> Router {
    router.layer(axum::middleware::map_response(move |answer: Response| std::future::ready((wire.finish)(answer))))
}
