//! Header fields and trailers beside the ones that gRPC needs.

use super::{Entry, weather};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::Response;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use std::convert::Infallible;
use std::sync::Arc;

pub(super) static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("extra-metadata", "Answers carry header fields and trailers of the host's own, binary ones too."),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.wire.finish), applied.clone());
            blueprint.wire.finish = Arc::new(move |answer| {
                applied.count();
                let mut answer = reference(answer);
                add_fields(answer.headers_mut());
                answer.map(|body| Body::new(body.map_frame(|frame| frame.map_trailers())))
            });
        },
    },
    Entry {
        weather: weather("late-status", "An error has its status in trailers of their own, after headers that promise a body."),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.wire.finish), applied.clone());
            blueprint.wire.finish = Arc::new(move |answer| {
                let answer = reference(answer);
                if applied.count_if(answer.headers().contains_key("grpc-status")) { status_into_trailers(answer) } else { answer }
            });
        },
    },
];
