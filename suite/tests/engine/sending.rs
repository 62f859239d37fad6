//! How often a request is sent: once, whatever comes back, unless the server said that it is busy or nobody was there.

use crate::contract::{assert_all_passed, broken, case, fixtures, rule, run, settings};
use crate::server::{Answer, Server, json};
use proofmark::check::catalogues;
use proofmark::drivers::http::HttpDriver;
use proofmark::recorder::{About, Recorder};
use proofmark::runner::session::Session;
use proofmark::runner::settings::{Reach, Settings};
use proofmark::transcript::{NoReply, Reply};
use proofmark_reports::model::{Outcome, Status};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// One write and one read, each with its own rule.
const TWO: &str = r"
  - id: write
    title: A thing is put
    steps: [{ call: putThing, path: { id: w }, body: { size: 1 }, expect: [{ rule: R-OWN-1, status: 201 }] }]
  - id: read
    title: A thing is read
    steps: [{ call: getThing, path: { id: r }, expect: [{ rule: R-OWN-2, status: 201 }] }]
";

type Making = fn() -> Answer;

async fn answering(answer: Making) -> Server {
    Server::start(move |seen| async move { if seen.path == "/" { json(200, &json!({ "name": "relay" })) } else { answer() } }).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_answer_makes_the_kit_repeat_itself() {
    let answers: [(&str, Making); 7] = [
        ("closed", || Answer::Close),
        ("silent", || Answer::Silence),
        ("garbage", || Answer::Bytes(b"\x00\x01 nothing\r\n\r\n".to_vec())),
        ("torn", || Answer::Bytes(b"HTTP/1.1 201 Created\r\ncontent-length: 10\r\n\r\n{".to_vec())),
        ("error", || Answer::Json(500, json!({}))),
        ("moved", || {
            Answer::Bytes(b"HTTP/1.1 307 Moved\r\nlocation: /things/w\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".to_vec())
        }),
        ("conflict", || Answer::Json(409, json!({ "code": "busy" }))),
    ];
    for (name, answer) in answers {
        let server = answering(answer).await;
        let timeout = if name == "silent" { Duration::from_millis(400) } else { settings().timeout };
        let settings = Settings { timeout, ..settings() };
        let report = run(TWO, &server, &settings).await;
        assert_eq!((server.count("POST", "/things/w"), server.count("GET", "/things/r")), (1, 1), "{name}");
        assert!(case(&report, "write").outcome != Outcome::Passed, "{name}");
        // Silence accuses nobody; everything else was an answer, and not the one that was due.
        assert_eq!(broken(&report), if name == "silent" { &[][..] } else { &["R-OWN-1", "R-OWN-2"] }, "{name}");
    }
}

/// Busy twice, then ready.
async fn busy_at_first(status: u16) -> Server {
    let count = Arc::new(AtomicUsize::new(0));
    Server::start(move |seen| {
        let busy = seen.path != "/" && count.fetch_add(1, Ordering::SeqCst) < 2;
        async move {
            match seen.path.as_str() {
                "/" => json(200, &json!({ "name": "relay" })),
                _ if busy => json(status, &json!({})),
                _ => json(201, &json!({})),
            }
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_server_is_asked_again() {
    for status in [429, 503] {
        let server = busy_at_first(status).await;
        let report = run(&TWO[..TWO.find("  - id: read").unwrap()], &server, &settings()).await;
        assert_all_passed(&report);
        assert_eq!(server.count("POST", "/things/w"), 3, "{status}: twice busy, once ready");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_about_a_busy_answer_gets_it() {
    let server = busy_at_first(429).await;
    let steps = r"
  - id: busy
    title: The server says that it is busy
    steps: [{ call: putThing, path: { id: w }, body: {}, expect: [{ rule: R-OWN-1, status: 429 }] }]
";
    assert_all_passed(&run(steps, &server, &settings()).await);
    assert_eq!(server.count("POST", "/things/w"), 1);
}

/// A server that stays busy is not accused of it by a step that only leads somewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_stays_busy_blocks() {
    let server = answering(|| Answer::Json(503, json!({}))).await;
    let steps = r"
  - id: busy
    title: Nothing comes of it
    steps:
      - { given: putThing, path: { id: w }, body: {} }
      - { call: getThing, path: { id: w }, expect: [{ rule: R-OWN-1, status: 200 }] }
";
    let report = run(steps, &server, &Settings { timeout: Duration::from_secs(1), ..settings() }).await;
    assert_eq!(case(&report, "busy").outcome, Outcome::Blocked);
    assert_eq!((broken(&report), rule(&report, "R-PUT-1").status), (Vec::new(), Status::NotExercised));
    assert!(server.count("POST", "/things/w") > 1);
}

/// Where nobody listens nothing was sent yet, so dialling again repeats nothing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_refused_connection_is_dialled_again_until_the_bound() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let base = format!("http://{}", socket.local_addr().unwrap());
    let catalogue = catalogues(&fixtures(TWO)).unwrap().remove("relay").unwrap();
    let recorder = Arc::new(Recorder::default());
    let http = HttpDriver::new(recorder.clone(), "http://127.0.0.1", &Reach::default()).unwrap();
    let settings = Settings { timeout: Duration::from_millis(500), ..settings() };
    let session = Session::new(catalogue.clone(), settings, base, http, recorder.clone());
    let operation = &catalogue.operations.by_name["getThing"];
    let ask = session.ask("getThing", operation, &BTreeMap::from([("id".to_owned(), "r".to_owned())]), &BTreeMap::new());
    let exchange = session.send(&ask, &About::default(), None, false).await;
    let refused = |reply: &Reply| matches!(reply, Reply::None(NoReply::Unreachable(_)));
    assert!(refused(&exchange.reply));
    let all = recorder.exchanges();
    assert!(all.len() > 1 && all.iter().all(|exchange| refused(&exchange.reply)), "{} dials", all.len());
}
