//! What is wrong with the numbers in one reading, apart from the cursor and from what the numbers stand for.

use super::finding::mismatch;
use super::reading::{Reading, Start};
use proofmark_reports::model::Mismatch;
use std::collections::{BTreeMap, BTreeSet};

/// Faults of the numbering of one reading: numbers below 1, a list that repeats an event, a number out of order, and, where the contract
/// counts without gaps, a number skipped.
///
/// `seen` holds the numbers that any reader of this history saw: a skipped number among them is an event that was lost on its way
/// (`append-only`, `cursor`), not a number that was never given. Numbers up to the cursor are left to `cursor`; one number with two
/// contents is left to `append-only` and `one-terminal`.
pub(super) fn faults(reading: &Reading<'_>, seen: &BTreeSet<i64>) -> Vec<Mismatch> {
    let cursor = reading.after().unwrap_or(0);
    let mut faults = Vec::new();
    let mut mine: BTreeMap<i64, usize> = BTreeMap::new();
    for (index, event) in reading.events.iter().enumerate() {
        let sequence = event.sequence;
        let path = || format!("{}.sequence", reading.path(event));
        if sequence < 1 {
            faults.push(mismatch(path(), "an integer from 1", sequence));
            continue;
        }
        if sequence <= cursor {
            continue;
        }
        if let Some(first) = mine.get(&sequence) {
            let repeated = reading.events[*first].difference(event).is_none();
            if reading.is_list() && repeated {
                faults.push(mismatch(path(), "each sequence once in a list", format!("{sequence} again")));
            }
            continue;
        }
        if let Some((highest, _)) = mine.last_key_value().filter(|(highest, _)| **highest > sequence) {
            faults.push(mismatch(path(), format!("a sequence above {highest}"), sequence));
        }
        mine.insert(sequence, index);
    }
    if reading.dialect.gapless && reading.sound && matches!(reading.start, Start::After(_)) {
        faults.extend(skipped(reading, cursor, &mine, seen));
    }
    faults
}

fn skipped(reading: &Reading<'_>, cursor: i64, mine: &BTreeMap<i64, usize>, seen: &BTreeSet<i64>) -> Vec<Mismatch> {
    let mut before = cursor;
    let mut faults = Vec::new();
    for (&sequence, &index) in mine {
        let first = before + 1;
        let between = i128::from(sequence) - i128::from(first);
        if between > 0 && i128::try_from(seen.range(first..sequence).count()).is_ok_and(|known| known < between) {
            let path = format!("{}.sequence", reading.path(&reading.events[index]));
            faults.push(mismatch(path, format!("{first}, the next after {before}"), sequence));
        }
        before = sequence;
    }
    faults
}
