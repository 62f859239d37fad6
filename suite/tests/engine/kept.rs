//! Repeated reads over kept connections: one that dies under a request is nobody's fault, and the request is made anew.

use proofmark::drivers::http::HttpDriver;
use proofmark::recorder::Recorder;
use proofmark::runner::settings::Reach;
use proofmark::transcript::{HttpReply, NoReply, Reply, Request};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

const FAR_TOO_LONG: Duration = Duration::from_secs(20);

/// How many requests came over each connection, in the order of their opening.
type Counts = Arc<[AtomicUsize; 4]>;

/// Every connection answers `answered` requests; at the next it writes `last` and hangs up.
async fn serve(answered: usize, last: &'static str) -> (String, Counts) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (url, counts) = (format!("http://{}/", listener.local_addr().unwrap()), Counts::default());
    let log = counts.clone();
    tokio::spawn(async move {
        for connection in 0.. {
            let Ok((stream, _)) = listener.accept().await else { break };
            let log = log.clone();
            // A kit that hangs up is no concern of the server.
            tokio::spawn(async move { drop(talk(stream, &log[connection], answered, last).await) });
        }
    });
    (url, counts)
}

async fn talk(mut stream: TcpStream, count: &AtomicUsize, answered: usize, last: &str) -> std::io::Result<()> {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    loop {
        let read = stream.read(&mut buffer).await?;
        if read == 0 {
            return Ok(());
        }
        request.extend_from_slice(&buffer[..read]);
        if request.ends_with(b"\r\n\r\n") {
            request.clear();
            if count.fetch_add(1, Ordering::SeqCst) == answered {
                stream.write_all(last.as_bytes()).await?;
                return stream.shutdown().await;
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await?;
        }
    }
}

fn driver(url: &str) -> (HttpDriver, Request) {
    let request = Request { method: "GET".to_owned(), url: url.to_owned(), headers: Vec::new(), body: None };
    (HttpDriver::new(Arc::new(Recorder::default()), url, &Reach::default()).unwrap(), request)
}

fn counted(counts: &Counts) -> [usize; 4] {
    std::array::from_fn(|connection| counts[connection].load(Ordering::SeqCst))
}

fn is_ok(reply: &Reply) -> bool {
    matches!(reply, Reply::Http(HttpReply { status: 200, body, .. }) if format!("{body:?}").contains("ok"))
}

#[tokio::test]
async fn reads_share_a_connection_and_survive_its_end() {
    for last in ["", "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nhalf", "HTTP/1.1 2"] {
        let (url, counts) = serve(2, last).await;
        let (driver, request) = driver(&url);
        for _ in 0..3 {
            let reply = driver.read(&request, FAR_TOO_LONG).await;
            assert!(is_ok(&reply), "{last:?}: {reply:?}");
        }
        assert_eq!(counted(&counts), [3, 1, 0, 0], "{last:?}");
    }
}

#[tokio::test]
async fn what_fails_twice_is_told() {
    let (url, counts) = serve(0, "").await;
    let (driver, request) = driver(&url);
    let reply = driver.read(&request, FAR_TOO_LONG).await;
    assert!(matches!(reply, Reply::None(NoReply::Closed(_))), "{reply:?}");
    assert_eq!(counted(&counts), [1, 1, 0, 0]);
}

#[tokio::test]
async fn a_request_of_a_case_has_a_connection_of_its_own_and_is_sent_once() {
    let (url, counts) = serve(1, "").await;
    let (driver, request) = driver(&url);
    assert!(is_ok(&driver.send(&request, FAR_TOO_LONG, None).await));
    assert!(is_ok(&driver.send(&request, FAR_TOO_LONG, None).await));
    assert_eq!(counted(&counts), [1, 1, 0, 0]);
    let (url, counts) = serve(0, "").await;
    let reply = driver.send(&Request { url, ..request }, FAR_TOO_LONG, None).await;
    assert!(matches!(reply, Reply::None(NoReply::Closed(_))), "{reply:?}");
    assert_eq!(counted(&counts), [1, 0, 0, 0]);
}
