//! `cursor`: a read after N brings what is above N, all of it, and nothing else.
//!
//! Speaks of events at or below the cursor, and of known events above it that a reader was not given: anywhere in a stream up to its last
//! event, at the beginning or the end of a list. Events that are gone from the history are `append-only`'s: no cursor can bring them.
//! Where numbers begin below 1 they are no cursors, and `sequence` says so.

use super::World;
use super::append_only::{absent, witnesses};
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::{Missing, Reading};
use proofmark_reports::model::Mismatch;
use std::collections::BTreeSet;

/// Holds once for each reading with a cursor above 0 that brought events above it only, or nothing although there were events below.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values().filter(|execution| !counts_below_one(execution)) {
        let gone = gone(execution);
        for reading in &execution.readings {
            let Some(cursor) = reading.after() else { continue };
            let left_out: Vec<Missing> = reading.missing.iter().copied().filter(|missing| !gone.contains(&missing.sequence)).collect();
            let mut mismatches = below(reading, cursor);
            mismatches.extend(left_out.iter().map(|missing| absent(execution, *missing)));
            if mismatches.is_empty() && reading.is_clean() && cut_something_off(execution, reading, cursor) {
                seen.hold();
            }
            seen.accuse(execution.case(reading.exchange), witnesses(execution, reading, &left_out), mismatches);
        }
    }
    seen
}

fn counts_below_one(execution: &Execution<'_>) -> bool {
    execution.readings.iter().flat_map(|reading| &reading.events).any(|event| event.sequence < 1)
}

/// What some list did not have any more.
fn gone(execution: &Execution<'_>) -> BTreeSet<i64> {
    let missing = execution.readings.iter().flat_map(|reading| &reading.missing);
    missing.filter(|missing| missing.gone).map(|missing| missing.sequence).collect()
}

fn below(reading: &Reading<'_>, cursor: i64) -> Vec<Mismatch> {
    let low = reading.events.iter().filter(|event| event.sequence <= cursor);
    low.map(|event| mismatch(format!("{}.sequence", reading.path(event)), format!("above {cursor}"), event.sequence)).collect()
}

fn cut_something_off(execution: &Execution<'_>, reading: &Reading<'_>, cursor: i64) -> bool {
    let there_before = |(_, known): (&i64, &super::history::Known)| known.at < reading.exchange.began;
    cursor > 0 && reading.is_finished() && execution.known.range(1..=cursor).any(there_before)
}

#[cfg(test)]
mod tests {
    use crate::monitors::finding::mismatch;
    use crate::monitors::testing::{Ask, accusers, events, held, judge, numbered, pick};
    use crate::transcript::StreamEnd;

    const RUN: &str = "queued started delta delta completed";

    #[test]
    fn every_cursor_holds_beyond_the_end_too() {
        let all = events(RUN);
        let run = [
            Ask::list("e", &all),
            Ask::list("e", &all[1..]).after(1),
            Ask::stream("e", &all[4..], StreamEnd::Closed).after(4),
            Ask::list("e", &[]).after(5),
            Ask::list("e", &[]).after(99),
            Ask::stream("e", &[], StreamEnd::Closed).after(99),
        ];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("cursor", run), 5);
    }

    #[test]
    fn silence_after_a_cursor_alone_holds_nothing() {
        assert_eq!(held("cursor", [Ask::list("e", &[]).after(3), Ask::list("e", &[])]), 0);
    }

    #[test]
    fn the_cursor_itself_is_excluded() {
        let all = events(RUN);
        let lists = [Ask::list("e", &all), Ask::list("e", &all[1..]).after(2)];
        assert_eq!(accusers(lists.clone()), ["cursor"]);
        assert_eq!(judge("cursor", lists).findings[0].mismatches, [mismatch("events[0].sequence", "above 2", 2)]);
        let late = pick(&all, &[3, 2, 4, 5]);
        assert_eq!(accusers([Ask::stream("e", &late, StreamEnd::Closed).after(2)]), ["cursor"]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &all, StreamEnd::Closed).after(3)]), ["cursor"]);
    }

    #[test]
    fn a_list_leaves_nothing_out() {
        let all = events(RUN);
        for (after, rest) in [(1, &all[2..]), (4, &[][..]), (2, &all[2..3])] {
            assert_eq!(accusers([Ask::list("e", &all), Ask::list("e", rest).after(after), Ask::list("e", &all)]), ["cursor"], "{after}");
        }
    }

    #[test]
    fn a_stream_begins_with_the_backlog() {
        let all = events(RUN);
        let live_only = Ask::stream("e", &all[3..], StreamEnd::Closed);
        assert_eq!(accusers([Ask::list("e", &all[..3]), live_only.clone(), Ask::list("e", &all)]), ["cursor"]);
        assert_eq!(accusers([live_only, Ask::list("e", &all)]), ["cursor"]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &all[4..], StreamEnd::HungUp).after(2)]), ["cursor"]);
    }

    #[test]
    fn a_list_goes_on_to_the_end() {
        let all = events(RUN);
        let page = |after: usize| Ask::list("e", &all[after..all.len().min(after + 3)]).after(i64::try_from(after).unwrap());
        assert_eq!(accusers([Ask::stream("e", &all, StreamEnd::Closed), page(0), page(1), page(2), page(3)]), ["cursor"]);
        assert_eq!(accusers([page(2), page(0), page(1)]), ["cursor"]);
        assert_eq!(accusers([Ask::state("e", "succeeded"), page(0), page(3), page(0)]), ["cursor"]);
        assert_eq!(accusers([Ask::stream("e", &all[..2], StreamEnd::HungUp), Ask::list("e", &all[..1])]), ["cursor"]);
        assert_eq!(accusers([Ask::stream("e", &all[..2], StreamEnd::HungUp), Ask::list("e", &[])]), ["cursor"]);
        let stale = [Ask::stream("e", &all[..2], StreamEnd::HungUp), Ask::list("e", &all[..1]), Ask::list("e", &all)];
        assert_eq!(accusers(stale), ["cursor"]);
    }

    #[test]
    fn a_stream_loses_nothing_on_its_way() {
        let all = events(RUN);
        let torn = pick(&all, &[1, 2, 4, 5]);
        assert_eq!(accusers([Ask::stream("e", &torn, StreamEnd::Closed), Ask::list("e", &all)]), ["cursor"]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &torn[1..], StreamEnd::HungUp).after(1)]), ["cursor"]);
    }

    #[test]
    fn a_last_event_id_makes_any_start_right() {
        let all = events(RUN);
        for first in 0..4 {
            let stream = Ask::stream("e", &all[first..], StreamEnd::Closed).after(2).header("last-event-id", "3");
            assert_eq!(accusers([Ask::list("e", &all), stream]), [""; 0]);
        }
    }

    #[test]
    fn numbers_from_zero_are_not_below_the_cursor() {
        let history = numbered(&events(RUN), 0);
        for first in 2..=5 {
            assert_eq!(
                accusers([Ask::list("e", &history), Ask::list("e", &history[first..]).after(2), Ask::list("e", &history)]),
                ["sequence"]
            );
        }
    }

    #[test]
    fn what_came_later_need_not_be_there() {
        let all = events(RUN);
        let run = [Ask::list("e", &[]).after(2), Ask::list("e", &all[2..4]).after(2), Ask::list("e", &all)];
        assert_eq!(accusers(run), [""; 0]);
        let overlapping = [Ask::list("e", &all).during(5, 20), Ask::list("e", &[]).after(2).during(10, 15)];
        assert_eq!(accusers(overlapping), [""; 0]);
    }

    #[test]
    fn a_cursor_ahead_of_a_live_execution_waits_and_closes() {
        let all = events(RUN);
        let run = [
            Ask::list("e", &all[..2]),
            Ask::stream("e", &[], StreamEnd::Closed).after(90).during(3, 90),
            Ask::stream("e", &all, StreamEnd::Closed).during(3, 90),
        ];
        assert_eq!(accusers(run), [""; 0]);
    }
}
