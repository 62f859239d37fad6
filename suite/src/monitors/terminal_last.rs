//! `terminal-last`: nothing follows the terminal event of a history.
//!
//! Speaks of events with a number above the last terminal event, whoever saw which of them. What stands between two terminal events
//! belongs to `one-terminal`; a lower number that arrives after the terminal event is `sequence`'s; duplicates are duplicates.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::Reading;

/// Holds once for each execution whose terminal event some finished reading shows.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let before = seen.findings.len();
        for reading in &execution.readings {
            followers(execution, reading, &mut seen);
        }
        let finished = |reading: &Reading<'_>| reading.sound && reading.is_finished() && reading.terminal().is_some();
        if seen.findings.len() == before && execution.readings.iter().any(finished) {
            seen.hold();
        }
    }
    seen
}

fn followers(execution: &Execution<'_>, reading: &Reading<'_>, seen: &mut Observation) {
    let agreed = execution.terminals().next_back().map(|(witness, event, _)| (event.sequence, event.kind.as_str(), witness.exchange.id));
    let own = reading.events.iter().filter(|event| event.is_terminal()).max_by_key(|event| event.sequence);
    let own = own.map(|event| (event.sequence, event.kind.as_str(), reading.exchange.id));
    let Some((last, kind, witness)) = own.max(agreed) else { return };
    let contested = |sequence| execution.known.get(&sequence).is_some_and(|known| known.contested);
    let after = reading.events.iter().filter(|event| event.sequence > last && !event.is_terminal() && !contested(event.sequence));
    let mismatches = after.map(|event| {
        let expected = format!("nothing after {kind} with sequence {last}");
        mismatch(reading.path(event), expected, format!("{} with sequence {}", event.kind, event.sequence))
    });
    seen.accuse(execution.case(reading.exchange), [witness, reading.exchange.id], mismatches.collect());
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held, pick};
    use crate::transcript::StreamEnd;

    const LATE: &str = "queued started completed delta";

    #[test]
    fn an_end_that_is_last_holds_once() {
        let history = events("queued started failed");
        let run = [Ask::list("e", &history), Ask::list("e", &history)];
        assert_eq!(held("terminal-last", run), 1);
        assert_eq!(held("terminal-last", [Ask::stream("e", &history, StreamEnd::HungUp)]), 0);
        assert_eq!(held("terminal-last", [Ask::list("e", &history[..2])]), 0);
    }

    #[test]
    fn what_follows_is_found() {
        assert_eq!(accusers([Ask::list("e", &events(LATE))]), ["terminal-last"]);
        assert_eq!(accusers([Ask::stream("e", &events(LATE), StreamEnd::Closed)]), ["terminal-last"]);
        let apart = [Ask::stream("e", &events(LATE)[..3], StreamEnd::Closed), Ask::list("e", &events(LATE)[3..]).after(3)];
        assert_eq!(accusers(apart), ["terminal-last"]);
        let grown = [Ask::list("e", &events(LATE)[..3]), Ask::state("e", "succeeded"), Ask::list("e", &events(LATE))];
        assert_eq!(accusers(grown), ["terminal-last"]);
    }

    #[test]
    fn an_unknown_event_follows_no_better_than_a_known_one() {
        assert_eq!(accusers([Ask::list("e", &events("queued started completed vendor.thing"))]), ["terminal-last"]);
    }

    #[test]
    fn duplicates_may_follow_in_a_stream() {
        let repeated = pick(&events("queued started completed"), &[1, 2, 3, 2, 3, 1]);
        assert_eq!(accusers([Ask::stream("e", &repeated, StreamEnd::Closed)]), [""; 0]);
    }
}
