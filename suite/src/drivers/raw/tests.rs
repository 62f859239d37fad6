//! Servers that behave, and servers that do not. What needs no kernel runs over an in-memory pipe with a paused clock.

use super::*;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, DuplexStream, duplex};
use tokio::net::{TcpListener, TcpStream};

const REQUEST: &[u8] = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n";

fn bounds() -> Bounds {
    Bounds { time: Duration::from_secs(5), head: 200, body: 100 }
}

/// The reply to `request` when the server writes `answer` and then closes.
async fn reply_to(request: &[u8], answer: &[u8]) -> Reply {
    let (ours, mut theirs) = duplex(1 << 20);
    theirs.write_all(answer).await.expect("the pipe has room");
    theirs.shutdown().await.expect("a pipe closes");
    exchange(ours, request, &bounds(), Instant::now() + bounds().time).await
}

async fn answered(answer: &[u8]) -> Reply {
    reply_to(REQUEST, answer).await
}

fn http(reply: Reply) -> HttpReply {
    match reply {
        Reply::Http(reply) => reply,
        other => panic!("not an HTTP reply: {other:?}"),
    }
}

fn none(reply: Reply) -> NoReply {
    match reply {
        Reply::None(reply) => reply,
        other => panic!("a reply: {other:?}"),
    }
}

fn whole(reply: Reply) -> Vec<u8> {
    match http(reply).body {
        Body::Whole(bytes) => bytes.to_vec(),
        other => panic!("not whole: {other:?}"),
    }
}

fn partial(reply: Reply) -> (Vec<u8>, String) {
    match http(reply).body {
        Body::Partial(bytes, why) => (bytes.to_vec(), why),
        other => panic!("not partial: {other:?}"),
    }
}

#[tokio::test]
async fn heads_are_read_in_order_and_in_lower_case() {
    let answer = b"HTTP/1.1 404 Not  Found\r\nB: 1 \r\nA:\t2\r\nb: 3\r\nFold: x\r\n  y\r\n\tz\r\nEmpty:\r\nContent-Length: 0\r\n\r\n";
    let reply = http(answered(answer).await);
    assert_eq!(reply.status, 404);
    let headers: Vec<(&str, &str)> = reply.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    assert_eq!(headers, [("b", "1"), ("a", "2"), ("b", "3"), ("fold", "x y z"), ("empty", ""), ("content-length", "0")]);
}

#[tokio::test]
async fn lenient_where_the_standard_lets_a_reader_be() {
    for answer in [
        &b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok"[..],
        b"HTTP/1.0 200 \nContent-Length: 2\n\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\n\r\nok and more",
    ] {
        assert_eq!(whole(answered(answer).await), b"ok", "{}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn interim_answers_are_passed_over() {
    let answer =
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx";
    let reply = http(answered(answer).await);
    assert_eq!((reply.status, reply.headers.len()), (201, 1));
}

#[tokio::test]
async fn bodies_end_by_length_in_chunks_or_with_the_connection() {
    for (answer, body) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"[..], &b"abc"[..]),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0A;x=\"1\"\r\n0123456789\r\n0\r\nT: 1\r\n\r\nrest",
            b"abc0123456789",
        ),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, Chunked\r\nContent-Length: 9\r\n\r\n1 \r\na\r\n0\r\n\r\n", b"a"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\n\r\nabc", b"abc"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b""),
        (b"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", b""),
        (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\n", b""),
        (b"HTTP/1.1 101 Switching\r\n\r\nabc", b""),
    ] {
        assert_eq!(whole(answered(answer).await), body, "{}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn the_answer_to_head_has_no_body() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n";
    assert_eq!(whole(reply_to(b"HEAD / HTTP/1.1\r\n\r\n", answer).await), b"");
    assert_eq!(partial(reply_to(b"HEADS / HTTP/1.1\r\n\r\n", answer).await).1, "the server closed the connection");
}

#[tokio::test]
async fn a_body_that_breaks_off_is_partial() {
    for (answer, body, why) in [
        (&b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"[..], &b"abc"[..], "the server closed the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n5\r\nde", b"abcde", "the server closed the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", b"abc", "the server closed the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nT: 1\r\n", b"abc", "the server closed the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", b"abc", "a chunk of 3 bytes is not followed by a line end"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-3\r\nabc", b"", "not a chunk size: \"-3\""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", b"", "not a chunk size: \"\""),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", b"", "not a chunk size: \"fffffffffffffffff\""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: +3\r\n\r\nabc", b"", "content-length is not a number: \"+3\""),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", b"", "content-length comes with different values"),
    ] {
        assert_eq!(partial(answered(answer).await), (body.to_vec(), why.to_owned()), "{}", answer.escape_ascii());
    }
}

#[tokio::test]
async fn what_is_not_http_is_garbled() {
    for (answer, why) in [
        (&b"SSH-2.0-x\r\n"[..], "not an HTTP/1.1 answer: it begins with \"SSH-2.0-x\\r\\n\""),
        (b"HTTP/2 200\r\n\r\n", "not an HTTP/1.1 answer: it begins with \"HTTP/2 200\\r\\n\\r\\n\""),
        (b"\0\0\x12\x04", "not an HTTP/1.1 answer: it begins with \"\\x00\\x00\\x12\\x04\""),
        (b"HTTP/1.1 20 OK\r\n\r\n", "not an HTTP/1.1 status line: \"HTTP/1.1 20 OK\""),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "not an HTTP/1.1 status line: \"HTTP/1.1 2000 OK\""),
        (b"HTTP/1.1 2x0 OK\r\n\r\n", "not an HTTP/1.1 status line: \"HTTP/1.1 2x0 OK\""),
        (b"HTTP/1.x 200 OK\r\n\r\n", "not an HTTP/1.1 status line: \"HTTP/1.x 200 OK\""),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "not a header field: \"no colon\""),
        (b"HTTP/1.1 200 OK\r\nspace : 1\r\n\r\n", "not a header field: \"space : 1\""),
        (b"HTTP/1.1 200 OK\r\n: 1\r\n\r\n", "not a header field: \": 1\""),
        (b"HTTP/1.1 200 OK\r\n fold: 1\r\n\r\n", "not a header field: \" fold: 1\""),
    ] {
        assert_eq!(none(answered(answer).await), NoReply::Garbled(why.to_owned()));
    }
}

#[tokio::test]
async fn no_head_at_all_is_closed() {
    for answer in [&b""[..], b"HT", b"HTTP/1.1 200 OK", b"HTTP/1.1 200 OK\r\nA: 1\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"] {
        assert_eq!(none(answered(answer).await), NoReply::Closed("the server closed the connection".to_owned()));
    }
}

#[tokio::test]
async fn bounds_on_size_hold_on_both_sides() {
    let head = |padding: usize| [b"HTTP/1.1 200 OK\r\nA: ", &vec![b'x'; padding][..], b"\r\n\r\n"].concat();
    assert_eq!(http(answered(&head(200 - 24)).await).status, 200);
    assert_eq!(none(answered(&head(200 - 20)).await), NoReply::Garbled("the head of the answer is longer than 200 bytes".to_owned()));
    let endless = [b"HTTP/1.1 200 OK\r\n", &b"A: 1\r\n".repeat(1000)[..]].concat();
    assert_eq!(none(answered(&endless).await), NoReply::Garbled("the head of the answer is longer than 200 bytes".to_owned()));
    let interim = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1000);
    assert_eq!(none(answered(&interim).await), NoReply::Garbled("the head of the answer is longer than 200 bytes".to_owned()));

    let too_long = (vec![b'x'; 100], "the body is longer than 100 bytes".to_owned());
    let body = |length: usize| [b"HTTP/1.1 200 OK\r\n\r\n", &vec![b'x'; length][..]].concat();
    assert_eq!(whole(answered(&body(100)).await).len(), 100);
    assert_eq!(partial(answered(&body(101)).await), too_long);
    let chunked = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", &b"1\r\nx\r\n".repeat(200)[..]].concat();
    assert_eq!(partial(answered(&chunked).await), too_long);
    let trailers = [b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", &b"A: 1\r\n".repeat(200)[..]].concat();
    assert_eq!(partial(answered(&trailers).await).1, "the trailers are longer than 200 bytes");
}

/// The reply when the server writes `answer`, then neither closes nor reads.
async fn reply_of_silence(answer: &[u8]) -> Reply {
    let (ours, mut theirs): (DuplexStream, DuplexStream) = duplex(1 << 10);
    theirs.write_all(answer).await.expect("the pipe has room");
    let request = vec![b'x'; 1 << 20];
    exchange(ours, &request, &bounds(), Instant::now() + bounds().time).await
}

#[tokio::test(start_paused = true)]
async fn silence_ends_with_the_deadline() {
    let time = bounds().time;
    let began = Instant::now();
    assert_eq!(none(reply_of_silence(b"").await), NoReply::TimedOut(time));
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(none(reply_of_silence(b"HTTP/1.1 200 OK\r\nA: ").await), NoReply::TimedOut(time));
    let late = partial(reply_of_silence(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").await);
    assert_eq!(late, (b"abc".to_vec(), "not complete within 5s".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn an_answer_is_complete_without_a_close() {
    assert_eq!(whole(reply_of_silence(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 1\r\n\r\nx").await), b"x");
    assert_eq!(whole(reply_of_silence(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n").await), b"");
}

#[tokio::test(start_paused = true)]
async fn a_trickle_does_not_move_the_deadline() {
    let (ours, mut theirs) = duplex(1 << 10);
    let trickle = tokio::spawn(async move {
        let _ = theirs.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while theirs.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    });
    let (body, why) = partial(exchange(ours, REQUEST, &bounds(), Instant::now() + bounds().time).await);
    assert_eq!(why, "not complete within 5s");
    assert!((1..=6).contains(&body.len()), "{}", body.len());
    trickle.await.expect("the server sees the hang-up");
}

/// A server for one connection on a real socket.
async fn serve<F: Future<Output = ()> + Send>(session: impl FnOnce(TcpStream) -> F + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound");
    tokio::spawn(async move {
        let (stream, _) = listener.accept().await.expect("the kit connects");
        session(stream).await;
    });
    address
}

#[tokio::test(start_paused = true)]
async fn the_request_arrives_byte_for_byte_and_our_side_stays_open() {
    let (ours, mut theirs) = duplex(1 << 10);
    let server = tokio::spawn(async move {
        let mut request = vec![0; REQUEST.len()];
        theirs.read_exact(&mut request).await.expect("the whole request");
        let early = tokio::time::timeout(Duration::from_secs(1), theirs.read(&mut [0])).await;
        assert!(early.is_err(), "nothing more, and no close, before the answer");
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", request.len());
        theirs.write_all(answer.as_bytes()).await.expect("the kit reads");
        theirs.write_all(&request).await.expect("the kit reads");
    });
    assert_eq!(whole(exchange(ours, REQUEST, &bounds(), Instant::now() + bounds().time).await), REQUEST);
    server.await.expect("the server is content");
}

#[tokio::test]
async fn an_early_answer_is_seen_although_the_server_resets_us() {
    let address = serve(|mut stream| async move {
        let _ = stream.write_all(b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno").await;
        // Unread bytes of ours make the kernel send a reset.
        let _ = stream.read(&mut [0; 1]).await;
    });
    let request = vec![b'x'; 32 << 20];
    let reply = send(&Dial::plain(address.await.to_string()), &request, &Bounds::default()).await;
    assert_eq!(http(reply).status, 413);
}

#[tokio::test]
async fn a_reset_without_an_answer_is_closed() {
    let address = serve(|mut stream| async move {
        let _ = stream.read(&mut [0; 1]).await;
    });
    let request = vec![b'x'; 32 << 20];
    let reply = send(&Dial::plain(address.await.to_string()), &request, &Bounds::default()).await;
    assert!(matches!(none(reply), NoReply::Closed(_)));
}

#[tokio::test]
async fn nobody_there_is_unreachable() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("bound").to_string();
    drop(listener);
    assert!(matches!(none(send(&Dial::plain(address), REQUEST, &Bounds::default()).await), NoReply::Unreachable(_)));
    assert!(matches!(none(send(&Dial::plain("no port"), REQUEST, &Bounds::default()).await), NoReply::Unreachable(_)));
}

#[tokio::test]
async fn an_answer_over_a_real_connection() {
    let address = serve(|mut stream| async move {
        let _ = stream.read_exact(&mut [0; REQUEST.len()]).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    });
    assert_eq!(whole(send(&Dial::plain(address.await.to_string()), REQUEST, &Bounds::default()).await), b"ok");
}
