//! The seed fixes the order of cases and the generated data; uniqueness comes from a nonce outside of it.

use crate::contract::{assert_all_passed, run, settings};
use crate::server::{Server, json};
use proofmark::runner::settings::Settings;
use serde_json::{Value, json};
use std::fmt::Write as _;

fn scenarios() -> String {
    (0..16).fold(String::new(), |mut text, i| {
        writeln!(
            text,
            r#"  - id: thing-{i}
    title: A thing is put
    exclusive: {}
    steps: [{{ call: putThing, path: {{ id: "{i}" }}, body: {{ key: "${{unique}}" }}, expect: [{{ rule: R-OWN-1, status: 201 }}] }}]"#,
            i % 5 == 4
        )
        .unwrap();
        text
    })
}

/// The paths in the order of arrival, and the keys.
async fn order(seed: u64) -> (Vec<String>, Vec<Value>) {
    let server =
        Server::start(|seen| async move { if seen.path == "/" { json(200, &json!({ "name": "relay" })) } else { json(201, &json!({})) } })
            .await;
    assert_all_passed(&run(&scenarios(), &server, &Settings { jobs: 1, seed, ..settings() }).await);
    let puts: Vec<_> = server.seen().into_iter().filter(|request| request.path != "/").collect();
    (puts.iter().map(|put| put.path.clone()).collect(), puts.iter().map(|put| put.body["key"].clone()).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_seed_is_one_order_and_another_seed_another() {
    let (first, keys) = order(7).await;
    let (again, other_keys) = order(7).await;
    assert_eq!(first, again);
    assert_ne!(first, order(8).await.0);
    assert!(keys.iter().all(|key| !other_keys.contains(key)), "a second run uses no name of the first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cases_that_run_alone_come_when_the_others_are_done() {
    let (paths, _) = order(7).await;
    let alone: Vec<bool> = paths.iter().map(|path| path.trim_start_matches("/things/").parse::<usize>().unwrap() % 5 == 4).collect();
    assert_eq!(alone, [vec![false; 13], vec![true; 3]].concat());
}
