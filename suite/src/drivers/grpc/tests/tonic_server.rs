//! Against a server that a library made: what it sends is sound, and arrives whole.

use super::*;
use crate::transcript::StreamEnd;
use proofmark_schema::agentsessions::v1;
use std::pin::Pin;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, iter};
use tonic::{Request, Response, Status};

struct Sessions;

type Answer<T> = Result<Response<T>, Status>;
type Updates<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

fn nothing<T>() -> Answer<T> {
    Err(Status::unimplemented("not here"))
}

#[tonic::async_trait]
impl v1::sessions_server::Sessions for Sessions {
    type ExecStream = Updates<v1::ExecUpdate>;
    type ReplayStream = Updates<v1::LogRecord>;

    /// Answers what it got, with the metadata it got.
    async fn create_session(&self, request: Request<v1::CreateSessionRequest>) -> Answer<v1::Session> {
        let metadata = request.metadata().clone();
        let mut response = Response::new(request.into_inner().session.unwrap_or_default());
        for name in ["x-one", "te", "content-type"] {
            let echoed = metadata.get(name).cloned().unwrap_or_else(|| "missing".parse().expect("ASCII"));
            response
                .metadata_mut()
                .insert(tonic::metadata::MetadataKey::from_bytes(format!("got-{name}").as_bytes()).expect("ASCII"), echoed);
        }
        Ok(response)
    }

    async fn get_session(&self, request: Request<v1::GetSessionRequest>) -> Answer<v1::Session> {
        let mut metadata = tonic::metadata::MetadataMap::new();
        metadata.insert("x-why", "gone".parse().expect("ASCII"));
        Err(Status::with_metadata(tonic::Code::NotFound, format!("no \u{fc}ber-session {}\n100%", request.into_inner().uid), metadata))
    }

    /// As many records as the limit of the request says, then the status it asks for by name.
    async fn exec(&self, request: Request<v1::ExecRequest>) -> Answer<Self::ExecStream> {
        let request = request.into_inner();
        let delta = |part_index| {
            let delta = v1::Delta { part_index, chunk: request.session.clone(), ..v1::Delta::default() };
            Ok(v1::ExecUpdate { update: Some(v1::exec_update::Update::Delta(delta)) })
        };
        let count = i32::try_from(request.resume_from_seq).expect("a small number");
        let mut updates: Vec<Result<v1::ExecUpdate, Status>> = (1..=count).map(delta).collect();
        if request.harness == "aborts" {
            updates.push(Err(Status::aborted("busy")));
        }
        Ok(Response::new(Box::pin(iter(updates))))
    }

    async fn replay(&self, _: Request<v1::ReplayRequest>) -> Answer<Self::ReplayStream> {
        Ok(Response::new(Box::pin(tokio_stream::pending())))
    }

    async fn list_sessions(&self, _: Request<v1::ListSessionsRequest>) -> Answer<v1::ListSessionsResponse> {
        nothing()
    }
    async fn delete_session(&self, _: Request<v1::DeleteSessionRequest>) -> Answer<v1::Session> {
        nothing()
    }
    async fn approve(&self, _: Request<v1::ApproveRequest>) -> Answer<v1::ApproveResponse> {
        nothing()
    }
    async fn cancel(&self, _: Request<v1::CancelRequest>) -> Answer<v1::Session> {
        nothing()
    }
    async fn suspend(&self, _: Request<v1::SuspendRequest>) -> Answer<v1::Session> {
        nothing()
    }
    async fn resume(&self, _: Request<v1::ResumeRequest>) -> Answer<v1::Session> {
        nothing()
    }
    async fn fork(&self, _: Request<v1::ForkRequest>) -> Answer<v1::ForkResponse> {
        nothing()
    }
}

/// The answer of a new server.
async fn call(method: &str, request: &Value, metadata: &[(String, String)]) -> GrpcReply {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    let service = v1::sessions_server::SessionsServer::new(Sessions);
    let server = tonic::transport::Server::builder().add_service(service).serve_with_incoming(TcpListenerStream::new(listener));
    let server = tokio::spawn(server);
    let reply = client(&address).call(method, request, metadata).await.expect("a call");
    server.abort();
    answer(reply)
}

#[tokio::test]
async fn a_unary_answer() {
    let session = json!({ "metadata": { "name": "n" }, "labels": { "a": "" }, "last_seq": "12" });
    let reply = call("Sessions/CreateSession", &json!({ "session": session }), &[("X-One".to_owned(), "1".to_owned())]).await;
    assert_eq!((reply.code, reply.message.as_str(), reply.http_status), (Some(0), "", 200));
    assert_eq!(reply.messages, [session]);
    assert_eq!(reply.end, StreamEnd::Closed);
    assert_eq!((reply.faults.as_slice(), reply.unknown.as_slice()), (&[][..], &[][..]));
    assert_eq!(value(&reply.headers, "got-x-one"), Some("1"));
    assert_eq!(value(&reply.headers, "got-content-type"), Some("application/grpc"));
    assert_eq!(value(&reply.trailers, "grpc-status"), Some("0"));
    assert_eq!(value(&reply.headers, "grpc-status"), None);
}

#[tokio::test]
async fn an_error_with_message_and_metadata() {
    let reply = call("Sessions/GetSession", &json!({ "uid": "u" }), &[]).await;
    assert_eq!((reply.code, reply.message.as_str()), (Some(5), "no \u{fc}ber-session u\n100%"));
    assert_eq!(value(&reply.trailers, "x-why"), Some("gone"));
    assert_eq!((reply.messages.as_slice(), reply.faults.as_slice()), (&[][..], &[][..]));
}

#[tokio::test]
async fn a_stream_of_answers() {
    let request = json!({ "session": "s", "resume_from_seq": 3 });
    let reply = call("Sessions/Exec", &request, &[]).await;
    let delta = |part_index| json!({ "delta": { "part_index": part_index, "chunk": "s" } });
    assert_eq!(reply.messages, [delta(1), delta(2), delta(3)]);
    assert_eq!((reply.code, reply.end, reply.faults.as_slice()), (Some(0), StreamEnd::Closed, &[][..]));
}

#[tokio::test]
async fn a_stream_without_answers() {
    let reply = call("Sessions/Exec", &json!({}), &[]).await;
    assert_eq!((reply.code, reply.messages.len(), reply.faults.as_slice()), (Some(0), 0, &[][..]));
}

#[tokio::test]
async fn a_stream_that_ends_in_an_error() {
    let reply = call("Sessions/Exec", &json!({ "resume_from_seq": 1, "harness": "aborts" }), &[]).await;
    assert_eq!((reply.code, reply.message.as_str(), reply.messages.len()), (Some(10), "busy", 1));
}

#[tokio::test]
async fn what_the_server_does_not_have_is_unimplemented() {
    for method in ["Sessions/Fork", "HarnessRegistry/GetHarness"] {
        let reply = call(method, &json!({}), &[]).await;
        assert_eq!((reply.code, reply.faults.as_slice()), (Some(12), &[][..]), "{method}");
    }
}

#[tokio::test]
async fn bounds_on_number_and_size_end_a_stream() {
    let too_many = call("Sessions/Exec", &json!({ "resume_from_seq": 6 }), &[]).await;
    assert_eq!((too_many.messages.len(), too_many.code), (5, None));
    assert_eq!(too_many.end, StreamEnd::Bound("more than 5 messages".to_owned()));
    let too_much = call("Sessions/Exec", &json!({ "resume_from_seq": 4, "session": "x".repeat(900) }), &[]).await;
    assert_eq!((too_much.messages.len(), too_much.code), (3, None));
    assert_eq!(too_much.end, StreamEnd::Bound("messages of more than 3000 bytes together".to_owned()));
    let too_long = call("Sessions/Exec", &json!({ "resume_from_seq": 1, "session": "x".repeat(1000) }), &[]).await;
    assert_eq!(too_long.end, StreamEnd::Bound("a message of 1008 bytes is longer than 1000".to_owned()));
}
