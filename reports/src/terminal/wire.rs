//! Exchanges as a person reads them: numbered, requests marked `>`, answers marked `<`, the middle of long ones left out.

use super::page::{BOLD, CYAN, DIM, Line, PLAIN, Page};
use crate::model::{Exchange, Scenario, TargetReport};

/// Exchanges shown with one finding.
const SHOWN: usize = 4;
/// Exchanges shown when a finding names none: the last ones of its case.
const LAST: usize = 2;
/// Lines of one request or answer before and after what is left out. The tail is longer than a line because bodies come last.
const HEAD: usize = 9;
const TAIL: usize = 5;

/// The exchanges that a finding rests on.
pub(super) fn exchanges(page: &mut Page, case: &Scenario, numbers: &[u64]) {
    let named: Vec<_> = case.transcript.iter().filter(|exchange| numbers.contains(&exchange.number)).collect();
    let skipped = case.transcript.len().saturating_sub(LAST);
    let chosen = if named.is_empty() { case.transcript.iter().skip(skipped).collect() } else { named };
    for exchange in chosen.iter().take(SHOWN) {
        head(page, 4, exchange);
        side(page, '>', &exchange.request);
        side(page, '<', &exchange.response);
    }
    let rest = chosen.iter().skip(SHOWN).map(|exchange| format!("#{}", exchange.number)).collect::<Vec<_>>();
    if !rest.is_empty() {
        page.line(Line::indent(4).with(DIM, format!("and {} more exchanges: {}", rest.len(), rest.join(", "))));
    }
}

/// Every transcript of a target, whole.
pub(super) fn transcripts(page: &mut Page, target: &TargetReport) {
    let with_wire: Vec<_> = target.scenarios.iter().filter(|scenario| !scenario.transcript.is_empty()).collect();
    if with_wire.is_empty() {
        return;
    }
    page.section(PLAIN, "WIRE", "what the cases sent and what came back");
    for case in with_wire {
        page.gap();
        page.line(Line::indent(2).with(BOLD, &case.path));
        for exchange in &case.transcript {
            head(page, 4, exchange);
            for (mark, lines) in [('>', &exchange.request), ('<', &exchange.response)] {
                for line in lines {
                    page.whole(marked(mark, line));
                }
            }
        }
    }
}

fn head(page: &mut Page, indent: usize, exchange: &Exchange) {
    let line = Line::indent(indent).with(CYAN, format!("#{} {}", exchange.number, exchange.step));
    page.line(line.with(DIM, format!("  at {} ms", exchange.at_ms)));
}

/// One half of an exchange, without the middle when it is long.
fn side(page: &mut Page, mark: char, lines: &[String]) {
    let left_out = match lines.len().saturating_sub(HEAD + TAIL) {
        // A mark in place of a single line would save nothing.
        1 => 0,
        lines => lines,
    };
    for (index, line) in lines.iter().enumerate() {
        if index == HEAD && left_out > 0 {
            page.line(Line::indent(6).with(DIM, format!("{mark} … +{left_out} lines")));
        }
        if index < HEAD || index >= HEAD + left_out {
            page.line(marked(mark, line));
        }
    }
}

fn marked(mark: char, line: &str) -> Line {
    Line::indent(6).with(DIM, format!("{mark} ")).plain(line)
}
