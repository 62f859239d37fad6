//! `together`: both requests are on their way at once, in every round.

use crate::contract::{assert_all_passed, broken, case, run, settings};
use crate::server::{Answer, Server, json};
use proofmark::runner::settings::Settings;
use proofmark_reports::model::Outcome;
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Barrier;

const ROUNDS: usize = 12;

fn race(branch: &str) -> String {
    format!(
        r"
  - id: race
    title: Two at once
    rounds: {ROUNDS}
    steps:
      - together:
          - {{ {branch}, save: {{ left: $response }} }}
          - {{ {branch}, save: {{ right: $response }} }}
        expect:
          - {{ rule: R-OWN-1, each: [left, right], status: 200 }}
"
    )
}

/// Nobody gets an answer before both have asked: a kit that sends one after the other never gets any.
async fn only_together() -> Server {
    let barriers: Arc<Mutex<BTreeMap<String, Arc<Barrier>>>> = Arc::default();
    Server::start(move |seen| {
        let barriers = barriers.clone();
        async move {
            if seen.path == "/" {
                return json(200, &json!({ "name": "relay" }));
            }
            let barrier = barriers.lock().unwrap().entry(seen.path).or_insert_with(|| Arc::new(Barrier::new(2))).clone();
            barrier.wait().await;
            json(200, &json!({}))
        }
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_requests_of_a_race_are_in_flight_at_once_in_every_round() {
    for branch in [r#"call: putThing, path: { id: "${unique:t}" }, body: { size: 1 }"#, r#"call: getThing, path: { id: "${unique:t}" }"#] {
        let server = only_together().await;
        let report = run(&race(branch), &server, &settings()).await;
        assert_all_passed(&report);
        let mut paths: BTreeMap<String, usize> = BTreeMap::new();
        server.seen().into_iter().filter(|seen| seen.path != "/").for_each(|seen| *paths.entry(seen.path).or_default() += 1);
        assert_eq!(paths.values().copied().collect::<Vec<_>>(), [2; ROUNDS], "every round has names of its own, and two requests");
    }
}

/// The server above tells: without `together` nobody would get past it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_request_after_the_other_does_not_pass_for_a_race() {
    let server = only_together().await;
    let steps = r"
  - id: apart
    title: One after the other
    steps:
      - { call: getThing, path: { id: t }, save: { left: $status } }
      - { call: getThing, path: { id: t }, save: { right: $status } }
";
    let report = run(steps, &server, &Settings { timeout: Duration::from_millis(500), ..settings() }).await;
    assert_eq!(case(&report, "apart").outcome, Outcome::Blocked);
    assert!(server.count("GET", "/things/t") <= 1, "the second one was never sent");
}

/// A branch of several steps starts its race with its first request, and what branches save is there afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branches_of_several_steps_race_with_their_first_request() {
    let server = only_together().await;
    let steps = r#"
  - id: race
    title: A write against a read and a write
    rounds: 3
    steps:
      - together:
          - { call: putThing, path: { id: "${unique:a}" }, body: {}, save: { left: $status } }
          - - { call: getThing, path: { id: "${unique:a}" }, save: { middle: $status } }
            - { call: putThing, path: { id: "${unique:b}" }, body: {}, save: { right: $status } }
          - { call: putThing, path: { id: "${unique:b}" }, body: {} }
      - check:
          - { rule: R-OWN-1, same: ["${left}", "${middle}", "${right}", 200] }
"#;
    assert_all_passed(&run(steps, &server, &settings()).await);
}

/// A branch that never comes to a request must not hold the others for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_branch_that_fails_on_its_way_holds_up_nobody() {
    let server = Server::start(|seen| async move {
        match seen.path.as_str() {
            "/" => json(200, &json!({ "name": "relay" })),
            _ => Answer::Json(201, json!({})),
        }
    })
    .await;
    let steps = r#"
  - id: lame
    title: One branch stumbles
    steps:
      - { call: getThing, path: { id: a }, save: { thing: $ } }
      - together:
          - { call: putThing, path: { id: "${thing.missing}" }, body: {} }
          - { call: putThing, path: { id: b }, body: {}, expect: [{ rule: R-OWN-1, status: 201 }] }
"#;
    let report = run(steps, &server, &settings()).await;
    assert_eq!(case(&report, "lame").outcome, Outcome::Blocked);
    assert_eq!(server.count("POST", "/things/b"), 1);
    assert_eq!(broken(&report), [""; 0]);
}
