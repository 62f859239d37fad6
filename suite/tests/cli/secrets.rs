//! What lets the kit in is never shown: not as sent, not when a target throws it back.

use crate::kit::{Done, Folder, Target, answer, proofmark, proofmark_in, tiny, tiny_fixtures};

/// Throws every header and the body of each request back, in a header and in the body.
fn echo() -> Target {
    Target::start(|request| {
        let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
        let headers: Vec<&str> = head.lines().skip(1).collect();
        let told = serde_json::json!({ "name": "tiny", "status": "ok", "id": "1", "echo": headers, "sent": body });
        let extra = format!("\r\nx-echo: {}\r\n", headers.join("\r\nx-echo: "));
        answer(200, &told.to_string()).replacen("\r\n", &extra, 1)
    })
}

/// Runs with every kind of output at once.
fn everything(target: &Target, environment: &[(&str, &str)], args: &[&str]) -> (Done, String) {
    let (folder, fixtures, url) = (Folder::new(), tiny_fixtures(), target.url());
    let (json, junit) = (folder.path("r.json"), folder.path("r.xml"));
    let reports = [format!("json={json}"), format!("junit={junit}")];
    let common = ["--show-wire", "--report", &reports[0], "--report", &reports[1]];
    let done = proofmark_in(environment, &tiny(&fixtures, &url, &[&common, args].concat()));
    let files = [json, junit].map(|path| std::fs::read_to_string(path).unwrap());
    let all = format!("{}\n{}", done.all(), files.join("\n"));
    (done, all)
}

#[track_caller]
fn assert_hidden(all: &str, secret: &str) {
    if let Some(at) = all.find(secret) {
        let shown: String = all[at.saturating_sub(120)..].chars().take(260).collect();
        panic!("{secret:?} is shown: ...{shown}...");
    }
}

#[test]
fn the_value_of_a_header_is_shown_nowhere() {
    let target = echo();
    let (done, all) = everything(&target, &[], &["--header", "Authorization: Bearer canary-4711-value"]);
    assert!(target.requests().iter().all(|request| request.contains("authorization: Bearer canary-4711-value")), "sent with every request");
    assert!(all.contains("[secret]") && done.code != 0, "the echo was seen, and it is nothing to be proud of:\n{}", done.out);
    assert_hidden(&all, "canary-4711-value");
}

#[test]
fn neither_is_a_short_one_nor_one_that_is_no_token() {
    for value in ["k9x", "two words", "quote\"d\\value", "tab\tbed-value"] {
        let target = echo();
        let (_, all) = everything(&target, &[], &["--header", &format!("X-Tenant: {value}")]);
        assert!(target.requests()[0].contains(&format!("x-tenant: {value}")), "{:?}", target.requests()[0]);
        for line in all.lines().filter(|line| line.to_ascii_lowercase().contains("x-tenant: ") && !line.contains("echo")) {
            assert!(!line.contains(value), "{line}");
        }
        // Three letters may stand in a report by chance; anything longer may not.
        if value.len() > 5 {
            assert_hidden(&all, value);
            assert_hidden(&all, serde_json::json!(value).to_string().trim_matches('"'));
        }
    }
}

#[test]
fn the_token_alone_is_a_secret_too() {
    let target = Target::start(|request| {
        let token = request.split("Bearer ").nth(1).and_then(|rest| rest.split('\r').next()).unwrap_or_default();
        answer(200, &format!(r#"{{"name":"tiny","status":"ok","id":"1","version":"{token}"}}"#))
    });
    let (_, all) = everything(&target, &[], &["--header", "authorization: Bearer canary-4712-value"]);
    assert!(all.contains("[secret]"));
    assert_hidden(&all, "canary-4712-value");
}

#[test]
fn a_secret_that_is_cut_off_leaves_no_stump() {
    for padding in (380..420).step_by(3) {
        let target = Target::start(move |request| {
            let token = request.split("Bearer ").nth(1).and_then(|rest| rest.split('\r').next()).unwrap_or_default();
            let pad = "x".repeat(padding);
            answer(200, &if request.starts_with("GET / ") { r#"{"name":"tiny"}"#.to_owned() } else { format!(r#"{{"a":"{pad}{token}"}}"#) })
        });
        let (_, all) = everything(&target, &[], &["--header", "authorization: Bearer canary-4713-value", "tiny/shelf/kept"]);
        assert_hidden(&all, "canary-4");
    }
}

#[test]
fn a_header_can_come_from_the_environment() {
    let target = echo();
    let environment = [("MY_TOKEN", "Bearer canary-4714-value")];
    let (done, all) = everything(&target, &environment, &["--header-env", "Authorization=MY_TOKEN"]);
    assert!(target.requests().iter().all(|request| request.contains("authorization: Bearer canary-4714-value")));
    assert!(done.out.contains("--header-env Authorization=MY_TOKEN"), "the line that repeats the run:\n{}", done.out);
    assert_hidden(&all, "canary-4714-value");
}

#[test]
fn credentials_in_the_url_are_sent_and_not_shown() {
    let target = echo();
    let url = target.url().replace("http://", "http://ann:canary-4715-value@");
    let done = proofmark(&tiny(&tiny_fixtures(), &url, &["--show-wire", "--report", "json=-"]));
    // `ann:canary-4715-value` in Base64.
    let sent = "YW5uOmNhbmFyeS00NzE1LXZhbHVl";
    assert!(target.requests().iter().all(|request| request.contains(&format!("authorization: Basic {sent}"))));
    assert_hidden(&done.all(), sent);
    assert_hidden(&done.all(), "canary-4715-value");
}

#[test]
fn a_header_that_cannot_be_sent_is_refused_without_its_value() {
    let done = proofmark(&tiny(&tiny_fixtures(), "http://127.0.0.1:1", &["--header", "X Y: canary-4716-value"]));
    assert_hidden(&done.exits(2).all(), "canary-4716-value");
    let done = proofmark(&tiny(&tiny_fixtures(), "http://127.0.0.1:1", &["--header", "canary-4716-value"]));
    assert_hidden(&done.exits(2).all(), "canary-4716-value");
}
