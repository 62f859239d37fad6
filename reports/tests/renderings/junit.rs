//! The `JUnit` rendering: goldens, and that what fails the run is red.

use crate::sample;
use insta::assert_snapshot;
use proofmark_reports::junit::render;
use proofmark_reports::model::{AbortKind, Level, Outcome, Status};

#[test]
fn a_rich_report() {
    assert_snapshot!(render(&sample::rich()));
}

#[test]
fn an_empty_report() {
    assert_snapshot!(render(&sample::empty()));
}

#[test]
fn an_all_green_report() {
    assert_snapshot!(render(&sample::green()));
}

/// The XML specification's `Char`, and what steers terminals.
fn is_fit(c: char) -> bool {
    c == '\n' || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}' | '\u{202a}'..='\u{202e}'))
}

#[test]
fn hostile_text_is_escaped_wherever_it_stands() {
    let mut report = sample::rich();
    report.run.nonce = sample::HOSTILE.into();
    let full = &mut report.targets[0];
    full.url = sample::HOSTILE.into();
    full.contract = sample::HOSTILE.into();
    full.scenarios[0].path = format!("harness-runtime/{0}/{0}", sample::HOSTILE.replace('/', ""));
    let text = render(&report);
    assert!(text.chars().all(is_fit), "{text}");
    assert!(text.contains("\\u{1b}[2J") && text.contains("]]&gt; &lt;b&gt;&amp;amp;"), "{text}");
    quick_junit::Report::deserialize_from_str(&text).expect("it is well-formed");
}

/// Tests, failures, errors and skipped of the whole file.
fn counts(text: &str) -> [usize; 4] {
    let report = quick_junit::Report::deserialize_from_str(text).expect("it is well-formed");
    [report.tests, report.failures, report.errors, report.skipped]
}

#[test]
fn an_aborted_target_is_an_error_even_without_a_case() {
    for kind in sample::ABORTS {
        let text = render(&sample::report(vec![sample::aborted(kind)]));
        assert_eq!(counts(&text), [1, 0, 1, 0], "{text}");
    }
    assert!(render(&sample::report(vec![sample::aborted(AbortKind::Unreachable)])).contains("was not reached: no answer"));
}

#[test]
fn a_broken_rule_that_no_case_carries_is_red() {
    let mut broken = sample::rule("HR-SEQ-1", "events", Level::Must, Status::Broken);
    broken.findings = vec![sample::finding("HR-SEQ-1", Level::Must, "events/live", &[("events[1]", "2", "3")])];
    let passed = sample::case("events/live", Outcome::Passed, &[]);
    let text = render(&sample::report(vec![sample::target("http://a", vec![broken], vec![passed])]));
    assert_eq!(counts(&text), [2, 1, 0, 0], "{text}");
}

#[test]
fn a_failed_case_without_a_finding_is_red() {
    let text = render(&sample::report(vec![sample::target("http://a", Vec::new(), vec![sample::case("a/b", Outcome::Failed, &[])])]));
    assert_eq!(counts(&text), [1, 1, 0, 0], "{text}");
}

#[test]
fn a_run_that_failed_for_what_it_did_not_see_is_red() {
    let rules = vec![sample::rule("HR-A-1", "a", Level::Must, Status::NotExercised)];
    let unseen = sample::target("http://a", rules, vec![sample::case("a/b", Outcome::NotExercised, &[])]);
    let text = render(&sample::report(vec![unseen]));
    assert_eq!(counts(&text), [2, 1, 0, 1], "{text}");
    assert!(text.contains("nothing was shown"), "{text}");
    assert_eq!(counts(&render(&sample::empty())), [1, 1, 0, 0]);
}

#[test]
fn two_targets_of_one_contract_stay_apart() {
    let target = |url| sample::target(url, Vec::new(), vec![sample::case("a/b", Outcome::Passed, &[])]);
    let text = render(&sample::report(vec![target("http://a"), target("http://b")]));
    assert!(text.contains("harness-runtime.a on http://a\"") && text.contains("harness-runtime.a on http://b\""), "{text}");
}
