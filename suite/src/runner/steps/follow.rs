//! `follow`: an event stream is read until what the step waits for, the end, or a bound. A cut connection is resumed.

use super::super::case::Round;
use super::super::outcome::Stop;
use super::super::session::{Ask, Patience, Session};
use super::{call, result};
use crate::drivers::http::EventStream;
use crate::recorder::About;
use crate::scenario::fill::finish;
use crate::scenario::model::{Follow, Step, Until};
use crate::scenario::operations::Executions;
use crate::scenario::pattern;
use crate::transcript::{Body, Exchange, Frame, HttpReply, Reply, StreamEnd};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// After so long without an event the target is asked whether the execution has ended.
const QUIET: Duration = Duration::from_millis(700);
/// So long a stream may stay open once its execution is known to have ended, before the kit hangs up.
const GRACE: Duration = Duration::from_secs(2);
/// A target that left so many streams open for so long after their terminal event is known to do so, and blamed; the others are only kept
/// open this long, which is held against nobody.
const LEFT_OPEN: usize = 3;
const SHORT_GRACE: Duration = Duration::from_millis(250);
/// How often a cut stream is resumed.
const RESUMPTIONS: usize = 5;

/// What the reader of one stream knows.
struct Reading<'a> {
    session: &'a Arc<Session>,
    executions: &'a Executions,
    about: &'a About,
    until: Goal,
}

/// `until`, filled in.
enum Goal {
    Closed,
    Terminal,
    Count(usize),
    Event(Value),
}

pub async fn run(round: &mut Round<'_>, step: &Step, follow: &Follow) -> Result<Value, Stop> {
    let session = round.session;
    let executions = session.catalogue.operations.executions.as_ref();
    let executions = executions.ok_or_else(|| Stop::Errored("operations.yaml says nothing of executions".to_owned()))?;
    let mut ask = ask(round, follow, executions)?;
    let about = call::about(round, step, &ask);
    let until = goal(round, &follow.until)?;
    let reading = Reading { session, executions, about: &about, until };
    let mut gate = round.gate.take();
    let mut frames: Vec<Frame> = Vec::new();
    let mut ids: Vec<u64> = Vec::new();
    let mut patience = Patience::new(session.settings.timeout);
    let mut cuts = 0;
    while cuts < RESUMPTIONS {
        let request = session.request(&ask);
        session.steady().await.map_err(Stop::Blocked)?;
        let lives = session.lives();
        let begun = session.recorder.begin();
        let opened = session.open(&request, gate.take().as_ref()).await;
        let about = About { query: ask.query.clone(), ..about.clone() };
        let reply = match opened {
            Ok(stream) => outlived(reading.read(stream, &frames).await, session.lives() > lives, executions),
            Err(reply) => reply,
        };
        let exchange = session.record(&begun, about, request, reply);
        ids.push(exchange.id);
        let Some((new, end)) = exchange.http().and_then(|reply| reply.frames()) else {
            if session.lives() > lives {
                cuts += 1;
                continue;
            }
            if session.may_ask_again(&exchange, call::expects_busy(step)) && patience.wait().await {
                continue;
            }
            return Ok(result::of(&exchange));
        };
        cuts += 1;
        frames.extend_from_slice(new);
        // A submission is not sent twice.
        if follow.submit.is_some() || !matches!(end, StreamEnd::Cut(_)) {
            return Ok(reading.result(&exchange, &frames, end, &ids));
        }
        let last = result::events(&frames, Some(executions)).iter().filter_map(|e| executions.sequence_of(e)).max();
        if let Some(last) = last {
            set_cursor(&mut ask, session, executions, &last.to_string());
        }
    }
    Ok(json!({ "answered": false, "reason": format!("the stream was cut {RESUMPTIONS} times"), "exchanges": ids }))
}

/// A server that is told to stop may end its streams where they are: to the reader that is a cut like any other.
fn outlived(mut reply: Reply, restarted: bool, executions: &Executions) -> Reply {
    if let Reply::Http(HttpReply { body: Body::Stream { frames, end }, .. }) = &mut reply
        && restarted
        && *end == StreamEnd::Closed
        && !has_terminal(frames, executions)
    {
        *end = StreamEnd::Cut("the target was restarted".to_owned());
    }
    reply
}

/// Reads one stream to its end, for the record only.
pub async fn to_the_end(session: &Arc<Session>, executions: &Executions, ask: &Ask, about: &About) {
    let request = session.request(ask);
    let begun = session.recorder.begin();
    let reading = Reading { session, executions, about, until: Goal::Closed };
    let reply = match session.open(&request, None).await {
        Ok(stream) => reading.read(stream, &[]).await,
        Err(reply) => reply,
    };
    session.record(&begun, about.clone(), request, reply);
}

fn ask(round: &Round<'_>, follow: &Follow, executions: &Executions) -> Result<Ask, Stop> {
    let session = round.session;
    if let Some(body) = &follow.submit {
        return submission(round, follow, body, executions);
    }
    let operation = session.catalogue.operations.by_name.get(&executions.follow);
    let operation = operation.ok_or_else(|| Stop::Errored(format!("no operation {}", executions.follow)))?;
    let id = call::text(&call::fill(round, &follow.execution)?);
    let params: BTreeMap<String, String> = [(param_of(&operation.path), id)].into();
    let mut query = BTreeMap::new();
    if let Some(after) = &follow.after {
        query.insert(executions.cursor.clone(), call::text(&call::fill(round, after)?));
    }
    let mut ask = session.ask(&executions.follow, operation, &params, &query);
    set_headers(round, &mut ask, follow)?;
    Ok(ask)
}

/// The request that starts an execution and is answered with its stream.
fn submission(round: &Round<'_>, follow: &Follow, body: &Value, executions: &Executions) -> Result<Ask, Stop> {
    let session = round.session;
    let operation = executions.submit.as_ref().and_then(|name| Some((name, session.catalogue.operations.by_name.get(name)?)));
    let (name, operation) = operation.ok_or_else(|| Stop::Errored("operations.yaml names no submission that streams".to_owned()))?;
    let mut ask = session.ask(name, operation, &BTreeMap::new(), &BTreeMap::new());
    ask.body = Some(finish(call::fill(round, body)?).to_string().into());
    set_headers(round, &mut ask, follow)?;
    Ok(ask)
}

fn set_headers(round: &Round<'_>, ask: &mut Ask, follow: &Follow) -> Result<(), Stop> {
    for (name, template) in &follow.headers {
        let value = call::fill(round, template)?;
        ask.headers.insert(name.clone(), (!value.is_null()).then(|| call::text(&value)));
    }
    Ok(())
}

/// The name of the first parameter of a path.
pub fn param_of(path: &str) -> String {
    path.split('{').nth(1).and_then(|rest| rest.split('}').next()).unwrap_or("id").to_owned()
}

fn set_cursor(ask: &mut Ask, session: &Session, executions: &Executions, cursor: &str) {
    if let Some(header) = &executions.resume {
        ask.headers.remove(&header.to_ascii_lowercase());
    }
    ask.query.insert(executions.cursor.clone(), cursor.to_owned());
    if let Some(operation) = session.catalogue.operations.by_name.get(&executions.follow) {
        ask.target = session.ask(&executions.follow, operation, &ask.params, &ask.query).target;
    }
}

fn goal(round: &Round<'_>, until: &Until) -> Result<Goal, Stop> {
    Ok(match until {
        Until::Closed => Goal::Closed,
        Until::Terminal => Goal::Terminal,
        Until::Count(count) => {
            let count = call::fill(round, count)?;
            Goal::Count(count.as_u64().and_then(|n| usize::try_from(n).ok()).ok_or_else(|| Stop::Errored(format!("{count} is no count")))?)
        }
        Until::Event(pattern) => Goal::Event(finish(call::fill(round, pattern)?)),
    })
}

/// What was read so far, each frame looked at once.
#[derive(Default)]
struct Progress {
    scanned: usize,
    /// Events seen, duplicates included.
    events: usize,
    terminal: bool,
    wanted: bool,
    sequences: BTreeSet<i64>,
    /// The execution as the first event names it.
    id: Option<String>,
}

impl Reading<'_> {
    /// Reads one stream; `earlier` are the frames of the streams that this one resumes.
    async fn read(&self, mut stream: EventStream, earlier: &[Frame]) -> Reply {
        let bound = self.session.settings.timeout;
        let started = Instant::now();
        // However lively the stream is; heartbeats are no events.
        let latest = started + bound * 6;
        let (mut last_event, mut last_look, mut ended_at) = (started, started, None);
        let mut progress = Progress::default();
        self.scan(&mut progress, earlier);
        progress.scanned = 0;
        let end = loop {
            let before = progress.events;
            self.scan(&mut progress, &stream.frames);
            let now = Instant::now();
            if self.is_reached(&progress) {
                break StreamEnd::HungUp;
            }
            if progress.events > before {
                last_event = now;
            }
            if progress.terminal && ended_at.is_none() {
                ended_at = Some(now);
            }
            let grace = if progress.terminal && self.session.left_open() >= LEFT_OPEN { SHORT_GRACE } else { GRACE };
            let deadline = ended_at.map_or(last_event + bound, |at| at + grace).min(latest);
            if now >= deadline {
                if progress.terminal {
                    self.session.leaves_open();
                }
                break StreamEnd::TimedOut(now - started);
            }
            let wake = if ended_at.is_none() { (last_event.max(last_look) + QUIET).min(deadline) } else { deadline };
            match stream.read(wake).await {
                Ok(Some(_)) => {}
                Err(end) => break end,
                Ok(None) => {
                    last_look = Instant::now();
                    if ended_at.is_none() && self.has_ended(progress.id.as_ref()).await {
                        ended_at = Some(Instant::now());
                    }
                }
            }
        };
        stream.end(end)
    }

    fn scan(&self, progress: &mut Progress, frames: &[Frame]) {
        for frame in &frames[progress.scanned..] {
            let Some(data) = frame.data.as_deref() else { continue };
            progress.events += 1;
            let Ok(event) = serde_json::from_str::<Value>(data) else { continue };
            progress.sequences.extend(self.executions.sequence_of(&event));
            progress.id = progress.id.take().or_else(|| self.executions.id_of(&event));
            progress.terminal |= pattern::fits(&self.executions.terminal_event, Some(&event));
            if let Goal::Event(wanted) = &self.until {
                progress.wanted |= pattern::fits(wanted, Some(&event));
            }
        }
        progress.scanned = frames.len();
    }

    fn is_reached(&self, progress: &Progress) -> bool {
        match &self.until {
            Goal::Closed => false,
            Goal::Terminal => progress.terminal,
            Goal::Count(count) => progress.sequences.len() >= *count,
            Goal::Event(_) => progress.wanted,
        }
    }

    /// Asks for the execution itself; recorded like any other read.
    async fn has_ended(&self, named: Option<&String>) -> bool {
        let Some(operation) = self.session.catalogue.operations.by_name.get(&self.executions.read) else { return false };
        let Some(id) = self.about.params.values().next().or(named) else { return false };
        let params: BTreeMap<String, String> = [(param_of(&operation.path), id.clone())].into();
        let ask = self.session.ask(&self.executions.read, operation, &params, &BTreeMap::new());
        let about = About {
            operation: ask.operation.clone(),
            params,
            query: BTreeMap::new(),
            step: format!("{} (has it ended?)", self.about.step),
            case: self.about.case.clone(),
        };
        let exchange = self.session.read(&ask, &about).await;
        exchange.http().and_then(HttpReply::json).is_some_and(|body| self.executions.is_terminal(&body))
    }

    /// How many of `events` were waited for. What came in one piece with the last of them is in the transcript, not in the result.
    fn wanted(&self, events: &[Value]) -> usize {
        match &self.until {
            Goal::Closed | Goal::Terminal => events.len(),
            Goal::Count(count) => *count,
            Goal::Event(wanted) => events.iter().position(|event| pattern::fits(wanted, Some(event))).map_or(events.len(), |at| at + 1),
        }
    }

    fn result(&self, exchange: &Exchange, frames: &[Frame], end: &StreamEnd, ids: &[u64]) -> Value {
        let mut events = result::events(frames, Some(self.executions));
        events.truncate(self.wanted(&events));
        let complete = match (&self.until, end) {
            // A stream that ends before the terminal event is the business of one rule only; for all others it is unfinished.
            (Goal::Closed, StreamEnd::Closed) => events.is_empty() || has_terminal(frames, self.executions),
            (Goal::Terminal, _) => has_terminal(frames, self.executions),
            (_, StreamEnd::HungUp) => true,
            _ => false,
        };
        let mut result = result::of(exchange);
        result["frames"] = Value::Array(frames.iter().map(result::frame).collect());
        result["events"] = Value::Array(events);
        result["complete"] = json!(complete);
        result["end"] = json!(end_name(end));
        result["exchanges"] = json!(ids);
        result
    }
}

fn has_terminal(frames: &[Frame], executions: &Executions) -> bool {
    frames.iter().rev().any(|frame| frame_fits(frame, &executions.terminal_event))
}

fn frame_fits(frame: &Frame, pattern: &Value) -> bool {
    let event = frame.data.as_deref().and_then(|data| serde_json::from_str::<Value>(data).ok());
    event.is_some_and(|event| pattern::fits(pattern, Some(&event)))
}

fn end_name(end: &StreamEnd) -> &'static str {
    match end {
        StreamEnd::Closed => "closed",
        StreamEnd::HungUp => "hung-up",
        StreamEnd::Cut(_) => "cut",
        StreamEnd::TimedOut(_) => "timed-out",
        StreamEnd::Bound(_) => "bound",
    }
}
