//! How much at once: executions alive on the target, cases at a time; and what the kit started, it ends.

use crate::contract::{assert_all_passed, run, settings};
use crate::server::{Answer, Gauge, Seen, Server, json};
use proofmark::runner::settings::Settings;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

/// Runs that are alive until they are seen as done or cancelled. They are done once `enough` were alive at the same time.
struct Runs {
    enough: usize,
    alive: Gauge,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    started: usize,
    ended: BTreeSet<usize>,
}

impl Runs {
    fn new(enough: usize) -> Arc<Self> {
        Arc::new(Self { enough, alive: Gauge::default(), state: Mutex::default() })
    }

    fn answer(&self, seen: &Seen) -> Answer {
        let mut state = self.state.lock().unwrap();
        match (seen.method.as_str(), seen.run()) {
            ("POST", None) => {
                state.started += 1;
                self.alive.up();
                json(202, &json!({ "id": state.started.to_string(), "state": "running" }))
            }
            (method, Some(run)) => {
                let cancelled = method == "POST";
                if (cancelled || self.alive.most() >= self.enough) && state.ended.insert(run) {
                    self.alive.down();
                }
                let ended = state.ended.contains(&run);
                json(200, &json!({ "id": run.to_string(), "state": if ended { "done" } else { "running" } }))
            }
            _ => json(200, &json!({ "name": "relay" })),
        }
    }

    async fn serve(self: &Arc<Self>) -> Server {
        let runs = self.clone();
        Server::start(move |seen| {
            let answer = runs.answer(&seen);
            async move { answer }
        })
        .await
    }
}

fn scenarios(count: usize) -> String {
    (0..count).fold(String::new(), |mut text, i| {
        writeln!(
            text,
            r#"  - id: run-{i}
    title: A run ends
    steps:
      - {{ given: startRun, body: {{}}, save: {{ run: $.id }} }}
      - {{ await: getRun, path: {{ id: "${{run}}" }}, until: {{ body: {{ state: done }} }}, expect: [{{ rule: R-OWN-1, status: 200 }}] }}"#
        )
        .unwrap();
        text
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn at_most_so_many_executions_are_alive_as_the_budget_allows() {
    for in_flight in [1, 3, 8] {
        let runs = Runs::new(in_flight);
        let server = runs.serve().await;
        let report = run(&scenarios(12), &server, &Settings { jobs: 16, in_flight, ..settings() }).await;
        assert_all_passed(&report);
        // Not fewer either: nobody would have ended before so many were alive.
        assert_eq!(runs.alive.most(), in_flight);
        assert_eq!(runs.state.lock().unwrap().started, 12);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_case_leaves_running_is_cancelled_before_the_next_one_starts() {
    let runs = Runs::new(usize::MAX);
    let server = runs.serve().await;
    let steps = r"
  - id: left
    title: A run is left alone
    rounds: 5
    steps: [{ call: startRun, body: {}, expect: [{ rule: R-OWN-1, status: 202 }] }]
";
    let report = run(steps, &server, &Settings { in_flight: 1, ..settings() }).await;
    assert_all_passed(&report);
    let cancelled: Vec<Value> = server.seen().iter().filter(|seen| seen.path.ends_with("/cancel")).map(|seen| json!(seen.run())).collect();
    assert_eq!((runs.alive.most(), json!(cancelled)), (1, json!([1, 2, 3, 4, 5])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_that_was_started_is_read_once_more_at_the_end() {
    let runs = Runs::new(1);
    let server = runs.serve().await;
    assert_all_passed(&run(&scenarios(4), &server, &Settings { jobs: 1, ..settings() }).await);
    let seen = server.seen();
    let swept: BTreeSet<Option<usize>> = seen[seen.len() - 4..].iter().map(|seen| seen.run().filter(|_| seen.method == "GET")).collect();
    assert_eq!(swept, (1..=4).map(Some).collect());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_one_job_there_is_one_request_at_a_time() {
    let runs = Runs::new(1);
    let server = runs.serve().await;
    assert_all_passed(&run(&scenarios(6), &server, &Settings { jobs: 1, ..settings() }).await);
    assert_eq!(server.most_at_once(), 1);
    // Each case is finished before the next one begins.
    let order: Vec<Option<usize>> = server.seen().iter().filter(|seen| seen.path != "/").map(Seen::run).collect();
    let starts: Vec<usize> = order.iter().enumerate().filter(|(_, run)| run.is_none()).map(|(at, _)| at).collect();
    for (number, window) in starts.windows(2).enumerate() {
        assert!(order[window[0] + 1..window[1]].iter().all(|run| *run == Some(number + 1)), "{order:?}");
    }
}
