//! Transcripts made by hand: one [`Ask`] is one exchange, and reads like one.

use super::{Observation, World, monitors};
use crate::transcript::{Body, Exchange, Frame, HttpReply, NoReply, Reply, Request, StreamEnd};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// An exchange to be; without [`Ask::during`] each begins after the one before it ended.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    exchange: Exchange,
    during: Option<(u64, u64)>,
    arriving: Option<u64>,
}

impl Ask {
    fn new(operation: &str, id: &str, status: u16, body: Body) -> Self {
        let params = if id.is_empty() { BTreeMap::new() } else { BTreeMap::from([("id".into(), id.into())]) };
        let request = Request { method: "GET".into(), url: "http://target/".into(), headers: Vec::new(), body: None };
        let reply = Reply::Http(HttpReply { status, headers: Vec::new(), body });
        let exchange = Exchange {
            id: 0,
            case: "harness-runtime/area/scenario".into(),
            step: format!("call {operation}"),
            operation: Some(operation.into()),
            params,
            query: BTreeMap::new(),
            request,
            began: Duration::ZERO,
            ended: Duration::ZERO,
            reply,
        };
        Self { exchange, during: None, arriving: None }
    }

    pub(super) fn json(operation: &str, id: &str, status: u16, body: &Value) -> Self {
        Self::new(operation, id, status, Body::Whole(body.to_string().into()))
    }

    pub(super) fn list(id: &str, events: &[Value]) -> Self {
        let last = events.last().map_or(json!(0), |event| event["sequence"].clone());
        Self::json("listEvents", id, 200, &json!({"events": events, "nextCursor": last}))
    }

    pub(super) fn stream(id: &str, events: &[Value], end: StreamEnd) -> Self {
        Self::frames(id, sse(events), end)
    }

    pub(super) fn frames(id: &str, frames: Vec<Frame>, end: StreamEnd) -> Self {
        Self::new("followEvents", id, 200, Body::Stream { frames, end })
    }

    pub(super) fn state(id: &str, state: &str) -> Self {
        Self::json("getExecution", id, 200, &execution(id, state))
    }

    pub(super) fn cancel(id: &str, state: &str) -> Self {
        Self::json("cancelExecution", id, 200, &execution(id, state)).method("POST")
    }

    pub(super) fn respond(id: &str, state: &str) -> Self {
        Self::json("respondAction", id, 200, &execution(id, state)).method("POST")
    }

    pub(super) fn start(id: &str, state: &str) -> Self {
        Self::json("startExecution", "", 202, &execution(id, state)).method("POST")
    }

    pub(super) fn artifacts(id: &str, ids: &[&str]) -> Self {
        let artifacts: Vec<Value> = ids.iter().map(|artifact| json!({"id": artifact, "executionId": id})).collect();
        Self::json("listArtifacts", id, 200, &json!({"artifacts": artifacts}))
    }

    pub(super) fn after(self, cursor: i64) -> Self {
        self.query("after", &cursor.to_string())
    }

    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        self.exchange.query.insert(name.into(), value.into());
        self
    }

    pub(super) fn param(mut self, name: &str, value: &str) -> Self {
        self.exchange.params.insert(name.into(), value.into());
        self
    }

    pub(super) fn operation(mut self, name: &str) -> Self {
        self.exchange.operation = Some(name.into());
        self
    }

    pub(super) fn sending(mut self, body: &Value) -> Self {
        self.exchange.request.body = Some(body.to_string().into());
        self
    }

    pub(super) fn method(mut self, method: &str) -> Self {
        self.exchange.request.method = method.into();
        self
    }

    pub(super) fn header(mut self, name: &str, value: &str) -> Self {
        self.exchange.request.headers.push((name.into(), value.into()));
        self
    }

    pub(super) fn case(mut self, case: &str) -> Self {
        self.exchange.case = case.into();
        self
    }

    pub(super) fn reply_header(mut self, name: &str, value: &str) -> Self {
        self.http().headers.push((name.into(), value.into()));
        self
    }

    pub(super) fn body(mut self, body: Body) -> Self {
        self.http().body = body;
        self
    }

    pub(super) fn no_reply(mut self) -> Self {
        self.exchange.reply = Reply::None(NoReply::Closed("reset".into()));
        self
    }

    /// Milliseconds of beginning and end.
    pub(super) fn during(mut self, began: u64, ended: u64) -> Self {
        self.during = Some((began, ended));
        self
    }

    /// When the frames of a stream arrived, in milliseconds; at its end without this.
    pub(super) fn arriving(mut self, at: u64) -> Self {
        self.arriving = Some(at);
        self
    }

    fn http(&mut self) -> &mut HttpReply {
        match &mut self.exchange.reply {
            Reply::Http(reply) => reply,
            _ => panic!("no HTTP reply"),
        }
    }

    /// The exchange with its number, from 1.
    pub(super) fn finish(mut self, id: u64) -> Exchange {
        let (began, ended) = self.during.unwrap_or((2 * id - 1, 2 * id));
        self.exchange.id = id;
        self.exchange.began = Duration::from_millis(began);
        self.exchange.ended = Duration::from_millis(ended);
        if let Reply::Http(HttpReply { body: Body::Stream { frames, .. }, .. }) = &mut self.exchange.reply {
            let at = Duration::from_millis(self.arriving.unwrap_or(ended));
            frames.iter_mut().filter(|frame| frame.at.is_zero()).for_each(|frame| frame.at = at);
        }
        self.exchange
    }
}

/// The history of execution `e`: see [`events_of`].
pub(super) fn events(script: &str) -> Vec<Value> {
    events_of("e", script)
}

/// Events numbered from 1, one a word: `queued`, `delta`, `completed` and so on, `artifact=ID`, `required=ID`, `responded=ID`, or a type.
pub(super) fn events_of(id: &str, script: &str) -> Vec<Value> {
    script.split_whitespace().zip(1..).map(|(word, sequence)| event(id, word, sequence)).collect()
}

fn event(id: &str, word: &str, sequence: i64) -> Value {
    let (word, name) = word.split_once('=').unwrap_or((word, ""));
    let (kind, data) = match word {
        "queued" | "started" => (format!("run.{word}"), json!({"providerId": "p"})),
        "delta" => ("output.text.delta".into(), json!({"text": format!("word {sequence}")})),
        "done" => ("output.text.done".into(), json!({"text": "out"})),
        "completed" => ("run.completed".into(), json!({"finalOutput": "out"})),
        "failed" => ("run.failed".into(), json!({"code": "PROVIDER_ERROR", "message": "no"})),
        "cancelled" => ("run.cancelled".into(), json!({})),
        "artifact" => ("artifact.created".into(), json!({"id": name, "executionId": id})),
        "required" => ("action.required".into(), json!({"id": name, "executionId": id, "kind": "approval"})),
        "responded" => ("action.responded".into(), json!({"actionId": name})),
        "provider" => ("provider.event".into(), json!({"method": "native"})),
        other => (other.to_owned(), json!({})),
    };
    let time = format!("2026-09-02T10:{:02}:{:02}Z", sequence / 60, sequence % 60);
    json!({"id": format!("{id}:{sequence}"), "executionId": id, "sequence": sequence, "type": kind, "time": time, "data": data})
}

/// Those events, by their place from 1, in this order.
pub(super) fn pick(events: &[Value], places: &[usize]) -> Vec<Value> {
    places.iter().map(|place| events[place - 1].clone()).collect()
}

/// The same events with numbers from `first` on.
pub(super) fn numbered(events: &[Value], first: i64) -> Vec<Value> {
    let renumber = |(event, sequence): (&Value, i64)| {
        let mut event = event.clone();
        event["sequence"] = json!(sequence);
        event
    };
    events.iter().zip(first..).map(renumber).collect()
}

/// Frames as the reference writes them; an event that is a string stands as it is.
pub(super) fn sse(events: &[Value]) -> Vec<Frame> {
    let frame = |event: &Value| Frame { data: Some(event.as_str().map_or_else(|| event.to_string(), str::to_owned)), ..Frame::default() };
    events.iter().map(frame).collect()
}

pub(super) fn execution(id: &str, state: &str) -> Value {
    let mut body = json!({
        "id": id, "conversationId": "c", "providerId": "p", "state": state, "input": "", "requiredCapabilities": [],
        "effectiveConfig": {}, "createdAt": "2026-09-02T10:00:00Z", "updatedAt": "2026-09-02T10:00:00Z",
    });
    match state {
        "succeeded" => body["finalOutput"] = json!("out"),
        "failed" => body["error"] = json!({"code": "PROVIDER_ERROR", "message": "no"}),
        _ => {}
    }
    if matches!(state, "succeeded" | "failed" | "cancelled") {
        body["endedAt"] = json!("2026-09-02T10:01:00Z");
    }
    body
}

/// The monitors that accuse, by name. Findings must be presentable.
pub(super) fn accusers(run: impl IntoIterator<Item = Ask>) -> Vec<&'static str> {
    let exchanges = finished(run);
    with_world(&exchanges, &[], |world| {
        let mut accusers = Vec::new();
        for (name, check) in monitors() {
            let findings = check(world).findings;
            for finding in &findings {
                assert!(!finding.mismatches.is_empty() && !finding.exchanges.is_empty(), "{name}: {finding:?}");
                assert!(finding.mismatches.iter().all(|m| m.expected != m.actual), "{name}: {finding:?}");
                assert!(finding.exchanges.is_sorted() && finding.exchanges.iter().all(|id| exchanges.iter().any(|e| e.id == *id)));
            }
            if !findings.is_empty() {
                accusers.push(*name);
            }
        }
        accusers
    })
}

pub(super) fn judge(name: &str, run: impl IntoIterator<Item = Ask>) -> Observation {
    with_world(&finished(run), &[], |world| observe(name, world))
}

/// How often a rule held in a run in which nothing is wrong with it.
pub(super) fn held(name: &str, run: impl IntoIterator<Item = Ask>) -> u64 {
    let seen = judge(name, run);
    assert_eq!(seen.findings, []);
    seen.held
}

/// What `secret-echo` says when this credential was sent.
pub(super) fn secretly(secret: &str, run: impl IntoIterator<Item = Ask>) -> Observation {
    with_world(&finished(run), &[secret.to_owned()], |world| observe("secret-echo", world))
}

fn observe(name: &str, world: &World<'_>) -> Observation {
    monitors().iter().find(|(known, _)| *known == name).expect("a known monitor").1(world)
}

fn finished(run: impl IntoIterator<Item = Ask>) -> Vec<Arc<Exchange>> {
    run.into_iter().zip(1..).map(|(ask, id)| Arc::new(ask.finish(id))).collect()
}

fn with_world<T>(exchanges: &[Arc<Exchange>], secrets: &[String], judge: impl FnOnce(&World<'_>) -> T) -> T {
    let documented = [("VALIDATION_ERROR", 400), ("NOT_FOUND", 404), ("IDEMPOTENCY_CONFLICT", 409), ("CAPABILITY_UNSUPPORTED", 422)];
    let problems = documented.into_iter().map(|(code, status)| (code.to_owned(), status)).collect();
    judge(&World::new("harness-runtime", exchanges, secrets, &problems))
}

/// A history of model-runtime, one event a status.
pub(super) fn model(statuses: &str) -> Vec<Value> {
    let kind = |status: &str| match status {
        "accepted" => "execution.accepted",
        "routing" => "route.selected",
        "succeeded" => "execution.completed",
        "failed" | "cancelled" => "execution.failed",
        _ => "output.delta",
    };
    let event = |(status, sequence): (&str, i64)| {
        let time = format!("2026-09-02T10:00:{sequence:02}Z");
        json!({"execution_id": "e", "sequence": sequence, "type": kind(status), "status": status, "time": time})
    };
    // Gaps are legal in this contract.
    statuses.split_whitespace().zip((1..).map(|n| 2 * n - 1)).map(event).collect()
}

/// What one monitor says of a run of model-runtime.
pub(super) fn model_judge(name: &str, run: impl IntoIterator<Item = Ask>) -> Observation {
    let exchanges = finished(run);
    let problems = BTreeMap::new();
    let (_, check) = monitors().iter().find(|(known, _)| *known == name).unwrap();
    check(&World::new("model-runtime", &exchanges, &[], &problems))
}

/// The monitors that accuse a finished stream of model-runtime.
pub(super) fn model_accusers(events: &[Value]) -> Vec<&'static str> {
    let exchanges = finished([Ask::stream("e", events, StreamEnd::Closed)]);
    let problems = BTreeMap::new();
    let world = World::new("model-runtime", &exchanges, &[], &problems);
    monitors().iter().filter(|(_, check)| !check(&world).findings.is_empty()).map(|(name, _)| *name).collect()
}
