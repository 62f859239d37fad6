//! What is waited for of an execution that is over never comes true: the wait ends with it, and not at its bound.

use crate::contract::{assert_all_passed, broken, case, run, settings};
use crate::server::{Seen, Server, json};
use proofmark_reports::model::Outcome;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Every run is over when it is first read; what it brought is told from the read `late` on.
async fn serve(late: usize) -> Server {
    let reads = Arc::new(AtomicUsize::new(0));
    Server::start(move |seen: Seen| {
        let read = if seen.run().is_some() { reads.fetch_add(1, Ordering::SeqCst) } else { 0 };
        async move {
            match seen.path.as_str() {
                "/" => json(200, &json!({ "name": "relay" })),
                "/runs" => json(202, &json!({ "id": "7", "state": "waiting" })),
                path if path.ends_with("/events") => {
                    let (said, end) = (json!({ "type": "said", "sequence": 1 }), json!({ "type": "done", "sequence": 2 }));
                    let events = if read < late { vec![end] } else { vec![said, end] };
                    json(200, &json!({ "events": events }))
                }
                _ if read < late => json(200, &json!({ "id": "7", "state": "done" })),
                _ => json(200, &json!({ "id": "7", "state": "done", "output": "well" })),
            }
        }
    })
    .await
}

fn scenario(until: &str) -> String {
    let start = "{ given: startRun, body: {}, save: { run: $.id } }";
    let wait = format!("{{ await: {until} }}");
    let after = "{ call: describe, expect: [{ rule: R-OWN-1, status: 200 }] }";
    format!("  - id: waits\n    title: A run is waited for\n    steps:\n      - {start}\n      - {wait}\n      - {after}\n")
}

const FOR_THE_RECORD: &str = "getRun, path: { id: \"${run}\" }, until: { status: 200, body: { output: well } }";
const FOR_AN_EVENT: &str = "listEvents, path: { id: \"${run}\" }, until: { status: 200, body: { events: { $contains: { type: said } } } }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_over_is_not_waited_for() {
    for until in [FOR_THE_RECORD, FOR_AN_EVENT] {
        let report = run(&scenario(until), &serve(usize::MAX).await, &settings()).await;
        let case = case(&report, "waits");
        assert_eq!((broken(&report), case.outcome), (Vec::new(), Outcome::Blocked), "{until}");
        let reason = case.reason.as_deref().unwrap();
        assert!(reason.contains("did not come true before the execution was over"), "{reason}");
    }
}

/// A record and its events may be written one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_told_right_after_the_end_is_heard() {
    for until in [FOR_THE_RECORD, FOR_AN_EVENT] {
        assert_all_passed(&run(&scenario(until), &serve(3).await, &settings()).await);
    }
}
