//! Artifact descriptors: which are accepted, and how they are listed. Section 6 of the contract page.

use crate::harness_runtime::machine::Store;
use crate::harness_runtime::model::{Artifact, Execution, JsonObject};
use crate::table::table;
use serde_json::Value;

/// What a provider says of an artifact. Ownership and time are the runtime's.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Descriptor {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) media_type: String,
    pub(crate) uri: Option<String>,
    pub(crate) metadata: JsonObject,
}

table! {
    /// Rules about artifacts.
    Artifacts {
        /// HR-ART-2, -5, -6, -13, -14: reads a descriptor, or says why it is refused.
        descriptor: fn(&JsonObject) -> Result<Descriptor, String> = descriptor;
        /// HR-ART-9, -15, -16, -18: whether this execution has an artifact of that id.
        taken: fn(&Store, &str, &str) -> bool = taken;
        /// HR-ART-8, -11, -17, -23, HR-ISO-3: the artifacts of an execution as they are listed.
        listed: fn(&Store, &Execution) -> Vec<Artifact> = listed;
    }
}

/// `id`, `name` and `mediaType` are texts of at least one character; so is `uri` if it is there; `metadata` is an object.
pub(crate) fn descriptor(data: &JsonObject) -> Result<Descriptor, String> {
    read_descriptor(data).ok_or_else(|| "Provider emitted an invalid artifact descriptor".to_owned())
}

fn read_descriptor(data: &JsonObject) -> Option<Descriptor> {
    Some(Descriptor {
        id: text(data.get("id")?)?,
        name: text(data.get("name")?)?,
        media_type: text(data.get("mediaType")?)?,
        uri: data.get("uri").map(|uri| text(uri).ok_or(())).transpose().ok()?,
        metadata: data.get("metadata").map(|metadata| metadata.as_object().cloned().ok_or(())).transpose().ok()?.unwrap_or_default(),
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Ids are unique within one execution.
pub(crate) fn taken(store: &Store, execution_id: &str, artifact_id: &str) -> bool {
    store.artifacts(execution_id).iter().any(|artifact| artifact.id == artifact_id)
}

/// The message that refuses a second artifact of one id.
pub(crate) fn duplicate(artifact_id: &str) -> String {
    format!("Provider emitted duplicate artifact id: {artifact_id}")
}

/// In the order of their creation, whatever the state of the execution.
pub(crate) fn listed(store: &Store, execution: &Execution) -> Vec<Artifact> {
    store.artifacts(&execution.id).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(descriptor_of: &Value) -> Result<Descriptor, String> {
        descriptor(descriptor_of.as_object().expect("an object"))
    }

    #[test]
    fn the_required_members_are_texts() {
        let good = json!({ "id": "a", "name": "n", "mediaType": "anything", "executionId": "forged" });
        assert_eq!(read(&good).expect("good").uri, None);
        for (member, value) in
            [("id", json!("")), ("name", json!(1)), ("mediaType", json!(null)), ("uri", json!(null)), ("metadata", json!([]))]
        {
            let mut bad = good.clone();
            bad[member] = value;
            assert!(read(&bad).is_err(), "{bad}");
        }
        assert!(read(&json!({ "id": "a", "name": "n" })).is_err());
    }
}
