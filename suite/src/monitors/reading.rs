//! One reader's view of one history: a JSON list or an event stream, with its cursor. Owns no judgement.

use super::dialect::Dialect;
use super::same::event_difference;
use crate::scenario::spelling::integer;
use crate::transcript::{Body, Exchange, Frame, StreamEnd};
use proofmark_reports::model::Mismatch;
use serde_json::Value;
use std::time::Duration;

/// What one request for the events of an execution brought.
pub(super) struct Reading<'a> {
    pub(super) exchange: &'a Exchange,
    pub(super) kind: Kind<'a>,
    pub(super) start: Start,
    /// In the order of arrival, duplicates included, strangers left out.
    pub(super) events: Vec<Event>,
    pub(super) dialect: &'static Dialect,
    /// Events that name another execution which the run knows: they leaked in and are nobody's business but `envelope-owner`'s.
    pub(super) strangers: Vec<Event>,
    /// Every element could be read as an event of this history, so that what is not here was not sent.
    pub(super) sound: bool,
    /// What is wrong with its numbers; numbers of such a reading bear no witness against others.
    pub(super) numbering: Vec<Mismatch>,
    /// Known events that should be here.
    pub(super) missing: Vec<Missing>,
}

#[derive(Clone, Copy)]
pub(super) enum Kind<'a> {
    List,
    Stream(&'a StreamEnd),
}

/// Where a reader asked to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Start {
    /// Above this sequence; 0 when no cursor was given.
    After(i64),
    /// A cursor in an odd spelling, a `Last-Event-ID` or another parameter beside it: the text does not say what counts.
    Unclear,
}

pub(super) struct Event {
    pub(super) sequence: i64,
    pub(super) kind: String,
    pub(super) dialect: &'static Dialect,
    /// When the kit had it, since the start of the run.
    pub(super) at: Duration,
    /// Place in the answer: element of the list, or number of the frame, from 0.
    pub(super) place: usize,
    pub(super) value: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) sequence: i64,
    /// The history has it no more; otherwise the reader was not given it.
    pub(super) gone: bool,
}

impl<'a> Reading<'a> {
    /// The reading in a 200 answer that lists or streams events; `None` when there is none to be read.
    pub(super) fn of(exchange: &'a Exchange, dialect: &'static Dialect) -> Option<Self> {
        let operation = exchange.operation.as_deref();
        let reply = exchange.http()?;
        let reads = exchange.request.method == "GET" && (operation == dialect.list || operation == Some(dialect.follow));
        let submits = operation.is_some() && operation == dialect.submit;
        if !(reads || submits) || operation.is_none() || reply.status != 200 {
            return None;
        }
        let (kind, elements) = match &reply.body {
            Body::Stream { frames, end } => (Kind::Stream(end), stream_events(frames, dialect)),
            Body::Whole(_) => (Kind::List, list_events(reply.json()?, exchange.ended, dialect)?),
            Body::Partial(..) => return None,
        };
        let sound = elements.iter().all(Option::is_some);
        let events = elements.into_iter().flatten().collect();
        let (strangers, numbering, missing) = (Vec::new(), Vec::new(), Vec::new());
        Some(Self { exchange, kind, start: start(exchange, dialect), events, dialect, strangers, sound, numbering, missing })
    }

    /// The execution whose history was asked for; that of a submission is told by its first event.
    pub(super) fn execution(&self) -> Option<String> {
        let first = || self.events.first().and_then(Event::owner).map(str::to_owned);
        self.exchange.params.get("id").cloned().or_else(first)
    }

    pub(super) fn is_list(&self) -> bool {
        matches!(self.kind, Kind::List)
    }

    /// The server had its say: a list, or a stream that it ended itself.
    pub(super) fn is_finished(&self) -> bool {
        matches!(self.kind, Kind::List | Kind::Stream(StreamEnd::Closed))
    }

    pub(super) fn after(&self) -> Option<i64> {
        match self.start {
            Start::After(cursor) => Some(cursor),
            Start::Unclear => None,
        }
    }

    /// Nothing that any rule about numbers or completeness could say against it.
    pub(super) fn is_clean(&self) -> bool {
        self.sound && self.numbering.is_empty() && self.missing.is_empty()
    }

    pub(super) fn terminal(&self) -> Option<&Event> {
        self.events.iter().find(|event| event.is_terminal())
    }

    /// Where an event stands, as a path in the answer.
    pub(super) fn path(&self, event: &Event) -> String {
        let element = if self.is_list() { "events" } else { "frames" };
        format!("{element}[{}]", event.place)
    }
}

impl Event {
    fn of(value: Value, at: Duration, place: usize, dialect: &'static Dialect) -> Option<Self> {
        let sequence = integer(value.get("sequence")?)?;
        let kind = value.get("type")?.as_str()?.to_owned();
        value.is_object().then_some(Self { sequence, kind, dialect, at, place, value })
    }

    pub(super) fn is_terminal(&self) -> bool {
        self.outcome().is_some()
    }

    /// The terminal state that it announces; `None` for events that end nothing, unknown ones among them.
    pub(super) fn outcome(&self) -> Option<&'static str> {
        (self.dialect.outcome)(&self.value)
    }

    /// The first difference to another sighting under the same number; `None` when they tell the same.
    pub(super) fn difference(&self, other: &Event) -> Option<Mismatch> {
        event_difference(self.dialect, &self.value, &other.value)
    }

    /// The execution it says it belongs to.
    pub(super) fn owner(&self) -> Option<&str> {
        self.value[self.dialect.owner].as_str()
    }

    /// A member of `data`, when it is a string.
    pub(super) fn text(&self, member: &str) -> Option<&str> {
        self.value["data"][member].as_str()
    }
}

fn list_events(body: Value, at: Duration, dialect: &'static Dialect) -> Option<Vec<Option<Event>>> {
    let Value::Object(mut members) = body else { return None };
    let Some(Value::Array(elements)) = members.remove("events") else { return None };
    Some(elements.into_iter().enumerate().map(|(place, value)| Event::of(value, at, place, dialect)).collect())
}

/// Frames without data are comments and carry nothing.
fn stream_events(frames: &[Frame], dialect: &'static Dialect) -> Vec<Option<Event>> {
    let event = |(place, frame): (usize, &Frame)| {
        let data = frame.data.as_deref()?;
        Some(serde_json::from_str(data).ok().and_then(|value| Event::of(value, frame.at, place, dialect)))
    };
    frames.iter().enumerate().filter_map(event).collect()
}

/// Only plain digits without leading zeros, up to where doubles are exact, mean the same to every server.
fn start(exchange: &Exchange, dialect: &Dialect) -> Start {
    let headers = &exchange.request.headers;
    let resumed = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("last-event-id")).map(|(_, value)| value);
    let after = exchange.query.get("after");
    if (resumed.is_some() && (!dialect.resumes || after.is_some())) || exchange.query.keys().any(|name| name != "after") {
        return Start::Unclear;
    }
    let Some(after) = after.or(resumed) else { return Start::After(0) };
    let plain = after == "0" || (after.bytes().all(|b| b.is_ascii_digit()) && !after.starts_with('0'));
    match after.parse() {
        Ok(cursor) if plain && cursor <= GREATEST => Start::After(cursor),
        _ => Start::Unclear,
    }
}

/// The last integer that is no other one's double.
const GREATEST: i64 = 9_007_199_254_740_991;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::dialect::HARNESS;
    use crate::monitors::testing::{Ask, events, sse};
    use serde_json::json;

    fn start_of(ask: Ask) -> Start {
        let exchange = ask.finish(1);
        Reading::of(&exchange, &HARNESS).unwrap().start
    }

    #[test]
    fn cursors_count_only_when_everyone_reads_them_alike() {
        assert_eq!(start_of(Ask::list("e", &[])), Start::After(0));
        for (text, expected) in [("0", Start::After(0)), ("17", Start::After(17))] {
            assert_eq!(start_of(Ask::list("e", &[]).query("after", text)), expected);
        }
        for odd in ["", " 2", "+3", "03", "1e2", "0x3", "9007199254740992", "99999999999999999999"] {
            assert_eq!(start_of(Ask::list("e", &[]).query("after", odd)), Start::Unclear, "{odd:?}");
        }
        assert_eq!(start_of(Ask::list("e", &[]).header("Last-Event-ID", "2")), Start::Unclear);
        assert_eq!(start_of(Ask::list("e", &[]).query("limit", "2")), Start::Unclear);
    }

    #[test]
    fn comments_carry_nothing_and_garbage_makes_a_stream_unsound() {
        let heartbeat = Frame { comments: vec!["hi".into()], ..Frame::default() };
        let mut frames = sse(&events("queued started"));
        frames.insert(1, heartbeat);
        let exchange = Ask::frames("e", frames.clone(), StreamEnd::HungUp).finish(1);
        let reading = Reading::of(&exchange, &HARNESS).unwrap();
        assert!(reading.sound);
        assert_eq!(reading.events.iter().map(|e| (e.sequence, e.place)).collect::<Vec<_>>(), [(1, 0), (2, 2)]);

        for garbage in ["{", "[]", "{}", r#"{"sequence":1.5,"type":"x"}"#, r#"{"sequence":"1","type":"x"}"#, r#"{"sequence":1}"#] {
            let mut torn = frames.clone();
            torn[2].data = Some(garbage.into());
            let exchange = Ask::frames("e", torn, StreamEnd::HungUp).finish(1);
            let reading = Reading::of(&exchange, &HARNESS).unwrap();
            assert!(!reading.sound && reading.events.len() == 1, "{garbage}");
        }
    }

    #[test]
    fn integers_may_be_written_with_a_point() {
        assert_eq!(integer(&json!(3.0)), Some(3));
        assert_eq!(integer(&json!(-1)), Some(-1));
        assert_eq!(integer(&json!(3.5)), None);
        assert_eq!(integer(&json!(1e300)), None);
    }

    #[test]
    fn what_is_no_list_is_no_reading() {
        for body in [json!({}), json!([]), json!({"events": {}})] {
            assert!(Reading::of(&Ask::json("listEvents", "e", 200, &body).finish(1), &HARNESS).is_none(), "{body}");
        }
        assert!(Reading::of(&Ask::json("listEvents", "e", 404, &json!({"events": []})).finish(1), &HARNESS).is_none());
        assert!(Reading::of(&Ask::list("e", &[]).method("HEAD").finish(1), &HARNESS).is_none());
    }
}
