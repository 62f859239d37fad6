//! The driver against a tonic server, and against servers that break every rule of the wire.

mod broken;
mod tonic_server;

use super::*;
use crate::transcript::GrpcReply;
use serde_json::json;

fn client(address: &str) -> Client {
    let bounds = Bounds { time: Duration::from_secs(5), message: 1000, messages: 5, total: 3000, metadata: 4000 };
    Client::new(Dial::plain(address), "agentsessions.v1", proofmark_schema::agentsessions::descriptors(), bounds)
}

fn answer(reply: Reply) -> GrpcReply {
    match reply {
        Reply::Grpc(reply) => reply,
        other => panic!("not a gRPC reply: {other:?}"),
    }
}

fn none(reply: Reply) -> NoReply {
    match reply {
        Reply::None(reply) => reply,
        other => panic!("a reply: {other:?}"),
    }
}

fn value<'a>(fields: &'a [(String, String)], name: &str) -> Option<&'a str> {
    fields.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str())
}

#[tokio::test]
async fn requests_that_cannot_be_made_are_our_own_fault() {
    let client = client("127.0.0.1:1");
    for (method, request, metadata, problem) in [
        ("GetSession", json!({}), "a", "no method `GetSession` in package agentsessions.v1"),
        ("Sessions/Get", json!({}), "a", "no method `Sessions/Get` in package agentsessions.v1"),
        ("Nobody/GetSession", json!({}), "a", "no method `Nobody/GetSession` in package agentsessions.v1"),
        ("Harness/Connect", json!({}), "a", "`Harness/Connect` takes a stream of requests"),
        ("Sessions/GetSession", json!({}), "a b", "`a b` cannot be sent as metadata"),
    ] {
        let metadata = [(metadata.to_owned(), "x".to_owned())];
        let error = client.call(method, &request, &metadata).await.expect_err("not a call");
        assert_eq!(error.to_string(), problem);
    }
    let error = client.call("Sessions/GetSession", &json!({ "id": "x" }), &[]).await.expect_err("no such field");
    assert!(error.to_string().starts_with("the request of `Sessions/GetSession` is not a agentsessions.v1.GetSessionRequest: "), "{error}");
    let nowhere = Client { dial: Dial::plain("not an address"), ..client };
    let error = nowhere.call("Sessions/GetSession", &json!({}), &[]).await.expect_err("no address");
    assert_eq!(error.to_string(), "`not an address` is not an address");
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    drop(listener);
    let reply = client(&address).call("Sessions/GetSession", &json!({}), &[]).await.expect("a call");
    assert!(matches!(none(reply), NoReply::Unreachable(_)));
}
