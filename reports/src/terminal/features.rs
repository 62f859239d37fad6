//! The verdict table: one line an area, told in a word and in counts.

use super::page::{BOLD, DIM, GREEN, Line, PLAIN, Page, RED, YELLOW};
use crate::model::{Feature, FeatureVerdict, TargetReport};
use anstyle::Style;

/// Columns of counts: head, what is counted, how it is shown when it is not zero.
type Column = (&'static str, fn(&Feature) -> usize, Style);

const COLUMNS: [Column; 5] = [
    ("held", |feature| feature.must.held, PLAIN),
    ("broken", |feature| feature.must.broken, RED),
    ("not exercised", |feature| feature.must.not_exercised, YELLOW),
    ("n.a.", |feature| feature.must.not_applicable, DIM),
    ("warnings", |feature| feature.should.broken, YELLOW),
];

pub(super) fn table(page: &mut Page, target: &TargetReport) {
    if target.features.is_empty() {
        return;
    }
    let areas = target.features.iter().map(|feature| feature.area.chars().count()).max().unwrap_or(0).max("area".len());
    page.gap();
    let head = Line::indent(2).with(DIM, format!("{:areas$}  {:14}", "area", "must rules"));
    page.whole(COLUMNS.iter().fold(head, |line, (name, ..)| line.with(DIM, format!("  {name}"))));
    for feature in &target.features {
        page.whole(row(feature, areas));
    }
    let hidden: usize = target.features.iter().map(|feature| feature.must.unobservable + feature.should.unobservable).sum();
    if hidden > 0 {
        let rules = if hidden == 1 { "rule" } else { "rules" };
        page.whole(Line::indent(2).with(DIM, format!("not counted: {hidden} {rules} of which nothing can be seen from outside")));
    }
}

fn row(feature: &Feature, areas: usize) -> Line {
    let (word, style) = word(feature.verdict);
    let line = Line::indent(2).with(BOLD, format!("{:areas$}", feature.area)).plain("  ").with(style, format!("{word:14}"));
    COLUMNS.iter().fold(line, |line, (name, count, style)| {
        let width = name.len();
        match count(feature) {
            0 => line.with(DIM, format!("  {:>width$}", "·")),
            count => line.with(*style, format!("  {count:>width$}")),
        }
    })
}

/// Capitals for the one verdict that fails a run, so that it is found without colour.
fn word(verdict: FeatureVerdict) -> (&'static str, Style) {
    match verdict {
        FeatureVerdict::Conforms => ("conforms", GREEN),
        FeatureVerdict::Partly => ("partly seen", YELLOW),
        FeatureVerdict::Violates => ("VIOLATES", RED),
        FeatureVerdict::Unseen => ("not seen", YELLOW),
        FeatureVerdict::NotApplicable => ("not applicable", DIM),
    }
}
