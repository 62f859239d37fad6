//! `started-once`: an execution that was shown with startedAt is never shown with another one, nor cancelled without it.
//!
//! Which other states need a startedAt is judged by their shape, and two terminal snapshots that differ by `terminal-final`. Executions that
//! live through a restart are left alone: work that is taken up again may count as started anew.

use super::World;
use super::finding::{Observation, mismatch};
use super::same::{same_time, shown};
use super::snapshot::Snapshot;

/// Holds once for each later snapshot that shows the same.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values().filter(|execution| !execution.was_restarted()) {
        let started = execution.snapshots.iter().filter(|snapshot| has_begun(snapshot) && snapshot.value["startedAt"].is_string());
        let Some(first) = started.min_by_key(|snapshot| (snapshot.exchange.ended, snapshot.exchange.id)) else { continue };
        let comparable = |later: &&Snapshot<'_>| later.is_current() && first.precedes(later.exchange) && !first.is_terminal();
        for later in execution.snapshots.iter().filter(comparable) {
            let (before, now) = (&first.value["startedAt"], &later.value["startedAt"]);
            if now.is_string() && same_time(before, now) {
                seen.hold();
            } else if now.is_string() || matches!(later.state.as_str(), "cancelling" | "cancelled") {
                let found = mismatch("$.startedAt", format!("{}, as shown before", shown(before)), shown(now));
                seen.accuse(execution.case(later.exchange), [first.exchange.id, later.exchange.id], vec![found]);
            }
        }
    }
    seen
}

/// A startedAt that is shown before the work began is no time of its beginning; that it is shown at all is another rule.
fn has_begun(snapshot: &Snapshot<'_>) -> bool {
    !matches!(snapshot.state.as_str(), "queued" | "starting")
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, execution, held};
    use serde_json::{Value, json};

    fn shown(state: &str, started: Value) -> Ask {
        let mut body = execution("e", state);
        body["startedAt"] = started;
        Ask::json("getExecution", "e", 200, &body)
    }

    #[test]
    fn the_same_instant_holds_however_it_is_written() {
        let run = [
            Ask::state("e", "queued"),
            shown("running", json!("2026-09-02T10:00:01Z")),
            shown("awaiting_input", json!("2026-09-02T10:00:01.000Z")),
            shown("cancelled", json!("2026-09-02T10:00:01Z")),
        ];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("started-once", run), 2);
    }

    #[test]
    fn another_instant_is_found_and_one_that_is_gone_once_cancelled() {
        let first = || shown("running", json!("2026-09-02T10:00:01Z"));
        assert_eq!(accusers([first(), shown("running", json!("2026-09-02T10:00:02Z"))]), ["started-once"]);
        assert_eq!(accusers([first(), shown("cancelled", Value::Null)]), ["started-once"]);
        assert_eq!(accusers([first(), Ask::cancel("e", "cancelled")]), ["started-once"]);
    }

    #[test]
    fn it_is_silent_where_others_speak_or_nobody_can() {
        let first = || shown("running", json!("2026-09-02T10:00:01Z"));
        assert_eq!(accusers([first(), Ask::state("e", "succeeded")]), [""; 0]);
        assert_eq!(accusers([first().during(5, 20), shown("running", json!("2026-09-02T10:00:02Z")).during(20, 30)]), [""; 0]);
        let ended = [shown("failed", json!("2026-09-02T10:00:01Z")), shown("failed", json!("2026-09-02T10:00:02Z"))];
        assert_eq!(accusers(ended), ["terminal-final"]);
        let early = shown("queued", json!("2026-09-02T10:00:00Z"));
        assert_eq!(accusers([early, first(), first()]), [""; 0]);
        let again = shown("running", json!("2026-09-02T10:00:02Z")).case("harness-runtime/restart/kill");
        assert_eq!(accusers([first(), again]), [""; 0]);
    }
}
