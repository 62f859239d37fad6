//! The documents that callers see. Sections 1 and 3 of the contract page. Members that are absent are left out, never `null`.

use super::materialise::Made;
use super::outcome::{Outcome, target_document};
use crate::json::{JsonObject, object};
use crate::model_runtime::model::{Event, Execution, Feature, Manifest, Model, PROTOCOL_VERSION, Status};
use crate::table::table;
use jiff::Timestamp;
use serde_json::{Value, json};

/// An execution, with what its history adds up to.
#[derive(Clone, Debug)]
pub(crate) struct Shown {
    pub(crate) execution: Execution,
    pub(crate) made: Made,
    pub(crate) updated_at: Timestamp,
    pub(crate) last_sequence: u64,
}

table! {
    /// Rules about documents.
    Views {
        /// MR-EVENT-4, MR-EXEC-4, MR-START-4: RFC 3339 in UTC.
        time: fn(Timestamp) -> String = time;
        /// MR-RUNTIME-2 to -8, -12: what the runtime says of itself, given how many providers it has, and whether it is about to stop.
        runtime: fn(usize, bool) -> Value = runtime;
        /// MR-PROV-2 to -12.
        manifest: fn(&Manifest) -> Value = manifest;
        /// MR-START-2 to -6, -8, MR-IDEM-6 to -8: the answer to a submission, given whether it was a replay.
        submission: fn(&Views, &Execution, bool) -> Value = submission;
        /// MR-EXEC-2 to -14, -19, -20, -23, MR-ART-5, MR-REDACT-11, -12.
        snapshot: fn(&Views, &Outcome, &Shown) -> Value = snapshot;
        /// MR-RESULT-1 to -8, -12 to -18: the result of an execution; `None` when it has none.
        result: fn(&Shown) -> Option<Value> = result;
        /// MR-RESULT-9, -10: why there is no result.
        no_result: fn(&Outcome, &Execution) -> Value = no_result;
        /// MR-EVENT-1 to -6, -40 to -42, -52.
        event: fn(&Views, &Event) -> Value = event;
    }
}

/// With milliseconds and `Z`.
pub(crate) fn time(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

pub(crate) fn runtime(providers: usize, stopping: bool) -> Value {
    json!({
        "name": "model-runtime-api",
        "protocol_version": PROTOCOL_VERSION,
        "provider_count": providers,
        "state": if stopping { "stopping" } else { "ready" },
        "features": { "routing": true, "flow_control": true, "usage_facts": true, "billing": false },
    })
}

pub(crate) fn manifest(manifest: &Manifest) -> Value {
    let models: Vec<Value> = manifest.models.iter().map(model).collect();
    let mut document = json!({ "provider": manifest.provider, "protocol_version": PROTOCOL_VERSION, "models": models });
    if let Some(gate) = manifest.limits {
        document["limits"] = json!({ "max_concurrency": gate.concurrency, "max_queue_depth": gate.queue });
    }
    document
}

fn model(model: &Model) -> Value {
    let mut document = json!({
        "model": model.name,
        "abilities": model.abilities,
        "input_modalities": model.input_modalities,
        "output_modalities": model.output_modalities,
    });
    for feature in Feature::ALL {
        document[feature.name()] = json!(model.features.contains(&feature));
    }
    document
}

pub(crate) fn submission(views: &Views, execution: &Execution, replay: bool) -> Value {
    json!({
        "execution_id": execution.id,
        "status": execution.status.name(),
        "created_at": (views.time)(execution.created_at),
        "idempotent_replay": replay,
    })
}

/// Partial output stays visible, whatever the execution came to.
pub(crate) fn snapshot(views: &Views, outcome: &Outcome, shown: &Shown) -> Value {
    let execution = &shown.execution;
    let mut document = json!({
        "execution_id": execution.id,
        "status": execution.status.name(),
        "created_at": (views.time)(execution.created_at),
        "updated_at": (views.time)(shown.updated_at),
        "last_sequence": shown.last_sequence,
        "usage": shown.made.usage,
    });
    if let Some(target) = execution.target() {
        document["target"] = target_document(target);
    }
    if let Some(fault) = &execution.error {
        document["error"] = (outcome.fault)(fault);
    }
    if let Some(result) = &shown.made.result {
        document["result"] = result.clone();
    }
    if let Some(artifacts) = &shown.made.artifacts {
        document["artifacts"] = json!(artifacts);
    }
    document
}

/// Of a success only: what is left of a failure is evidence, no result.
pub(crate) fn result(shown: &Shown) -> Option<Value> {
    let execution = &shown.execution;
    let target = execution.target().filter(|_| execution.status == Status::Succeeded)?;
    let mut document = json!({
        "execution_id": execution.id,
        "target": target_document(target),
        "artifacts": shown.made.artifacts.clone().unwrap_or_default(),
        "usage": shown.made.usage,
    });
    if let Some(result) = &shown.made.result {
        document["result"] = result.clone();
    }
    Some(document)
}

pub(crate) fn no_result(outcome: &Outcome, execution: &Execution) -> Value {
    let mut document = json!({ "status": execution.status.name() });
    if let Some(fault) = &execution.error {
        document["error"] = (outcome.fault)(fault);
    }
    document
}

/// The envelope is the runtime's, whatever a provider put into its event.
pub(crate) fn event(views: &Views, event: &Event) -> Value {
    let mut document: JsonObject = event.data.clone();
    document.extend(envelope(views, event));
    Value::Object(document)
}

pub(crate) fn envelope(views: &Views, event: &Event) -> JsonObject {
    object([
        ("type", json!(event.kind)),
        ("status", json!(event.status.name())),
        ("execution_id", json!(event.execution_id)),
        ("sequence", json!(event.sequence)),
        ("time", json!((views.time)(event.time))),
    ])
}
