//! What is told and never fails a run, in short: advice not followed, differences from habit, readings of disputed rules, notes.

use super::findings::{brief, place};
use super::page::{BOLD, CYAN, DIM, Line, PLAIN, Page, YELLOW};
use crate::groups::Group;
use crate::model::{Level, TargetReport};
use crate::text;
use anstyle::Style;
use std::collections::{BTreeMap, BTreeSet};

/// Every broken `should`: wording and the first mismatch.
pub(super) fn warnings(page: &mut Page, groups: &[Group<'_>]) {
    short(page, groups, Level::Should, YELLOW, "WARNINGS", "advice that was not followed; it does not fail the run");
}

/// Rules that only describe habit, where something else was seen.
pub(super) fn differences(page: &mut Page, groups: &[Group<'_>]) {
    short(page, groups, Level::Observed, PLAIN, "DIFFERENCES", "from what other implementations do; noted, never counted");
}

fn short(page: &mut Page, groups: &[Group<'_>], level: Level, style: Style, word: &str, meaning: &str) {
    let chosen: Vec<_> = groups.iter().filter(|group| group.level == level).collect();
    if chosen.is_empty() {
        return;
    }
    page.section(style, word, meaning);
    for group in chosen {
        wording(page, group.id, style, group.rule.map_or("", |rule| &rule.text));
        let Some(first) = group.findings.first() else { continue };
        place(page, 4, first);
        let more = match group.cases() {
            0 | 1 => String::new(),
            cases => format!("  (and in {} more {})", cases - 1, if cases == 2 { "case" } else { "cases" }),
        };
        page.line(Line::indent(4).plain(brief(first)).with(DIM, more));
    }
}

fn wording(page: &mut Page, id: &str, style: Style, text: &str) {
    let lines = text::wrap(text, page.width().saturating_sub(id.chars().count() + 4));
    page.line(Line::indent(2).with(style.bold(), id).plain("  ").plain(lines.first().map_or("", String::as_str)));
    lines.iter().skip(1).for_each(|line| page.line(Line::indent(id.chars().count() + 4).plain(line)));
}

/// Disputed rules: which reading the target follows. Where none fits, that is told, and counted against nobody.
pub(super) fn readings(page: &mut Page, target: &TargetReport, groups: &[Group<'_>]) {
    let unlike = |id: &str| groups.iter().find(|group| group.id == id && group.level == Level::Disputed);
    let seen: Vec<_> = target.requirements.iter().filter(|rule| !rule.readings.is_empty() || unlike(&rule.id).is_some()).collect();
    let seen: Vec<_> = seen.into_iter().filter(|rule| rule.level == Level::Disputed).collect();
    if seen.is_empty() {
        return;
    }
    page.section(PLAIN, "READINGS", "where published sources disagree; each is accepted");
    for rule in seen {
        wording(page, &rule.id, PLAIN, &rule.text);
        let told = rule.readings.iter().map(|(reading, times)| format!("{reading} ({times}x)")).collect::<Vec<_>>().join(", ");
        if !told.is_empty() {
            page.line(Line::indent(4).with(CYAN, told));
        }
        if let Some(first) = unlike(&rule.id).and_then(|group| group.findings.first()) {
            page.line(Line::indent(4).with(YELLOW, "none of them: ").plain(brief(first)).with(DIM, format!("  {}", first.scenario)));
        }
    }
}

/// Notes of cases about rules that no section above has told of, each once.
pub(super) fn notes(page: &mut Page, target: &TargetReport, groups: &[Group<'_>]) {
    let read = target.requirements.iter().filter(|rule| !rule.readings.is_empty()).map(|rule| rule.id.as_str());
    let told: BTreeSet<&str> = groups.iter().map(|group| group.id).chain(read).collect();
    let mut notes: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for note in target.scenarios.iter().flat_map(|scenario| &scenario.notes) {
        let id = note.requirement.as_deref().unwrap_or("");
        if !told.contains(id) {
            *notes.entry((id, &note.text)).or_default() += 1;
        }
    }
    if notes.is_empty() {
        return;
    }
    page.section(PLAIN, "NOTES", "seen on the way, never counted");
    for ((id, text), times) in notes {
        let times = if times == 1 { String::new() } else { format!("  ({times}x)") };
        let id = if id.is_empty() { String::new() } else { format!("{id}  ") };
        page.line(Line::indent(2).with(BOLD, id).plain(text).with(DIM, times));
    }
}
