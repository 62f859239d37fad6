//! `serve`: says where it listens, serves, and stops cleanly.

use crate::kit::{Served, ask, proofmark, request, signal};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::net::TcpListener;

#[test]
fn port_zero_is_a_free_port_and_one_line_tells_which() {
    let server = Served::start(&["--listen", "harness-runtime=127.0.0.1:0", "--listen", "agentsessions=127.0.0.1:0"]);
    assert_eq!(server.ready[0]["contract"], "harness-runtime");
    assert_eq!(server.ready[1]["contract"], "agentsessions");
    assert!(server.ready[1]["url"].as_str().unwrap().starts_with("grpc://127.0.0.1:"));
    assert!(server.url().starts_with("http://127.0.0.1:") && !server.url().ends_with(":0"));
    assert_eq!(ask(server.url(), "GET", "/healthz", "")["status"], "ok");
}

fn stops(name: &str) {
    let server = Served::start(&["--listen", "harness-runtime=127.0.0.1:0"]);
    let url = server.url().to_owned();
    let conversation = ask(&url, "POST", "/v1/conversations", "{}")["id"].clone();
    let start = serde_json::json!({
        "conversationId": conversation, "providerId": "scripted", "input": "",
        "config": { "script": [{ "delta": "working" }, { "hold": true }] },
    });
    let execution = ask(&url, "POST", "/v1/executions", &start.to_string())["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/executions/{execution}/events");
    let mut stream = BufReader::new(request(&url, "GET", &path, &["accept: text/event-stream"], ""));
    let mut line = String::new();
    while !line.contains("output.text.delta") {
        line.clear();
        assert_ne!(stream.read_line(&mut line).unwrap(), 0, "the stream ended early");
    }
    signal(server.id(), name);
    let done = server.ends();
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
    // The stream ends with the server: closed or reset, but not left hanging.
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn it_stops_on_sigterm_with_a_stream_open() {
    stops("TERM");
}

#[test]
fn it_stops_on_sigint_with_a_stream_open() {
    stops("INT");
}

#[test]
fn defects_and_weathers_are_listed_for_people_and_for_scripts() {
    for (flag, count) in
        [("--list-defects", proofmark::reference::defects().len()), ("--list-weather", proofmark::reference::weathers().len())]
    {
        let done = proofmark(&["serve", flag, "--format", "json"]);
        let lines: Vec<Value> = done.exits(0).out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(lines.len(), count);
        let text = |line: &Value, key: &str| line[key].as_str().is_some_and(|text| !text.is_empty());
        assert!(lines.iter().all(|line| text(line, "contract") && text(line, "name") && text(line, "about")), "{lines:?}");
        assert_eq!(proofmark(&["serve", flag]).exits(0).out.lines().count(), count);
    }
}

#[test]
fn what_it_cannot_serve_is_told_with_a_hint() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let on_taken = format!("harness-runtime={}", taken.local_addr().unwrap());
    let cases: &[(&[&str], &[&str])] = &[
        (&[], &["--listen is missing", "hint: --listen harness-runtime="]),
        (
            &["--listen", "harness-runtme=127.0.0.1:0"],
            &["no reference server for `harness-runtme`", "hint: did you mean `harness-runtime`?"],
        ),
        (&["--listen", "127.0.0.1:0"], &["`127.0.0.1:0` is not CONTRACT=ADDR"]),
        (&["--listen", &on_taken], &["cannot listen on 127.0.0.1:", "in use"]),
        (
            &["--listen", "harness-runtime=127.0.0.1:0", "--weather", "heartbeat"],
            &["there is no weather `heartbeat`", "did you mean `heartbeats`?"],
        ),
        (&["--listen", "harness-runtime=127.0.0.1:0", "--defect", "key-ignores-inptu"], &["did you mean `key-ignores-input`?"]),
        (
            &["--listen", "harness-runtime=127.0.0.1:0", "--defect", "agentsessions:heartbeats"],
            &["there is no defect `agentsessions:heartbeats`"],
        ),
    ];
    for (args, says) in cases {
        let done = proofmark(&[&["serve"], *args].concat());
        done.exits(2);
        for text in *says {
            assert!(done.err.contains(text), "{args:?} does not say {text:?}:\n{}", done.err);
        }
        assert_eq!(done.out, "", "{args:?}");
    }
}

#[test]
fn a_defect_can_be_served_and_is_found() {
    let defects = ["--defect", "harness-runtime:metadata-dropped", "--defect", "protocol-of-yesterday"];
    let server = Served::start(&[["--listen", "harness-runtime=127.0.0.1:0", "--seed", "3"].as_slice(), &defects].concat());
    assert_ne!(ask(server.url(), "GET", "/v1/runtime", "")["protocolVersion"], "2026-09-02");
    let conversation = ask(server.url(), "POST", "/v1/conversations", r#"{"metadata":{"a":"b"}}"#);
    assert_ne!(conversation["metadata"]["a"], "b");
    let done = proofmark(&["--target", server.url(), "harness-runtime/conversations/**"]);
    assert!(done.exits(1).out.contains("HR-CONV-"), "{}", done.out);
    signal(server.id(), "TERM");
    assert_eq!(server.ends().code, 0);
}

#[test]
fn the_program_tells_its_version_and_its_commands() {
    assert!(proofmark(&["--version"]).exits(0).out.starts_with("proofmark "));
    let help = proofmark(&["--help"]);
    for command in ["run", "list", "explain", "serve", "selftest"] {
        assert!(help.exits(0).out.contains(&format!("  {command} ")), "{}", help.out);
    }
}
