//! A made-up contract of things and runs, small enough to be seen whole, and how to check a server against it.

use crate::server::Server;
use proofmark::check::{Target, catalogues, check};
use proofmark::fixtures::Fixtures;
use proofmark::runner::run::Silent;
use proofmark::runner::settings::Settings;
use proofmark::target::Address;
use proofmark_reports::model::{Outcome, Requirement, Scenario, Status, TargetReport};
use std::fmt::Write as _;
use std::time::Duration;

const OPERATIONS: &str = r#"
contract: relay
detect: { operation: describe, body: { name: relay } }
operations:
  describe: { method: GET, path: /, success: { status: 200, rule: R-READ-1 } }
  getThing: { method: GET, path: "/things/{id}", success: { status: 200, rule: R-READ-1 } }
  putThing: { method: POST, path: "/things/{id}", success: { status: 201, rule: R-PUT-1 } }
  startRun: { method: POST, path: /runs, success: { status: 202, rule: R-RUN-1 } }
  submitRun: { method: POST, path: /runs, success: { status: 200, rule: R-RUN-1 }, stream: event }
  getRun: { method: GET, path: "/runs/{id}", success: { status: 200, rule: R-READ-1 } }
  listEvents: { method: GET, path: "/runs/{id}/events", success: { status: 200, rule: R-READ-1 } }
  followEvents: { method: GET, path: "/runs/{id}/events", success: { status: 200, rule: R-READ-1 }, stream: event }
  cancelRun: { method: POST, path: "/runs/{id}/cancel", success: { status: 200, rule: R-RUN-1 } }
executions:
  start: startRun
  read: getRun
  list: listEvents
  follow: followEvents
  submit: submitRun
  cancel: cancelRun
  sweep: [getRun]
  id: $.id
  state: $.state
  terminal-states: [done, cancelled]
  terminal-event: { type: { $in: [done, cancelled] } }
  sequence: $.sequence
  cursor: after
  busy: { error: { code: full } }
shapes:
  event: [{ rule: R-READ-1, schema: "harness-runtime/health.schema.json#/$defs/ok", when: { type: never } }]
"#;

/// Id and level; `R-ODD-1` can be read in two ways.
const RULES: &[(&str, &str)] = &[
    ("R-READ-1", "must"),
    ("R-PUT-1", "must"),
    ("R-RUN-1", "must"),
    ("R-OWN-1", "must"),
    ("R-OWN-2", "must"),
    ("R-WISH-1", "should"),
    ("R-HABIT-1", "observed"),
    ("R-ODD-1", "disputed"),
];

fn requirements() -> String {
    RULES.iter().fold("contract: relay\nrequirements:\n".to_owned(), |mut text, (id, level)| {
        let readings = if *level == "disputed" { ", readings: { plain: One, odd: Another }" } else { "" };
        let source = "{ document: relay.md, section: All }";
        writeln!(text, "  - {{ id: {id}, area: things, level: {level}, source: {source}, text: The rule {id}.{readings} }}").unwrap();
        text
    })
}

/// The contract with these scenarios: the entries of the list `scenarios:`.
pub(crate) fn fixtures(scenarios: &str) -> Fixtures {
    let things = format!("contract: relay\narea: things\nabout: Things.\nscenarios:\n{scenarios}");
    Fixtures::from_texts([
        ("relay/requirements.yaml", requirements().as_str()),
        ("relay/operations.yaml", OPERATIONS),
        ("relay/stimuli.yaml", "contract: relay\nstimuli: {}\nfacts: {}\n"),
        ("relay/things.yaml", &things),
    ])
}

/// Generous bounds: what ends by them here is broken or slow on purpose.
pub(crate) fn settings() -> Settings {
    Settings {
        timeout: Duration::from_secs(20),
        deadline: Duration::from_mins(1),
        wait_ready: Duration::from_secs(20),
        ..Settings::default()
    }
}

pub(crate) async fn run(scenarios: &str, server: &Server, settings: &Settings) -> TargetReport {
    let catalogues = catalogues(&fixtures(scenarios)).unwrap_or_else(|error| panic!("{error}"));
    let address = Address::parse(&server.url).unwrap();
    let target = Target { address, name: "recorder".to_owned(), contract: None, profile: None };
    check(&catalogues, &target, settings, &[], true, &Silent).await.unwrap().report
}

pub(crate) fn case<'a>(report: &'a TargetReport, name: &str) -> &'a Scenario {
    let path = format!("relay/things/{name}");
    report.scenarios.iter().find(|scenario| scenario.path == path).unwrap_or_else(|| panic!("no {path}"))
}

pub(crate) fn rule<'a>(report: &'a TargetReport, id: &str) -> &'a Requirement {
    report.requirements.iter().find(|requirement| requirement.id == id).unwrap_or_else(|| panic!("no {id}"))
}

pub(crate) fn broken(report: &TargetReport) -> Vec<&str> {
    report.requirements.iter().filter(|r| r.status == Status::Broken).map(|r| r.id.as_str()).collect()
}

#[track_caller]
pub(crate) fn assert_all_passed(report: &TargetReport) {
    let odd: Vec<String> = report
        .scenarios
        .iter()
        .filter(|scenario| scenario.outcome != Outcome::Passed)
        .map(|scenario| format!("{} {:?}: {:?}", scenario.path, scenario.outcome, scenario.reason))
        .collect();
    assert_eq!((odd.as_slice(), &report.aborted), (&[][..], &None));
}
