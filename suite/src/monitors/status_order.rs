//! `status-order`: along a history the status of the events moves only as the state machine allows: accepted, routing, running, the end;
//! running goes back to routing only when an attempt failed and another one follows.
//!
//! Speaks of events that carry a status, in the order of their numbers, as far as all readers agree on them. Which status belongs to
//! which type are rules of their own; a status that is none is left to the shape, one after the terminal event to `terminal-last`.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::{Event, Reading};

/// Holds once for each execution of which two events in a row show a legal move.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let before = seen.findings.len();
        let mut moved = false;
        for ((_, from), (reading, to)) in moves(execution) {
            let (Some(old), Some(new)) = (status(from), status(to)) else { continue };
            moved |= old != new;
            if !is_allowed(old, new) {
                let found = mismatch(format!("{}.status", reading.path(to)), format!("a status that may follow {old}"), new);
                seen.accuse(execution.case(reading.exchange), [reading.exchange.id], vec![found]);
            }
        }
        if moved && seen.findings.len() == before {
            seen.hold();
        }
    }
    seen
}

type Seen<'e, 'a> = (&'e Reading<'a>, &'e Event);

/// Each event of the agreed history with the one before it, as far as nothing between them can be missing: gaps in the numbers are
/// legal, so only a reading that shows both side by side tells that they are neighbours.
fn moves<'e, 'a>(execution: &'e Execution<'a>) -> Vec<(Seen<'e, 'a>, Seen<'e, 'a>)> {
    let Some(reading) = execution.readings.iter().filter(|r| r.is_clean() && r.after() == Some(0)).max_by_key(|r| r.events.len()) else {
        return Vec::new();
    };
    let mut events: Vec<&Event> = reading.events.iter().collect();
    events.sort_by_key(|event| event.sequence);
    events.dedup_by_key(|event| event.sequence);
    let ended = events.iter().position(|event| event.is_terminal()).map_or(events.len(), |at| at + 1);
    events[..ended].windows(2).map(|pair| ((reading, pair[0]), (reading, pair[1]))).collect()
}

fn status(event: &Event) -> Option<&str> {
    event.value["status"].as_str().filter(|status| STATES.contains(status))
}

const STATES: &[&str] = &["accepted", "routing", "running", "succeeded", "failed", "cancelled"];

/// From accepted a failure is legal: a requirement that nothing meets may end the execution before it is routed.
fn is_allowed(from: &str, to: &str) -> bool {
    match from {
        "accepted" => matches!(to, "accepted" | "routing" | "failed" | "cancelled"),
        "routing" => matches!(to, "routing" | "running" | "succeeded" | "failed" | "cancelled"),
        "running" => matches!(to, "running" | "routing" | "succeeded" | "failed" | "cancelled"),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{model, model_accusers};

    #[test]
    fn the_ways_of_the_state_machine_hold() {
        for way in [
            "accepted routing running succeeded",
            "accepted routing succeeded",
            "accepted failed",
            "accepted cancelled",
            "accepted routing running routing running failed",
        ] {
            assert_eq!(model_accusers(&model(way)), [""; 0], "{way}");
        }
    }

    #[test]
    fn a_step_back_or_over_is_found() {
        for way in ["accepted running succeeded", "accepted routing accepted failed", "routing accepted failed", "accepted succeeded"] {
            assert_eq!(model_accusers(&model(way)), ["status-order"], "{way}");
        }
    }
}
