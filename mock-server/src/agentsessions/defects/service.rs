//! Which calls there are at all.

use super::DefectKind::Wire;
use super::{Entry, defect};
use axum::http::HeaderValue;
use std::sync::Arc;

const UNIMPLEMENTED: &str = "12";
const INTERNAL: HeaderValue = HeaderValue::from_static("13");

pub(super) static DEFECTS: &[Entry] = &[Entry {
    defect: defect(
        Wire,
        "unimplemented-is-internal",
        "What is not implemented ends as a fault of the server.",
        &["AS-SVC-1", "AS-SVC-2", "AS-SVC-3"],
    ),
    install: |blueprint, applied| {
        let (reference, applied) = (Arc::clone(&blueprint.wire.finish), applied.clone());
        blueprint.wire.finish = Arc::new(move |answer| {
            let mut answer = reference(answer);
            if let Some(status) = answer.headers_mut().get_mut("grpc-status").filter(|status| *status == UNIMPLEMENTED) {
                applied.count();
                *status = INTERNAL;
            }
            answer
        });
    },
}];
