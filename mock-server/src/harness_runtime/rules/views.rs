//! The documents that callers see. Sections 1, 3, 6 and 7 of the contract page. Members that are absent are left out, never `null`.

use crate::harness_runtime::model::{
    Action, Artifact, Conversation, Description, Event, Execution, JsonObject, Manifest, PROTOCOL_VERSION, State,
};
use crate::table::table;
use jiff::Timestamp;
use serde_json::{Value, json};

table! {
    /// Rules about documents.
    Views {
        /// HR-CONV-3, HR-EXEC-4, -5, -26, HR-EVENT-5, HR-ACTION-5, HR-ART-4: RFC 3339 in UTC.
        time: fn(Timestamp) -> String = time;
        /// HR-DESC-1 to -4.
        description: fn(&Views, &Description) -> Value = description;
        /// HR-DESC-5, -6.
        capabilities: fn(&Views, &Description) -> Value = capabilities;
        /// HR-DESC-7 to -12.
        manifest: fn(&Manifest) -> Value = manifest;
        /// HR-CONV-2 to -5, -8.
        conversation: fn(&Views, &Conversation) -> Value = conversation;
        /// HR-START-2 to -10, -13, HR-EXEC-2 to -15.
        execution: fn(&Views, &Execution) -> Value = execution;
        /// HR-EVENT-1 to -6.
        event: fn(&Views, &Event) -> Value = event;
        /// HR-REPLAY-1, -2: the envelope list, given the documents of its events and the next cursor.
        event_list: fn(&[Value], u64) -> Value = event_list;
        /// HR-ACTION-2 to -6: the data of `action.required`.
        action: fn(&Views, &Action) -> JsonObject = action;
        /// HR-ART-2 to -7, -10: the data of `artifact.created`, and the item of the list.
        artifact: fn(&Views, &Artifact) -> JsonObject = artifact;
        /// HR-ART-1.
        artifact_list: fn(&[Value]) -> Value = artifact_list;
    }
}

/// With milliseconds and `Z`.
pub(crate) fn time(instant: Timestamp) -> String {
    instant.strftime("%Y-%m-%dT%H:%M:%S.%3fZ").to_string()
}

pub(crate) fn description(views: &Views, runtime: &Description) -> Value {
    json!({
        "name": runtime.name,
        "version": runtime.version,
        "protocolVersion": runtime.protocol_version,
        "providers": manifests(views, runtime),
    })
}

pub(crate) fn capabilities(views: &Views, runtime: &Description) -> Value {
    json!({ "providers": manifests(views, runtime) })
}

fn manifests(views: &Views, runtime: &Description) -> Vec<Value> {
    runtime.providers.iter().map(|manifest| (views.manifest)(manifest)).collect()
}

pub(crate) fn manifest(manifest: &Manifest) -> Value {
    let levels: JsonObject = manifest.capabilities.iter().map(|(name, level)| (name.clone(), json!(level.name()))).collect();
    let mut document = json!({
        "id": manifest.id,
        "name": manifest.name,
        "version": manifest.version,
        "protocolVersion": PROTOCOL_VERSION,
        "topologies": manifest.topologies,
        "capabilities": levels,
    });
    if let Some(metadata) = &manifest.metadata {
        document["metadata"] = json!(metadata);
    }
    document
}

pub(crate) fn conversation(views: &Views, conversation: &Conversation) -> Value {
    json!({
        "id": conversation.id,
        "createdAt": (views.time)(conversation.created_at),
        "metadata": conversation.metadata,
    })
}

/// `startedAt` once it ran, `endedAt` when it has ended, `finalOutput` only of a success, `error` only of a failure. The key is not shown.
pub(crate) fn execution(views: &Views, execution: &Execution) -> Value {
    let mut document = json!({
        "id": execution.id,
        "conversationId": execution.conversation_id,
        "providerId": execution.provider_id,
        "state": execution.state.name(),
        "input": execution.input,
        "requiredCapabilities": execution.required_capabilities,
        "effectiveConfig": execution.effective_config,
        "createdAt": (views.time)(execution.created_at),
        "updatedAt": (views.time)(execution.updated_at),
    });
    if let Some(started) = execution.started_at {
        document["startedAt"] = json!((views.time)(started));
    }
    if let Some(ended) = execution.ended_at {
        document["endedAt"] = json!((views.time)(ended));
    }
    match (execution.state, &execution.final_output, &execution.error) {
        (State::Succeeded, Some(output), _) => document["finalOutput"] = json!(output),
        (State::Failed, _, Some(message)) => document["error"] = json!({ "code": "PROVIDER_ERROR", "message": message }),
        _ => {}
    }
    document
}

pub(crate) fn event(views: &Views, event: &Event) -> Value {
    json!({
        "id": event.id,
        "executionId": event.execution_id,
        "sequence": event.sequence,
        "type": event.kind,
        "time": (views.time)(event.time),
        "data": event.data,
    })
}

pub(crate) fn event_list(events: &[Value], next_cursor: u64) -> Value {
    json!({ "events": events, "nextCursor": next_cursor })
}

pub(crate) fn action(views: &Views, action: &Action) -> JsonObject {
    let mut document = crate::harness_runtime::json::object([
        ("id", json!(action.id)),
        ("executionId", json!(action.execution_id)),
        ("kind", json!(action.kind.name())),
        ("title", json!(action.title)),
        ("payload", json!(action.payload)),
        ("createdAt", json!((views.time)(action.created_at))),
    ]);
    if let Some(description) = &action.description {
        document.insert("description".to_owned(), json!(description));
    }
    document
}

pub(crate) fn artifact(views: &Views, artifact: &Artifact) -> JsonObject {
    let mut document = crate::harness_runtime::json::object([
        ("id", json!(artifact.id)),
        ("executionId", json!(artifact.execution_id)),
        ("name", json!(artifact.name)),
        ("mediaType", json!(artifact.media_type)),
        ("metadata", json!(artifact.metadata)),
        ("createdAt", json!((views.time)(artifact.created_at))),
    ]);
    if let Some(uri) = &artifact.uri {
        document.insert("uri".to_owned(), json!(uri));
    }
    document
}

pub(crate) fn artifact_list(artifacts: &[Value]) -> Value {
    json!({ "artifacts": artifacts })
}
