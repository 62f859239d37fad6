//! Against servers that leave the wire format. They stand on the other end of an in-memory pipe, so that the clock can be paused.

use super::*;
use crate::transcript::StreamEnd;
use futures_util::FutureExt;
use h2::server::SendResponse;
use h2::{Reason, SendStream};
use http::{HeaderMap, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

type Respond = SendResponse<Bytes>;

/// The reply to `method` over a pipe at whose other end `server` plays.
async fn over<F: Future<Output = ()> + Send + 'static>(method: &str, server: impl FnOnce(DuplexStream) -> F) -> Reply {
    let (ours, theirs) = duplex(1 << 20);
    let server = tokio::spawn(server(theirs));
    let client = client("in.memory:1");
    let prepared = client.prepare(method, &json!({}), &[]).expect("a call");
    let reply = client.converse(ours, prepared, Instant::now() + client.bounds.time).await;
    server.abort();
    reply
}

/// The reply of an HTTP/2 server whose stream `respond` answers. The server keeps the connection open.
async fn unary(respond: impl FnOnce(Respond) + Send + 'static) -> Reply {
    over("Sessions/GetSession", |pipe| http2(pipe, respond)).await
}

async fn streaming(respond: impl FnOnce(Respond) + Send + 'static) -> Reply {
    over("Sessions/Exec", |pipe| http2(pipe, respond)).await
}

async fn http2(pipe: DuplexStream, respond: impl FnOnce(Respond)) {
    let mut connection = h2::server::handshake(pipe).await.expect("the kit speaks HTTP/2");
    let Some(Ok((_request, response))) = connection.accept().await else { return };
    respond(response);
    while connection.accept().await.is_some() {}
}

/// Writes what is pending; the pipe has room.
fn flush(connection: &mut h2::server::Connection<DuplexStream, Bytes>) {
    assert!(connection.accept().now_or_never().is_none(), "one call, one request");
}

fn head(fields: &[(&'static str, &str)]) -> Response<()> {
    let mut head = Response::new(());
    for (name, value) in fields {
        head.headers_mut().append(*name, value.parse().expect("a legal value"));
    }
    head
}

const GRPC: (&str, &str) = ("content-type", "application/grpc");

fn begin(mut respond: Respond) -> SendStream<Bytes> {
    respond.send_response(head(&[GRPC]), false).expect("the kit reads")
}

fn end(mut stream: SendStream<Bytes>, fields: &[(&'static str, &str)]) {
    stream.send_trailers(head(fields).headers().clone()).expect("the kit reads");
}

/// A body of `bytes` and an end with `trailers`.
fn answer_with(bytes: &'static [u8], trailers: &'static [(&'static str, &'static str)]) -> impl FnOnce(Respond) + Send + 'static {
    move |respond| {
        let mut stream = begin(respond);
        stream.send_data(Bytes::from_static(bytes), false).expect("the kit reads");
        end(stream, trailers);
    }
}

const EMPTY: &[u8] = b"\0\0\0\0\0";

#[tokio::test]
async fn an_answer_without_a_body_has_its_status_in_the_headers() {
    let reply = answer(
        unary(|mut respond| {
            let head = head(&[GRPC, ("grpc-status", "5"), ("grpc-message", "not%20here"), ("x-a", "1")]);
            respond.send_response(head, true).expect("the kit reads");
        })
        .await,
    );
    assert_eq!((reply.code, reply.message.as_str(), reply.end), (Some(5), "not here", StreamEnd::Closed));
    assert_eq!(reply.headers, reply.trailers);
    assert_eq!((value(&reply.trailers, "x-a"), reply.faults.as_slice()), (Some("1"), &[][..]));
}

#[tokio::test]
async fn a_status_in_the_headers_of_an_answer_with_a_body_is_taken_and_noted() {
    let respond = |trailers: bool| {
        move |mut respond: Respond| {
            let mut stream = respond.send_response(head(&[GRPC, ("grpc-status", "0")]), false).expect("the kit reads");
            stream.send_data(Bytes::from_static(EMPTY), !trailers).expect("the kit reads");
            if trailers {
                end(stream, &[("grpc-status", "10")]);
            }
        }
    };
    let reply = answer(unary(respond(false)).await);
    assert_eq!((reply.code, reply.messages), (Some(0), vec![json!({})]));
    assert_eq!(reply.faults, ["grpc-status stands in the headers of an answer that has a body"]);
    let reply = answer(unary(respond(true)).await);
    assert_eq!((reply.code, reply.faults.as_slice()), (Some(10), &[][..]), "trailers come first");
}

#[tokio::test]
async fn an_answer_without_a_status_is_noted() {
    let missing = "the answer ended without a grpc-status";
    for respond in [answer_with(EMPTY, &[]), answer_with(EMPTY, &[("grpc-message", "x")])] {
        let reply = answer(unary(respond).await);
        assert_eq!((reply.code, reply.messages.len(), reply.end), (None, 1, StreamEnd::Closed));
        assert_eq!(reply.faults, [missing]);
    }
    let reply = answer(
        unary(|respond| {
            begin(respond).send_data(Bytes::from_static(EMPTY), true).expect("the kit reads");
        })
        .await,
    );
    assert_eq!((reply.code, reply.faults), (None, vec![missing.to_owned()]));
    let reply = answer(
        unary(|mut respond| {
            respond.send_response(head(&[GRPC]), true).expect("the kit reads");
        })
        .await,
    );
    assert_eq!((reply.code, reply.faults), (None, vec![missing.to_owned()]));
}

#[tokio::test]
async fn a_unary_ok_has_one_message() {
    const OK: &[(&str, &str)] = &[("grpc-status", "0")];
    let fault = |count: usize| vec![format!("OK to a unary call comes with one message, not {count}")];
    assert_eq!(answer(unary(answer_with(b"", OK)).await).faults, fault(0));
    assert_eq!(answer(unary(answer_with(b"\0\0\0\0\0\0\0\0\0\0", OK)).await).faults, fault(2));
    assert_eq!(answer(streaming(answer_with(b"\0\0\0\0\0\0\0\0\0\0", OK)).await).faults, [""; 0]);
    assert_eq!(answer(unary(answer_with(b"", &[("grpc-status", "5")])).await).faults, [""; 0]);
}

#[tokio::test]
async fn what_is_not_grpc_is_not_read_as_grpc() {
    let plain = |status: u16, kind: &'static str, ended: bool| {
        move |mut respond: Respond| {
            let mut head = if kind.is_empty() { head(&[]) } else { head(&[("content-type", kind)]) };
            *head.status_mut() = http::StatusCode::from_u16(status).expect("a status");
            let mut stream = respond.send_response(head, ended).expect("the kit reads");
            if !ended {
                stream.send_data(Bytes::from_static(b"{}"), true).expect("the kit reads");
            }
        }
    };
    let not_200 = "the HTTP status is 503, not 200".to_owned();
    let json = "the content type is \"application/json\", not application/grpc".to_owned();
    let prefix = "the content type is \"application/grpc-web\", not application/grpc".to_owned();
    let missing = "the content type is missing, not application/grpc".to_owned();
    for (respond, faults) in [
        (plain(200, "application/json", false), vec![json.clone()]),
        (plain(200, "application/grpc-web", false), vec![prefix]),
        (plain(200, "", false), vec![missing]),
        (plain(503, "application/json", false), vec![not_200.clone(), json]),
        (plain(503, "application/grpc", false), vec![not_200]),
    ] {
        let reply = answer(unary(respond).await);
        assert_eq!((reply.code, reply.end), (None, StreamEnd::Cut("the answer is not gRPC".to_owned())));
        assert_eq!(reply.faults, faults);
    }
    let bodiless = answer(unary(plain(404, "", true)).await);
    assert_eq!((bodiless.http_status, bodiless.code, bodiless.end, bodiless.faults.len()), (404, None, StreamEnd::Closed, 3));
    let parameters = answer(unary(plain(200, "application/grpc+proto;charset=x", true)).await);
    assert_eq!(parameters.faults, ["the answer ended without a grpc-status"]);
}

#[tokio::test]
async fn broken_bodies_are_named() {
    const OK: &[(&str, &str)] = &[("grpc-status", "0")];
    for (body, fault) in [
        (&b"\x01\0\0\0\0"[..], "a message is compressed, although the request offered no compression"),
        (b"{\"a\":1}", "a message begins with the flag 123, which is neither 0 nor 1"),
    ] {
        let reply = answer(streaming(answer_with(body, OK)).await);
        assert_eq!((reply.code, reply.end), (None, StreamEnd::Cut(fault.to_owned())));
        assert_eq!(reply.faults, [fault]);
    }
    let torn = answer(streaming(answer_with(b"\0\0\0\0\0\0\0\0\0\x09abc", OK)).await);
    assert_eq!((torn.code, torn.messages.len()), (Some(0), 1));
    assert_eq!(torn.faults, ["the body ends within a message, after 8 of its bytes"]);
    let undecodable = answer(streaming(answer_with(b"\0\0\0\0\0\0\0\0\0\x02\x0a\x09", OK)).await);
    assert_eq!((undecodable.code, undecodable.messages.len()), (None, 1));
    assert!(undecodable.faults[0].starts_with("message 1 is not a agentsessions.v1.ExecUpdate: "), "{:?}", undecodable.faults);
    let too_long = answer(streaming(answer_with(b"\0\xff\xff\xff\xff", OK)).await);
    assert_eq!(too_long.end, StreamEnd::Bound("a message of 4294967295 bytes is longer than 1000".to_owned()));
}

#[tokio::test]
async fn fields_that_nobody_knows_are_noted() {
    let reply = answer(unary(answer_with(b"\0\0\0\0\x08\x0a\x03\x98\x06\x01\x88\x06\x01", &[("grpc-status", "0")])).await);
    assert_eq!(reply.messages, [json!({ "metadata": {} })]);
    assert_eq!(reply.unknown, ["messages[0]: field 97", "messages[0].metadata: field 99"]);
    assert_eq!(reply.faults, [""; 0]);
}

#[tokio::test]
async fn resets_are_told_apart_from_silence_and_from_nonsense() {
    let before = none(unary(|mut respond| respond.send_reset(Reason::REFUSED_STREAM)).await);
    assert_eq!(before, NoReply::Closed("the server reset the stream: REFUSED_STREAM".to_owned()));
    let after = over("Sessions/Exec", |pipe| async move {
        let mut connection = h2::server::handshake(pipe).await.expect("the kit speaks HTTP/2");
        let Some(Ok((_request, respond))) = connection.accept().await else { return };
        let mut stream = begin(respond);
        stream.send_data(Bytes::from_static(EMPTY), false).expect("the kit reads");
        flush(&mut connection);
        stream.send_reset(Reason::CANCEL);
        while connection.accept().await.is_some() {}
    });
    let after = answer(after.await);
    assert_eq!(after.messages, [json!({})]);
    assert_eq!((after.code, after.end), (None, StreamEnd::Cut("the server reset the stream: CANCEL".to_owned())));
    assert_eq!(after.faults, [""; 0]);

    let closed = over("Sessions/GetSession", |mut pipe| async move {
        let _ = pipe.read(&mut [0; 1]).await;
    });
    assert!(matches!(none(closed.await), NoReply::Closed(_)));
    let goodbye = over("Sessions/GetSession", |pipe| async move {
        let mut connection = h2::server::handshake(pipe).await.expect("the kit speaks HTTP/2");
        let _request = connection.accept().await;
        connection.abrupt_shutdown(Reason::ENHANCE_YOUR_CALM);
        while connection.accept().await.is_some() {}
    });
    assert_eq!(none(goodbye.await), NoReply::Closed("the server ended the connection: ENHANCE_YOUR_CALM".to_owned()));
    let http1 = over("Sessions/GetSession", |mut pipe| async move {
        let _ = pipe.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
        std::future::pending::<()>().await;
    });
    assert_eq!(none(http1.await), NoReply::Garbled("not sound HTTP/2: FRAME_SIZE_ERROR".to_owned()));
}

#[tokio::test]
async fn a_connection_that_closes_within_an_answer_cuts_it() {
    let reply = over("Sessions/Exec", |pipe| async move {
        let mut connection = h2::server::handshake(pipe).await.expect("the kit speaks HTTP/2");
        let Some(Ok((_request, respond))) = connection.accept().await else { return };
        let mut stream = begin(respond);
        stream.send_data(Bytes::from_static(EMPTY), false).expect("the kit reads");
        flush(&mut connection);
    });
    let reply = answer(reply.await);
    assert!(matches!(reply.end, StreamEnd::Cut(_)), "{:?}", reply.end);
    assert_eq!((reply.messages.len(), reply.code), (1, None));
}

#[tokio::test]
async fn endless_headers_and_trailers_are_refused() {
    for (length, problem) in [(4_000, "headers of 4098 bytes are more than 4000"), (100_000, "not sound HTTP/2: PROTOCOL_ERROR")] {
        let headers = unary(move |mut respond| {
            let _ = respond.send_response(head(&[GRPC, ("x-long", &"x".repeat(length))]), false);
        });
        assert_eq!(none(headers.await), NoReply::Garbled(problem.to_owned()));
    }
    let trailers = answer(unary(|respond| end(begin(respond), &[("x-long", &"x".repeat(4_000)), ("grpc-status", "0")])).await);
    assert_eq!((trailers.code, trailers.faults.as_slice()), (None, &[][..]));
    assert_eq!(trailers.end, StreamEnd::Bound("trailers of 4082 bytes are more than 4000".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn silence_ends_with_the_deadline() {
    let limit = Duration::from_secs(5);
    let began = Instant::now();
    let mute = over("Sessions/GetSession", |pipe| async move {
        let _pipe = pipe;
        std::future::pending::<()>().await;
    });
    assert_eq!(none(mute.await), NoReply::TimedOut(limit));
    assert_eq!(began.elapsed(), limit);
    let (kept, keep) = tokio::sync::oneshot::channel();
    let unanswered = unary(|respond| drop(kept.send(respond)));
    assert_eq!(none(unanswered.await), NoReply::TimedOut(limit));
    drop(keep);
    let (kept, keep) = tokio::sync::oneshot::channel();
    let halfway = streaming(|respond| {
        let mut stream = begin(respond);
        stream.send_data(Bytes::from_static(EMPTY), false).expect("the kit reads");
        drop(kept.send(stream));
    });
    let halfway = answer(halfway.await);
    assert_eq!((halfway.messages.len(), halfway.code, halfway.end), (1, None, StreamEnd::TimedOut(limit)));
    drop(keep);
}

#[tokio::test(start_paused = true)]
async fn a_trickle_does_not_move_the_deadline() {
    let began = Instant::now();
    let reply = over("Sessions/Exec", |pipe| async move {
        let mut connection = h2::server::handshake(pipe).await.expect("the kit speaks HTTP/2");
        let Some(Ok((_request, respond))) = connection.accept().await else { return };
        let mut stream = begin(respond);
        let trickle = async move {
            loop {
                let _ = stream.send_data(Bytes::from_static(b"\0"), false);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        };
        tokio::select! {
            () = trickle => {}
            _ = connection.accept() => {}
        }
    });
    assert!(matches!(answer(reply.await).end, StreamEnd::TimedOut(_)));
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test]
async fn the_request_is_sound() {
    let (seen, see) = tokio::sync::oneshot::channel();
    let reply = over("Sessions/GetSession", |pipe| async move {
        let mut connection = h2::server::handshake(pipe).await.expect("the kit speaks HTTP/2");
        let Some(Ok((request, mut respond))) = connection.accept().await else { return };
        let (parts, mut body) = request.into_parts();
        let reading = async {
            let data = body.data().await.expect("a body").expect("sound");
            (data, body.data().await.is_none(), body.trailers().await.ok().flatten())
        };
        let (data, over, trailers): (Bytes, bool, Option<HeaderMap>) = tokio::select! {
            read = reading => read,
            _ = connection.accept() => return,
        };
        let _ = seen.send((parts, data, over, trailers));
        respond.send_response(head(&[GRPC, ("grpc-status", "0")]), true).expect("the kit reads");
        while connection.accept().await.is_some() {}
    });
    assert_eq!(answer(reply.await).code, Some(0));
    let (parts, data, over, trailers) = see.await.expect("seen");
    assert_eq!(
        (parts.method, parts.uri.to_string()),
        (http::Method::POST, "http://in.memory:1/agentsessions.v1.Sessions/GetSession".to_owned())
    );
    assert_eq!((parts.headers["te"].as_bytes(), parts.headers["content-type"].as_bytes()), (&b"trailers"[..], &b"application/grpc"[..]));
    assert_eq!((data, over, trailers), (Bytes::from_static(EMPTY), true, None));
}
