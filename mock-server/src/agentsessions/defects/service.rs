//! Which calls there are at all.

use super::DefectKind::Wire;
use super::{Entry, defect};
use axum::response::Response;
use http_body_util::BodyExt as _;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[Entry {
    defect: defect(Wire, "unimplemented-is-internal", "What is not implemented ends as a fault of the server.", &["AS-SVC-1", "AS-SVC-2", "AS-SVC-3"]),
    install: |blueprint, applied| {
        let (reference, applied) = (Arc::clone(&blueprint.wire.finish), applied.clone());
        blueprint.wire.finish = Arc::new(move |answer| {
            let mut answer: Response = reference(answer);
            if let Some(status) = answer.headers_mut().get_mut("grpc-status").filter(|status| *status == "12") {
                applied.count();
                *status = axum::http::HeaderValue::from_static("13");
            }
            answer.map(|body| axum::body::Body::new(body.boxed_unsync()))
        });
    },
}];
