//! `terminal-final`: an execution that was shown as ended is never shown otherwise again.
//!
//! All snapshots in a terminal state show the same, whichever came first, and none after them shows a live state. A start that is
//! repeated by key may answer with the live state it answered at first. What happens to the history after the end is judged event by
//! event: `terminal-last`, `one-terminal`, `append-only`.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::same::execution_difference;
use super::snapshot::Snapshot;

/// Holds once for each snapshot that agrees with an earlier terminal one.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let ended = || execution.snapshots.iter().filter(|snapshot| snapshot.is_terminal());
        if let Some(first) = ended().min_by_key(|snapshot| (snapshot.exchange.ended, snapshot.exchange.id)) {
            ended().filter(|other| !std::ptr::eq(*other, first)).for_each(|other| compare(execution, first, other, &mut seen));
            execution.snapshots.iter().for_each(|other| revived(execution, first, other, &mut seen));
        }
    }
    seen
}

fn compare(execution: &Execution<'_>, first: &Snapshot<'_>, other: &Snapshot<'_>, seen: &mut Observation) {
    match execution_difference(other.dialect, &first.value, &other.value) {
        None => seen.hold(),
        Some(mut difference) => {
            difference.expected.push_str(", as shown once it had ended");
            seen.accuse(execution.case(other.exchange), [first.exchange.id, other.exchange.id], vec![difference]);
        }
    }
}

fn revived(execution: &Execution<'_>, first: &Snapshot<'_>, other: &Snapshot<'_>, seen: &mut Observation) {
    if other.is_current() && !other.is_terminal() && first.precedes(other.exchange) {
        let found = mismatch(format!("$.{}", other.dialect.state), format!("{}, as shown before", first.state), &other.state);
        seen.accuse(execution.case(other.exchange), [first.exchange.id, other.exchange.id], vec![found]);
    }
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, execution, held};
    use serde_json::json;

    #[test]
    fn repeated_reads_of_an_ended_execution_hold() {
        let run = [Ask::state("e", "running"), Ask::state("e", "succeeded"), Ask::state("e", "succeeded"), Ask::cancel("e", "succeeded")];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("terminal-final", run), 2);
        assert_eq!(held("terminal-final", [Ask::state("e", "running"), Ask::state("e", "succeeded")]), 0);
    }

    #[test]
    fn what_no_rule_binds_may_move() {
        let mut later = execution("e", "succeeded");
        later["updatedAt"] = json!("2026-09-02T11:00:00Z");
        later["traceId"] = json!("7");
        let run = [Ask::state("e", "succeeded"), Ask::json("getExecution", "e", 200, &later)];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("terminal-final", run), 1);
    }

    #[test]
    fn another_end_is_found_even_when_reads_overlap() {
        assert_eq!(accusers([Ask::state("e", "succeeded"), Ask::cancel("e", "cancelled")]), ["terminal-final"]);
        let overlapping = [Ask::state("e", "succeeded").during(0, 20), Ask::cancel("e", "cancelled").during(10, 30)];
        assert_eq!(accusers(overlapping), ["terminal-final"]);
    }

    #[test]
    fn another_output_or_time_is_found() {
        for (member, value) in
            [("finalOutput", json!("other")), ("endedAt", json!("2026-09-02T12:00:00Z")), ("effectiveConfig", json!({"a": 1}))]
        {
            let mut later = execution("e", "succeeded");
            later[member] = value;
            assert_eq!(
                accusers([Ask::state("e", "succeeded"), Ask::json("getExecution", "e", 200, &later)]),
                ["terminal-final"],
                "{member}"
            );
        }
    }

    #[test]
    fn nothing_lives_again() {
        assert_eq!(accusers([Ask::state("e", "cancelled"), Ask::state("e", "running")]), ["terminal-final"]);
        assert_eq!(accusers([Ask::state("e", "failed"), Ask::respond("e", "running")]), ["terminal-final"]);
        assert_eq!(accusers([Ask::state("e", "cancelled").during(0, 10), Ask::state("e", "running").during(10, 20)]), [""; 0]);
    }

    #[test]
    fn a_repeated_start_may_answer_as_at_first() {
        assert_eq!(accusers([Ask::start("e", "queued"), Ask::state("e", "succeeded"), Ask::start("e", "queued")]), [""; 0]);
        let run = [Ask::state("e", "succeeded"), Ask::start("e", "succeeded")];
        assert_eq!(held("terminal-final", run), 1);
        assert_eq!(accusers([Ask::state("e", "succeeded"), Ask::start("e", "failed")]), ["terminal-final"]);
    }
}
