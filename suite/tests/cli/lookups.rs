//! `list` and `explain`: what would run and why not, and what stands behind an id.

use crate::kit::{Folder, Target, Untouched, answer, proofmark, proofmark_in, tiny_fixtures};
use serde_json::Value;
use std::collections::BTreeSet;

fn cases(done: &crate::kit::Done) -> Vec<Value> {
    done.exits(0).json().as_array().expect("an array").clone()
}

#[test]
fn list_gives_one_object_a_case() {
    let all = cases(&proofmark(&["list", "--format", "json", "harness-runtime/idempotency/**"]));
    assert!(all.len() > 10);
    let paths: BTreeSet<&str> = all.iter().map(|case| case["path"].as_str().unwrap()).collect();
    assert_eq!(paths.len(), all.len(), "every path once");
    for case in &all {
        assert!(case["path"].as_str().unwrap().starts_with("harness-runtime/idempotency/"), "{case}");
        assert_eq!(case["contract"], "harness-runtime");
        assert_eq!(case["decision"], "run", "the reference server can do everything: {case}");
        assert_eq!(case["reason"], Value::Null);
        assert!(!case["title"].as_str().unwrap().is_empty());
        assert!(!case["requirements"].as_array().unwrap().is_empty() && case["rounds"].as_u64().unwrap() >= 1, "{case}");
    }
}

#[test]
fn list_tells_what_would_not_run_and_why() {
    let (target, fixtures) = (Target::tiny(), tiny_fixtures());
    let args = ["list", "--fixtures", &fixtures, "--target", &target.url()];
    let done = proofmark(&args);
    let lines: Vec<&str> = done.exits(0).out.lines().collect();
    let expected = [
        "run             tiny/shelf/kept",
        "run             tiny/shelf/put",
        "not-exercised   tiny/shelf/fallen  (no stimulus `falls-down` is known for this target)",
    ];
    assert_eq!(lines, expected);
    let folder = Folder::new();
    let profile = folder.write("p.toml", "contract = \"tiny\"\n[stimuli.falls-down]\nprovider = \"gravity\"\n");
    let done = proofmark(&[&args[..], &["--profile", &profile]].concat());
    assert!(done.exits(0).out.contains("run             tiny/shelf/fallen"), "{}", done.out);
    // Listing asks which contract the target speaks, and nothing more.
    assert!(target.requests().iter().all(|request| request.starts_with("GET / ")));
}

#[test]
fn list_and_run_of_a_target_that_lacks_a_capability_is_not_applicable() {
    let manifest = r#"{"id":"p","name":"P","version":"1","protocolVersion":"2026-09-02","topologies":["local"],"capabilities":{"action.approval":"unsupported"}}"#;
    let description = format!(r#"{{"name":"n","version":"1","protocolVersion":"2026-09-02","providers":[{manifest}]}}"#);
    let target = Target::start(move |request| {
        let known = request.starts_with("GET /v1/runtime ");
        answer(if known { 200 } else { 404 }, if known { &description } else { r#"{"code":"NOT_FOUND","message":"no"}"# })
    });
    let url = target.url();
    let all = cases(&proofmark(&["list", "--format", "json", "--target", &url, "harness-runtime/actions/**"]));
    let needs = |case: &Value, name: &str| case["needs"].as_array().unwrap().iter().any(|need| need == name);
    let asking: Vec<&Value> = all.iter().filter(|case| needs(case, "asks-approval")).collect();
    assert!(!asking.is_empty());
    for case in asking {
        assert_eq!(case["decision"], "not-applicable", "{case}");
        assert_eq!(case["reason"], "no provider declares support for action.approval");
    }
}

#[test]
fn list_of_an_unreachable_target_says_so() {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let url = format!("http://{}", socket.local_addr().unwrap());
    let done = proofmark(&["list", "--fixtures", &tiny_fixtures(), "--target", &url, "--wait-ready", "200ms"]);
    assert!(done.exits(3).err.contains("no connection"), "{}", done.err);
}

#[test]
fn explain_shows_a_requirement_with_everything_that_checks_and_breaks_it() {
    let done = proofmark(&["explain", "HR-IDEM-3"]);
    let text = &done.exits(0).out;
    assert!(text.starts_with("HR-IDEM-3  must  (harness-runtime, idempotency)\n"), "{text}");
    for part in ["source ", "checked by   harness-runtime/idempotency/", "broken by    --defect "] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    let done = proofmark(&["explain", "HR-EVENT-7"]);
    assert!(done.exits(0).out.contains("checked by   the monitor `"), "{}", done.out);
}

#[test]
fn explain_shows_a_scenario_and_the_scenario_of_a_case() {
    let done = proofmark(&["explain", "harness-runtime/idempotency/other-input"]);
    let text = &done.exits(0).out;
    for part in ["written in   harness-runtime/idempotency.yaml:", "checks       HR-IDEM-3 (must): ", "step         given conversation"] {
        assert!(text.contains(part), "{part:?} is missing:\n{text}");
    }
    let fixtures = tiny_fixtures();
    let done = proofmark(&["explain", "--fixtures", &fixtures, "tiny/shelf/fallen"]);
    assert!(done.exits(0).out.contains("needs        falls-down: A thing that falls down by itself."), "{}", done.out);
}

#[test]
fn explain_of_nothing_suggests_something() {
    let fixtures = tiny_fixtures();
    for (id, hint) in [("T-GET-2", "hint: did you mean `T-GET-1`?"), ("tiny/shelf/fallne", "hint: did you mean `tiny/shelf/fallen`?")] {
        let done = proofmark(&["explain", "--fixtures", &fixtures, id]);
        assert!(done.exits(2).err.contains(hint), "{}", done.err);
    }
}

/// Flag before environment before default.
#[test]
fn the_environment_stands_in_for_flags() {
    let (fixtures, target) = (tiny_fixtures(), Untouched::new());
    let done = proofmark_in(&[("PROOFMARK_FIXTURES", &fixtures)], &["explain", "T-GET-1"]);
    done.exits(0);
    let done = proofmark_in(&[("PROOFMARK_FIXTURES", "no/such/folder")], &["explain", "--fixtures", &fixtures, "T-GET-1"]);
    done.exits(0);
    let environment = [("PROOFMARK_FIXTURES", fixtures.as_str()), ("PROOFMARK_TARGET", &target.url()), ("PROOFMARK_WAIT_READY", "300ms")];
    let done = proofmark_in(&environment, &["tiny/shelf/kept"]);
    assert!(done.exits(3).out.contains("got no answer within 300ms"), "{}", done.out);
    let done = proofmark_in(&environment, &["tiny/shelf/kept", "--target", &Target::tiny().url()]);
    done.exits(0);
}
