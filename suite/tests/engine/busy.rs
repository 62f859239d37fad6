//! A target that stays busy says nothing of what a step is about, and a case that could not go on shows only what it saw whole.

use crate::contract::{assert_all_passed, broken, case, rule, run, settings};
use crate::server::{Answer, Seen, Server, json};
use proofmark::runner::settings::Settings;
use proofmark_reports::model::{Outcome, Status};
use serde_json::json;
use std::time::Duration;

/// Puts things, unless it is busy, which it tells by `busy`.
async fn serve(busy: fn() -> Answer) -> Server {
    Server::start(move |seen: Seen| async move {
        match (seen.method.as_str(), seen.path.as_str()) {
            (_, "/") => json(200, &json!({ "name": "relay" })),
            ("POST", _) => busy(),
            (_, path) => json(200, &json!({ "id": path.trim_start_matches("/things/") })),
        }
    })
    .await
}

fn impatient() -> Settings {
    Settings { timeout: Duration::from_millis(300), ..settings() }
}

/// A put whose answer is looked at by `expect`.
fn put(expect: &str) -> String {
    format!("  - id: put\n    title: A thing is put\n    steps:\n      - {{ call: putThing, path: {{ id: r }}, body: {{}}, {expect} }}\n")
}

const BUSY: [fn() -> Answer; 3] = [
    || json(503, &json!({})),
    || json(429, &json!({ "error": { "code": "slow down" } })),
    || json(500, &json!({ "error": { "code": "full" } })),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_expectation_is_judged_by_a_busy_answer() {
    let expectations = [
        "expect: [{ rule: R-OWN-1, status: 400 }]",
        // Any refusal would do, but this one refuses nothing.
        "expect: [{ rule: R-OWN-1, status: { $gte: 400, $lt: 500 } }]",
        "expect: [{ rule: R-OWN-1, status: { $gte: 400 }, body: { error: { $type: object } } }]",
        // What comes later is about this answer, too.
        "save: { answer: $response } }\n      - { check: [{ rule: R-OWN-1, of: \"${answer}\", status: 201 }]",
    ];
    for busy in BUSY {
        for expect in expectations {
            let server = serve(busy).await;
            let report = run(&put(expect), &server, &impatient()).await;
            assert_eq!((broken(&report), case(&report, "put").outcome), (Vec::new(), Outcome::Blocked), "{expect}");
            assert_eq!(rule(&report, "R-OWN-1").status, Status::NotExercised, "{expect}");
            assert!(case(&report, "put").reason.as_deref().is_some_and(|reason| reason.contains("stayed busy")), "{expect}");
            assert!(server.count("POST", "/things/r") > 1, "{expect}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_is_about_a_busy_answer_sees_it() {
    let server = serve(BUSY[0]).await;
    assert_all_passed(&run(&put("expect: [{ rule: R-OWN-1, status: 503 }]"), &server, &settings()).await);
    assert_eq!(server.count("POST", "/things/r"), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_rule_that_was_seen_in_part_is_not_credited() {
    let server = serve(BUSY[0]).await;
    let scenario = r"
  - id: in-part
    title: Two rules are looked at before and one of them after something that never comes
    steps:
      - call: getThing
        path: { id: r }
        expect:
          - { rule: R-OWN-1, status: 200 }
          - { rule: R-OWN-2, body: { id: r } }
      - { await: getThing, path: { id: r }, until: { body: { id: another } } }
      - { call: getThing, path: { id: r }, expect: [{ rule: R-OWN-1, status: 200 }] }
";
    let report = run(scenario, &server, &impatient()).await;
    assert_eq!(case(&report, "in-part").outcome, Outcome::Blocked);
    assert_eq!((rule(&report, "R-OWN-1").status, rule(&report, "R-OWN-2").status), (Status::NotExercised, Status::Held));
}

/// To JSON `7.0` and `7` are one number; in a path or a query they are two texts, and only one of them names the thing.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whole_numbers_are_sent_in_digits_however_they_came() {
    let server = Server::start(|seen: Seen| async move {
        match seen.path.as_str() {
            "/" => json(200, &json!({ "name": "relay" })),
            "/things/first" => json(200, &json!({ "id": "first", "last": 7.0 })),
            path => json(200, &json!({ "path": path })),
        }
    })
    .await;
    let scenario = r#"
  - id: digits
    title: A number that was read is sent back
    steps:
      - { call: getThing, path: { id: first }, save: { last: $.last } }
      - { call: getThing, path: { id: "${last}" }, expect: [{ rule: R-OWN-1, body: { path: /things/7 } }] }
      - { call: getThing, path: { id: "${last + 1}" }, query: { after: "${last}" }, expect: [{ rule: R-OWN-2, body: { path: "/things/8?after=7" } }] }
"#;
    assert_all_passed(&run(scenario, &server, &settings()).await);
}
