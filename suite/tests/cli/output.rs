//! What goes where: reports, the terminal, nothing else.

use crate::kit::{Folder, Served, Target, proofmark, tiny, tiny_fixtures};
use proofmark_schema::validate;
use serde_json::Value;

#[track_caller]
fn assert_report(report: &Value) {
    assert_eq!(validate::check("report.schema.json", report).unwrap(), []);
}

fn outcomes(report: &Value) -> Vec<(&str, &str)> {
    let scenarios = report["targets"][0]["scenarios"].as_array().unwrap();
    scenarios.iter().map(|s| (s["path"].as_str().unwrap(), s["outcome"].as_str().unwrap())).collect()
}

#[test]
fn a_report_on_standard_output_is_alone_there_and_valid() {
    let done = proofmark(&["harness-runtime/describe/**", "--report", "json=-"]);
    let report = done.exits(0).json();
    assert_report(&report);
    assert_eq!(done.err, "");
    assert_eq!(report["run"]["filters"], serde_json::json!(["harness-runtime/describe/**"]));
    let broken = |requirement: &&Value| requirement["status"] == "broken";
    assert_eq!(report["targets"][0]["requirements"].as_array().unwrap().iter().find(broken), None);
}

#[test]
fn a_report_of_a_target_that_was_not_reached_is_valid() {
    let done = proofmark(&tiny(&tiny_fixtures(), "http://127.0.0.1:1", &["--wait-ready", "50ms", "--report", "json=-"]));
    let report = done.exits(3).json();
    assert_report(&report);
    assert_eq!(report["targets"][0]["aborted"]["kind"], "unreachable");
    assert_eq!(report["exit"]["code"], 3);
}

#[test]
fn reports_go_to_files_and_the_terminal_report_stays() {
    let (folder, fixtures, target) = (Folder::new(), tiny_fixtures(), Target::tiny());
    let (json, junit) = (folder.path("r.json"), folder.path("r.xml"));
    let (to_json, to_junit) = (format!("json={json}"), format!("junit={junit}"));
    let done = proofmark(&tiny(&fixtures, &target.url(), &["--report", &to_json, "--report", &to_junit]));
    assert!(done.exits(0).out.contains("exit  0: "), "{}", done.out);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&json).unwrap()).unwrap();
    assert_report(&report);
    let expected = [("tiny/shelf/kept", "passed"), ("tiny/shelf/put", "passed"), ("tiny/shelf/fallen", "not-exercised")];
    assert_eq!(outcomes(&report), expected);
    let xml = std::fs::read_to_string(&junit).unwrap();
    assert!(xml.starts_with("<?xml") && xml.trim_end().ends_with("</testsuites>"), "{xml}");
    assert_eq!((xml.matches("<testcase ").count(), xml.matches("<failure").count()), (3, 0), "{xml}");
}

/// The stimulus that is missing is handed over as TOML that can be pasted.
#[test]
fn missing_stimuli_come_as_toml_that_a_profile_accepts() {
    let (folder, fixtures, target) = (Folder::new(), tiny_fixtures(), Target::tiny());
    let done = proofmark(&tiny(&fixtures, &target.url(), &[]));
    let toml: Vec<&str> = done.exits(0).out.lines().map(str::trim).skip_while(|line| *line != "[stimuli.falls-down]").take(2).collect();
    assert_eq!(toml, ["[stimuli.falls-down]", "provider = \"gravity\""], "{}", done.out);
    let profile = folder.write("p.toml", &format!("contract = \"tiny\"\n{}\n", toml.join("\n")));
    let done = proofmark(&tiny(&fixtures, &target.url(), &["--profile", &profile, "--report", "json=-"]));
    assert_eq!(outcomes(&done.exits(0).json())[2], ("tiny/shelf/fallen", "passed"));
}

#[test]
fn in_a_pipe_there_is_no_colour_and_no_progress() {
    let (fixtures, target) = (tiny_fixtures(), Target::tiny());
    for more in [&[][..], &["--show-wire"], &["--no-color"], &["--quiet"]] {
        let done = proofmark(&tiny(&fixtures, &target.url(), more));
        done.exits(0);
        assert!(!done.all().contains(['\u{1b}', '\r', '\u{8}']), "{more:?}: {:?}", done.all());
        assert_eq!(done.err, "");
    }
}

#[test]
fn quiet_says_less_and_show_wire_more() {
    let (fixtures, target) = (tiny_fixtures(), Target::tiny());
    let lines = |more: &[&str]| {
        let done = proofmark(&tiny(&fixtures, &target.url(), more));
        assert!(done.exits(0).out.contains("exit  0: "), "{}", done.out);
        done.out
    };
    let (quiet, plain, wire) = (lines(&["--quiet"]), lines(&[]), lines(&["--show-wire"]));
    assert!(quiet.lines().count() < plain.lines().count(), "{quiet}\n{plain}");
    assert!(!plain.contains("GET ") && wire.contains(&format!("GET {}/things/1", target.url())), "{plain}\n{wire}");
}

#[test]
fn a_failure_shows_the_rule_the_difference_the_wire_and_how_to_see_it_again() {
    let fixtures = tiny_fixtures();
    let target = Target::start(|request| {
        let (status, body) = if request.starts_with("GET /things") { (418, r#"{"status":"tea"}"#) } else { (200, r#"{"name":"tiny"}"#) };
        crate::kit::answer(status, body)
    });
    let url = target.url();
    let done = proofmark(&tiny(&fixtures, &url, &["tiny/shelf/kept", "--quiet"]));
    let parts = [
        "T-GET-1",
        "A thing that is there is read with 200.",
        "tiny/shelf.yaml:11:13",
        "418",
        &format!("curl -sS -i -N -H 'accept: application/json' '{url}/things/1'"),
        &format!("GET {url}/things/1"),
    ];
    for part in parts {
        assert!(done.exits(1).out.contains(part), "{part:?} is missing:\n{}", done.out);
    }
}

/// The line that the report gives runs the same again.
#[test]
fn a_run_can_be_repeated_by_its_own_line() {
    let (fixtures, target) = (tiny_fixtures(), Target::tiny());
    let done = proofmark(&tiny(
        &fixtures,
        &target.url(),
        &["tiny/shelf/*", "--seed", "7", "--jobs", "2", "--timeout", "30s", "--report", "json=-"],
    ));
    let report = done.exits(0).json();
    let line = report["run"]["reproduce"].as_str().unwrap();
    let words: Vec<&str> = line.split(' ').map(|word| word.trim_matches('\'')).collect();
    let again = proofmark(&[&words[1..], &["--report", "json=-"]].concat()).exits(0).json();
    for (member, value) in [("seed", 7), ("jobs", 2), ("timeoutMs", 30_000)] {
        assert_eq!(again["run"][member], value, "{line}");
    }
    assert_eq!(outcomes(&again), outcomes(&report));
    assert_ne!(again["run"]["nonce"], report["run"]["nonce"], "a target that remembers must not see the same names again");
}

#[test]
fn a_provider_without_approvals_is_not_judged_by_scenarios_of_approvals() {
    let server = Served::start(&["--listen", "harness-runtime=127.0.0.1:0"]);
    let folder = Folder::new();
    let profile = folder.write("p.toml", "contract = \"harness-runtime\"\n\n[stimuli.asks-approval]\nprovider = \"mock-echo\"\n");
    let args = ["--target", server.url(), "--profile", &profile, "harness-runtime/actions/**", "--report", "json=-"];
    let report = proofmark(&args).exits(0).json();
    let listed = proofmark(&["list", "--format", "json", "harness-runtime/actions/**"]).exits(0).json();
    let asks = |path: &str| {
        let case = listed.as_array().unwrap().iter().find(|case| case["path"] == path);
        case.is_some_and(|case| case["needs"].as_array().unwrap().iter().any(|need| need == "asks-approval"))
    };
    let judged: Vec<(&str, &str)> = outcomes(&report).into_iter().filter(|(path, _)| asks(path)).collect();
    assert!(!judged.is_empty());
    assert!(judged.iter().all(|(_, outcome)| *outcome == "not-applicable"), "{judged:?}");
    let red = outcomes(&report).into_iter().filter(|(_, outcome)| ["failed", "warned", "errored"].contains(outcome));
    assert_eq!(red.collect::<Vec<_>>(), []);
}
