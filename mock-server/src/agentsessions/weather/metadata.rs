//! Header fields and trailers beside the ones that gRPC needs.

use super::{Entry, weather};
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
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
                with_fields(reference(answer))
            });
        },
    },
    Entry {
        weather: weather("late-status", "An error has its status in trailers of their own, after headers that promise a body."),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.wire.finish), applied.clone());
            blueprint.wire.finish = Arc::new(move |answer| {
                let answer = reference(answer);
                if applied.count_if(answer.headers().contains_key(STATUS[0])) { with_late_status(answer) } else { answer }
            });
        },
    },
];

/// Where a status stands.
const STATUS: [&str; 3] = ["grpc-status", "grpc-message", "grpc-status-details-bin"];

fn with_fields(mut answer: Response) -> Response {
    add_fields(answer.headers_mut());
    answer.map(|body| {
        let body = body.map_frame(|mut frame| {
            if let Some(trailers) = frame.trailers_mut() {
                add_fields(trailers);
            }
            frame
        });
        Body::new(body)
    })
}

fn add_fields(fields: &mut HeaderMap) {
    for (name, value) in
        [("x-request-id", "7"), ("x-host-bin", "/wAB"), ("x-host", "a"), ("x-host", "b, c"), ("server-timing", "db;dur=1.5")]
    {
        fields.append(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
}

fn with_late_status(mut answer: Response) -> Response {
    let mut trailers = HeaderMap::new();
    for name in STATUS {
        if let Some(value) = answer.headers_mut().remove(name) {
            trailers.insert(HeaderName::from_static(name), value);
        }
    }
    // An answer with its status in the headers has no body.
    let frames = tokio_stream::once(Ok::<_, Infallible>(Frame::<bytes::Bytes>::trailers(trailers)));
    answer.map(|_| Body::new(StreamBody::new(frames)))
}
