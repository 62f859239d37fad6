//! What a monitor hands back: how often its rule held, and what broke it.

use proofmark_reports::model::Mismatch;
use std::fmt::Display;
use std::sync::Arc;

/// More differences of one answer than this are counted, not shown.
const SHOWN: usize = 8;

/// What one monitor says of a run. Nothing held and nothing found means: not exercised.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// How often the rule could have been seen broken and was not.
    pub held: u64,
    pub findings: Vec<MonitorFinding>,
}

/// One violation, as far as it can be pinned to exchanges.
#[derive(Clone, Debug, PartialEq)]
pub struct MonitorFinding {
    /// The case it was seen in; what only the sweep saw counts for the case that first met the execution.
    pub case: Arc<str>,
    /// Ids of the exchanges it rests on, rising.
    pub exchanges: Vec<u64>,
    /// Never empty.
    pub mismatches: Vec<Mismatch>,
}

impl Observation {
    pub(super) fn hold(&mut self) {
        self.held += 1;
    }

    /// Adds a finding; without a mismatch there is none.
    pub(super) fn accuse(&mut self, case: &Arc<str>, exchanges: impl IntoIterator<Item = u64>, mismatches: Vec<Mismatch>) {
        if mismatches.is_empty() {
            return;
        }
        let mut exchanges: Vec<u64> = exchanges.into_iter().collect();
        exchanges.sort_unstable();
        exchanges.dedup();
        self.findings.push(MonitorFinding { case: Arc::clone(case), exchanges, mismatches: shortened(mismatches) });
    }
}

pub(super) fn mismatch(path: impl Into<String>, expected: impl Display, actual: impl Display) -> Mismatch {
    Mismatch { path: path.into(), expected: expected.to_string(), actual: actual.to_string() }
}

fn shortened(mut mismatches: Vec<Mismatch>) -> Vec<Mismatch> {
    if mismatches.len() > SHOWN {
        let more = mismatches.len() - SHOWN;
        mismatches.truncate(SHOWN);
        mismatches.push(mismatch("and further", "none", format!("{more} more of the same kind")));
    }
    mismatches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_mismatches_are_counted_and_exchanges_sorted() {
        let mut seen = Observation::default();
        seen.accuse(&Arc::from("case"), [7, 3, 7], (0..20).map(|n| mismatch(format!("events[{n}]"), 1, 2)).collect());
        let finding = &seen.findings[0];
        assert_eq!(finding.exchanges, [3, 7]);
        assert_eq!(finding.mismatches.len(), SHOWN + 1);
        assert_eq!(finding.mismatches[SHOWN].actual, "12 more of the same kind");
    }

    #[test]
    fn nothing_different_is_no_finding() {
        let mut seen = Observation::default();
        seen.accuse(&Arc::from("case"), [1], Vec::new());
        assert_eq!(seen, Observation::default());
    }
}
