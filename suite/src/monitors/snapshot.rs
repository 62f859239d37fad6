//! Executions and artifact lists as answers showed them, at a time between request and answer. Owns no judgement.

use super::dialect::Dialect;
use crate::transcript::Exchange;
use serde_json::Value;

/// An execution in the body of an answer.
pub(super) struct Snapshot<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) state: String,
    pub(super) value: Value,
    pub(super) dialect: &'static Dialect,
}

/// The artifacts that one answer listed.
pub(super) struct ArtifactList<'a> {
    pub(super) exchange: &'a Exchange,
    /// In the order of the list.
    pub(super) ids: Vec<String>,
}

impl<'a> Snapshot<'a> {
    /// The snapshot in a successful answer, under the id of the execution it shows.
    ///
    /// An answer that shows another execution than the one asked for is no witness for either.
    pub(super) fn of(exchange: &'a Exchange, dialect: &'static Dialect) -> Option<(String, Self)> {
        let operation = exchange.operation.as_deref()?;
        if !dialect.snapshots.contains(&operation) {
            return None;
        }
        let value = success(exchange)?;
        let id = value[dialect.id].as_str()?.to_owned();
        let state = value[dialect.state].as_str()?.to_owned();
        let asked = exchange.params.get("id");
        (operation == dialect.start || asked == Some(&id)).then_some((id, Self { exchange, state, value, dialect }))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self.state.as_str(), "succeeded" | "failed" | "cancelled")
    }

    /// Shows the execution at the time of the request. A start that is repeated by key may answer as it did the first time.
    pub(super) fn is_current(&self) -> bool {
        self.is_terminal() || self.exchange.operation.as_deref() != Some(self.dialect.start)
    }

    /// This answer was complete before the other was asked for.
    pub(super) fn precedes(&self, other: &Exchange) -> bool {
        self.exchange.ended < other.began
    }
}

impl<'a> ArtifactList<'a> {
    /// `None` when an element cannot be told by its id.
    pub(super) fn of(exchange: &'a Exchange) -> Option<(String, Self)> {
        if exchange.operation.as_deref() != Some("listArtifacts") {
            return None;
        }
        let value = success(exchange)?;
        let ids: Option<Vec<String>> = value["artifacts"].as_array()?.iter().map(|a| a["id"].as_str().map(str::to_owned)).collect();
        Some((exchange.params.get("id")?.clone(), Self { exchange, ids: ids? }))
    }
}

fn success(exchange: &Exchange) -> Option<Value> {
    let reply = exchange.http()?;
    if !(200..300).contains(&reply.status) {
        return None;
    }
    reply.json().filter(Value::is_object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::dialect::HARNESS;
    use crate::monitors::testing::Ask;
    use serde_json::json;

    #[test]
    fn only_the_execution_that_was_asked_for_is_seen() {
        assert!(Snapshot::of(&Ask::state("e", "running").finish(1), &HARNESS).is_some());
        assert!(Snapshot::of(&Ask::json("getExecution", "e", 200, &json!({"id": "f", "state": "running"})).finish(1), &HARNESS).is_none());
        assert!(Snapshot::of(&Ask::json("getExecution", "e", 404, &json!({"id": "e", "state": "running"})).finish(1), &HARNESS).is_none());
        assert!(
            Snapshot::of(&Ask::json("getConversation", "e", 200, &json!({"id": "e", "state": "running"})).finish(1), &HARNESS).is_none()
        );
        assert!(Snapshot::of(&Ask::json("getExecution", "e", 200, &json!({})).finish(1), &HARNESS).is_none());
    }

    #[test]
    fn artifacts_without_ids_are_not_judged() {
        assert!(ArtifactList::of(&Ask::artifacts("e", &["a", "b"]).finish(1)).is_some());
        assert!(ArtifactList::of(&Ask::json("listArtifacts", "e", 200, &json!({"artifacts": [{"name": "x"}]})).finish(1)).is_none());
        assert!(ArtifactList::of(&Ask::json("listArtifacts", "e", 200, &json!({})).finish(1)).is_none());
    }
}
