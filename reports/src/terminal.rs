//! The report for people: what a tired engineer sees at the end of a run. This file owns the order of the sections.

mod advice;
mod cases;
mod features;
mod findings;
mod page;
mod stimuli;
mod summary;
mod wire;

pub use findings::evidence;
pub use summary::word as outcome;

use crate::exit;
use crate::groups::groups;
use crate::model::{Level, Report, TargetReport};
use page::{BOLD, DIM, Line, Page, RED};

/// How to render. The default is plain text, 100 columns wide, everything but the wire of cases that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// ANSI styles in the text. Without it the text holds no escape sequence at all.
    pub colour: bool,
    /// The transcripts of all cases that have one, whole; otherwise only the exchanges that a failure rests on.
    pub show_wire: bool,
    /// What failed and the summary, nothing else.
    pub quiet: bool,
    /// Columns; longer lines are cut with a mark that says how much is gone. Lines to paste, the table and the summary are not cut.
    /// 0 is no limit.
    pub width: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { colour: false, show_wire: false, quiet: false, width: 100 }
    }
}

/// The report as text, the most important at the end: what remains on a screen is the summary and the exit code.
pub fn render(report: &Report, options: &Options) -> String {
    let mut page = Page::new(options.colour, options.width);
    for target in &report.targets {
        if options.quiet {
            quiet(&mut page, report, target);
        } else {
            full(&mut page, report, target, options);
        }
    }
    summary::summary(&mut page, report);
    page.finish()
}

fn full(page: &mut Page, report: &Report, target: &TargetReport, options: &Options) {
    let groups = groups(target);
    head(page, target);
    features::table(page, target);
    findings::failures(page, report, target, &groups);
    advice::warnings(page, &groups);
    advice::differences(page, &groups);
    advice::readings(page, target, &groups);
    advice::notes(page, target, &groups);
    cases::unjudged(page, target);
    cases::silent(page, target);
    stimuli::missing(page, target);
    if options.show_wire {
        wire::transcripts(page, target);
    }
}

fn quiet(page: &mut Page, report: &Report, target: &TargetReport) {
    let groups = groups(target);
    if target.aborted.is_some() || groups.iter().any(|group| group.level == Level::Must) || cases::is_unjudged(target) {
        head(page, target);
        findings::failures(page, report, target, &groups);
        cases::unjudged(page, target);
    }
}

fn head(page: &mut Page, target: &TargetReport) {
    page.gap();
    page.line(Line::new().with(BOLD, &target.contract).plain("  ").plain(&target.url));
    let says = target.description.iter().map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ");
    page.text(2, DIM, &says);
    if let Some(abort) = &target.aborted {
        page.text(2, RED, &format!("ABORTED: the target {}: {}", exit::what_happened(abort.kind), abort.reason));
    }
}
