//! `follow` and `await`: what is read, how often, from where on, and what counts as the end.

use crate::contract::{assert_all_passed, broken, case, rule, run, settings};
use crate::server::{Answer, STREAM, Seen, Server, frames, json, stream};
use proofmark::runner::settings::Settings;
use proofmark_reports::model::{Outcome, Status, TargetReport};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Events 1 to 4; the last one is the end.
fn events() -> Vec<Value> {
    let types = ["queued", "tick", "tick", "done"];
    types.iter().zip(1..).map(|(name, sequence)| json!({ "type": name, "sequence": sequence })).collect()
}

fn follow(until: &str, expect: &str) -> String {
    format!(
        "  - id: followed\n    title: A run is followed\n    steps: [{{ follow: \"1\", {until}expect: [{{ rule: R-OWN-1, {expect} }}] }}]\n"
    )
}

/// Answers the reads of events by `answer`, in the order of their coming.
async fn serve(answer: impl Fn(usize, &Seen) -> Answer + Send + Sync + 'static) -> Server {
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    Server::start(move |seen| {
        let answer = answer.clone();
        let number = if seen.path.contains("/events") { count.fetch_add(1, Ordering::SeqCst) } else { 0 };
        async move {
            match seen.path.as_str() {
                "/" => json(200, &json!({ "name": "relay" })),
                path if path.contains("/events") => answer(number, &seen),
                _ => json(200, &json!({ "id": "1", "state": "done" })),
            }
        }
    })
    .await
}

/// These events, and then the connection breaks.
fn cut(events: &[Value]) -> Answer {
    let frames = frames(events);
    let head = STREAM.replace("connection: close", "transfer-encoding: chunked");
    Answer::Bytes(format!("{head}{:x}\r\n{frames}\r\n", frames.len()).into_bytes())
}

fn reads(server: &Server) -> Vec<String> {
    server.seen().into_iter().map(|seen| seen.path).filter(|path| path.contains("/events")).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_stream_is_resumed_after_what_was_seen() {
    let server = serve(|number, _| match number {
        0 => cut(&events()[..1]),
        1 => cut(&events()[1..3]),
        _ => stream(&events()[3..]),
    })
    .await;
    assert_all_passed(&run(&follow("", "types: [queued, tick, tick, done]"), &server, &settings()).await);
    assert_eq!(reads(&server), ["/runs/1/events", "/runs/1/events?after=1", "/runs/1/events?after=3"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_is_cut_again_and_again_is_given_up() {
    let server = serve(|_, _| cut(&events()[..1])).await;
    let report = run(&follow("", "last: done"), &server, &settings()).await;
    assert_eq!((broken(&report), rule(&report, "R-OWN-1").status), (Vec::new(), Status::NotExercised));
    assert!(reads(&server).len() < 10, "{:?}", reads(&server));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_that_comes_twice_is_one_event() {
    let server = serve(|_, _| stream(&[&events()[..2], &events()[1..]].concat())).await;
    assert_all_passed(&run(&follow("", "types: [queued, tick, tick, done]"), &server, &settings()).await);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_kit_hangs_up_when_it_has_what_it_waited_for() {
    let first = || format!("{STREAM}{}", frames(&events()[..2]));
    let waits = [
        ("until: { count: 1 }, ", "types: [queued]"),
        ("until: { event: tick }, ", "types: [queued, tick]"),
        ("until: { event: { type: { $matches: \"^ti\" } } }, ", "types: [queued, tick]"),
    ];
    for (until, expect) in waits {
        let server = serve(move |_, _| Answer::Endless(first(), ": nothing more\n\n".to_owned())).await;
        assert_all_passed(&run(&follow(until, expect), &server, &settings()).await);
    }
    let server = serve(|_, _| stream(&events())).await;
    assert_all_passed(&run(&follow("until: terminal, ", "last: done"), &server, &settings()).await);
}

fn unseen(report: &TargetReport) {
    assert_eq!((broken(report), rule(report, "R-OWN-1").status), (Vec::new(), Status::NotExercised));
}

/// That a stream ended early is the business of another rule; nothing that it did not bring is held against the target.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_history_that_was_not_read_to_its_end_accuses_nobody_of_what_is_missing() {
    for expect in ["last: done", "some: done", "exactlyOne: done", "types: [queued, tick, tick, done]", "count: { of: tick, is: 2 }"] {
        let server = serve(|_, _| stream(&events()[..2])).await;
        unseen(&run(&follow("", expect), &server, &settings()).await);
    }
    // What it did bring counts.
    let server = serve(|_, _| stream(&events()[..2])).await;
    assert_eq!(broken(&run(&follow("", "none: tick"), &server, &settings()).await), ["R-OWN-1"]);
}

/// Heartbeats are no events: the kit asks whether the run has ended, and leaves.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_that_stays_open_when_its_run_has_ended_is_left() {
    let server = serve(|_, _| Answer::Endless(STREAM.to_owned(), ": still here\n\n".to_owned())).await;
    unseen(&run(&follow("", "last: done"), &server, &settings()).await);
    assert!(server.count("GET", "/runs/1") >= 1, "it was asked whether the run has ended");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_await_reads_until_it_comes_true_and_blocks_when_it_does_not() {
    let count = Arc::new(AtomicUsize::new(0));
    let server = Server::start(move |seen| {
        let number = if seen.path == "/things/t" { count.fetch_add(1, Ordering::SeqCst) } else { 0 };
        async move { json(200, &if seen.path == "/" { json!({ "name": "relay" }) } else { json!({ "ripe": number >= 4 }) }) }
    })
    .await;
    let steps = |thing: &str| {
        format!(
            "  - id: awaited\n    title: It ripens\n    steps: [{{ await: getThing, path: {{ id: {thing} }}, \
             until: {{ body: {{ ripe: true }} }}, expect: [{{ rule: R-OWN-1, status: 200 }}] }}]\n"
        )
    };
    assert_all_passed(&run(&steps("t"), &server, &settings()).await);
    assert_eq!(server.count("GET", "/things/t"), 5);
    let report = run(&steps("green"), &server, &Settings { timeout: Duration::from_millis(300), ..settings() }).await;
    unseen(&report);
    let scenario = case(&report, "awaited");
    assert_eq!(scenario.outcome, Outcome::Blocked);
    let reason = scenario.reason.as_deref().unwrap();
    assert!(reason.contains("did not come true within 300ms") && reason.contains("\"ripe\":false"), "{reason}");
}

/// Two seconds for each of them would make the run of a target that ends no stream long, and tell nothing that the first do not tell.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_target_that_ends_no_stream_is_not_waited_for_again_and_again() {
    let server = serve(|_, _| Answer::Open(format!("{STREAM}{}", frames(&events())))).await;
    let read = "[{ follow: \"1\", expect: [{ rule: R-OWN-1, status: 200 }] }]";
    let steps = format!("[{{ together: [{read}, {read}, {read}] }}]");
    let scenario = format!("  - id: followed\n    title: Runs are followed\n    rounds: 3\n    steps: {steps}\n");
    let report = run(&scenario, &server, &settings()).await;
    assert_all_passed(&report);
    assert_eq!(reads(&server).len(), 9);
    let took = case(&report, "followed").duration_ms;
    assert!((2000..6000).contains(&took), "{took} ms: three rounds of two seconds each");
}
