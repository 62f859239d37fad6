//! `next-cursor`: in a list that has events, nextCursor is the number of the last one, whether the execution lives or has ended.
//!
//! Silent on an empty list, where the cursor is a habit, on a nextCursor that is no integer, which breaks a shape, and where numbers of the
//! history are faulty: what follows a number that is none is not known.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::Reading;
use crate::scenario::spelling::integer;

/// Holds once for each list with events.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values().filter(|execution| is_numbered(execution)) {
        for reading in execution.readings.iter().filter(|reading| reading.is_list()) {
            let (Some(last), Some(next)) = (reading.events.last(), next(reading)) else { continue };
            if next == last.sequence {
                seen.hold();
                continue;
            }
            let found = mismatch("nextCursor", format!("{}, the last sequence in the list", last.sequence), next);
            seen.accuse(execution.case(reading.exchange), [reading.exchange.id], vec![found]);
        }
    }
    seen
}

fn is_numbered(execution: &Execution<'_>) -> bool {
    execution.readings.iter().all(|reading| reading.sound && reading.numbering.is_empty())
}

fn next(reading: &Reading<'_>) -> Option<i64> {
    integer(reading.exchange.http()?.json()?.get("nextCursor")?)
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held, numbered};
    use serde_json::{Value, json};

    fn list(events: &[Value], next: &Value) -> Ask {
        Ask::json("listEvents", "e", 200, &json!({"events": events, "nextCursor": next}))
    }

    #[test]
    fn the_last_number_holds_however_it_is_written() {
        let all = events("queued started delta completed");
        let run = [list(&all[..2], &json!(2)), list(&all, &json!(4.0)), list(&all[2..], &json!(4)).after(2)];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("next-cursor", run), 3);
    }

    #[test]
    fn another_number_is_found_while_it_runs_and_afterwards() {
        let all = events("queued started delta completed");
        assert_eq!(accusers([list(&all[..2], &json!(3))]), ["next-cursor"]);
        assert_eq!(accusers([list(&all[..2], &json!(2)), list(&all, &json!(3))]), ["next-cursor"]);
    }

    #[test]
    fn it_is_silent_where_others_speak() {
        let all = events("queued started completed");
        assert_eq!(held("next-cursor", [list(&[], &json!(7)), list(&all, &json!("3"))]), 0);
        assert_eq!(accusers([list(&numbered(&all, 0), &json!(3))]), ["sequence"]);
    }
}
