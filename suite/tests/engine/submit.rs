//! `submit`: a submission that is answered with its stream. Sent once; a busy answer is waited out; what it started is remembered.

use crate::contract::{assert_all_passed, broken, rule, run, settings};
use crate::server::{Answer, STREAM, Seen, Server, frames, json, stream};
use proofmark_reports::model::Status;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn events() -> Vec<Value> {
    let types = ["queued", "tick", "done"];
    types.iter().zip(1..).map(|(name, sequence)| json!({ "id": "7", "type": name, "sequence": sequence })).collect()
}

fn submit(until: &str, expect: &str) -> String {
    format!(
        "  - id: submitted\n    title: A run is submitted\n    steps: [{{ submit: {{ input: hello }}, {until}expect: [{{ rule: R-OWN-1, {expect} }}] }}]\n"
    )
}

/// Answers the submissions by `answer`, in the order of their coming.
async fn serve(answer: impl Fn(usize) -> Answer + Send + Sync + 'static) -> Server {
    let (answer, count) = (Arc::new(answer), Arc::new(AtomicUsize::new(0)));
    Server::start(move |seen: Seen| {
        let answer = answer.clone();
        let number = if seen.is("POST", "/runs") { count.fetch_add(1, Ordering::SeqCst) } else { 0 };
        async move {
            match seen.path.as_str() {
                "/" => json(200, &json!({ "name": "relay" })),
                "/runs" => answer(number),
                _ => json(200, &json!({ "id": "7", "state": "running" })),
            }
        }
    })
    .await
}

fn submissions(server: &Server) -> Vec<Value> {
    server.seen().into_iter().filter(|seen| seen.is("POST", "/runs")).map(|seen| seen.body).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_stream_of_a_submission_is_read_to_its_end() {
    let server = serve(|_| stream(&events())).await;
    assert_all_passed(&run(&submit("", "types: [queued, tick, done]"), &server, &settings()).await);
    assert_eq!(submissions(&server), [json!({ "input": "hello" })]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_submission_left_running_is_cancelled_after_the_case() {
    let server = serve(|_| Answer::Endless(format!("{STREAM}{}", frames(&events()[..2])), ": on\n\n".to_owned())).await;
    assert_all_passed(&run(&submit("until: { event: tick }, ", "some: tick"), &server, &settings()).await);
    assert_eq!(server.count("POST", "/runs/7/cancel"), 1);
}

/// Sent again it might start another run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_submission_whose_stream_is_cut_is_not_sent_again() {
    let server = serve(|_| {
        let frames = frames(&events()[..2]);
        let head = STREAM.replace("connection: close", "transfer-encoding: chunked");
        Answer::Bytes(format!("{head}{:x}\r\n{frames}\r\n", frames.len()).into_bytes())
    })
    .await;
    let report = run(&submit("", "last: done"), &server, &settings()).await;
    assert_eq!((broken(&report), rule(&report, "R-OWN-1").status), (Vec::new(), Status::NotExercised));
    assert_eq!(submissions(&server).len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_contract_calls_busy_is_waited_out() {
    let busy = || json(500, &json!({ "error": { "code": "full" } }));
    let server = serve(move |number| if number < 2 { busy() } else { stream(&events()) }).await;
    assert_all_passed(&run(&submit("", "last: done"), &server, &settings()).await);
    assert_eq!(submissions(&server).len(), 3);
}
