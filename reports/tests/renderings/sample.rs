//! Reports made by hand: a rich one with everything that can occur, an empty one, an all-green one.

use proofmark_reports::exit::exit;
use proofmark_reports::model::{
    Abort, AbortKind, Exchange, FORMAT, Finding, Kit, Level, Mismatch, MissingStimulus, Note, Outcome, Report, Requirement, RunInfo,
    Scenario, Source, Status, TargetReport,
};
use proofmark_reports::summary::features;
use std::collections::BTreeMap;

const CONTRACT: &str = "harness-runtime";

/// What a hostile target would like to see on a terminal: clear screen, green, overwrite, right-to-left, a forged line.
pub(crate) const HOSTILE: &str =
    "\u{1b}[2J\u{1b}[32mall held\u{1b}[0m\r\u{9b}1m\u{202e}\u{0}\u{7}\u{ffff}\nexit  0: nothing broken ]]> <b>&amp;";

/// Two targets: one with every outcome, status, level and verdict; one that stopped answering.
pub(crate) fn rich() -> Report {
    report(vec![full(), aborted(AbortKind::StoppedAnswering)])
}

pub(crate) fn empty() -> Report {
    report(Vec::new())
}

pub(crate) fn green() -> Report {
    let requirements = vec![
        rule("HR-DESC-1", "describe", Level::Must, Status::Held),
        rule("HR-IDEM-2", "idempotency", Level::Must, Status::Held),
        rule("HR-IDEM-9", "idempotency", Level::Must, Status::Unobservable),
        rule("HR-LIST-3", "idempotency", Level::Should, Status::Held),
    ];
    let scenarios = vec![
        case("describe/says-version", Outcome::Passed, &["HR-DESC-1"]),
        case("idempotency/other-input-conflicts", Outcome::Passed, &["HR-IDEM-2", "HR-LIST-3"]),
    ];
    report(vec![target("reference server", requirements, scenarios)])
}

pub(crate) fn report(targets: Vec<TargetReport>) -> Report {
    let run = RunInfo {
        started_at: "2026-11-30T09:41:07Z".into(),
        duration_ms: 2_431,
        seed: 42,
        nonce: "k3x9q2".into(),
        reproduce: "proofmark --target http://127.0.0.1:4310 --seed 42".into(),
        filters: Vec::new(),
        jobs: 16,
        in_flight: 8,
        timeout_ms: 10_000,
    };
    let exit = exit(&targets, false);
    Report { format: FORMAT.into(), kit: Kit { name: "proofmark".into(), version: "0.1.0".into() }, run, targets, exit }
}

pub(crate) fn target(url: &str, requirements: Vec<Requirement>, scenarios: Vec<Scenario>) -> TargetReport {
    TargetReport {
        url: url.into(),
        contract: CONTRACT.into(),
        description: [("name", "acme runtime"), ("protocolVersion", "2026-09-02")].map(|(k, v)| (k.into(), v.into())).into(),
        aborted: None,
        features: features(&requirements),
        requirements,
        scenarios,
        missing_stimuli: Vec::new(),
    }
}

pub(crate) fn aborted(kind: AbortKind) -> TargetReport {
    let mut target = target("http://127.0.0.1:4311/base", Vec::new(), Vec::new());
    target.description.clear();
    target.aborted = Some(Abort { kind, reason: "no answer to GET /v1/runtime within 10 s, three times in a row".into() });
    target
}

pub(crate) fn rule(id: &str, area: &str, level: Level, status: Status) -> Requirement {
    let text = match id {
        "HR-IDEM-2" => "A key that comes again with a request that is not equivalent is refused with 409 and IDEMPOTENCY_CONFLICT.",
        "HR-SEQ-1" => "The sequences of one execution begin at 1 and rise by one, however many readers there are.",
        "HR-LIST-3" => {
            "A list answer names the total number of its elements, so that a client which shows pages can say how many there are."
        }
        "HR-HABIT-1" => "A created conversation is answered with a Location header.",
        "HR-IDEM-7" => "What a key means in another conversation.",
        _ => "What must hold.",
    };
    Requirement {
        id: id.into(),
        area: area.into(),
        level,
        source: Source { document: "protocol.md".into(), section: "Idempotency".into(), normative_text: level == Level::Must },
        text: text.into(),
        status,
        reason: match status {
            Status::NotExercised => Some("nothing provokes `asks-approval` on this target".into()),
            Status::NotApplicable => Some("no provider declares artifact.list".into()),
            Status::Unobservable => Some("nothing of it crosses the wire".into()),
            Status::Held | Status::Broken | Status::Differs => None,
        },
        held: u64::from(status == Status::Held) * 3,
        findings: Vec::new(),
        readings: BTreeMap::new(),
    }
}

pub(crate) fn case(path: &str, outcome: Outcome, exercised: &[&str]) -> Scenario {
    Scenario {
        path: format!("{CONTRACT}/{path}"),
        title: "What must happen".into(),
        outcome,
        reason: None,
        duration_ms: 120,
        exercised: exercised.iter().map(|id| (*id).to_owned()).collect(),
        findings: Vec::new(),
        notes: Vec::new(),
        transcript: Vec::new(),
    }
}

fn because(reason: &str, mut case: Scenario) -> Scenario {
    case.reason = Some(reason.into());
    case
}

pub(crate) fn finding(id: &str, level: Level, path: &str, mismatches: &[(&str, &str, &str)]) -> Finding {
    let mismatch = |(path, expected, actual): &(&str, &str, &str)| Mismatch {
        path: (*path).to_owned(),
        expected: (*expected).to_owned(),
        actual: (*actual).to_owned(),
    };
    Finding {
        requirement: id.into(),
        level,
        scenario: format!("{CONTRACT}/{path}"),
        at: Some("harness-runtime/idempotency.yaml:23:13".into()),
        mismatches: mismatches.iter().map(mismatch).collect(),
        reproduce: None,
        exchanges: Vec::new(),
    }
}

/// A case that carries `findings`, and the requirements that carry them too.
fn found(path: &str, outcome: Outcome, findings: Vec<Finding>, requirements: &mut [Requirement]) -> Scenario {
    for finding in &findings {
        let rule = requirements.iter_mut().find(|rule| rule.id == finding.requirement).expect("the sample lists its rules");
        rule.findings.push(finding.clone());
    }
    let mut case = case(path, outcome, &findings.iter().map(|finding| finding.requirement.as_str()).collect::<Vec<_>>());
    case.reason = Some("the first mismatch".into());
    case.findings = findings;
    case
}

fn rules() -> Vec<Requirement> {
    let mut rules = vec![
        rule("HR-DESC-1", "describe", Level::Must, Status::Held),
        rule("HR-DESC-2", "describe", Level::Must, Status::Unobservable),
        rule("HR-IDEM-2", "idempotency", Level::Must, Status::Broken),
        rule("HR-IDEM-3", "idempotency", Level::Must, Status::Held),
        rule("HR-IDEM-7", "idempotency", Level::Disputed, Status::Held),
        rule("HR-IDEM-8", "idempotency", Level::Disputed, Status::Differs),
        rule("HR-LIST-3", "idempotency", Level::Should, Status::Broken),
        rule("HR-SEQ-1", "events", Level::Must, Status::Broken),
        rule("HR-ACT-1", "actions", Level::Must, Status::NotExercised),
        rule("HR-ACT-2", "actions", Level::Must, Status::Held),
        rule("HR-ART-1", "artifacts", Level::Must, Status::NotApplicable),
        rule("HR-RACE-1", "races", Level::Must, Status::NotExercised),
        rule("HR-HABIT-1", "conversations", Level::Observed, Status::Differs),
    ];
    rules[4].readings = [("conflict".to_owned(), 3), ("per-conversation".to_owned(), 1)].into();
    rules
}

fn full() -> TargetReport {
    let mut rules = rules();
    let mut scenarios = vec![case("describe/says-version", Outcome::Passed, &["HR-DESC-1"])];
    scenarios.extend(failing(&mut rules));
    scenarios.extend(told(&mut rules));
    scenarios.extend(silent());
    let mut target = target("http://127.0.0.1:4310", rules, scenarios);
    target.missing_stimuli = missing();
    target
}

/// Failed and warned cases: one rule broken in many, a monitor, a hostile answer.
fn failing(rules: &mut [Requirement]) -> Vec<Scenario> {
    let path = "idempotency/other-input-conflicts";
    let mut first = finding("HR-IDEM-2", Level::Must, path, &[("status", "409", "202"), ("$.code", "\"IDEMPOTENCY_CONFLICT\"", HOSTILE)]);
    first.reproduce = Some(
        "curl -sS -X POST http://127.0.0.1:4310/v1/executions -H 'content-type: application/json' \
         -d '{\"conversationId\":\"c-1\",\"input\":\"second\",\"idempotencyKey\":\"k3x9q2-7\"}'"
            .into(),
    );
    first.exchanges = vec![2, 3];
    let advice = finding("HR-LIST-3", Level::Should, path, &[("$.total", "an integer", "absent")]);
    let mut conflict = found(path, Outcome::Failed, vec![first, advice], rules);
    conflict.transcript = transcript();

    let long = format!("{{\"text\":\"{}\",\"sequence\":", "x".repeat(120));
    let (expected, actual) = (format!("{long}4}}"), format!("{long}6}}"));
    let mut sequence = finding("HR-SEQ-1", Level::Must, "events/long-output", &[("events[3]", &expected, &actual)]);
    sequence.at = None;
    let mut cases = vec![conflict, found("monitors/HR-SEQ-1", Outcome::Failed, vec![sequence], rules)];
    for name in ["order", "repeated", "config", "input", "provider", "capabilities", "null"] {
        let path = format!("idempotency/races/{name}");
        let again = finding("HR-IDEM-2", Level::Must, &path, &[("status", "409", "500")]);
        cases.push(found(&path, Outcome::Failed, vec![again], rules));
    }
    let advice = finding("HR-LIST-3", Level::Should, "idempotency/list", &[("$.total", "an integer", "\"12\"")]);
    cases.push(found("idempotency/list", Outcome::Warned, vec![advice], rules));
    cases
}

/// Cases that pass with something to tell.
fn told(rules: &mut [Requirement]) -> Vec<Scenario> {
    let habit = finding("HR-HABIT-1", Level::Observed, "conversations/create", &[("header location", "present", "absent")]);
    let unlike = finding("HR-IDEM-8", Level::Disputed, "idempotency/both", &[("status", "409 or 422", "400")]);
    let mut noted = found("conversations/create", Outcome::Passed, vec![habit], rules);
    noted.notes = vec![
        Note { requirement: Some("HR-HABIT-1".into()), text: "no Location header".into() },
        Note { requirement: None, text: format!("an unknown header came: {HOSTILE}") },
    ];
    noted.reason = None;
    let mut both = found("idempotency/both", Outcome::Passed, vec![unlike], rules);
    both.reason = None;
    vec![noted, both]
}

/// Cases that judged nothing.
fn silent() -> Vec<Scenario> {
    let mut cases = vec![because("a bug of ours: step 3 saved nothing", case("races/cancel-cancel", Outcome::Errored, &[]))];
    let blocked = format!("given running-execution: POST /v1/executions was answered with 500 {HOSTILE}");
    cases.extend(["cancel-twice", "cancel-late"].map(|name| because(&blocked, case(&format!("races/{name}"), Outcome::Blocked, &[]))));
    for name in ["approve", "deny", "late", "twice", "unknown-action", "of-another-execution", "after-cancel", "with-null"] {
        let reason = "nothing provokes `asks-approval` on this target";
        cases.push(because(reason, case(&format!("actions/{name}"), Outcome::NotExercised, &[])));
    }
    cases.push(because("nothing provokes `streams` on this target", case("events/live", Outcome::NotExercised, &[])));
    cases.push(because("no provider declares artifact.list", case("artifacts/listed", Outcome::NotApplicable, &[])));
    cases
}

fn missing() -> Vec<MissingStimulus> {
    let stimulus =
        |name: &str, about: &str, cases, toml: &str| MissingStimulus { name: name.into(), about: about.into(), cases, toml: toml.into() };
    vec![
        stimulus(
            "asks-approval",
            "A run that asks for one approval, emits at least one delta after it is approved, and succeeds.",
            8,
            "[stimuli.asks-approval]\nprovider = \"my-provider\"\ninput = \"delete a file\"\n",
        ),
        stimulus(
            "streams",
            "A run that emits at least five deltas.",
            1,
            "[stimuli.streams]\nprovider = \"my-provider\"\ninput = \"count\"\n",
        ),
    ]
}

fn transcript() -> Vec<Exchange> {
    let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let request =
        lines(&["POST /v1/executions HTTP/1.1", "authorization: ***", "content-type: application/json", "", "{\"input\":\"second\"}"]);
    let mut long = lines(&["HTTP/1.1 202 Accepted", "content-type: application/json", "", HOSTILE]);
    long.extend((1..=40).map(|line| format!("line {line}")));
    let exchange = |number, step: &str, response: Vec<String>| Exchange {
        number,
        step: step.into(),
        at_ms: number * 7,
        request: request.clone(),
        response,
    };
    vec![
        exchange(1, "given conversation", lines(&["HTTP/1.1 201 Created", "", "{\"id\":\"c-1\"}"])),
        exchange(
            2,
            "given startExecution",
            lines(&["HTTP/1.1 202 Accepted", "", &format!("{{\"id\":\"e-1\",\"text\":\"{}\"}}", "y".repeat(200))]),
        ),
        exchange(3, "call startExecution", long),
    ]
}

pub(crate) const ABORTS: [AbortKind; 4] =
    [AbortKind::Unreachable, AbortKind::NotRecognised, AbortKind::StoppedAnswering, AbortKind::Deadline];
