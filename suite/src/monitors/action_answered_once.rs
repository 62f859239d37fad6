//! `action-answered-once`: a history has at most one action.responded for an action.
//!
//! Counts by number, so duplicates of a stream are one. Contested numbers are left to `append-only`.

use super::World;
use super::finding::{Observation, mismatch};
use super::reading::{Event, Reading};
use std::collections::BTreeMap;

/// Holds once for each answered action of a history that was read to its end.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let mut answers: BTreeMap<&str, Vec<(&Reading<'_>, &Event)>> = BTreeMap::new();
        for (reading, event, _) in execution.agreed().filter(|(_, event, _)| event.kind == "action.responded") {
            if let Some(action) = event.text("actionId") {
                answers.entry(action).or_default().push((reading, event));
            }
        }
        let whole = execution.readings.iter().any(|reading| reading.is_finished() && reading.is_clean() && reading.after() == Some(0));
        for (action, events) in answers {
            let (first_reading, first) = events[0];
            for (reading, event) in &events[1..] {
                let expected = format!("no answer to {action:?} besides sequence {}", first.sequence);
                let found = mismatch(reading.path(event), expected, format!("action.responded with sequence {}", event.sequence));
                seen.accuse(execution.case(reading.exchange), [first_reading.exchange.id, reading.exchange.id], vec![found]);
            }
            if events.len() == 1 && whole {
                seen.hold();
            }
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held, pick};
    use crate::transcript::StreamEnd;

    #[test]
    fn each_answer_holds_once() {
        let history = events("queued started required=a responded=a required=b responded=b completed");
        let run = [Ask::list("e", &history), Ask::stream("e", &pick(&history, &[1, 2, 3, 4, 4, 3, 5, 6, 7]), StreamEnd::Closed)];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("action-answered-once", run), 2);
    }

    #[test]
    fn a_second_answer_is_found() {
        let history = events("queued started required=a responded=a responded=a completed");
        assert_eq!(accusers([Ask::list("e", &history)]), ["action-answered-once"]);
        let apart = [Ask::stream("e", &history[..4], StreamEnd::HungUp), Ask::list("e", &history[4..]).after(4)];
        assert_eq!(accusers(apart), ["action-answered-once"]);
    }

    #[test]
    fn actions_of_two_executions_may_share_an_id() {
        use crate::monitors::testing::events_of;
        let script = "queued started required=a responded=a completed";
        let run = [Ask::list("e", &events_of("e", script)), Ask::list("f", &events_of("f", script))];
        assert_eq!(accusers(run), [""; 0]);
    }

    #[test]
    fn an_unanswered_action_shows_nothing() {
        assert_eq!(held("action-answered-once", [Ask::list("e", &events("queued started required=a cancelled"))]), 0);
    }
}
