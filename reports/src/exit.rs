//! The exit code of a run and why: the table that CI files are written against. Code [`USAGE`] is found before a report exists.

use crate::model::{Abort, AbortKind, Exit, Level, Outcome, Requirement, Scenario, Status, TargetReport};
use crate::summary;
use std::collections::BTreeSet;

/// At least one `must` held on every target, none was broken.
pub const HELD: u8 = 0;
/// A `must` was broken; or, when strict, not exercised; or none was held at all.
pub const BROKEN: u8 = 1;
/// Usage, profile or fixture error, found before anything was sent.
pub const USAGE: u8 = 2;
/// A target was not reached, not recognised, or stopped answering; or the run was cut short with nothing broken until then.
pub const UNSEEN: u8 = 3;
/// The kit itself failed.
pub const KIT: u8 = 4;

/// How many names a reason lists before it counts the rest.
const NAMED: usize = 6;

/// The first line of the table that applies to all targets together.
///
/// The deadline of the run is no fault of the target, so what was seen broken until then counts first; but a run that it cut short is never
/// green.
pub fn exit(targets: &[TargetReport], strict: bool) -> Exit {
    errored(targets)
        .or_else(|| aborted(targets, |kind| kind != AbortKind::Deadline))
        .or_else(|| broken(targets))
        .or_else(|| aborted(targets, |kind| kind == AbortKind::Deadline))
        .or_else(|| if strict { unexercised(targets) } else { None })
        .or_else(|| nothing_held(targets))
        .unwrap_or_else(|| held(targets))
}

fn errored(targets: &[TargetReport]) -> Option<Exit> {
    let scenarios = targets.iter().flat_map(|target| &target.scenarios);
    let paths = scenarios.filter(|scenario| scenario.outcome == Outcome::Errored).map(|scenario| scenario.path.clone()).collect::<Vec<_>>();
    let reason = || format!("{} errored, a fault of the kit and not of the target: {}", count(paths.len(), "case"), names(&paths));
    (!paths.is_empty()).then(|| Exit { code: KIT, reason: reason() })
}

fn aborted(targets: &[TargetReport], applies: fn(AbortKind) -> bool) -> Option<Exit> {
    let early = |target: &TargetReport| target.aborted.clone().filter(|abort| applies(abort.kind)).map(|abort| (target.url.clone(), abort));
    let (url, Abort { kind, reason }) = targets.iter().find_map(early)?;
    Some(Exit { code: UNSEEN, reason: format!("{url} {}: {reason}", what_happened(kind)) })
}

/// What became of the target, after its name.
pub(crate) fn what_happened(kind: AbortKind) -> &'static str {
    match kind {
        AbortKind::Unreachable => "was not reached",
        AbortKind::NotRecognised => "was not recognised",
        AbortKind::StoppedAnswering => "stopped answering",
        AbortKind::Deadline => "was not seen to the end",
    }
}

fn broken(targets: &[TargetReport]) -> Option<Exit> {
    let ids = targets.iter().flat_map(|target| labelled(broken_rules(target), target, targets)).collect::<Vec<_>>();
    let reason = || format!("{} broken: {}", were(ids.len()), names(&ids));
    (!ids.is_empty()).then(|| Exit { code: BROKEN, reason: reason() })
}

/// Broken by the table or by a case: a case that failed counts even if the table should forget its rule.
fn broken_rules(target: &TargetReport) -> Vec<String> {
    let table = musts(target, Status::Broken).map(|requirement| requirement.id.clone());
    let cases = target.scenarios.iter().flat_map(blamed);
    let mut seen = BTreeSet::new();
    table.chain(cases).filter(|id| seen.insert(id.clone())).collect()
}

/// The rules that a case blames; its own path if it failed and blames none.
fn blamed(scenario: &Scenario) -> Vec<String> {
    let findings = scenario.findings.iter().filter(|finding| finding.level == Level::Must);
    let mut ids = findings.map(|finding| finding.requirement.clone()).collect::<Vec<_>>();
    if ids.is_empty() && scenario.outcome == Outcome::Failed {
        ids.push(scenario.path.clone());
    }
    ids
}

fn unexercised(targets: &[TargetReport]) -> Option<Exit> {
    let silent = |target: &TargetReport| musts(target, Status::NotExercised).map(|requirement| requirement.id.clone()).collect();
    let ids = targets.iter().flat_map(|target| labelled(silent(target), target, targets)).collect::<Vec<_>>();
    let reason = || format!("{} not exercised, and this run is strict: {}", were(ids.len()), names(&ids));
    (!ids.is_empty()).then(|| Exit { code: BROKEN, reason: reason() })
}

fn nothing_held(targets: &[TargetReport]) -> Option<Exit> {
    if targets.is_empty() {
        return Some(Exit { code: BROKEN, reason: "nothing was checked".to_owned() });
    }
    let empty = targets.iter().find(|target| musts(target, Status::Held).next().is_none())?;
    Some(Exit { code: BROKEN, reason: format!("nothing was shown: no must rule of {} was held on {}", empty.contract, empty.url) })
}

fn held(targets: &[TargetReport]) -> Exit {
    let requirements = || targets.iter().flat_map(|target| &target.requirements);
    let must = summary::tally(requirements(), Level::Must);
    let unseen = if must.not_exercised > 0 { format!(", {} not exercised", must.not_exercised) } else { String::new() };
    Exit { code: HELD, reason: format!("{} held, none broken{unseen}", count(must.held, "must rule")) }
}

fn musts(target: &TargetReport, status: Status) -> impl Iterator<Item = &Requirement> {
    target.requirements.iter().filter(move |requirement| requirement.level == Level::Must && requirement.status == status)
}

/// Ids name their contract; only where one contract was checked on several targets they need the target as well.
fn labelled(ids: Vec<String>, target: &TargetReport, targets: &[TargetReport]) -> Vec<String> {
    let shared = targets.iter().filter(|other| other.contract == target.contract).count() > 1;
    ids.into_iter().map(|id| if shared { format!("{id} on {}", target.url) } else { id }).collect()
}

fn names(all: &[String]) -> String {
    let named = all.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        rest => format!("{named} and {rest} more"),
    }
}

fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

fn were(rules: usize) -> String {
    format!("{} {}", count(rules, "must rule"), if rules == 1 { "was" } else { "were" })
}
