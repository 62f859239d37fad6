//! An execution that the target accepts and then ends because it has too much to do: the case is run again, and nobody is accused.

use crate::contract::{assert_all_passed, broken, case, rule, run, settings};
use crate::server::{Answer, Seen, Server, json, stream};
use proofmark::runner::settings::Settings;
use proofmark_reports::model::{Outcome, Status};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Turns the first `away` runs away; the others end well.
async fn serve(away: usize) -> Server {
    let count = Arc::new(AtomicUsize::new(0));
    Server::start(move |seen: Seen| {
        let number = if seen.is("POST", "/runs") { count.fetch_add(1, Ordering::SeqCst) } else { 0 };
        async move {
            let run = seen.run().unwrap_or(number);
            let end = if run < away { json!({ "error": { "code": "full" } }) } else { json!({ "output": "well" }) };
            let with = |mut value: Value| {
                value.as_object_mut().unwrap().extend(end.as_object().unwrap().clone());
                value
            };
            let id = run.to_string();
            match seen.path.as_str() {
                "/" => json(200, &json!({ "name": "relay" })),
                "/runs" => json(202, &json!({ "id": id, "state": "waiting" })),
                path if path.ends_with("/events") => {
                    let last = with(json!({ "id": id, "type": "done", "sequence": 2 }));
                    stream(&[json!({ "id": id, "type": "waiting", "sequence": 1 }), last])
                }
                _ => json(200, &with(json!({ "id": id, "state": "done" }))),
            }
        }
    })
    .await
}

/// A case that learns from `learns` how the run ended.
fn scenario(learns: &str) -> String {
    let start = "{ given: startRun, body: {}, save: { run: $.id } }";
    format!("  - id: ends-well\n    title: A run ends well\n    steps:\n      - {start}\n      - {learns}\n")
}

const FROM_A_READ: &str = "{ call: getRun, path: { id: \"${run}\" }, expect: [{ rule: R-OWN-1, status: 200, body: { output: well } }] }";
const FROM_THE_STREAM: &str = "{ follow: \"${run}\", until: terminal, expect: [{ rule: R-OWN-1, last: { type: done, output: well } }] }";
const BY_WAITING: &str = "{ await: getRun, path: { id: \"${run}\" }, until: { status: 200, body: { output: well } } }
      - { call: getRun, path: { id: \"${run}\" }, expect: [{ rule: R-OWN-1, status: 200 }] }";

fn impatient() -> Settings {
    Settings { timeout: Duration::from_millis(300), ..settings() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_case_is_run_again() {
    for learns in [FROM_A_READ, FROM_THE_STREAM, BY_WAITING] {
        let server = serve(2).await;
        assert_all_passed(&run(&scenario(learns), &server, &settings()).await);
        assert_eq!(server.count("POST", "/runs"), 3, "{learns}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_stays_busy_is_not_accused_and_shows_nothing() {
    for learns in [FROM_A_READ, FROM_THE_STREAM, BY_WAITING] {
        let server = serve(usize::MAX).await;
        let report = run(&scenario(learns), &server, &impatient()).await;
        assert_eq!((broken(&report), case(&report, "ends-well").outcome), (Vec::new(), Outcome::Blocked), "{learns}");
        assert_eq!(rule(&report, "R-OWN-1").status, Status::NotExercised, "{learns}");
        assert_eq!(
            case(&report, "ends-well").reason.as_deref(),
            Some("the target stayed busy (a lower --in-flight asks less of it)"),
            "{learns}"
        );
    }
}

/// Whatever else the execution says: lack of room is what the contract calls so, and nothing else.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_end_is_judged_at_once() {
    let server = Server::start(|seen: Seen| async move {
        match seen.path.as_str() {
            "/" => json(200, &json!({ "name": "relay" })),
            "/runs" => json(202, &json!({ "id": "7", "state": "waiting" })),
            _ => json(200, &json!({ "id": "7", "state": "done", "error": { "code": "burst" } })) as Answer,
        }
    })
    .await;
    let report = run(&scenario(FROM_A_READ), &server, &settings()).await;
    assert_eq!((broken(&report), server.count("POST", "/runs")), (vec!["R-OWN-1"], 1));
}
