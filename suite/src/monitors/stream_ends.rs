//! `stream-ends`: a stream goes on through the terminal event, and then ends.
//!
//! Speaks of streams that the server closed although the terminal event above their cursor had not come, and of streams that stayed open
//! long after it. Streams that were cut, that the kit left, or that crossed a bound are prefixes and end as they may. When the history
//! itself has no terminal event although the execution ended, no stream can bring one: `one-terminal`. When a list with the same cursor
//! leaves it out too, the cursor is at fault: `cursor`.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::reading::{Kind, Reading};
use crate::transcript::StreamEnd;
use proofmark_reports::model::Mismatch;
use std::time::Duration;

/// How long silence must last, out of a wait of the given length, to count against a server and not against a slow machine.
fn grace(wait: Duration) -> Duration {
    (wait / 2).clamp(Duration::from_secs(2), Duration::from_secs(5))
}

/// Holds once for each stream with a clear cursor that brought the terminal event and was then closed by the server.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values() {
        let endless = execution.lists_without_end().next().is_some();
        for reading in &execution.readings {
            let (Kind::Stream(end), Some(cursor), true) = (reading.kind, reading.after(), reading.sound) else { continue };
            let found = match end {
                StreamEnd::Closed if reading.terminal().is_some() => {
                    seen.hold();
                    None
                }
                StreamEnd::Closed if endless => None,
                StreamEnd::Closed => closed_early(execution, reading, cursor),
                StreamEnd::TimedOut(wait) => stayed_open(execution, reading, cursor, *wait),
                StreamEnd::HungUp | StreamEnd::Cut(_) | StreamEnd::Bound(_) => None,
            };
            if let Some((found, witness)) = found {
                let exchanges = [reading.exchange.id, witness.unwrap_or(reading.exchange.id)];
                seen.accuse(execution.case(reading.exchange), exchanges, vec![found]);
            }
        }
    }
    seen
}

/// A mismatch and the exchange besides the stream that it rests on.
type Found = (Mismatch, Option<u64>);

/// A closed stream owes the terminal event unless that lies at or below its cursor. As long as it is not known, it may do so only when
/// the stream was empty and nobody saw the execution alive afterwards.
fn closed_early(execution: &Execution<'_>, reading: &Reading<'_>, cursor: i64) -> Option<Found> {
    let early = |expected: String, witness| Some((mismatch("end of the stream", expected, "closed by the server before it"), witness));
    if execution.lowest_end.is_some_and(|sequence| sequence <= cursor) {
        return None;
    }
    if let Some((witness, event, _)) = execution.terminals().next() {
        let lacks_it = |other: &Reading<'_>| other.missing.iter().any(|missing| missing.sequence == event.sequence);
        if execution.readings.iter().any(|other| other.is_list() && other.start == reading.start && lacks_it(other)) {
            return None;
        }
        let expected = format!("{} with sequence {}, then the end", event.kind, event.sequence);
        return early(expected, Some(witness.exchange.id));
    }
    if cursor == 0 || reading.events.iter().any(|event| event.sequence > cursor) {
        return early("a terminal event, then the end".into(), None);
    }
    let alive = execution.snapshots.iter().find(|later| {
        let after = later.exchange.began > reading.exchange.ended;
        after && later.is_current() && !later.is_terminal()
    })?;
    early(format!("to stay open: the execution was {} later", alive.state), Some(alive.exchange.id))
}

/// Open in spite of the terminal event: after it came, or without it coming although others had it and other events came.
fn stayed_open(execution: &Execution<'_>, reading: &Reading<'_>, cursor: i64, wait: Duration) -> Option<Found> {
    let open_since = |at: Duration| reading.exchange.ended.saturating_sub(at.max(reading.exchange.began));
    if let Some(event) = reading.terminal() {
        let found =
            || mismatch("end of the stream", format!("closed after {}", event.kind), format!("open {:?} later", open_since(event.at)));
        return (open_since(event.at) >= grace(wait)).then(|| (found(), None));
    }
    let (witness, event, at) = execution.terminal()?;
    let owed = event.sequence > cursor && !reading.events.is_empty() && open_since(at) >= grace(wait);
    let actual = || format!("absent {:?} after another reader had it", open_since(at));
    owed.then(|| (mismatch(format!("frames, sequence {}", event.sequence), &event.kind, actual()), Some(witness.exchange.id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::testing::{Ask, accusers, events, held, pick};

    const RUN: &str = "queued started delta completed";

    fn timed_out() -> StreamEnd {
        StreamEnd::TimedOut(Duration::from_secs(10))
    }

    #[test]
    fn a_stream_that_ends_with_the_end_holds() {
        let all = events(RUN);
        let run = [Ask::stream("e", &all, StreamEnd::Closed), Ask::stream("e", &all[2..], StreamEnd::Closed).after(2)];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("stream-ends", run), 2);
    }

    #[test]
    fn an_empty_or_left_stream_holds_nothing() {
        let all = events(RUN);
        assert_eq!(held("stream-ends", [Ask::list("e", &all), Ask::stream("e", &[], StreamEnd::Closed).after(4)]), 0);
        assert_eq!(held("stream-ends", [Ask::stream("e", &all, StreamEnd::HungUp)]), 0);
        assert_eq!(held("stream-ends", [Ask::stream("e", &all, StreamEnd::Cut("reset".into()))]), 0);
    }

    #[test]
    fn a_close_before_the_end_is_found() {
        let all = events(RUN);
        assert_eq!(accusers([Ask::stream("e", &all[..3], StreamEnd::Closed), Ask::list("e", &all)]), ["stream-ends"]);
        assert_eq!(accusers([Ask::stream("e", &all[..3], StreamEnd::Closed)]), ["stream-ends"]);
        assert_eq!(accusers([Ask::stream("e", &[], StreamEnd::Closed)]), ["stream-ends"]);
        assert_eq!(accusers([Ask::stream("e", &all[2..3], StreamEnd::Closed).after(2)]), ["stream-ends"]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &[], StreamEnd::Closed).after(3)]), ["stream-ends"]);
    }

    #[test]
    fn a_stream_without_its_end_is_found_by_the_terminal_event_wherever_it_is_seen() {
        let all = events(RUN);
        let lossy = pick(&all, &[1, 2]);
        assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &lossy, StreamEnd::Closed)]), ["stream-ends"]);
    }

    #[test]
    fn a_cursor_at_or_beyond_the_end_owes_nothing() {
        let all = events(RUN);
        for after in [4, 5, 99] {
            assert_eq!(accusers([Ask::list("e", &all), Ask::stream("e", &[], StreamEnd::Closed).after(after)]), [""; 0]);
        }
        assert_eq!(accusers([Ask::stream("e", &[], StreamEnd::Closed).after(3)]), [""; 0]);
    }

    #[test]
    fn a_cursor_that_skips_the_end_is_one_finding() {
        let all = events(RUN);
        let run = [Ask::list("e", &all), Ask::list("e", &[]).after(3), Ask::stream("e", &[], StreamEnd::Closed).after(3)];
        assert_eq!(accusers(run), ["cursor"]);
    }

    #[test]
    fn an_empty_stream_that_closed_on_a_live_execution_is_found() {
        let run = [Ask::stream("e", &[], StreamEnd::Closed).after(7), Ask::state("e", "running")];
        assert_eq!(accusers(run), ["stream-ends"]);
        let run = [Ask::state("e", "running"), Ask::stream("e", &[], StreamEnd::Closed).after(7), Ask::state("e", "succeeded")];
        assert_eq!(accusers(run), [""; 0]);
    }

    #[test]
    fn prefixes_owe_nothing() {
        let all = events(RUN);
        for end in [StreamEnd::HungUp, StreamEnd::Cut("reset".into()), timed_out(), StreamEnd::Bound("1 MiB".into())] {
            assert_eq!(accusers([Ask::stream("e", &all[..2], end), Ask::list("e", &all)]), [""; 0]);
        }
    }

    #[test]
    fn a_stream_that_stays_open_after_the_end_is_found() {
        let all = events(RUN);
        let open = |from: u64, to: u64| Ask::stream("e", &all, timed_out()).during(from, to);
        assert_eq!(accusers([open(0, 10_000).arriving(4_000)]), ["stream-ends"]);
        assert_eq!(accusers([open(0, 10_000).arriving(9_000)]), [""; 0]);
    }

    #[test]
    fn a_stream_that_goes_silent_owes_the_end_that_others_have() {
        let all = events(RUN);
        let silent = |events: &[_]| Ask::stream("e", events, timed_out()).during(0, 10_000);
        let other = |at| Ask::stream("e", &all, StreamEnd::Closed).during(0, at);
        assert_eq!(accusers([silent(&all[..3]), other(4_000)]), ["stream-ends"]);
        assert_eq!(accusers([silent(&all[..3]), other(9_000)]), [""; 0]);
        assert_eq!(accusers([silent(&[]), other(4_000)]), [""; 0]);
    }

    #[test]
    fn an_unclear_start_or_an_unreadable_frame_is_not_judged() {
        let all = events(RUN);
        assert_eq!(accusers([Ask::stream("e", &[], StreamEnd::Closed).header("Last-Event-ID", "9"), Ask::list("e", &all)]), [""; 0]);
        let mut torn = all.clone();
        torn[3] = serde_json::json!("garbage");
        assert_eq!(accusers([Ask::stream("e", &torn, StreamEnd::Closed), Ask::list("e", &all)]), [""; 0]);
    }
}
