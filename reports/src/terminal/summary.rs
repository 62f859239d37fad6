//! The last lines: counts, what repeats the run, the exit code and why.

use super::page::{BOLD, DIM, GREEN, Line, PLAIN, Page, RED, YELLOW};
use crate::exit;
use crate::model::{Level, Outcome, Report, RunInfo, Tally};
use crate::summary::{outcomes, tally};
use crate::text;
use anstyle::Style;

pub(super) fn summary(page: &mut Page, report: &Report) {
    page.gap();
    counts(page, report);
    let RunInfo { seed, nonce, started_at, reproduce, .. } = &report.run;
    let kit = format!("{} {}", report.kit.name, report.kit.version);
    page.whole(label("run").plain(format!("seed {seed}, nonce {nonce}, {kit}, {started_at}")));
    page.whole(label("again").plain(reproduce));
    early(page, report);
    let style = if report.exit.code == exit::HELD { GREEN.bold() } else { RED };
    let lines = text::wrap(&report.exit.reason, page.width().saturating_sub(16));
    for (index, reason) in lines.iter().enumerate() {
        let line = if index == 0 { label("exit").with(style, report.exit.code.to_string()).plain(": ") } else { Line::indent(11) };
        page.whole(line.plain(reason));
    }
}

/// Targets that were not seen to the end, where the exit code speaks of something else.
fn early(page: &mut Page, report: &Report) {
    let aborted = report.targets.iter().filter_map(|target| Some((target, target.aborted.as_ref()?)));
    for (target, abort) in aborted.filter(|_| report.exit.code != exit::UNSEEN || report.targets.len() > 1) {
        page.whole(label("early").with(RED, format!("{} {}", target.url, exit::what_happened(abort.kind))));
    }
}

/// The one line that says it all.
fn counts(page: &mut Page, report: &Report) {
    let requirements = || report.targets.iter().flat_map(|target| &target.requirements);
    let Tally { held, broken, not_exercised, not_applicable, .. } = tally(requirements(), Level::Must);
    let warnings = tally(requirements(), Level::Should).broken;
    let parts = [(broken, "BROKEN", RED), (held, "held", GREEN), (not_exercised, "not exercised", YELLOW), (not_applicable, "n.a.", DIM)];
    let line = listed(label("must"), &parts);
    let noun = if warnings == 1 { "warning" } else { "warnings" };
    page.whole(if warnings > 0 { line.with(DIM, "  |  ").with(YELLOW, format!("{warnings} {noun}")) } else { line });
    cases(page, report);
}

fn cases(page: &mut Page, report: &Report) {
    let scenarios = || report.targets.iter().flat_map(|target| &target.scenarios);
    let counted = outcomes(scenarios());
    let parts: Vec<_> = counted.iter().map(|(outcome, number)| (*number, word(*outcome), PLAIN)).collect();
    let line = listed(label("cases"), &parts);
    page.whole(line.with(DIM, format!("  |  {} in {}", scenarios().count(), text::duration(report.run.duration_ms))));
}

/// `2 BROKEN, 41 held`: what is zero is left out, nothing at all is said as such.
fn listed(line: Line, parts: &[(usize, &str, Style)]) -> Line {
    let told: Vec<_> = parts.iter().filter(|(number, ..)| *number > 0).collect();
    if told.is_empty() {
        return line.plain("none");
    }
    told.iter().enumerate().fold(line, |line, (index, (number, word, style))| {
        let comma = if index == 0 { "" } else { ", " };
        line.plain(comma).with(*style, format!("{number} {word}"))
    })
}

fn label(word: &str) -> Line {
    Line::new().with(BOLD, format!("{word:>6}")).plain("  ")
}

/// An outcome in the words of the report.
pub fn word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::Warned => "warned",
        Outcome::Blocked => "blocked",
        Outcome::NotApplicable => "n.a.",
        Outcome::NotExercised => "not exercised",
        Outcome::Errored => "errored",
    }
}
