//! `final-text` and `final-output`: output.text.done and run.completed tell the final output that the execution shows.
//!
//! Silent where the outcome is not one success (`one-terminal`, `state-matches-event`), where snapshots show different outputs
//! (`terminal-final`), and on outputs that are no text, which break shapes.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::same::shown;
use super::snapshot::Snapshot;
use serde_json::Value;

/// Holds once for each output.text.done with the text that a snapshot shows.
pub(super) fn text(world: &World<'_>) -> Observation {
    compare(world, "output.text.done", "text")
}

/// Holds once for each run.completed with the final output that a snapshot shows.
pub(super) fn output(world: &World<'_>) -> Observation {
    compare(world, "run.completed", "finalOutput")
}

fn compare(world: &World<'_>, kind: &str, member: &str) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let Some((snapshot, output)) = outcome(execution) else { continue };
        for (reading, event, _) in execution.agreed().filter(|(_, event, _)| event.kind == kind) {
            let Some(told) = event.text(member) else { continue };
            if told == output {
                seen.hold();
                continue;
            }
            let expected = format!("{}, the final output of the execution", shown(&Value::from(output)));
            let found = mismatch(format!("{}.data.{member}", reading.path(event)), expected, shown(&Value::from(told)));
            seen.accuse(execution.case(reading.exchange), [reading.exchange.id, snapshot.exchange.id], vec![found]);
        }
    }
    seen
}

/// The output that all snapshots of a success agree on.
fn outcome<'e, 'a>(execution: &'e Execution<'a>) -> Option<(&'e Snapshot<'a>, &'e str)> {
    let (_, end, _) = execution.terminal()?;
    let ended: Vec<&Snapshot<'a>> = execution.snapshots.iter().filter(|snapshot| snapshot.is_terminal()).collect();
    let first = ended.first()?;
    let output = first.value["finalOutput"].as_str()?;
    let agree = ended.iter().all(|snapshot| snapshot.state == "succeeded" && snapshot.value["finalOutput"].as_str() == Some(output));
    (end.outcome() == Some("succeeded") && agree).then_some((first, output))
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, execution, held};
    use serde_json::{Value, json};

    fn succeeded(output: &Value) -> Ask {
        let mut body = execution("e", "succeeded");
        body["finalOutput"] = output.clone();
        Ask::json("getExecution", "e", 200, &body)
    }

    #[test]
    fn the_same_output_holds_under_both() {
        let run = [Ask::list("e", &events("queued started done completed")), Ask::state("e", "succeeded")];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("final-text", run.clone()), 1);
        assert_eq!(held("final-output", run), 1);
    }

    #[test]
    fn another_output_is_found_in_each() {
        for (place, member, monitor) in [(2, "text", "final-text"), (3, "finalOutput", "final-output")] {
            let mut history = events("queued started done completed");
            history[place]["data"][member] = json!("out ");
            assert_eq!(accusers([Ask::list("e", &history), Ask::state("e", "succeeded")]), [monitor]);
        }
    }

    #[test]
    fn it_is_silent_where_others_speak() {
        let list = || Ask::list("e", &events("queued started done completed"));
        assert_eq!(accusers([list(), succeeded(&json!("a")), succeeded(&json!("b"))]), ["terminal-final"]);
        assert_eq!(accusers([list(), succeeded(&json!(7))]), [""; 0]);
        assert_eq!(held("final-text", [list()]), 0);
    }
}
