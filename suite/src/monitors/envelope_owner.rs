//! `envelope-owner`: an event names the execution from whose history it was read.
//!
//! Speaks of a wrong name only; an absent one is the business of the event's shape.

use super::finding::{Observation, mismatch};
use super::reading::Event;
use super::same::shown;
use super::{World, reading::Reading};
use serde_json::json;

/// Holds once for each reading whose events all name the right execution.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for (id, execution) in &world.history.executions {
        for reading in &execution.readings {
            let named = || events(reading).filter_map(|event| Some((event, event.owner()?)));
            let wrong = named().filter(|(_, owner)| owner != id);
            let wrong: Vec<_> = wrong
                .map(|(event, owner)| {
                    mismatch(format!("{}.{}", reading.path(event), event.dialect.owner), shown(&json!(id)), shown(&json!(owner)))
                })
                .collect();
            if wrong.is_empty() && named().next().is_some() {
                seen.hold();
            }
            seen.accuse(execution.case(reading.exchange), [reading.exchange.id], wrong);
        }
    }
    seen
}

fn events<'r>(reading: &'r Reading<'_>) -> impl Iterator<Item = &'r Event> {
    reading.events.iter().chain(&reading.strangers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::testing::{Ask, accusers, events, events_of, held, judge};
    use crate::transcript::StreamEnd;

    #[test]
    fn own_events_hold_once_a_reading() {
        let run = [Ask::list("e", &events("queued started")), Ask::list("e", &[]), Ask::stream("e", &events("queued"), StreamEnd::HungUp)];
        assert_eq!(held("envelope-owner", run), 2);
    }

    #[test]
    fn a_foreign_label_is_found() {
        let mut history = events("queued started completed");
        history[1]["executionId"] = json!("conversation-7");
        let run = [Ask::list("e", &history), Ask::stream("e", &history, StreamEnd::Closed)];
        assert_eq!(accusers(run.clone()), ["envelope-owner"]);
        let found = judge("envelope-owner", run).findings.remove(0);
        assert_eq!(found.mismatches[0], mismatch("events[1].executionId", "\"e\"", "\"conversation-7\""));
    }

    #[test]
    fn a_leaked_event_sets_off_nothing_else() {
        let mut mixed = events("queued started delta completed");
        mixed.insert(2, events_of("f", "queued started provider")[2].clone());
        let run = [
            Ask::list("f", &events_of("f", "queued started provider completed")),
            Ask::stream("e", &mixed, StreamEnd::Closed),
            Ask::list("e", &events("queued started delta completed")),
        ];
        assert_eq!(accusers(run), ["envelope-owner"]);
    }

    #[test]
    fn a_stranger_in_place_of_an_event_is_no_gap() {
        let mut mixed = events("queued started delta completed");
        mixed[2] = events_of("f", "queued started provider")[2].clone();
        let run = [Ask::state("f", "running"), Ask::list("e", &mixed), Ask::stream("e", &mixed, StreamEnd::Closed)];
        assert_eq!(accusers(run), ["envelope-owner"]);
    }

    #[test]
    fn an_absent_owner_is_left_to_the_shape() {
        let mut history = events("queued");
        history[0].as_object_mut().unwrap().remove("executionId");
        assert_eq!(judge("envelope-owner", [Ask::list("e", &history)]), Observation::default());
    }
}
