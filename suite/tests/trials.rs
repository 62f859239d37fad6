//! The suite as trials of a vendor's own tests: what runs, what is decided before, what a failure says, and what the whole adds.

use libtest_mimic::{Arguments, Conclusion, Trial};
use proofmark::reference::Server;
use proofmark::trials::{Conformance, Suite};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;

const PROFILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/profiles/reference-harness-runtime.toml");

/// A reference server with a runtime of its own, as a vendor's test would start one.
struct Started {
    url: String,
    _server: Server,
    _runtime: Runtime,
}

fn start(defect: Option<&str>) -> Started {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let server = runtime.block_on(Server::start("harness-runtime", defect.as_slice(), &[], 1)).unwrap();
    Started { url: server.url(), _server: server, _runtime: runtime }
}

fn suite(started: &Started, filters: &[&str]) -> Suite {
    let conformance = Conformance::of(&*started.url).contract("harness-runtime").profile(PROFILE).seed(1);
    filters.iter().fold(conformance, |conformance, filter| conformance.only(*filter)).prepare().unwrap()
}

/// As nextest and `cargo test` call it. What it prints goes elsewhere, so that nobody counts its failures as those of this test.
fn run(suite: &Suite, arguments: &[&str]) -> Conclusion {
    static NUMBER: AtomicUsize = AtomicUsize::new(0);
    let log = format!("{}/trials-{}.log", env!("CARGO_TARGET_TMPDIR"), NUMBER.fetch_add(1, Ordering::Relaxed));
    libtest_mimic::run(&Arguments::from_iter([&["test", "--logfile", &log], arguments].concat()), suite.trials())
}

fn kinds(trials: &[Trial]) -> BTreeSet<&str> {
    trials.iter().filter(|trial| trial.has_ignored_flag()).map(Trial::kind).collect()
}

#[test]
fn every_case_is_a_trial_and_a_correct_server_passes() {
    let started = start(None);
    let suite = suite(&started, &["harness-runtime/idempotency"]);
    let (count, conclusion) = (suite.trials().len() as u64, run(&suite, &[]));
    assert_eq!((conclusion.num_passed, conclusion.num_failed, conclusion.num_ignored), (count, 0, 0));
    assert!(count > 20);
    assert_eq!(suite.whole(), Ok(()));
}

#[test]
fn one_case_runs_alone_as_nextest_asks() {
    let started = start(None);
    let suite = suite(&started, &["harness-runtime/describe", "harness-runtime/replay"]);
    let conclusion = run(&suite, &["--exact", "harness-runtime/replay/at-the-end", "--nocapture"]);
    assert_eq!((conclusion.num_passed, conclusion.num_filtered_out), (1, suite.trials().len() as u64 - 1));
}

#[test]
fn a_defect_fails_the_cases_that_see_it_and_says_how_to_see_it_again() {
    let started = start(Some("cursor-inclusive"));
    let suite = suite(&started, &["harness-runtime/replay/at-the-end", "harness-runtime/describe/**"]);
    let conclusion = run(&suite, &[]);
    assert!(conclusion.num_failed == 1 && conclusion.num_passed > 3, "{conclusion:?}");
    let report = suite.whole().unwrap_err();
    assert!(report.contains("HR-REPLAY-3") && report.contains("proofmark --target"), "{report}");
}

#[test]
fn what_no_case_shows_is_judged_after_the_last_one() {
    let started = start(Some("list-drops-old-deltas"));
    // It reads a stream, and never the list that the sweep reads.
    let suite = suite(&started, &["harness-runtime/streaming/live"]);
    assert_eq!(suite.whole(), Ok(()), "nothing ran yet");
    let conclusion = run(&suite, &[]);
    assert_eq!((conclusion.num_passed, conclusion.num_failed), (1, 0));
    let report = suite.whole().unwrap_err();
    assert!(report.contains("HR-EVENT-8"), "{report}");
}

#[test]
fn what_cannot_be_asked_of_the_target_is_decided_before_the_run() {
    let started = start(None);
    let suite = Conformance::of(&*started.url).only("harness-runtime/cancellation").prepare().unwrap();
    let trials = suite.trials();
    assert_eq!(kinds(&trials), BTreeSet::from(["not-exercised"]), "without a profile nothing is known to be slow");
    let ignored = trials.iter().filter(|trial| trial.has_ignored_flag()).count() as u64;
    let conclusion = run(&suite, &[]);
    assert_eq!((conclusion.num_ignored, conclusion.num_failed), (ignored, 0));
    // Whoever insists is told why.
    assert_eq!(run(&suite, &["--ignored"]).num_failed, ignored);
}

#[test]
fn a_target_that_is_not_there_is_one_clear_message() {
    let error = Conformance::of("http://127.0.0.1:9").wait_ready(Duration::from_millis(100)).prepare().err().unwrap().render();
    assert!(error.contains("http://127.0.0.1:9") && error.contains("no connection"), "{error}");
    let started = start(None);
    let error = Conformance::of(&*started.url).only("harness-runtime/idempotence").prepare().err().unwrap().render();
    assert!(error.contains("harness-runtime/idempotency"), "{error}");
}
