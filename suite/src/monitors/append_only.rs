//! `append-only`: a history only grows. What one reader saw under a number every other reader sees there, for ever.
//!
//! Speaks of two contents under one number, in one reading or in several, and of events that are gone from the history: a list has those
//! before and after it, or lacks what an earlier list with the same cursor had. What a reader was merely not given is `cursor`'s, how
//! far a stream comes is `stream-ends`', two terminal events under one number of one reading are `one-terminal`'s, a repeated event in a
//! list is `sequence`'s.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::{Missing, Reading};
use std::collections::BTreeMap;

/// Holds once for each reading that saw again what another one had seen, and found nothing else and nothing less.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let before = seen.findings.len();
        contents(execution, &mut seen);
        losses(execution, &mut seen);
        if seen.findings.len() == before {
            seen.held += execution.confirmed;
        }
    }
    seen
}

fn contents(execution: &Execution<'_>, seen: &mut Observation) {
    let (double_ends, mut by_readers) = (execution.double_ends(), BTreeMap::new());
    for disagreement in execution.disagreements.iter().filter(|d| !double_ends.contains(&d.sequence)) {
        let readers = (disagreement.other.reading, disagreement.first.reading);
        by_readers.entry(readers).or_insert_with(Vec::new).push(disagreement);
    }
    for ((other, first), disagreements) in by_readers {
        let (other, first) = (&execution.readings[other], &execution.readings[first]);
        let mismatches = disagreements.iter().map(|disagreement| {
            let (_, event) = execution.event(disagreement.other);
            let difference = &disagreement.mismatch;
            let path = format!("{}.{}", other.path(event), difference.path);
            mismatch(path, format!("{}, as seen before under sequence {}", difference.expected, disagreement.sequence), &difference.actual)
        });
        seen.accuse(execution.case(other.exchange), [first.exchange.id, other.exchange.id], mismatches.collect());
    }
}

fn losses(execution: &Execution<'_>, seen: &mut Observation) {
    for reading in &execution.readings {
        let lost: Vec<Missing> = reading.missing.iter().copied().filter(|missing| missing.gone).collect();
        let mismatches = lost.iter().map(|missing| absent(execution, *missing)).collect();
        seen.accuse(execution.case(reading.exchange), witnesses(execution, reading, &lost), mismatches);
    }
}

pub(super) fn absent(execution: &Execution<'_>, missing: Missing) -> proofmark_reports::model::Mismatch {
    let (_, event) = execution.event(execution.known[&missing.sequence].first);
    mismatch(format!("events, sequence {}", missing.sequence), format!("{}, as another reader saw it", event.kind), "absent")
}

/// The reading itself and one that has the first of the missing events.
pub(super) fn witnesses(execution: &Execution<'_>, reading: &Reading<'_>, missing: &[Missing]) -> Vec<u64> {
    let other = missing.first().map(|missing| execution.event(execution.known[&missing.sequence].first).0.exchange.id);
    other.into_iter().chain([reading.exchange.id]).collect()
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held, judge, pick};
    use crate::transcript::StreamEnd;
    use serde_json::{Value, json};

    const RUN: &str = "queued started delta delta completed";

    fn changed(at: usize) -> Vec<Value> {
        let mut history = events(RUN);
        history[at]["data"] = json!({"text": "something else"});
        history
    }

    #[test]
    fn readers_that_agree_hold() {
        let all = events(RUN);
        let run = [Ask::list("e", &all), Ask::stream("e", &all, StreamEnd::Closed), Ask::list("e", &all[3..]).after(3)];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("append-only", run), 2);
        assert_eq!(held("append-only", [Ask::list("e", &all)]), 0);
    }

    #[test]
    fn spelling_does_not_make_another_event() {
        let mut other = events(RUN);
        other[1]["sequence"] = json!(2.0);
        other[2]["deliveredAt"] = json!("now");
        other[3]["time"] = json!("2026-09-02T10:00:04.000000Z");
        assert_eq!(accusers([Ask::list("e", &events(RUN)), Ask::stream("e", &other, StreamEnd::Closed)]), [""; 0]);
    }

    #[test]
    fn another_content_is_found_across_kinds_and_cursors() {
        let lists = [Ask::list("e", &events(RUN)), Ask::list("e", &changed(3)[2..]).after(2)];
        assert_eq!(accusers(lists.clone()), ["append-only"]);
        let found = judge("append-only", lists).findings.remove(0);
        assert_eq!(found.exchanges, [1, 2]);
        assert_eq!(found.mismatches[0].path, "events[1].data");
        assert_eq!(accusers([Ask::stream("e", &changed(2), StreamEnd::Closed), Ask::list("e", &events(RUN))]), ["append-only"]);
    }

    #[test]
    fn a_duplicate_of_a_stream_is_the_same_event() {
        let mut stream = events(RUN);
        stream.insert(3, changed(2)[2].clone());
        assert_eq!(accusers([Ask::stream("e", &stream, StreamEnd::Closed)]), ["append-only"]);
        let mut list = events(RUN);
        list.insert(3, changed(2)[2].clone());
        assert_eq!(accusers([Ask::list("e", &list)]), ["append-only"]);
    }

    #[test]
    fn a_rewritten_end_is_no_second_end() {
        let run = [Ask::list("e", &events("queued started completed")), Ask::list("e", &events("queued started cancelled"))];
        assert_eq!(accusers(run), ["append-only"]);
    }

    #[test]
    fn no_other_rule_builds_on_what_is_contested() {
        let rewritten = [Ask::list("e", &events("queued started completed")), Ask::list("e", &events("queued started cancelled"))];
        assert_eq!(accusers(rewritten.into_iter().chain([Ask::state("e", "cancelled")])), ["append-only"]);
        let answered = events("queued required=a responded=a responded=a");
        let other = events("queued required=a responded=a delta");
        assert_eq!(accusers([Ask::list("e", &answered), Ask::list("e", &other)]), ["append-only"]);
        let all = events(RUN);
        let mut swapped = all.clone();
        (swapped[3], swapped[4]) = (all[4].clone(), all[3].clone());
        (swapped[3]["sequence"], swapped[4]["sequence"]) = (json!(4), json!(5));
        assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &swapped, StreamEnd::Closed)]), ["append-only"]);
    }

    #[test]
    fn a_list_lost_what_it_had_before() {
        let all = events(RUN);
        assert_eq!(accusers([Ask::list("e", &all), Ask::list("e", &all[..3])]), ["append-only"]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::list("e", &[])]), ["append-only"]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::list("e", &all[2..])]), ["append-only"]);
        assert_eq!(accusers([Ask::list("e", &all[1..]).after(1), Ask::list("e", &all[1..3]).after(1)]), ["append-only"]);
        let slow = [Ask::list("e", &all).during(0, 50), Ask::list("e", &all).during(1, 5), Ask::list("e", &all[..3]).during(10, 12)];
        assert_eq!(accusers(slow), ["append-only"]);
    }

    #[test]
    fn readings_that_overlap_say_nothing_of_order() {
        let all = events(RUN);
        let run =
            [Ask::list("e", &all[..4]).during(10, 20), Ask::list("e", &all[..2]).during(5, 30), Ask::list("e", &all[..3]).during(20, 25)];
        assert_eq!(accusers(run), [""; 0]);
        let live = Ask::stream("e", &all, StreamEnd::Closed).during(0, 100);
        assert_eq!(accusers([live, Ask::list("e", &all[..1]).during(1, 2)]), [""; 0]);
    }

    #[test]
    fn a_hole_in_a_list_that_another_reader_filled_is_a_loss() {
        let all = events(RUN);
        let torn = pick(&all, &[1, 2, 4, 5]);
        assert_eq!(accusers([Ask::list("e", &torn), Ask::stream("e", &all, StreamEnd::Closed)]), ["append-only"]);
        assert_eq!(accusers([Ask::list("e", &torn[1..]).after(1), Ask::list("e", &all)]), ["append-only"]);
    }

    #[test]
    fn a_history_that_forgets_its_beginning_is_one_finding() {
        let all = events(RUN);
        let run = [Ask::list("e", &all), Ask::list("e", &all[3..]).after(1), Ask::list("e", &all[3..])];
        assert_eq!(accusers(run), ["append-only"]);
    }

    #[test]
    fn a_cut_stream_is_a_prefix() {
        let all = events(RUN);
        let ends = [StreamEnd::HungUp, StreamEnd::Cut("reset".into()), StreamEnd::TimedOut(std::time::Duration::from_secs(10))];
        for end in ends {
            assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &all[..2], end), Ask::list("e", &all)]), [""; 0]);
        }
    }
}
