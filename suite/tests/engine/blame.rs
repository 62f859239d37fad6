//! Who is blamed, and for what: a step that only leads there is blamed on its own rule, and a scenario for nothing but its own.

use crate::contract::{assert_all_passed, broken, case, rule, run, settings};
use crate::server::{Answer, Server, json};
use proofmark_reports::exit::{self, exit};
use proofmark_reports::model::{Outcome, Status, TargetReport};
use serde_json::{Value, json};

/// Answers a read with `read` and a write with `write`.
async fn check(scenarios: &str, read: (u16, Value), write: (u16, Value)) -> TargetReport {
    let server = Server::start(move |seen| {
        let (status, body) = if seen.method == "POST" { write.clone() } else { read.clone() };
        async move { if seen.path == "/" { json(200, &json!({ "name": "relay" })) } else { Answer::Json(status, body) } }
    })
    .await;
    run(scenarios, &server, &settings()).await
}

fn code(report: &TargetReport) -> u8 {
    exit(std::slice::from_ref(report), false).code
}

const LEADS_THERE: &str = r#"
  - id: kept
    title: A thing that was put can be read
    steps:
      - { given: putThing, path: { id: a }, body: {}, save: { thing: $.id } }
      - { call: getThing, path: { id: "${thing}" }, expect: [{ rule: R-OWN-1, status: 200 }] }
"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_given_step_that_fails_blames_its_own_rule_and_blocks() {
    let report = check(LEADS_THERE, (200, json!({})), (500, json!({}))).await;
    assert_eq!(broken(&report), ["R-PUT-1"]);
    let own = rule(&report, "R-OWN-1");
    assert_eq!((own.status, own.held, own.findings.len()), (Status::NotExercised, 0, 0));
    let scenario = case(&report, "kept");
    assert_eq!(scenario.outcome, Outcome::Blocked);
    assert!(scenario.reason.as_ref().unwrap().contains("`given putThing` (relay/things.yaml:"), "{:?}", scenario.reason);
    assert_eq!(code(&report), exit::BROKEN);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_that_is_not_there_blocks_and_accuses_nobody() {
    let report = check(LEADS_THERE, (200, json!({})), (201, json!({ "other": 1 }))).await;
    assert_eq!((broken(&report), case(&report, "kept").outcome), (Vec::new(), Outcome::Blocked));
    assert_eq!(rule(&report, "R-PUT-1").status, Status::Held);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_value_of_the_wrong_kind_blocks_and_is_no_fault_of_the_kit() {
    let scenario = r#"
  - id: shifted
    title: The next one is read
    steps:
      - { given: putThing, path: { id: a }, body: {}, save: { head: $.head } }
      - { call: getThing, path: { id: "${head + 1}" }, expect: [{ rule: R-OWN-1, status: 200 }] }
"#;
    let report = check(scenario, (200, json!({})), (201, json!({ "head": "three" }))).await;
    assert_eq!((broken(&report), case(&report, "shifted").outcome), (Vec::new(), Outcome::Blocked));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_expectation_blames_the_rule_that_it_names() {
    let scenario = r"
  - id: read
    title: A thing is read
    steps:
      - call: getThing
        path: { id: a }
        expect:
          - { rule: R-OWN-1, status: 200 }
          - { rule: R-OWN-2, body: { size: 1 } }
          - { rule: R-WISH-1, body: { colour: red } }
          - { rule: R-HABIT-1, body: { weight: 3 } }
";
    let good = json!({ "size": 1, "colour": "red", "weight": 3 });
    let report = check(scenario, (200, good.clone()), (201, json!({}))).await;
    assert_all_passed(&report);
    let with = |member: &str| {
        let mut body = good.clone();
        body[member] = json!("other");
        body
    };
    let cases = [
        ("size", vec!["R-OWN-2"], Outcome::Failed, exit::BROKEN),
        ("colour", vec!["R-WISH-1"], Outcome::Warned, exit::HELD),
        ("weight", vec![], Outcome::Passed, exit::HELD),
    ];
    for (member, blamed, outcome, expected) in cases {
        let report = check(scenario, (200, with(member)), (201, json!({}))).await;
        assert_eq!((broken(&report), case(&report, "read").outcome, code(&report)), (blamed, outcome, expected), "{member}");
    }
    let report = check(scenario, (200, with("weight")), (201, json!({}))).await;
    assert_eq!(rule(&report, "R-HABIT-1").status, Status::Differs);
}

const DISPUTED: &str = r"
  - id: odd
    title: A thing is put twice
    steps:
      - call: putThing
        path: { id: a }
        body: {}
        expect:
          - { rule: R-ODD-1, status: { $readings: { plain: 201, odd: 409 } } }
          - { rule: R-OWN-1, body: { code: { $absent: true } } }
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_reading_of_a_disputed_rule_is_accepted_and_noted() {
    for (status, reading) in [(201, "plain"), (409, "odd")] {
        let report = check(DISPUTED, (200, json!({})), (status, json!({}))).await;
        assert_all_passed(&report);
        let odd = rule(&report, "R-ODD-1");
        assert_eq!(odd.readings.iter().map(|(name, count)| (name.as_str(), *count)).collect::<Vec<_>>(), [(reading, 1)]);
        let notes: Vec<&str> = case(&report, "odd").notes.iter().map(|note| note.text.as_str()).collect();
        assert_eq!(notes, [format!("read as: {reading}")]);
        assert_eq!(code(&report), exit::HELD);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_answer_to_a_disputed_rule_is_a_difference_and_breaks_nothing() {
    let report = check(DISPUTED, (200, json!({})), (418, json!({}))).await;
    assert_eq!((broken(&report), rule(&report, "R-ODD-1").status), (Vec::new(), Status::Differs));
    assert_eq!(code(&report), exit::HELD);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_went_another_way_is_not_exercised() {
    let scenario = r#"
  - id: either
    title: If it was put, it is there
    steps:
      - { call: putThing, path: { id: a }, body: {}, save: { put: $status } }
      - call: getThing
        path: { id: a }
        expect:
          - { rule: R-OWN-1, when: { value: "${put}", is: 201 }, status: 200 }
"#;
    let report = check(scenario, (404, json!({})), (409, json!({}))).await;
    assert_eq!((broken(&report), rule(&report, "R-OWN-1").status), (Vec::new(), Status::NotExercised));
    assert_eq!(case(&report, "either").outcome, Outcome::NotExercised);
    assert_eq!(code(&report), exit::BROKEN, "nothing was held");
    let report = check(scenario, (404, json!({})), (201, json!({}))).await;
    assert_eq!(broken(&report), ["R-OWN-1"]);
}

/// The first round that breaks is enough; the same difference is told once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_broken_round_ends_the_case() {
    let scenario = r"
  - id: rounds
    title: Again and again
    rounds: 9
    steps: [{ call: putThing, path: { id: a }, body: {}, expect: [{ rule: R-OWN-1, status: 201 }] }]
";
    let server = Server::start(|seen| async move {
        match seen.path.as_str() {
            "/" => json(200, &json!({ "name": "relay" })),
            _ => json(418, &json!({})),
        }
    })
    .await;
    let report = run(scenario, &server, &settings()).await;
    assert_eq!((server.count("POST", "/things/a"), rule(&report, "R-OWN-1").findings.len()), (1, 1));
}
