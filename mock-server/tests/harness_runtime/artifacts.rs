//! Artifact descriptors.

use crate::client::{Server, types};
use serde_json::{Value, json};

fn artifact(id: &str) -> Value {
    json!({ "artifact": { "id": id, "name": "n", "mediaType": "text/plain", "executionId": "forged", "createdAt": "forged", "bytes": "x" } })
}

async fn listed(server: &Server, id: &str) -> Vec<Value> {
    server.get(&format!("/v1/executions/{id}/artifacts")).await.json()["artifacts"].as_array().expect("artifacts").clone()
}

#[tokio::test]
async fn each_descriptor_is_listed_in_order_and_announced_once() {
    let server = Server::plain().await;
    let with_uri = json!({ "artifact": { "id": "a", "name": "n", "mediaType": "x", "uri": "rel/ative", "metadata": { "m": 1 } } });
    let id = server.run(json!([artifact("b"), with_uri])).await;
    let events = server.stream(&id).await;
    let announced: Vec<Value> =
        events.iter().filter(|event| event["type"] == "artifact.created").map(|event| event["data"].clone()).collect();
    let list = listed(&server, &id).await;
    assert_eq!(list, announced);
    assert_eq!((&list[0]["id"], &list[1]["id"]), (&json!("b"), &json!("a")));
    assert_eq!(list[0]["executionId"], json!(id));
    assert_eq!(list[0]["metadata"], json!({}));
    assert!(list[0].get("uri").is_none() && list[0].get("bytes").is_none());
    assert_eq!(list[1]["uri"], "rel/ative");
}

#[tokio::test]
async fn bad_and_duplicate_descriptors_fail_the_run_and_are_not_kept() {
    let server = Server::plain().await;
    let bad = json!({ "artifact": { "id": "b", "name": "n" } });
    for (second, message) in
        [(bad, "Provider emitted an invalid artifact descriptor"), (artifact("a"), "Provider emitted duplicate artifact id: a")]
    {
        let id = server.run(json!([artifact("a"), second])).await;
        let events = server.stream(&id).await;
        assert_eq!(types(&events), ["run.queued", "run.started", "artifact.created", "run.failed"]);
        assert_eq!(events[3]["data"]["message"], message);
        assert_eq!(listed(&server, &id).await.len(), 1);
    }
}
