//! `sequence`: numbers start at 1, rise, and leave none out.
//!
//! Duplicates within one stream are dropped first: delivery is at least once. A list is no delivery; it has each number once. What a
//! reader lacks although another one has it is a lost event, not a skipped number: `append-only` or `cursor`. Numbers up to the cursor
//! are `cursor`'s, two contents under one number are `append-only`'s.

use super::World;
use super::finding::Observation;

/// Holds once for each reading with a clear cursor and at least one event above it.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        for reading in &execution.readings {
            let counted = reading.after().is_some_and(|cursor| reading.events.iter().any(|event| event.sequence > cursor));
            if counted && reading.sound && reading.numbering.is_empty() {
                seen.hold();
            }
            seen.accuse(execution.case(reading.exchange), [reading.exchange.id], reading.numbering.clone());
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use crate::monitors::finding::mismatch;
    use crate::monitors::testing::{Ask, accusers, events, held, judge, numbered, pick};
    use crate::transcript::StreamEnd;
    use serde_json::json;

    const RUN: &str = "queued started delta delta completed";

    #[test]
    fn a_full_history_holds_at_every_cursor() {
        let all = events(RUN);
        let run = [Ask::list("e", &all), Ask::list("e", &all[2..]).after(2), Ask::stream("e", &all[4..], StreamEnd::Closed).after(4)];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("sequence", run), 3);
    }

    #[test]
    fn duplicates_of_a_stream_are_dropped_wherever_they_come() {
        let repeated = pick(&events(RUN), &[1, 2, 3, 3, 2, 4, 1, 5, 5, 3]);
        assert_eq!(accusers([Ask::stream("e", &repeated, StreamEnd::Closed)]), [""; 0]);
        let resumed = pick(&events(RUN), &[3, 4, 3, 4, 5]);
        assert_eq!(accusers([Ask::stream("e", &resumed, StreamEnd::Closed).after(2)]), [""; 0]);
    }

    #[test]
    fn a_list_has_each_number_once() {
        assert_eq!(accusers([Ask::list("e", &pick(&events(RUN), &[1, 2, 2, 3]))]), ["sequence"]);
        assert_eq!(accusers([Ask::list("e", &pick(&events(RUN), &[1, 2, 3, 4, 5, 5]))]), ["sequence"]);
    }

    #[test]
    fn numbers_start_at_one() {
        for first in [0, 2, 1000] {
            let history = numbered(&events(RUN), first);
            let run = [
                Ask::list("e", &history),
                Ask::stream("e", &history, StreamEnd::Closed),
                Ask::state("e", "succeeded"),
                Ask::list("e", &history),
            ];
            assert_eq!(accusers(run), ["sequence"], "from {first}");
        }
    }

    #[test]
    fn a_stream_that_counts_on_its_own_is_one_finding() {
        let history = events(RUN);
        let run = [Ask::list("e", &history), Ask::stream("e", &numbered(&history, 0), StreamEnd::Closed), Ask::list("e", &history)];
        assert_eq!(accusers(run), ["sequence"]);
        let run = [Ask::list("e", &history), Ask::stream("e", &numbered(&history, 1000), StreamEnd::Closed), Ask::list("e", &history)];
        assert_eq!(accusers(run), ["sequence"]);
    }

    #[test]
    fn a_number_that_nobody_has_seen_was_skipped() {
        let history = pick(&events(RUN), &[1, 2, 4, 5]);
        let run = [Ask::list("e", &history), Ask::stream("e", &history, StreamEnd::Closed), Ask::list("e", &history[3..]).after(4)];
        assert_eq!(accusers(run.clone()), ["sequence"]);
        assert_eq!(judge("sequence", run).findings[0].mismatches, [mismatch("events[2].sequence", "3, the next after 2", 4)]);
    }

    #[test]
    fn order_matters_in_both_kinds() {
        let mixed = pick(&events(RUN), &[1, 3, 2, 4, 5]);
        assert_eq!(accusers([Ask::list("e", &mixed), Ask::list("e", &events(RUN))]), ["sequence"]);
        assert_eq!(accusers([Ask::stream("e", &mixed, StreamEnd::Closed), Ask::list("e", &events(RUN))]), ["sequence"]);
        let late = pick(&events(RUN), &[1, 2, 3, 5, 4]);
        assert_eq!(accusers([Ask::stream("e", &late, StreamEnd::Closed), Ask::list("e", &events(RUN))]), ["sequence"]);
    }

    #[test]
    fn an_unclear_start_is_judged_for_order_only() {
        let tail = pick(&events(RUN), &[3, 4, 5]);
        let stream = |events: &[_]| Ask::stream("e", events, StreamEnd::Closed).header("Last-Event-ID", "2");
        assert_eq!(accusers([stream(&tail), Ask::list("e", &events(RUN))]), [""; 0]);
        assert_eq!(accusers([stream(&pick(&tail, &[2, 1, 3])), Ask::list("e", &events(RUN))]), ["sequence"]);
        assert_eq!(held("sequence", [stream(&tail)]), 0);
    }

    #[test]
    fn what_cannot_be_read_is_no_gap() {
        let mut torn = events(RUN);
        torn[2] = json!("garbage");
        assert_eq!(accusers([Ask::list("e", &torn), Ask::list("e", &events(RUN))]), [""; 0]);
        assert_eq!(held("sequence", [Ask::list("e", &torn)]), 0);
    }

    #[test]
    fn huge_numbers_are_no_trouble() {
        let mut history = events("queued started");
        history[1]["sequence"] = json!(i64::MAX);
        assert_eq!(accusers([Ask::list("e", &history), Ask::list("e", &[]).query("after", &i64::MAX.to_string())]), ["sequence"]);
    }

    #[test]
    fn an_empty_list_shows_nothing() {
        assert_eq!(held("sequence", [Ask::list("e", &[])]), 0);
    }
}
