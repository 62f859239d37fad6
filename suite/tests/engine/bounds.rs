//! Whatever a target does, the run ends within its bounds, and nothing is credited that was not seen.

use crate::contract::{broken, run, settings};
use crate::server::{Answer, STREAM, Server, json, stream};
use proofmark::runner::settings::Settings;
use proofmark_reports::model::{AbortKind, Outcome, Status, TargetReport};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

const READS: &str = r#"
  - id: read
    title: A thing is read
    steps: [{ call: getThing, path: { id: r }, expect: [{ rule: R-OWN-1, status: 200, body: { id: r } }] }]
  - id: raw
    title: Bytes are answered
    steps: [{ raw: "GET /things/r HTTP/1.1\nhost: ${host}\n", expect: [{ rule: R-OWN-1, status: 200, body: { id: r } }] }]
"#;

const WAITS: &str = r#"
  - id: awaited
    title: A thing comes true
    steps: [{ await: getThing, path: { id: r }, until: { body: { id: r } }, expect: [{ rule: R-OWN-1, status: 200 }] }]
  - id: followed
    title: A run is followed to its end
    steps: [{ follow: "1", expect: [{ rule: R-OWN-2, last: done }] }]
"#;

const SHORT: Duration = Duration::from_millis(300);

/// Much longer than any of these runs may take, much shorter than for ever.
const FAR_TOO_LONG: Duration = Duration::from_secs(45);

async fn check(answer: fn() -> Answer, scenarios: &str, timeout: Duration) -> TargetReport {
    let server =
        Server::start(move |seen| async move { if seen.path == "/" { json(200, &json!({ "name": "relay" })) } else { answer() } }).await;
    let settings = Settings { timeout, deadline: Duration::from_secs(30), ..settings() };
    tokio::time::timeout(FAR_TOO_LONG, run(scenarios, &server, &settings)).await.expect("it ends")
}

fn nothing_held(report: &TargetReport) {
    let held: Vec<&str> = report.requirements.iter().filter(|r| r.status == Status::Held).map(|r| r.id.as_str()).collect();
    assert_eq!(held, [""; 0]);
    let green = report.scenarios.iter().filter(|s| matches!(s.outcome, Outcome::Passed | Outcome::Errored));
    assert_eq!(green.map(|s| (s.path.clone(), s.reason.clone())).collect::<Vec<_>>(), []);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slowness_and_silence_end_and_accuse_nobody() {
    let answers: [fn() -> Answer; 4] = [
        || Answer::Silence,
        || Answer::Endless("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n".to_owned(), " ".to_owned()),
        || Answer::Endless("HTTP/1.1 200 OK\r\n".to_owned(), "x".to_owned()),
        || Answer::Endless(STREAM.to_owned(), ": still here\n\n".to_owned()),
    ];
    for answer in answers {
        let report = check(answer, &format!("{READS}{WAITS}"), SHORT).await;
        nothing_held(&report);
        assert_eq!(broken(&report), [""; 0]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_no_answer_is_a_finding() {
    let answers: [fn() -> Answer; 4] = [
        || Answer::Bytes(b"\x16\x03\x01 no protocol of yours".to_vec()),
        || Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{".to_vec()),
        || Answer::Bytes(b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<h1>Welcome</h1>".to_vec()),
        || Answer::Json(200, Value::Null),
    ];
    for answer in answers {
        let report = check(answer, READS, settings().timeout).await;
        nothing_held(&report);
        assert_eq!(broken(&report), ["R-OWN-1"]);
        nothing_held(&check(answer, WAITS, SHORT).await);
    }
}

/// A body without end is left at the bound, and the bound is named.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_is_too_long_is_a_finding_with_the_bound() {
    let answer = || {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n\"";
        Answer::Endless(head.to_owned(), "x".repeat(1 << 20))
    };
    let scenario = &READS[..READS.find("  - id: raw").unwrap()];
    let report = check(answer, scenario, settings().timeout).await;
    assert_eq!(broken(&report), ["R-OWN-1"]);
    let finding = &crate::contract::rule(&report, "R-OWN-1").findings[0];
    assert!(finding.mismatches[0].actual.contains("longer than 16777216 bytes"), "{:?}", finding.mismatches);
    let shown: usize = report.scenarios.iter().flat_map(|s| &s.transcript).flat_map(|e| &e.response).map(String::len).sum();
    assert!(shown < 10_000, "the report shows {shown} bytes of it");
}

/// Events that go on and on are no end, and a lively stream is no reason to stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_never_ends_is_left() {
    let report = check(|| Answer::Endless(STREAM.to_owned(), "data: {\"type\":\"tick\"}\n\n".to_owned()), WAITS, SHORT).await;
    nothing_held(&report);
    let report = check(|| stream(&[json!({ "type": "tick", "sequence": 1 })]), WAITS, SHORT).await;
    nothing_held(&report);
    assert!(!broken(&report).contains(&"R-OWN-2"), "what ended early was not seen to its end");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_falls_silent_ends_the_run() {
    let asked = Arc::new(AtomicBool::new(false));
    let server = Server::start(move |_| {
        let first = !asked.swap(true, Ordering::SeqCst);
        async move { if first { json(200, &json!({ "name": "relay" })) } else { Answer::Silence } }
    })
    .await;
    let many = (0..40).fold(String::new(), |mut text, i| {
        let step = "{ call: getThing, path: { id: r }, expect: [{ rule: R-OWN-1, status: 200 }] }";
        writeln!(text, "  - {{ id: c-{i}, title: Read, steps: [{step}] }}").unwrap();
        text
    });
    let settings = Settings { timeout: Duration::from_millis(700), jobs: 4, ..settings() };
    let report = tokio::time::timeout(FAR_TOO_LONG, run(&many, &server, &settings)).await.expect("it ends");
    assert_eq!(report.aborted.as_ref().map(|abort| abort.kind), Some(AbortKind::StoppedAnswering));
    nothing_held(&report);
    assert!(server.seen().len() < 40, "not every case had to find out for itself");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_deadline_of_the_run_ends_it_and_keeps_what_was_seen() {
    let server = Server::start(|seen| async move {
        match seen.path.as_str() {
            "/" => json(200, &json!({ "name": "relay" })),
            "/things/quick" => json(200, &json!({})),
            _ => Answer::Silence,
        }
    })
    .await;
    let steps = r"
  - { id: quick, title: Quick, steps: [{ call: getThing, path: { id: quick }, expect: [{ rule: R-OWN-1, status: 200 }] }] }
  - { id: slow, title: Slow, steps: [{ call: getThing, path: { id: slow }, expect: [{ rule: R-OWN-2, status: 200 }] }] }
";
    let settings = Settings { timeout: Duration::from_mins(10), deadline: Duration::from_secs(3), ..settings() };
    let report = tokio::time::timeout(FAR_TOO_LONG, run(steps, &server, &settings)).await.expect("it ends");
    assert_eq!(report.aborted.as_ref().map(|abort| abort.kind), Some(AbortKind::Deadline));
    let status = |id: &str| crate::contract::rule(&report, id).status;
    assert_eq!((status("R-OWN-1"), status("R-OWN-2")), (Status::Held, Status::NotExercised));
}
