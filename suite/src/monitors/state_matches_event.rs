//! `state-matches-event`: the terminal state and the terminal event tell the same outcome, and the state is terminal once the event
//! was seen.
//!
//! Silent where there is no one terminal event (`one-terminal`, `append-only`) or no one terminal state (`terminal-final`), and on a live
//! state after a terminal one, which is `terminal-final`'s. That outputs and errors agree too is a rule of its own.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::snapshot::Snapshot;
use std::collections::BTreeSet;
use std::time::Duration;

/// Holds once for each execution whose terminal event and terminal state were both seen.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let Some((reading, event, at)) = execution.terminal() else { continue };
        let ended: Vec<&Snapshot<'_>> = execution.snapshots.iter().filter(|snapshot| snapshot.is_terminal()).collect();
        let states: BTreeSet<&str> = ended.iter().map(|snapshot| snapshot.state.as_str()).collect();
        let expected = event.outcome().unwrap_or_default();
        if states.len() == 1 && states.contains(expected) {
            seen.hold();
        } else if states.len() == 1 {
            let found = mismatch(state_path(world), format!("{expected}, as {} says", event.kind), &ended[0].state);
            seen.accuse(execution.case(ended[0].exchange), [reading.exchange.id, ended[0].exchange.id], vec![found]);
        }
        for late in live_after(execution, at) {
            let found = mismatch(state_path(world), format!("{expected}, since {} was seen before", event.kind), &late.state);
            seen.accuse(execution.case(late.exchange), [reading.exchange.id, late.exchange.id], vec![found]);
        }
    }
    seen
}

fn state_path(world: &World<'_>) -> String {
    format!("$.{}", world.dialect.state)
}

/// Snapshots asked for after the terminal event had been seen that show a live state, and never showed a terminal one before.
fn live_after<'e, 'a>(execution: &'e Execution<'a>, at: Duration) -> impl Iterator<Item = &'e Snapshot<'a>> {
    let ended_before =
        |late: &Snapshot<'_>| execution.snapshots.iter().any(|snapshot| snapshot.is_terminal() && snapshot.precedes(late.exchange));
    let live = move |late: &&Snapshot<'_>| late.is_current() && !late.is_terminal() && at < late.exchange.began && !ended_before(late);
    execution.snapshots.iter().filter(live)
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held};
    use crate::transcript::StreamEnd;

    #[test]
    fn every_outcome_has_its_state() {
        for (event, state) in [("completed", "succeeded"), ("failed", "failed"), ("cancelled", "cancelled")] {
            let run = [Ask::list("e", &events(&format!("queued started {event}"))), Ask::state("e", state), Ask::state("e", state)];
            assert_eq!(accusers(run.clone()), [""; 0]);
            assert_eq!(held("state-matches-event", run), 1);
        }
    }

    #[test]
    fn one_of_the_two_alone_holds_nothing() {
        assert_eq!(held("state-matches-event", [Ask::list("e", &events("queued completed"))]), 0);
        assert_eq!(held("state-matches-event", [Ask::state("e", "succeeded")]), 0);
    }

    #[test]
    fn another_outcome_is_found_in_either_order() {
        let list = || Ask::list("e", &events("queued started completed"));
        assert_eq!(accusers([list(), Ask::state("e", "cancelled")]), ["state-matches-event"]);
        assert_eq!(accusers([Ask::state("e", "failed"), list()]), ["state-matches-event"]);
        assert_eq!(accusers([Ask::cancel("e", "cancelled"), list()]), ["state-matches-event"]);
    }

    #[test]
    fn a_live_state_after_the_event_is_found() {
        let stream = || Ask::stream("e", &events("queued started completed"), StreamEnd::Closed);
        assert_eq!(accusers([stream(), Ask::state("e", "running")]), ["state-matches-event"]);
        assert_eq!(accusers([stream(), Ask::state("e", "running"), Ask::state("e", "succeeded")]), ["state-matches-event"]);
    }

    #[test]
    fn overlap_says_nothing() {
        let list = Ask::list("e", &events("queued started completed")).during(5, 20);
        assert_eq!(accusers([list, Ask::state("e", "running").during(20, 30)]), [""; 0]);
    }

    #[test]
    fn a_repeated_start_may_answer_as_at_first() {
        assert_eq!(accusers([Ask::list("e", &events("queued started completed")), Ask::start("e", "queued")]), [""; 0]);
    }

    #[test]
    fn it_is_silent_where_others_speak() {
        let list = || Ask::list("e", &events("queued started completed"));
        assert_eq!(accusers([list(), Ask::state("e", "succeeded"), Ask::state("e", "cancelled")]), ["terminal-final"]);
        assert_eq!(accusers([list(), Ask::state("e", "succeeded"), Ask::state("e", "running")]), ["terminal-final"]);
        let both = Ask::list("e", &events("queued started completed cancelled"));
        assert_eq!(accusers([both, Ask::state("e", "cancelled")]), ["one-terminal"]);
    }
}
