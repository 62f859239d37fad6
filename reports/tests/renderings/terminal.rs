//! The terminal rendering: goldens, that it does not flood, and that no target can steer a terminal.

use crate::sample;
use insta::assert_snapshot;
use proofmark_reports::model::{Level, Outcome, Report, Status};
use proofmark_reports::terminal::{Options, render};

const PLAIN: Options = Options { colour: false, show_wire: false, quiet: false, width: 100 };

#[test]
fn a_rich_report() {
    assert_snapshot!(render(&sample::rich(), &PLAIN));
}

#[test]
fn a_rich_report_quiet_and_narrow() {
    assert_snapshot!(render(&sample::rich(), &Options { quiet: true, width: 60, ..PLAIN }));
}

#[test]
fn an_empty_report() {
    assert_snapshot!(render(&sample::empty(), &PLAIN));
}

#[test]
fn an_all_green_report() {
    assert_snapshot!(render(&sample::green(), &PLAIN));
}

#[test]
fn a_green_report_is_quiet() {
    assert_snapshot!(render(&sample::green(), &Options { quiet: true, ..PLAIN }));
}

/// The text without its styles, which must be all the escape sequences that it holds.
fn without_styles(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |plain, part| {
        let (codes, rest) = part.split_once('m').expect("a style ends in m");
        assert!(codes.chars().all(|c| c.is_ascii_digit() || c == ';'), "{codes:?} is a style");
        plain + rest
    })
}

#[test]
fn colour_changes_nothing_but_styles() {
    for report in [sample::rich(), sample::green(), sample::empty()] {
        let coloured = render(&report, &Options { colour: true, ..PLAIN });
        assert!(coloured.contains("\u{1b}["), "{coloured}");
        assert_eq!(without_styles(&coloured), render(&report, &PLAIN));
    }
}

/// Every string of the report made hostile. The TOML to paste is the kit's own text and has lines, so it alone keeps to one.
fn hostile(report: &Report) -> Report {
    let mut value = serde_json::to_value(report).expect("a report is JSON");
    poison(&mut value);
    let mut report: Report = serde_json::from_value(value).expect("it is still a report");
    let stimuli = report.targets.iter_mut().flat_map(|target| &mut target.missing_stimuli);
    stimuli.for_each(|stimulus| stimulus.toml = stimulus.toml.replace('\n', " "));
    report
}

fn poison(value: &mut serde_json::Value) {
    use serde_json::Value;
    let words = ["must", "should", "observed", "disputed", "held", "broken", "differs", "not-exercised", "not-applicable", "unobservable"];
    let more = ["conforms", "partly", "violates", "unseen", "passed", "failed", "warned", "blocked", "errored", "stopped-answering"];
    match value {
        Value::String(text) if !words.contains(&text.as_str()) && !more.contains(&text.as_str()) => text.push_str(sample::HOSTILE),
        Value::Array(elements) => elements.iter_mut().for_each(poison),
        Value::Object(members) => members.values_mut().for_each(poison),
        _ => {}
    }
}

#[test]
fn no_string_of_a_report_reaches_a_terminal_raw() {
    let report = hostile(&sample::rich());
    for (show_wire, quiet, width) in [(true, false, 0), (true, false, 80), (false, true, 200)] {
        let text = render(&report, &Options { colour: false, show_wire, quiet, width });
        let raw = text.chars().find(|c| (c.is_control() && *c != '\n') || ('\u{202a}'..='\u{202e}').contains(c));
        assert_eq!(raw, None, "{text}");
        assert!(!text.lines().any(|line| line.starts_with("exit  0")), "no line is forged");
    }
}

#[test]
fn what_a_target_said_is_cut_at_the_width() {
    let text = render(&hostile(&sample::rich()), &Options { width: 60, ..PLAIN });
    let told = text.lines().skip_while(|line| !line.starts_with("BROKEN")).take_while(|line| !line.starts_with("MISSING"));
    let long = told.filter(|line| line.chars().count() > 60).collect::<Vec<_>>();
    let is_own = |line: &str| line.trim_start().starts_with("reproduce: ") || line.starts_with(|c: char| c.is_ascii_uppercase());
    assert!(long.iter().any(|line| line.contains("reproduce: ")) && long.iter().all(|line| is_own(line)), "{long:#?}");
}

#[test]
fn show_wire_tells_every_transcript_whole() {
    let mut report = sample::green();
    let conflict = &sample::rich().targets[0].scenarios[1];
    report.targets[0].scenarios[1].transcript.clone_from(&conflict.transcript);
    let told = render(&report, &Options { show_wire: true, ..PLAIN });
    assert!(told.contains("WIRE") && told.contains("\n      < line 20\n") && told.contains(&"y".repeat(200)), "{told}");
    assert!(!render(&report, &PLAIN).contains("line 20"));
}

/// A target on which `rules` must rules were broken, each in `cases` cases.
fn flooding(rules: usize, cases: usize) -> Report {
    let transcript = &sample::rich().targets[0].scenarios[1].transcript;
    let (mut requirements, mut scenarios) = (Vec::new(), Vec::new());
    for index in 0..rules {
        let id = format!("HR-FLOOD-{index}");
        let mut rule = sample::rule(&id, "flood", Level::Must, Status::Broken);
        for number in 0..cases {
            let path = format!("flood/{index}/{number}");
            let mut case = sample::case(&path, Outcome::Failed, &[&id]);
            case.findings = vec![sample::finding(&id, Level::Must, &path, &vec![("$.a", "1", "2"); 50])];
            case.transcript.clone_from(transcript);
            rule.findings.extend(case.findings.clone());
            scenarios.push(case);
        }
        requirements.push(rule);
    }
    sample::report(vec![sample::target("http://a", requirements, scenarios)])
}

#[test]
fn one_rule_broken_in_many_cases_is_told_once() {
    let (few, many) = (render(&flooding(1, 20), &PLAIN), render(&flooding(1, 500), &PLAIN));
    assert_eq!(few.lines().count(), many.lines().count());
    assert!(many.contains("also in 499 more cases") && many.contains("and 494 more"), "{many}");
    assert!(many.contains("and 42 more mismatches"), "{many}");
}

#[test]
fn a_target_that_does_everything_wrong_does_not_bury_the_reader_in_wire() {
    let text = render(&flooding(100, 2), &PLAIN);
    assert_eq!(text.matches("wire left out").count(), 88);
    assert_eq!(text.matches("#3 call startExecution").count(), 12);
    assert_eq!(text.matches("reproduce: ").count(), 100);
}

#[test]
fn findings_that_only_a_case_carries_are_told() {
    let mut case = sample::case("a/b", Outcome::Failed, &[]);
    case.findings = vec![sample::finding("HR-LOST-1", Level::Must, "a/b", &[("status", "200", "500")])];
    let text = render(&sample::report(vec![sample::target("http://a", Vec::new(), vec![case])]), &PLAIN);
    assert!(text.contains("HR-LOST-1  must  not in the table of rules"), "{text}");
}

#[test]
fn a_case_that_failed_without_a_finding_is_told() {
    let bare = sample::report(vec![sample::target("http://a", Vec::new(), vec![sample::case("a/b", Outcome::Failed, &[])])]);
    for quiet in [true, false] {
        let text = render(&bare, &Options { quiet, ..PLAIN });
        assert!(text.contains("FAILED  without a finding\n  no reason given\n    harness-runtime/a/b"), "{text}");
    }
}

#[test]
fn a_line_to_paste_is_whole_or_not_offered() {
    let mut report = flooding(1, 1);
    let rule = &mut report.targets[0].requirements[0];
    rule.findings[0].reproduce = Some(format!("curl '{}'", "x".repeat(1_500)));
    report.targets[0].scenarios[0].findings.clear();
    assert!(render(&report, &PLAIN).contains(&format!("reproduce: curl '{}'\n", "x".repeat(1_500))));
    report.targets[0].requirements[0].findings[0].reproduce = Some("x".repeat(100_000));
    assert!(render(&report, &PLAIN).contains("reproduce: too long for here; the json report has it\n"));
    report.targets[0].requirements[0].findings[0].reproduce = Some("curl 'a\nb'".into());
    assert!(render(&report, &PLAIN).contains("reproduce: curl 'a\\nb'  # control characters are shown escaped\n"));
}

#[test]
fn a_run_with_filters_is_not_offered_a_wider_one() {
    let mut report = flooding(1, 1);
    assert!(render(&report, &PLAIN).contains("--seed 42 'harness-runtime/flood/0/0' --show-wire\n"));
    report.run.filters = vec!["harness-runtime/**".into()];
    assert!(!render(&report, &PLAIN).contains("reproduce: "));
}
