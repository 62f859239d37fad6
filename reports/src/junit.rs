//! The report for CI systems: `JUnit` XML, a suite an area, a test case a case. What is red there is what fails the run, and nothing that
//! fails the run is green there.

use crate::exit;
use crate::groups::{Group, groups};
use crate::model::{Finding, Level, Outcome, Report, RunInfo, Scenario, TargetReport};
use crate::terminal::evidence;
use crate::text;
use quick_junit::{NonSuccessKind, TestCase, TestCaseStatus, TestSuite, XmlString};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The report as `JUnit` XML. Characters that XML forbids, or that could steer a terminal, are written as escapes.
#[expect(clippy::missing_panics_doc, reason = "writing XML to memory cannot fail")]
pub fn render(report: &Report) -> String {
    let mut junit = quick_junit::Report::new("proofmark");
    junit.set_time(Duration::from_millis(report.run.duration_ms));
    junit.timestamp = report.run.started_at.parse().ok();
    for target in &report.targets {
        junit.add_test_suites(suites(report, target));
    }
    if report.exit.code != exit::HELD && junit.failures + junit.errors == 0 {
        junit.add_test_suite(run(report));
    }
    junit.to_string().expect("writing to memory cannot fail, and what is written is UTF-8")
}

/// The run as a case, where it failed for what it did not see: a strict run, nothing held, nothing checked.
fn run(report: &Report) -> TestSuite {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(line("not shown"));
    status.set_message(line(&report.exit.reason));
    let mut case = TestCase::new(line("run"), status);
    case.set_classname(line("proofmark.run"));
    let mut suite = TestSuite::new(line("proofmark.run"));
    suite.add_test_case(case);
    suite
}

fn suites(report: &Report, target: &TargetReport) -> Vec<TestSuite> {
    let mut areas: BTreeMap<&str, Vec<TestCase>> = BTreeMap::new();
    for scenario in &target.scenarios {
        areas.entry(area(&scenario.path)).or_default().push(case(report, target, scenario));
    }
    for group in unattributed(target) {
        areas.entry("requirements").or_default().push(rule(&report.run, target, &group));
    }
    areas.entry("target").or_default().extend(aborted(target));
    areas.retain(|_, cases| !cases.is_empty());
    areas.into_iter().map(|(area, cases)| suite(report, target, area, cases)).collect()
}

fn suite(report: &Report, target: &TargetReport, area: &str, cases: Vec<TestCase>) -> TestSuite {
    let name = format!("{}.{area}", target.contract);
    // One contract on several targets makes several suites of one name, which readers would merge.
    let shared = report.targets.iter().filter(|other| other.contract == target.contract).count() > 1;
    let mut suite = TestSuite::new(if shared { line(&format!("{name} on {}", target.url)) } else { line(&name) });
    let RunInfo { seed, nonce, reproduce, .. } = &report.run;
    let kit = format!("{} {}", report.kit.name, report.kit.version);
    let exit = format!("{}: {}", report.exit.code, report.exit.reason);
    for (name, value) in
        [("target", &target.url), ("seed", &seed.to_string()), ("nonce", nonce), ("reproduce", reproduce), ("kit", &kit), ("exit", &exit)]
    {
        suite.add_property((line(name), line(value)));
    }
    suite.set_time(cases.iter().filter_map(|case| case.time).sum());
    for mut case in cases {
        case.set_classname(line(&format!("{}.{area}", target.contract)));
        suite.add_test_case(case);
    }
    suite
}

/// The second part of `contract/area/scenario/case`.
fn area(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or("unnamed")
}

fn case(report: &Report, target: &TargetReport, scenario: &Scenario) -> TestCase {
    let of = |level| scenario.findings.iter().filter(|finding| finding.level == level).collect::<Vec<_>>();
    let status = match scenario.outcome {
        Outcome::Passed | Outcome::Warned => TestCaseStatus::success(),
        Outcome::Failed => failed(&report.run, target, scenario, &of(Level::Must)),
        Outcome::Errored => reasoned(TestCaseStatus::non_success(NonSuccessKind::Error), "errored", scenario),
        Outcome::Blocked => reasoned(TestCaseStatus::skipped(), "blocked", scenario),
        Outcome::NotApplicable => reasoned(TestCaseStatus::skipped(), "not applicable", scenario),
        Outcome::NotExercised => reasoned(TestCaseStatus::skipped(), "not exercised", scenario),
    };
    let mut case = TestCase::new(line(&scenario.path), status);
    case.set_time(Duration::from_millis(scenario.duration_ms));
    let warnings = of(Level::Should);
    if !warnings.is_empty() {
        case.set_system_out(block(&evidences(&report.run, target, &warnings)));
    }
    case
}

fn failed(run: &RunInfo, target: &TargetReport, scenario: &Scenario, findings: &[&Finding]) -> TestCaseStatus {
    let Some(first) = findings.first() else {
        return reasoned(TestCaseStatus::non_success(NonSuccessKind::Failure), "failed", scenario);
    };
    let others = findings.iter().map(|finding| &finding.requirement).filter(|id| **id != first.requirement).collect::<BTreeSet<_>>();
    let more = others.into_iter().fold(String::new(), |more, id| more + ", " + id);
    let wording = target.requirements.iter().find(|rule| rule.id == first.requirement).map_or("", |rule| rule.text.as_str());
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(line(&first.requirement));
    status.set_message(line(&format!("{}{more}: {wording}", first.requirement)));
    status.set_description(block(&evidences(run, target, findings)));
    status
}

fn reasoned(mut status: TestCaseStatus, kind: &str, scenario: &Scenario) -> TestCaseStatus {
    status.set_type(line(kind));
    status.set_message(line(&format!("{kind}: {}", scenario.reason.as_deref().unwrap_or("no reason given"))));
    status
}

/// Broken rules that no failed case carries; without a case of their own they would leave the file green.
fn unattributed(target: &TargetReport) -> impl Iterator<Item = Group<'_>> {
    let failed = target.scenarios.iter().filter(|scenario| scenario.outcome == Outcome::Failed);
    let told: BTreeSet<&str> = failed.flat_map(|scenario| &scenario.findings).map(|finding| finding.requirement.as_str()).collect();
    groups(target).into_iter().filter(move |group| group.level == Level::Must && !told.contains(group.id))
}

fn rule(run: &RunInfo, target: &TargetReport, group: &Group<'_>) -> TestCase {
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status.set_type(line(group.id));
    status.set_message(line(&format!("{}: {}", group.id, group.rule.map_or("", |rule| rule.text.as_str()))));
    if let Some(first) = group.findings.first() {
        status.set_description(block(&evidence(run, target, first)));
    }
    TestCase::new(line(&format!("{}/requirements/{}", target.contract, group.id)), status)
}

/// A target that was not seen to the end is an error of its own: a file without cases would be green.
fn aborted(target: &TargetReport) -> Option<TestCase> {
    let abort = target.aborted.as_ref()?;
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
    status.set_type(line("aborted"));
    status.set_message(line(&format!("{} {}: {}", target.url, exit::what_happened(abort.kind), abort.reason)));
    Some(TestCase::new(line(&format!("{}/target", target.contract)), status))
}

fn evidences(run: &RunInfo, target: &TargetReport, findings: &[&Finding]) -> String {
    findings.iter().map(|finding| evidence(run, target, finding)).collect::<Vec<_>>().join("\n")
}

fn line(text: &str) -> XmlString {
    XmlString::new(text::safe(text))
}

/// Text whose lines are already neutralised.
fn block(text: &str) -> XmlString {
    XmlString::new(text)
}
