//! The exit code: the table of codes, its order, and the sentence that goes with it.

use crate::sample::{aborted, case, finding, rule, target};
use proofmark_reports::exit::{BROKEN, HELD, KIT, UNSEEN, exit};
use proofmark_reports::model::{AbortKind, Level, Outcome, Status, TargetReport};

/// A target with one `must` of each of these statuses.
fn with(url: &str, statuses: &[Status]) -> TargetReport {
    let rules = statuses.iter().enumerate().map(|(index, status)| rule(&format!("HR-X-{index}"), "a", Level::Must, *status));
    target(url, rules.collect(), vec![case("a/b", Outcome::Passed, &[])])
}

fn said(targets: &[TargetReport], strict: bool) -> (u8, String) {
    let exit = exit(targets, strict);
    (exit.code, exit.reason)
}

#[test]
fn one_held_and_none_broken_is_green() {
    let some = with("http://a", &[Status::Held, Status::NotApplicable, Status::Unobservable]);
    assert_eq!(said(&[some], true), (HELD, "1 must rule held, none broken".into()));
    let part = with("http://a", &[Status::Held, Status::Held, Status::NotExercised]);
    assert_eq!(said(&[part], false), (HELD, "2 must rules held, none broken, 1 not exercised".into()));
}

#[test]
fn warnings_and_differences_do_not_count() {
    let mut some = with("http://a", &[Status::Held]);
    some.requirements.push(rule("HR-S-1", "a", Level::Should, Status::Broken));
    some.requirements.push(rule("HR-O-1", "a", Level::Observed, Status::Differs));
    some.requirements.push(rule("HR-D-1", "a", Level::Disputed, Status::Differs));
    let mut warned = case("a/c", Outcome::Warned, &[]);
    warned.findings = vec![finding("HR-S-1", Level::Should, "a/c", &[]), finding("HR-O-1", Level::Observed, "a/c", &[])];
    some.scenarios.push(warned);
    assert_eq!(exit(&[some], true).code, HELD);
}

#[test]
fn a_broken_must_is_named() {
    let one = with("http://a", &[Status::Held, Status::Broken]);
    assert_eq!(said(&[one], false), (BROKEN, "1 must rule was broken: HR-X-1".into()));
    let many = with("http://a", &[Status::Broken; 8]);
    let reason = "8 must rules were broken: HR-X-0, HR-X-1, HR-X-2, HR-X-3, HR-X-4, HR-X-5 and 2 more";
    assert_eq!(said(&[many], false), (BROKEN, reason.into()));
    let both = [with("http://a", &[Status::Held]), with("http://b", &[Status::Held, Status::Broken])];
    assert_eq!(said(&both, false), (BROKEN, "1 must rule was broken: HR-X-1 on http://b".into()));
}

#[test]
fn a_failed_case_counts_even_if_the_table_forgot_it() {
    let mut some = with("http://a", &[Status::Held]);
    some.scenarios[0].findings.push(finding("HR-Y-1", Level::Must, "a/b", &[]));
    assert_eq!(said(&[some.clone()], false), (BROKEN, "1 must rule was broken: HR-Y-1".into()));
    some.scenarios[0].findings.clear();
    some.scenarios[0].outcome = Outcome::Failed;
    assert_eq!(said(&[some], false).0, BROKEN);
}

#[test]
fn strict_asks_for_every_must() {
    let part = with("http://a", &[Status::Held, Status::NotExercised]);
    assert_eq!(said(&[part], true), (BROKEN, "1 must rule was not exercised, and this run is strict: HR-X-1".into()));
}

#[test]
fn nothing_held_is_never_green() {
    assert_eq!(said(&[], false), (BROKEN, "nothing was checked".into()));
    let nothing = with("http://a", &[Status::NotExercised, Status::NotApplicable]);
    let reason = "nothing was shown: no must rule of harness-runtime was held on http://a";
    assert_eq!(said(&[with("http://b", &[Status::Held]), nothing], false), (BROKEN, reason.into()));
    let mut advice = with("http://a", &[]);
    advice.requirements.push(rule("HR-S-1", "a", Level::Should, Status::Held));
    assert_eq!(exit(&[advice], false).code, BROKEN);
}

#[test]
fn a_target_that_was_not_seen_comes_before_what_it_broke() {
    for kind in [AbortKind::Unreachable, AbortKind::NotRecognised, AbortKind::StoppedAnswering] {
        let mut gone = aborted(kind);
        gone.requirements.push(rule("HR-X-0", "a", Level::Must, Status::Broken));
        assert_eq!(exit(&[with("http://a", &[Status::Held]), gone], false).code, UNSEEN);
    }
    let reason = "http://127.0.0.1:4311/base was not reached: no answer to GET /v1/runtime within 10 s, three times in a row";
    assert_eq!(said(&[aborted(AbortKind::Unreachable)], false), (UNSEEN, reason.into()));
}

#[test]
fn a_run_cut_short_is_never_green_and_keeps_what_it_saw_broken() {
    let mut slow = with("http://a", &[Status::Held]);
    slow.aborted = aborted(AbortKind::Deadline).aborted;
    assert_eq!(exit(std::slice::from_ref(&slow), false).code, UNSEEN);
    slow.requirements.push(rule("HR-Y-1", "a", Level::Must, Status::Broken));
    assert_eq!(exit(&[slow], false).code, BROKEN);
}

#[test]
fn a_fault_of_the_kit_comes_first() {
    let mut some = aborted(AbortKind::StoppedAnswering);
    some.requirements.push(rule("HR-X-0", "a", Level::Must, Status::Broken));
    some.scenarios.push(case("a/b", Outcome::Errored, &[]));
    let reason = "1 case errored, a fault of the kit and not of the target: harness-runtime/a/b";
    assert_eq!(said(&[some], true), (KIT, reason.into()));
}
