//! `cancelling-holds`: what was shown as cancelling is afterwards shown as cancelling or cancelled, and neither lives on nor succeeds.
//!
//! A failure is left to the rule about cleanups that fail, what follows a terminal state to `terminal-final`, and what a restart makes of a
//! cancellation to the rules of restarts.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::snapshot::Snapshot;

/// Holds once for each snapshot after a cancelling one that shows it cancelling or cancelled.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values().filter(|execution| !execution.was_restarted()) {
        let cancelling = execution.snapshots.iter().filter(|snapshot| snapshot.state == "cancelling");
        let Some(first) = cancelling.min_by_key(|snapshot| (snapshot.exchange.ended, snapshot.exchange.id)) else { continue };
        for later in execution.snapshots.iter().filter(|later| later.is_current() && first.precedes(later.exchange)) {
            match later.state.as_str() {
                "cancelling" | "cancelled" => seen.hold(),
                "queued" | "starting" | "running" | "awaiting_input" | "awaiting_approval" | "succeeded"
                    if !ended_before(execution, later) =>
                {
                    let found = mismatch("$.state", "cancelling or cancelled, since it was cancelling before", &later.state);
                    seen.accuse(execution.case(later.exchange), [first.exchange.id, later.exchange.id], vec![found]);
                }
                _ => {}
            }
        }
    }
    seen
}

fn ended_before(execution: &Execution<'_>, later: &Snapshot<'_>) -> bool {
    execution.snapshots.iter().any(|snapshot| snapshot.is_terminal() && snapshot.state != later.state && snapshot.precedes(later.exchange))
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, held};

    #[test]
    fn the_way_to_cancelled_holds() {
        let run = [Ask::state("e", "running"), Ask::state("e", "cancelling"), Ask::state("e", "cancelling"), Ask::cancel("e", "cancelled")];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("cancelling-holds", run), 2);
        assert_eq!(held("cancelling-holds", [Ask::state("e", "running"), Ask::cancel("e", "cancelled")]), 0);
    }

    #[test]
    fn a_way_back_is_found() {
        for state in ["queued", "running", "awaiting_input", "succeeded"] {
            assert_eq!(accusers([Ask::state("e", "cancelling"), Ask::state("e", state)]), ["cancelling-holds"], "{state}");
        }
        assert_eq!(accusers([Ask::state("e", "cancelling"), Ask::respond("e", "running")]), ["cancelling-holds"]);
    }

    #[test]
    fn overlap_says_nothing() {
        let cancelling = || Ask::state("e", "cancelling").during(5, 20);
        assert_eq!(accusers([cancelling(), Ask::state("e", "running").during(20, 30)]), [""; 0]);
        assert_eq!(accusers([cancelling(), Ask::respond("e", "running").during(1, 30)]), [""; 0]);
    }

    #[test]
    fn it_is_silent_where_others_speak() {
        assert_eq!(accusers([Ask::state("e", "cancelling"), Ask::state("e", "failed")]), [""; 0]);
        assert_eq!(accusers([Ask::state("e", "cancelling"), Ask::start("e", "queued")]), [""; 0]);
        let restarted = ["cancelling", "succeeded"].map(|state| Ask::state("e", state).case("harness-runtime/restart/during-cancel"));
        assert_eq!(accusers(restarted), [""; 0]);
        let revived = [Ask::state("e", "cancelling"), Ask::state("e", "cancelled"), Ask::state("e", "running")];
        assert_eq!(accusers(revived), ["terminal-final"]);
    }
}
