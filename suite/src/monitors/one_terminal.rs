//! `one-terminal`: a history has at most one terminal event, and has one once the execution was shown as ended.
//!
//! Counts terminal events by number and content. The same one again in a stream is a duplicate; again in a list it is `sequence`'s; other
//! contents under its number in other readings are `append-only`'s. A list that lost a terminal event seen before is `append-only`'s or
//! `cursor`'s, a stream without one `stream-ends`'.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::{Event, Reading};
use super::same::shown;
use proofmark_reports::model::Mismatch;

/// Holds once for each execution of which a finished reading from the first event on shows the one terminal event.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let before = seen.findings.len();
        several_in_one(execution, &mut seen);
        if seen.findings.len() == before {
            several_together(execution, &mut seen);
        }
        none_at_the_end(execution, &mut seen);
        if seen.findings.len() == before && execution.terminal().is_some() && execution.readings.iter().any(shows_all) {
            seen.hold();
        }
    }
    seen
}

fn shows_all(reading: &Reading<'_>) -> bool {
    reading.after() == Some(0) && reading.is_finished() && reading.is_clean() && reading.terminal().is_some()
}

fn several_in_one(execution: &Execution<'_>, seen: &mut Observation) {
    for reading in &execution.readings {
        let Some(first) = reading.terminal() else { continue };
        let others = reading.events.iter().filter(|event| event.is_terminal() && is_another(first, event));
        let mismatches = others.map(|event| second(first, reading, event)).collect();
        seen.accuse(execution.case(reading.exchange), [reading.exchange.id], mismatches);
    }
}

fn is_another(first: &Event, event: &Event) -> bool {
    first.sequence != event.sequence || first.difference(event).is_some()
}

/// Two terminal events that no reading shows side by side.
fn several_together(execution: &Execution<'_>, seen: &mut Observation) {
    let mut terminals = execution.terminals();
    let Some((first_reading, first, _)) = terminals.next() else { return };
    for (reading, event, _) in terminals {
        let exchanges = [first_reading.exchange.id, reading.exchange.id];
        seen.accuse(execution.case(reading.exchange), exchanges, vec![second(first, reading, event)]);
    }
}

fn second(first: &Event, reading: &Reading<'_>, event: &Event) -> Mismatch {
    let expected = format!("no terminal event besides {} with sequence {}", first.kind, first.sequence);
    mismatch(reading.path(event), expected, format!("{} with sequence {}", event.kind, event.sequence))
}

fn none_at_the_end(execution: &Execution<'_>, seen: &mut Observation) {
    for (ended, reading) in execution.lists_without_end() {
        let expected = format!("a terminal event, since the state was {} before", ended.state);
        let kinds: Vec<&str> = reading.events.iter().map(|event| event.kind.as_str()).collect();
        let found = mismatch("events", expected, shown(&serde_json::json!(kinds)));
        seen.accuse(execution.case(reading.exchange), [ended.exchange.id, reading.exchange.id], vec![found]);
    }
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held, judge, pick};
    use crate::transcript::StreamEnd;

    #[test]
    fn one_end_holds_once_an_execution() {
        for end in ["completed", "failed", "cancelled"] {
            let history = events(&format!("queued started {end}"));
            let run = [Ask::list("e", &history), Ask::stream("e", &history, StreamEnd::Closed), Ask::list("e", &history)];
            assert_eq!(accusers(run.clone()), [""; 0]);
            assert_eq!(held("one-terminal", run), 1);
        }
    }

    #[test]
    fn a_prefix_or_a_tail_alone_holds_nothing() {
        let history = events("queued started completed");
        assert_eq!(held("one-terminal", [Ask::stream("e", &history, StreamEnd::HungUp)]), 0);
        assert_eq!(held("one-terminal", [Ask::list("e", &history[1..]).after(1)]), 0);
        assert_eq!(held("one-terminal", [Ask::list("e", &history[..2])]), 0);
    }

    #[test]
    fn a_second_end_is_found_in_every_kind_of_reading() {
        let history = events("queued started completed cancelled");
        assert_eq!(accusers([Ask::list("e", &history)]), ["one-terminal"]);
        assert_eq!(accusers([Ask::stream("e", &history, StreamEnd::Closed)]), ["one-terminal"]);
        assert_eq!(accusers([Ask::list("e", &events("queued started completed completed"))]), ["one-terminal"]);
        let apart = [Ask::stream("e", &history[..3], StreamEnd::Closed), Ask::list("e", &history[3..]).after(3)];
        assert_eq!(accusers(apart), ["one-terminal"]);
    }

    #[test]
    fn what_stands_between_two_ends_is_part_of_the_matter() {
        assert_eq!(accusers([Ask::list("e", &events("queued started cancelled done completed"))]), ["one-terminal"]);
    }

    #[test]
    fn two_ends_under_one_number_in_one_list() {
        let mut history = events("queued started completed");
        history.push(events("queued started cancelled")[2].clone());
        assert_eq!(accusers([Ask::list("e", &history)]), ["one-terminal"]);
        assert_eq!(accusers([Ask::stream("e", &history[..3], StreamEnd::Closed), Ask::list("e", &history)]), ["one-terminal"]);
    }

    #[test]
    fn a_duplicate_of_the_end_in_a_stream_is_no_second_end() {
        let history = pick(&events("queued started completed"), &[1, 2, 3, 3]);
        assert_eq!(accusers([Ask::stream("e", &history, StreamEnd::Closed)]), [""; 0]);
    }

    #[test]
    fn a_state_that_ended_without_an_event() {
        let history = events("queued started delta");
        assert_eq!(accusers([Ask::state("e", "failed"), Ask::list("e", &history)]), ["one-terminal"]);
        assert_eq!(accusers([Ask::state("e", "failed"), Ask::list("e", &history[1..]).after(1)]), ["one-terminal"]);
        assert_eq!(accusers([Ask::state("e", "cancelled"), Ask::list("e", &[])]), ["one-terminal"]);
        let run = [Ask::state("e", "failed"), Ask::stream("e", &history, StreamEnd::Closed), Ask::list("e", &history)];
        assert_eq!(accusers(run), ["one-terminal"]);
    }

    #[test]
    fn a_list_that_was_asked_for_before_the_end_was_shown_may_lack_it() {
        let history = events("queued started");
        assert_eq!(accusers([Ask::state("e", "failed").during(5, 10), Ask::list("e", &history).during(10, 20)]), [""; 0]);
        assert_eq!(accusers([Ask::list("e", &history), Ask::state("e", "failed")]), [""; 0]);
        assert_eq!(accusers([Ask::state("e", "running"), Ask::list("e", &history)]), [""; 0]);
        assert_eq!(accusers([Ask::state("e", "failed"), Ask::list("e", &[]).after(2)]), [""; 0]);
    }

    #[test]
    fn a_list_that_lacks_more_than_the_end_is_one_finding() {
        let all = events("queued started delta delta failed");
        let stale = [Ask::stream("e", &all[..4], StreamEnd::HungUp), Ask::state("e", "failed"), Ask::list("e", &all[..2])];
        assert_eq!(accusers(stale), ["cursor"]);
        let confused = [Ask::stream("e", &all, StreamEnd::Closed), Ask::state("e", "failed"), Ask::list("e", &pick(&all, &[2, 1]))];
        assert_eq!(accusers(confused), ["sequence"]);
    }

    #[test]
    fn an_end_below_the_cursor_is_not_asked_for() {
        let all = events("queued started completed delta");
        let run = [Ask::state("e", "succeeded"), Ask::list("e", &all[3..]).after(3), Ask::list("e", &all)];
        assert_eq!(accusers(run), ["terminal-last"]);
    }

    #[test]
    fn two_ends_side_by_side_are_one_finding() {
        let history = events("queued started completed cancelled");
        assert_eq!(judge("one-terminal", [Ask::list("e", &history)]).findings.len(), 1);
    }

    #[test]
    fn unknown_types_end_nothing() {
        assert_eq!(accusers([Ask::list("e", &events("queued run.paused started vendor.thing completed"))]), [""; 0]);
    }
}
