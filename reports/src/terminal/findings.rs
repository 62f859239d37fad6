//! Broken rules, in full: wording, source, place, mismatches, wire, how to see it again. One rule is told once, however many cases broke it.

use super::page::{BOLD, CYAN, DIM, GREEN, LONGEST, Line, Page, RED};
use super::wire;
use crate::groups::{Group, case_of};
use crate::model::{Finding, Level, Mismatch, Report, Requirement, RunInfo, Source, TargetReport};
use crate::text;
use std::collections::BTreeSet;

/// Mismatches shown of one finding.
const MISMATCHES: usize = 8;
/// Rules told with their wire. A target that does everything wrong breaks hundreds, and they share few causes.
const WITH_WIRE: usize = 12;
/// Columns of a finding in a file.
const EVIDENCE: usize = 500;
/// Further cases named below the first.
const ALSO: usize = 5;

/// Every broken `must`.
pub(super) fn failures(page: &mut Page, report: &Report, target: &TargetReport, groups: &[Group<'_>]) {
    let broken: Vec<_> = groups.iter().filter(|group| group.level == Level::Must).collect();
    if broken.is_empty() {
        return;
    }
    let rules = if broken.len() == 1 { "must rule" } else { "must rules" };
    page.section(RED, "BROKEN", &format!("{} {rules} of this contract", broken.len()));
    for (index, group) in broken.into_iter().enumerate() {
        page.gap();
        title(page, group.id, group.level, group.rule);
        let Some(first) = group.findings.first() else { continue };
        finding(page, first);
        if index < WITH_WIRE {
            wire(page, target, first);
        } else {
            page.line(Line::indent(4).with(DIM, format!("wire left out after {WITH_WIRE} rules")));
        }
        again(page, &report.run, first);
        also(page, group, first);
    }
}

/// One finding as plain text without colour, for renderings that hold text of their own.
pub fn evidence(run: &RunInfo, target: &TargetReport, seen: &Finding) -> String {
    let mut page = Page::new(false, EVIDENCE);
    let rule = target.requirements.iter().find(|rule| rule.id == seen.requirement);
    title(&mut page, &seen.requirement, seen.level, rule);
    finding(&mut page, seen);
    wire(&mut page, target, seen);
    again(&mut page, run, seen);
    page.finish()
}

fn title(page: &mut Page, id: &str, level: Level, rule: Option<&Requirement>) {
    let source = rule.map_or_else(|| "not in the table of rules".to_owned(), |rule| cited(&rule.source));
    page.line(Line::new().with(RED, id).plain(format!("  {}  ", word(level))).with(DIM, source));
    if let Some(rule) = rule {
        page.text(2, BOLD, &rule.text);
    }
}

/// `protocol.md, Idempotency`; pages about the contract say that they are one.
fn cited(source: &Source) -> String {
    let kind = if source.normative_text { "" } else { " (not in the contract's own text)" };
    format!("{}, {}{kind}", source.document, source.section)
}

fn finding(page: &mut Page, finding: &Finding) {
    place(page, 2, finding);
    for mismatch in finding.mismatches.iter().take(MISMATCHES) {
        contrast(page, mismatch);
    }
    if finding.mismatches.len() > MISMATCHES {
        page.line(Line::indent(4).with(DIM, format!("and {} more mismatches", finding.mismatches.len() - MISMATCHES)));
    }
}

/// The case and where its expectation stands, on one line if it holds both.
pub(super) fn place(page: &mut Page, indent: usize, finding: &Finding) {
    let case = Line::indent(indent).with(CYAN, &finding.scenario);
    match &finding.at {
        None => page.line(case),
        Some(at) if page.holds(indent + 5, &[&finding.scenario, at]) => page.line(case.with(DIM, format!("  at {at}"))),
        Some(at) => {
            page.line(case);
            page.line(Line::indent(indent + 2).with(DIM, format!("at {at}")));
        }
    }
}

fn wire(page: &mut Page, target: &TargetReport, finding: &Finding) {
    if let Some(case) = case_of(target, finding) {
        wire::exchanges(page, case, &finding.exchanges);
    }
}

fn contrast(page: &mut Page, mismatch: &Mismatch) {
    let (expected, actual) = text::where_they_part(&mismatch.expected, &mismatch.actual, page.width() - 16);
    page.line(Line::indent(4).with(BOLD, &mismatch.path));
    page.line(Line::indent(6).with(DIM, "expected  ").with(GREEN, expected));
    page.line(Line::indent(6).with(DIM, "actual    ").with(RED, actual));
}

/// The line to paste: the finding's own, else the run narrowed to its case.
fn again(page: &mut Page, run: &RunInfo, finding: &Finding) {
    match &finding.reproduce {
        Some(line) if line.chars().count() > LONGEST / 2 => {
            page.line(Line::indent(4).with(BOLD, "reproduce: ").with(DIM, "too long for here; the json report has it"));
        }
        Some(line) => {
            let escaped = if text::safe(line) == line.as_str() { "" } else { "  # control characters are shown escaped" };
            page.whole(Line::indent(4).with(BOLD, "reproduce: ").plain(line).with(DIM, escaped));
        }
        None if run.filters.is_empty() && narrows(run, finding) => {
            page.whole(Line::indent(4).with(BOLD, "reproduce: ").plain(format!("{} '{}' --show-wire", run.reproduce, finding.scenario)));
        }
        None => {}
    }
}

/// Whether the path can be added to the command line of the run as its only filter.
fn narrows(run: &RunInfo, finding: &Finding) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '-' | '_' | '.');
    !finding.scenario.is_empty()
        && !finding.scenario.starts_with('-')
        && finding.scenario.chars().all(plain)
        && !finding.scenario.contains("/monitors/")
        && !run.reproduce.contains("--show-wire")
}

/// The other cases in which the same rule was broken.
fn also(page: &mut Page, group: &Group<'_>, first: &Finding) {
    let mut seen = BTreeSet::from([first.scenario.as_str()]);
    let others: Vec<_> = group.findings.iter().filter(|finding| seen.insert(&finding.scenario)).collect();
    if others.is_empty() {
        return;
    }
    page.line(Line::indent(2).with(DIM, format!("also in {} more {}", others.len(), if others.len() == 1 { "case" } else { "cases" })));
    for finding in others.iter().take(ALSO) {
        page.line(Line::indent(4).plain(&finding.scenario).with(DIM, format!("  {}", brief(finding))));
    }
    if others.len() > ALSO {
        page.line(Line::indent(4).with(DIM, format!("and {} more", others.len() - ALSO)));
    }
}

/// The first mismatch in one line.
pub(super) fn brief(finding: &Finding) -> String {
    let Some(Mismatch { path, expected, actual }) = finding.mismatches.first() else { return String::new() };
    format!("{path}: expected {expected}, actual {actual}")
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Must => "must",
        Level::Should => "should",
        Level::Observed => "observed",
        Level::Disputed => "disputed",
    }
}
