//! `call` of a gRPC method: dynamic messages, unary or server stream.

use super::super::case::Round;
use super::super::outcome::Stop;
use super::{call, result};
use crate::drivers::grpc::{Bounds, Client};
use crate::drivers::tls;
use crate::recorder::About;
use crate::scenario::fill::finish;
use crate::scenario::model::{GrpcCall, Step};
use crate::transcript::Request;
use proofmark_schema::agentsessions::descriptors;
use serde_json::Value;

/// The protobuf package of a contract's services.
const PACKAGE: &str = "agentsessions.v1";

pub async fn run(round: &mut Round<'_>, step: &Step, what: &GrpcCall) -> Result<Value, Stop> {
    let session = round.session;
    let request = finish(call::fill(round, &what.request)?);
    let mut metadata: Vec<(String, String)> =
        session.settings.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect();
    for (name, template) in &what.metadata {
        metadata.push((name.to_ascii_lowercase(), call::text(&call::fill(round, template)?)));
    }
    let bounds = Bounds { time: session.settings.timeout, ..Bounds::default() };
    let client = Client::new(session.dial(tls::HTTP2), PACKAGE, descriptors(), bounds);
    if let Some(gate) = round.gate.take() {
        gate.pass().await;
    }
    let begun = session.recorder.begin();
    let reply = client.call(&what.method, &request, &metadata).await.map_err(|error| Stop::Errored(error.to_string()))?;
    let sent = Request {
        method: "POST".to_owned(),
        url: format!("{}/{PACKAGE}.{}", session.base, what.method),
        headers: metadata,
        body: Some(request.to_string().into()),
    };
    let about = About { case: round.case.clone(), step: step.label.clone(), operation: Some(what.method.clone()), ..About::default() };
    Ok(result::of(&session.record(&begun, about, sent, reply)))
}
