//! Cases that judged nothing, grouped by why: what the kit got wrong, what was blocked, what nothing provoked, what does not apply.

use super::page::{BOLD, DIM, Line, PLAIN, Page, RED, YELLOW};
use crate::model::{Level, Outcome, Requirement, Scenario, Status, TargetReport};
use crate::text;
use std::collections::BTreeMap;

/// Paths listed a reason, one a line, for what someone has to look into.
const LISTED: usize = 8;
/// Lines of rule ids in a section.
const RULES: usize = 3;

/// Whether a case ended in a way that no finding explains.
pub(super) fn is_unjudged(target: &TargetReport) -> bool {
    target.scenarios.iter().any(|scenario| errored(scenario) || failed_bare(scenario))
}

/// Cases that fail a run without accusing a rule.
pub(super) fn unjudged(page: &mut Page, target: &TargetReport) {
    let bare = by_reason(target, failed_bare);
    if !bare.is_empty() {
        page.section(RED, "FAILED", "without a finding");
        listed(page, &bare);
    }
    let errored = by_reason(target, errored);
    if !errored.is_empty() {
        page.section(RED, "ERRORED", "a fault of the kit, not of the target; please report it");
        listed(page, &errored);
    }
}

/// Cases and `must` rules that say nothing about the target.
pub(super) fn silent(page: &mut Page, target: &TargetReport) {
    let blocked = by_reason(target, |scenario| scenario.outcome == Outcome::Blocked);
    if !blocked.is_empty() {
        page.section(YELLOW, "BLOCKED", "a step that only leads there failed, so these cases judged nothing of their own");
        listed(page, &blocked);
    }
    let exercised = by_reason(target, |scenario| scenario.outcome == Outcome::NotExercised);
    let rules = rules(target, Status::NotExercised);
    if !exercised.is_empty() || !rules.is_empty() {
        page.section(YELLOW, "NOT EXERCISED", "not seen in this run; it says nothing about the target");
        counted(page, &exercised);
        ids(page, &rules);
    }
    let lacking = by_reason(target, |scenario| scenario.outcome == Outcome::NotApplicable);
    if !lacking.is_empty() {
        page.section(PLAIN, "NOT APPLICABLE", "the target declares that it lacks this");
        counted(page, &lacking);
    }
}

fn errored(scenario: &Scenario) -> bool {
    scenario.outcome == Outcome::Errored
}

fn failed_bare(scenario: &Scenario) -> bool {
    scenario.outcome == Outcome::Failed && scenario.findings.is_empty()
}

type Reasons<'a> = Vec<(&'a str, Vec<&'a str>)>;

/// Reasons with the paths of their cases, the most frequent first.
fn by_reason(target: &TargetReport, chosen: impl Fn(&Scenario) -> bool) -> Reasons<'_> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for scenario in target.scenarios.iter().filter(|scenario| chosen(scenario)) {
        reasons.entry(scenario.reason.as_deref().unwrap_or("no reason given")).or_default().push(&scenario.path);
    }
    let mut reasons: Reasons<'_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
    reasons
}

/// Each reason with the paths below it.
fn listed(page: &mut Page, reasons: &Reasons<'_>) {
    for (reason, paths) in reasons {
        page.text(2, BOLD, reason);
        paths.iter().take(LISTED).for_each(|path| page.line(Line::indent(4).plain(path)));
        if paths.len() > LISTED {
            page.line(Line::indent(4).with(DIM, format!("and {} more", paths.len() - LISTED)));
        }
    }
}

/// Each reason with its number of cases, and their names by area as far as one line holds them.
fn counted(page: &mut Page, reasons: &Reasons<'_>) {
    for (reason, paths) in reasons {
        let cases = if paths.len() == 1 { "case " } else { "cases" };
        page.line(Line::indent(2).with(BOLD, format!("{:>3} {cases}", paths.len())).plain("  ").plain(reason));
        page.line(Line::indent(13).with(DIM, by_area(paths)));
    }
}

/// `actions: approve, deny; events: live`.
fn by_area(paths: &[&str]) -> String {
    let mut areas: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for path in paths {
        let local = path.split_once('/').map_or(*path, |(_, local)| local);
        let (area, name) = local.split_once('/').unwrap_or(("", local));
        areas.entry(area).or_default().push(name);
    }
    areas.into_iter().map(|(area, names)| format!("{area}: {}", names.join(", "))).collect::<Vec<_>>().join("; ")
}

fn rules(target: &TargetReport, status: Status) -> Vec<&Requirement> {
    target.requirements.iter().filter(|rule| rule.level == Level::Must && rule.status == status).collect()
}

/// Ids only: what they say is in the JSON report.
fn ids(page: &mut Page, rules: &[&Requirement]) {
    if rules.is_empty() {
        return;
    }
    let noun = if rules.len() == 1 { "must rule" } else { "must rules" };
    page.line(Line::indent(2).with(BOLD, format!("{:>3} {noun}", rules.len())).plain("  of which nothing was seen"));
    let all = rules.iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>().join(", ");
    let lines = text::wrap(&all, page.width() - 13);
    lines.iter().take(RULES).for_each(|line| page.line(Line::indent(13).with(DIM, line)));
    let rest: usize = lines.iter().skip(RULES).map(|line| line.split(", ").count()).sum();
    if rest > 0 {
        page.line(Line::indent(13).with(DIM, format!("and {rest} more")));
    }
}
