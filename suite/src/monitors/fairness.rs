//! Properties over whole runs: a correct target is never accused, whatever its readers happen to see, and a history that was damaged
//! in one place is, by exactly one monitor.

use super::monitors;
use super::testing::{Ask, accusers, events, execution, judge, sse};
use crate::transcript::{Body, StreamEnd};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};
use std::time::Duration;

/// A correct target: event `n` (from 1) was appended at `10 * n` ms, and the state changed with the terminal event.
#[derive(Clone, Debug)]
struct Target {
    history: Vec<Value>,
}

/// What a reader does at a time, with the choices that a correct target has in answering it.
#[derive(Clone, Debug)]
enum Reader {
    List { after: i64 },
    Stream { after: i64, repeats: Vec<(usize, Index)>, lag: u64, left_after: Option<(usize, usize)> },
    State { operation: &'static str },
    Replay { stale: bool },
    Artifacts,
}

impl Target {
    fn ended_at(&self) -> u64 {
        if self.outcome().is_some() { 10 * self.history.len() as u64 } else { u64::MAX }
    }

    /// The history above a cursor as it was at a time.
    fn above(&self, after: i64, at: u64) -> Vec<Value> {
        let there = |event: &&Value| event["sequence"].as_i64().is_some_and(|n| n > after && 10 * n.unsigned_abs() <= at);
        self.history.iter().filter(there).cloned().collect()
    }

    fn outcome(&self) -> Option<&'static str> {
        match self.history.last()?["type"].as_str()? {
            "run.completed" => Some("succeeded"),
            "run.failed" => Some("failed"),
            "run.cancelled" => Some("cancelled"),
            _ => None,
        }
    }

    fn state(&self, at: u64) -> &'static str {
        self.outcome().filter(|_| at >= self.ended_at()).unwrap_or("running")
    }

    /// Answers a request between `began` and `ended` by what was true at one moment between the two.
    fn answer(&self, reader: &Reader, began: u64, moment: u64, ended: u64) -> Ask {
        match reader {
            Reader::List { after } => Ask::list("e", &self.above(*after, moment)).after(*after).during(began, ended),
            Reader::Stream { after, repeats, lag, left_after } => self.stream(*after, repeats, began + lag, *left_after, began),
            Reader::State { operation } => Ask::json(operation, "e", 200, &execution("e", self.state(moment))).during(began, ended),
            Reader::Replay { stale } => Ask::start("e", if *stale { "queued" } else { self.state(moment) }).during(began, ended),
            Reader::Artifacts => {
                let made = self.above(0, moment).into_iter().filter(|event| event["type"] == "artifact.created");
                let ids: Vec<String> = made.map(|event| event["data"]["id"].as_str().unwrap().to_owned()).collect();
                Ask::artifacts("e", &ids.iter().map(String::as_str).collect::<Vec<_>>()).during(began, ended)
            }
        }
    }

    /// Each event arrives when it was appended or when the stream was ready, whatever is later; some arrive again.
    fn stream(&self, after: i64, repeats: &[(usize, Index)], ready: u64, left: Option<(usize, usize)>, began: u64) -> Ask {
        let mut frames = sse(&self.above(after, u64::MAX));
        for (frame, sequence) in frames.iter_mut().zip(after + 1..) {
            frame.at = Duration::from_millis(ready.max(10 * sequence.unsigned_abs()));
        }
        for (place, earlier) in repeats {
            let place = frames.len().min(*place);
            if place > 0 {
                let mut again = frames[earlier.index(place)].clone();
                again.at = frames[place - 1].at;
                frames.insert(place, again);
            }
        }
        let mut end = if self.ended_at() == u64::MAX { StreamEnd::HungUp } else { StreamEnd::Closed };
        if let Some((events, kind)) = left.filter(|(events, _)| *events < frames.len()) {
            frames.truncate(events);
            end = [StreamEnd::HungUp, StreamEnd::Cut("reset".into()), StreamEnd::TimedOut(Duration::from_secs(10))][kind % 3].clone();
        }
        let last = frames.last().map_or(ready, |frame| u64::try_from(frame.at.as_millis()).unwrap());
        let ended = if end == StreamEnd::Closed { last.max(self.ended_at()) } else { last };
        Ask::frames("e", frames, end).after(after).during(began, ended + 1)
    }
}

/// Histories that end in one of these ways.
fn target(ends: &[&'static str]) -> impl Strategy<Value = Target> {
    let word = select(vec!["delta", "delta", "provider", "artifact", "required", "vendor.thing"]);
    (prop::collection::vec(word, 0..12), select(ends.to_vec())).prop_map(|(words, end)| {
        let named = words.iter().enumerate().map(|(n, word)| match *word {
            "artifact" | "required" => format!("{word}={n}"),
            other => other.to_owned(),
        });
        Target { history: events(&format!("queued started {}{end}", named.collect::<Vec<_>>().join(" "))) }
    })
}

fn reader() -> impl Strategy<Value = Reader> {
    let after = 0_i64..18;
    let repeats = prop::collection::vec((0_usize..20, any::<Index>()), 0..4);
    prop_oneof![
        after.clone().prop_map(|after| Reader::List { after }),
        Just(Reader::List { after: 0 }),
        (after, repeats, 0_u64..60, prop::option::of((0_usize..12, 0_usize..3)))
            .prop_map(|(after, repeats, lag, left_after)| Reader::Stream { after, repeats, lag, left_after }),
        select(vec!["getExecution", "cancelExecution", "respondAction"]).prop_map(|operation| Reader::State { operation }),
        any::<bool>().prop_map(|stale| Reader::Replay { stale }),
        Just(Reader::Artifacts),
    ]
}

/// Readers with their times: beginning, and how long until the moment of truth and from there to the end.
fn run(ends: &[&'static str]) -> impl Strategy<Value = (Target, Vec<Ask>)> {
    let timed = (reader(), 0_u64..200, 0_u64..40, 0_u64..40);
    (target(ends), prop::collection::vec(timed, 1..24)).prop_map(|(target, readers)| {
        let asks =
            readers.iter().map(|(reader, began, before, after)| target.answer(reader, *began, began + before, began + before + after));
        let asks = asks.collect();
        (target, asks)
    })
}

/// One thing wrong with a list of the whole history, and the monitor that speaks of it.
fn damaged(mut history: Vec<Value>, damage: u8, at: Index) -> (Vec<Value>, &'static str) {
    let place = at.index(history.len());
    let next = i64::try_from(history.len()).unwrap() + 1;
    let mut added = events("delta completed");
    for event in &mut added {
        event["sequence"] = json!(next);
    }
    match damage {
        0 => drop(history.remove(place)),
        1 => {
            let other = ["providerId", "text", "finalOutput", "id", "message", "reason"].map(|member| (member.to_owned(), json!("other")));
            history[place]["data"] = Value::Object(other.into_iter().collect());
        }
        2 => history[place]["time"] = json!("2027-01-01T00:00:00Z"),
        3 => history.insert(place, history[place].clone()),
        4 => history.rotate_left(place.max(1)),
        5 => history.push(added.remove(0)),
        6 => history.push(added.remove(1)),
        7 => history[place]["executionId"] = json!("other"),
        _ => history[place]["sequence"] = json!(-1),
    }
    let monitor = [
        "append-only",
        "append-only",
        "append-only",
        "sequence",
        "sequence",
        "terminal-last",
        "one-terminal",
        "envelope-owner",
        "sequence",
    ];
    (history, monitor[usize::from(damage)])
}

/// Answers that say nothing of a runtime hold no rule, whatever they are asked.
#[test]
fn nothing_is_held_by_a_target_that_shows_nothing() {
    let frames = sse(&[json!({}), json!("garbage"), json!([])]);
    let bodies = [
        Body::Whole("{}".into()),
        Body::Whole("".into()),
        Body::Whole("<!doctype html>".into()),
        Body::Whole(r#"{"events":[],"artifacts":[]}"#.into()),
        Body::Whole(r#"{"conversationId":"c","providerId":"p","input":"echo"}"#.into()),
        Body::Stream { frames: Vec::new(), end: StreamEnd::Closed },
        Body::Stream { frames, end: StreamEnd::TimedOut(Duration::from_secs(10)) },
    ];
    let operations = ["listEvents", "followEvents", "getExecution", "startExecution", "cancelExecution", "respondAction", "listArtifacts"];
    for (body, status) in bodies.iter().flat_map(|body| [200, 202, 404, 500].map(|status| (body, status))) {
        let ask = |operation: &&str| Ask::json(operation, "e", status, &json!(null)).body(body.clone());
        let asks: Vec<Ask> = operations.iter().chain(&operations).map(ask).collect();
        for (name, _) in monitors() {
            assert_eq!(judge(name, asks.clone()).held, 0, "{name}, {status}, {body:?}");
        }
    }
}

proptest! {
    #[test]
    fn a_correct_target_is_never_accused((_, asks) in run(&[" completed", " failed", " cancelled", ""])) {
        prop_assert_eq!(accusers(asks), Vec::<&str>::new());
    }

    #[test]
    fn damage_is_found_by_the_one_monitor_for_it((target, mut asks) in run(&[" completed", " failed", " cancelled"]), damage in 0_u8..9, at in any::<Index>()) {
        let whole = target.above(0, u64::MAX);
        let (list, expected) = damaged(whole.clone(), damage, at);
        asks.push(Ask::list("e", &whole).during(5_000, 5_001));
        asks.push(Ask::list("e", &list).during(6_000, 6_001));
        prop_assert_eq!(accusers(asks), [expected]);
    }
}
