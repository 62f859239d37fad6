//! The table of exit codes, line by line.

use crate::kit::{Folder, Served, Target, Untouched, answer, proofmark, tiny, tiny_fixtures};
use proofmark::reference::defects;
use proofmark_reports::model::Level;
use std::net::TcpListener;

#[test]
fn zero_when_something_held_and_nothing_was_broken() {
    let done = proofmark(&["harness-runtime/describe/**"]);
    done.exits(0);
    assert!(done.out.contains("exit  0: "), "{}", done.out);
    assert_eq!(done.err, "");
}

#[test]
fn one_when_a_must_was_broken() {
    let breaks = |id: &&'static str| id.starts_with("HR-DESC-");
    let defect = defects().iter().find(|d| d.contract == "harness-runtime" && d.breaks.iter().any(breaks)).unwrap();
    let server = Served::start(&["--listen", "harness-runtime=127.0.0.1:0", "--defect", defect.name]);
    let done = proofmark(&["--target", server.url(), "harness-runtime/describe/**", "--report", "json=-"]);
    done.exits(1);
    let report = done.json();
    let requirements = report["targets"][0]["requirements"].as_array().unwrap();
    let broken: Vec<&str> = requirements.iter().filter(|r| r["status"] == "broken").map(|r| r["id"].as_str().unwrap()).collect();
    assert_eq!(broken, defect.breaks.iter().copied().filter(breaks).collect::<Vec<_>>());
    assert_eq!(report["exit"]["code"], 1);
}

#[test]
fn one_when_strict_and_a_must_was_not_exercised() {
    let (fixtures, target) = (tiny_fixtures(), Target::tiny());
    let filter = "tiny/shelf/kept";
    let done = proofmark(&tiny(&fixtures, &target.url(), &[filter]));
    assert!(done.exits(0).out.contains("1 not exercised"), "{}", done.out);
    let done = proofmark(&tiny(&fixtures, &target.url(), &[filter, "--strict"]));
    assert!(done.exits(1).out.contains("T-PUT-1"), "{}", done.out);
}

#[test]
fn one_when_nothing_was_held() {
    let target = Target::start(|request| if request.starts_with("GET / ") { answer(200, r#"{"name":"tiny"}"#) } else { answer(500, "{}") });
    let fixtures = tiny_fixtures();
    let done = proofmark(&tiny(&fixtures, &target.url(), &["tiny/shelf/fallen"]));
    assert!(done.exits(1).out.contains("no must rule of tiny was held"), "{}", done.out);
}

/// Arguments, and what the message must say.
const USAGE: &[(&[&str], &[&str])] = &[
    (&["tiny/shelf/ketp"], &["the filter `tiny/shelf/ketp` matches nothing", "hint: did you mean `tiny/shelf/kept`?"]),
    (&["T-GET-2"], &["the filter `T-GET-2` matches nothing", "hint: did you mean `T-GET-1`?"]),
    (&["T-ODD-1"], &["the filter `T-ODD-1` matches nothing", "hint: no scenario checks T-ODD-1 by itself; `proofmark explain T-ODD-1`"]),
    (&["--contract", "tinny"], &["there is no contract `tinny`", "hint: did you mean `tiny`?"]),
    (&["--target", "127.0.0.1:80"], &["`127.0.0.1:80` is no target: it needs a scheme", "hint: for example --target http://"]),
    (&["--target", "http://user:password@"], &["`http://...@` is no target: the host is missing"]),
    (&["--target", "grpc://127.0.0.1:1", "--contract", "tiny"], &["tiny does not run over the wire of grpc://127.0.0.1:1"]),
    (&["--report", "json=no/such/folder/report.json"], &["no/such/folder/report.json cannot be written"]),
    (&["--report", "json=-", "--report", "junit=-"], &["only one report can go to standard output"]),
    (&["--report", "json=twice", "--report", "junit=twice"], &["only one report can go to twice"]),
    (&["--report", "html=x"], &["there is no report kind `html`; known: json, junit"]),
    (&["--profile", "no/such/profile.toml"], &["no/such/profile.toml cannot be read"]),
    (&["--header", "secret-without-a-name"], &["--header needs a name and a value"]),
    (&["--header-env", "authorization=NO_SUCH_VARIABLE"], &["the environment has no variable NO_SUCH_VARIABLE"]),
    (&["--jobs", "0"], &["at least 1"]),
    (&["--timeout", "soon"], &["a duration is expected"]),
    (&["--fixture", "x"], &["unexpected argument '--fixture'"]),
];

#[test]
fn two_when_what_is_asked_for_does_not_fit_and_nothing_is_sent() {
    let (fixtures, target) = (tiny_fixtures(), Untouched::new());
    for (args, says) in USAGE {
        let done = proofmark(&tiny(&fixtures, &target.url(), args));
        done.exits(2);
        for text in *says {
            assert!(done.err.contains(text), "{args:?} does not say {text:?}:\n{}", done.err);
        }
        assert_eq!(done.out, "", "{args:?}");
    }
    target.assert_untouched();
}

#[test]
fn two_when_a_profile_or_a_fixture_is_wrong_and_nothing_is_sent() {
    let (folder, target) = (Folder::new(), Untouched::new());
    let profile = folder.write("p.toml", "contract = \"harness-runtime\"\n\n[stimuli.asks-aproval]\nprovider = \"p\"\n");
    let done = proofmark(&["--target", &target.url(), "--profile", &profile]);
    assert!(done.exits(2).err.contains("p.toml:3:10: there is no stimulus `asks-aproval`"), "{}", done.err);
    assert!(done.err.contains("did you mean `asks-approval`?"), "{}", done.err);

    folder.write("fixtures/tiny/requirements.yaml", "contract: tiny\nrequirement: []\n");
    let done = proofmark(&tiny(&folder.path("fixtures"), &target.url(), &[]));
    assert!(done.exits(2).err.contains("tiny/requirements.yaml:2:1: the requirements file has no key `requirement`"), "{}", done.err);
    assert!(done.err.contains("did you mean `requirements`?"), "{}", done.err);

    let done = proofmark(&tiny(&folder.path("no-such-folder"), &target.url(), &[]));
    assert!(done.exits(2).err.contains("no-such-folder cannot be read"), "{}", done.err);
    target.assert_untouched();
}

/// What would be left out silently is a mistake, too.
#[test]
fn two_when_an_option_needs_a_target_and_there_is_none() {
    let (folder, fixtures) = (Folder::new(), tiny_fixtures());
    let profile = folder.write("p.toml", "contract = \"tiny\"\n");
    let done = proofmark(&["--fixtures", &fixtures, "--profile", &profile]);
    assert!(done.exits(2).err.contains("--profile"), "{}", done.err);
    let done = proofmark(&["--fixtures", &fixtures]);
    assert!(done.exits(2).err.contains("there is no built-in server for `tiny`"), "{}", done.err);
    let done = proofmark(&["--contract", "harness-runtme"]);
    assert!(done.exits(2).err.contains("did you mean `harness-runtime`?"), "{}", done.err);
}

#[test]
fn three_when_nobody_listens() {
    // Bound and not listening: the port stays free of others, and connections are refused.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let (fixtures, url) = (tiny_fixtures(), format!("http://{}", socket.local_addr().unwrap()));
    let done = proofmark(&tiny(&fixtures, &url, &["--wait-ready", "200ms"]));
    assert!(done.exits(3).out.contains(&format!("{url} was not reached: no connection")), "{}", done.out);
}

#[test]
fn three_when_nobody_says_a_word() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (fixtures, url) = (tiny_fixtures(), format!("http://{}", listener.local_addr().unwrap()));
    let done = proofmark(&tiny(&fixtures, &url, &["--wait-ready", "1s"]));
    assert!(done.exits(3).out.contains(&format!("{url} was not reached: GET {url}/ got no answer within 1s")), "{}", done.out);
}

#[test]
fn three_when_something_else_answers_and_what_was_seen_is_told() {
    let page = "<!doctype html><title>Welcome</title>";
    let target = Target::start(move |_| answer(200, page).replace("application/json", "text/html"));
    let url = target.url();
    let done = proofmark(&tiny(&tiny_fixtures(), &url, &[]));
    assert!(done.exits(3).out.contains("was not recognised"), "{}", done.out);
    assert!(done.out.contains(&format!("GET {url}/ answered 200 and no JSON")), "{}", done.out);
    let target = Target::start(|_| answer(200, r#"{"name":"huge"}"#));
    let done = proofmark(&tiny(&tiny_fixtures(), &target.url(), &[]));
    assert!(done.exits(3).out.contains(r#"answered 200 with {"name":"huge"}"#), "{}", done.out);
}

/// A scenario that cannot be run is the fault of who wrote it, never the target's.
#[test]
fn four_when_the_kit_itself_failed() {
    let server = Served::start(&["--listen", "agentsessions=127.0.0.1:0"]);
    let folder = Folder::new();
    let embedded = proofmark::fixtures::Fixtures::embedded();
    for (file, text) in embedded.of_contract("agentsessions").filter(|(file, _)| *file != "sessions.yaml") {
        folder.write(&format!("agentsessions/{file}"), text);
    }
    let scenario = "{ id: odd, title: A field, steps: [{ given: Sessions/CreateSession, request: { no_such_field: 1 } }] }";
    let text = format!("contract: agentsessions\narea: sessions\nabout: Odd.\nscenarios:\n  - {scenario}\n");
    folder.write("agentsessions/sessions.yaml", &text);
    let done = proofmark(&["--fixtures", &folder.path(""), "--target", server.url()]);
    assert!(done.exits(4).out.contains("a fault of the kit and not of the target"), "{}", done.out);
}

#[test]
fn levels_that_do_not_bind_fail_nobody() {
    let requirements = std::fs::read_to_string(format!("{}/tiny/requirements.yaml", tiny_fixtures())).unwrap();
    let folder = Folder::new();
    for file in ["operations", "stimuli", "preambles", "shelf"] {
        let text = std::fs::read_to_string(format!("{}/tiny/{file}.yaml", tiny_fixtures())).unwrap();
        folder.write(&format!("tiny/{file}.yaml"), &text.replace("status: 200 }", "status: 299 }"));
    }
    let target = Target::tiny();
    for (level, code) in [(Level::Should, 0), (Level::Observed, 0), (Level::Must, 1)] {
        let level = format!("level: {}", format!("{level:?}").to_lowercase());
        folder.write("tiny/requirements.yaml", &requirements.replacen("level: must", &level, 1));
        proofmark(&tiny(&folder.path(""), &target.url(), &[])).exits(code);
    }
}
