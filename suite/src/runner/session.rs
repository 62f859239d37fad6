//! One target during a run: its address, what is known of it, the drivers, the budget. Shared by all cases.

use super::settings::Settings;
use crate::drivers::dial::Dial;
use crate::drivers::http::{EventStream, Gate, HttpDriver, Opened};
use crate::recorder::{About, Begun, Recorder};
use crate::restart::{Foreground, Restart};
use crate::scenario::catalogue::Catalogue;
use crate::scenario::operations::Operation;
use crate::scenario::spelling::percent_encoded;
use crate::target::Parts;
use crate::transcript::{Body, Exchange, HttpReply, NoReply, Reply, Request, StreamEnd};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

/// What the kit accepts of an answer when a step does not say.
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// The first pause before a busy target is asked again, and before an unreachable one is dialled again.
const BACK_OFF: Duration = Duration::from_millis(20);
/// So many requests in a row without an answer, and the target is asked whether it is still there.
const SILENCE: usize = 12;

pub struct Session {
    pub catalogue: Arc<Catalogue>,
    pub settings: Settings,
    /// Without a slash at the end.
    pub base: String,
    pub http: HttpDriver,
    pub recorder: Arc<Recorder>,
    /// Permits for executions alive on the target.
    pub budget: Arc<Semaphore>,
    /// `stimulus` and `fact` as scenarios name them.
    pub stimuli: BTreeMap<String, Value>,
    pub facts: BTreeMap<String, Value>,
    /// How the target is restarted, and what its last start left running.
    pub restart: Restart,
    pub foreground: Foreground,
    restarts: AtomicU64,
    life: watch::Sender<Life>,
    unanswered: AtomicUsize,
    started: Mutex<BTreeMap<String, Started>>,
    left_open: AtomicUsize,
}

/// An execution that the kit started.
#[derive(Clone, Debug)]
struct Started {
    case: Arc<str>,
    ended: bool,
    /// It ended because the target had too much to do, and said no more than that.
    turned_away: bool,
}

/// Whether the target is up, as far as the kit's own restarts go.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Life {
    Steady,
    Restarting,
    Lost(String),
}

/// Growing pauses within a bound.
#[derive(Debug)]
pub struct Patience {
    until: Instant,
    pause: Duration,
}

impl Patience {
    pub fn new(bound: Duration) -> Self {
        Self { until: Instant::now() + bound, pause: BACK_OFF }
    }

    /// Waits the next pause; false, and no wait, when it would pass the bound.
    pub async fn wait(&mut self) -> bool {
        if Instant::now() + self.pause >= self.until {
            return false;
        }
        tokio::time::sleep(self.pause).await;
        self.pause *= 2;
        true
    }
}

/// A request as a step wants it.
#[derive(Clone, Debug, Default)]
pub struct Ask {
    pub operation: Option<String>,
    pub method: String,
    /// Below the base, with the query.
    pub target: String,
    pub headers: BTreeMap<String, Option<String>>,
    pub body: Option<bytes::Bytes>,
    pub params: BTreeMap<String, String>,
    pub query: BTreeMap<String, String>,
    pub streams: bool,
}

impl Session {
    pub fn new(catalogue: Arc<Catalogue>, settings: Settings, base: String, http: HttpDriver, recorder: Arc<Recorder>) -> Self {
        let budget = Arc::new(Semaphore::new(settings.in_flight));
        Self {
            catalogue,
            settings,
            base,
            http,
            recorder,
            budget,
            stimuli: BTreeMap::new(),
            facts: BTreeMap::new(),
            restart: Restart::default(),
            foreground: Foreground::default(),
            restarts: AtomicU64::new(0),
            life: watch::Sender::new(Life::Steady),
            unanswered: AtomicUsize::new(0),
            left_open: AtomicUsize::new(0),
            started: Mutex::default(),
        }
    }

    /// A connection of its own to the target; `protocol` is what is asked for where TLS lets one ask.
    pub fn dial(&self, protocol: &'static [u8]) -> Dial {
        let parts = Parts::of(&self.base);
        Dial { address: parts.address(), tls: parts.tls.then(|| (self.settings.reach.trust.clone(), protocol)) }
    }

    /// Whether so many requests in a row went unanswered that the target may be gone.
    pub fn is_silent(&self) -> bool {
        self.unanswered.load(Ordering::Relaxed) >= SILENCE
    }

    /// Says that the target is about to be restarted.
    pub fn goes_down(&self) {
        self.restarts.fetch_add(1, Ordering::SeqCst);
        self.life.send_replace(Life::Restarting);
    }

    /// Says that a restart is over, well or with this problem.
    pub fn came_up(&self, problem: Option<&str>) {
        self.life.send_replace(problem.map_or(Life::Steady, |problem| Life::Lost(problem.to_owned())));
    }

    /// Waits while the target is being restarted; the problem if it did not come back.
    pub async fn steady(&self) -> Result<(), String> {
        let mut life = self.life.subscribe();
        match life.wait_for(|life| *life != Life::Restarting).await.as_deref() {
            Ok(Life::Lost(problem)) => Err(problem.clone()),
            // The sender lives as long as this.
            _ => Ok(()),
        }
    }

    /// How often the target was restarted so far; what was open when the number changes may end as it likes.
    pub fn lives(&self) -> u64 {
        self.restarts.load(Ordering::SeqCst)
    }

    pub fn was_heard(&self) {
        self.unanswered.store(0, Ordering::Relaxed);
    }

    /// Fills the path of `operation`; parameters are percent-encoded.
    pub fn ask(&self, name: &str, operation: &Operation, params: &BTreeMap<String, String>, query: &BTreeMap<String, String>) -> Ask {
        let mut target = operation.path.clone();
        for (param, value) in params {
            target = target.replace(&format!("{{{param}}}"), &percent_encoded(value));
        }
        for (i, (key, value)) in query.iter().enumerate() {
            target.push(if i == 0 { '?' } else { '&' });
            target.push_str(&format!("{}={}", percent_encoded(key), percent_encoded(value)));
        }
        Ask {
            operation: Some(name.to_owned()),
            method: operation.method.clone(),
            target,
            params: params.clone(),
            query: query.clone(),
            streams: operation.stream.is_some(),
            ..Ask::default()
        }
    }

    pub fn request(&self, ask: &Ask) -> Request {
        let mut headers: BTreeMap<String, Option<String>> = BTreeMap::new();
        headers.insert("accept".to_owned(), Some(if ask.streams { EVENTS } else { JSON }.to_owned()));
        headers.insert("user-agent".to_owned(), Some(concat!("proofmark/", env!("CARGO_PKG_VERSION")).to_owned()));
        if ask.body.is_some() {
            headers.insert("content-type".to_owned(), Some(JSON.to_owned()));
        }
        headers.extend(ask.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())));
        // What the user sends with every request is what lets the kit in: no scenario may replace it.
        headers.extend(self.settings.headers.iter().map(|(name, value)| (name.to_ascii_lowercase(), Some(value.clone()))));
        Request {
            method: ask.method.clone(),
            url: format!("{}{}", self.base, ask.target),
            headers: headers.into_iter().filter_map(|(name, value)| value.map(|value| (name, value))).collect(),
            body: ask.body.clone(),
        }
    }

    /// Sends one request and records it. A busy answer is waited out unless `expects_busy`; an unreachable target is dialled again,
    /// since nothing was sent yet. Nothing else is sent twice.
    pub async fn send(&self, ask: &Ask, about: &About, gate: Option<&Gate>, expects_busy: bool) -> Arc<Exchange> {
        let request = self.request(ask);
        let mut patience = Patience::new(self.settings.timeout);
        let mut gate = gate;
        loop {
            let begun = self.recorder.begin();
            let reply = self.http.send(&request, self.settings.timeout, gate).await;
            let exchange = self.record(&begun, about.clone(), request.clone(), reply);
            if !self.may_ask_again(&exchange, expects_busy) || !patience.wait().await {
                return exchange;
            }
            gate = None;
        }
    }

    /// Reads once more what is read over and over, and records it: requests without effect, which may be sent twice.
    pub async fn read(&self, ask: &Ask, about: &About) -> Arc<Exchange> {
        let request = self.request(ask);
        let mut patience = Patience::new(self.settings.timeout);
        loop {
            let begun = self.recorder.begin();
            let reply = self.http.read(&request, self.settings.timeout).await;
            let exchange = self.record(&begun, about.clone(), request.clone(), reply);
            if !self.may_ask_again(&exchange, false) || !patience.wait().await {
                return exchange;
            }
        }
    }

    /// Opens an event stream; the caller records it when it ends.
    pub async fn open(&self, request: &Request, gate: Option<&Gate>) -> Result<EventStream, Reply> {
        match self.http.open(request, self.settings.timeout, gate).await {
            Opened::Stream(stream) => Ok(*stream),
            Opened::Reply(reply) => Err(reply),
        }
    }

    pub fn record(&self, begun: &Begun, about: About, request: Request, reply: Reply) -> Arc<Exchange> {
        if is_whole(&reply) {
            self.unanswered.store(0, Ordering::Relaxed);
        } else {
            self.unanswered.fetch_add(1, Ordering::Relaxed);
        }
        let exchange = self.recorder.end(begun, about, request, reply);
        self.note_execution(&exchange);
        exchange
    }

    /// Executions that `case` started and nobody has seen end.
    pub fn alive(&self, case: &Arc<str>) -> Vec<String> {
        let started = self.started.lock().expect("no panic while holding it");
        started.iter().filter(|(_, s)| s.case == *case && !s.ended).map(|(id, _)| id.clone()).collect()
    }

    /// Every execution that the kit started on this target.
    pub fn started(&self) -> Vec<(String, Arc<str>)> {
        let started = self.started.lock().expect("no panic while holding it");
        started.iter().map(|(id, s)| (id.clone(), s.case.clone())).collect()
    }

    /// How many executions that `case` started the target accepted and then ended because it had too much to do.
    pub fn turned_away(&self, case: &Arc<str>) -> usize {
        let started = self.started.lock().expect("no panic while holding it");
        started.values().filter(|s| s.case == *case && s.turned_away).count()
    }

    fn note_execution(&self, exchange: &Exchange) {
        let (Some(executions), Some(operation)) = (&self.catalogue.operations.executions, &exchange.operation) else { return };
        let Some(reply) = exchange.http().filter(|reply| (200..300).contains(&reply.status)) else { return };
        let submitted = Some(operation) == executions.submit.as_ref();
        let Some(body) = (if submitted { first_event(reply) } else { reply.json().or_else(|| last_event(reply)) }) else { return };
        let Some(id) = executions.id_of(&body) else { return };
        let turned_away = executions.turned_away(&body) || submitted && last_event(reply).is_some_and(|last| executions.turned_away(&last));
        let mut started = self.started.lock().expect("no panic while holding it");
        if submitted || *operation == executions.start {
            let known = Started { case: exchange.case.clone(), ended: false, turned_away: false };
            started.entry(id.clone()).or_insert(known);
        }
        let Some(known) = started.get_mut(&id) else { return };
        known.ended |= executions.is_terminal(&body);
        known.turned_away |= turned_away;
    }

    /// How many streams the target kept open long after their execution had ended.
    pub fn left_open(&self) -> usize {
        self.left_open.load(Ordering::Relaxed)
    }

    pub fn leaves_open(&self) {
        self.left_open.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether nothing was sent yet, or the target only said that it is busy.
    pub fn may_ask_again(&self, exchange: &Exchange, expects_busy: bool) -> bool {
        match &exchange.reply {
            Reply::None(NoReply::Unreachable(_)) => true,
            _ => !expects_busy && self.is_busy(exchange),
        }
    }

    fn is_busy(&self, exchange: &Exchange) -> bool {
        exchange.http().is_some_and(|reply| self.says_busy(reply.status, &reply.json().unwrap_or_default()))
    }

    /// Whether an answer of that status with that body means no more than that the target is busy.
    pub fn says_busy(&self, status: u16, body: &Value) -> bool {
        let pattern = self.catalogue.operations.executions.as_ref().and_then(|e| e.busy.as_ref());
        let busy = |pattern: &Value| status >= 400 && crate::scenario::pattern::fits(pattern, Some(body));
        matches!(status, 429 | 503) || pattern.is_some_and(busy)
    }
}

fn first_event(reply: &HttpReply) -> Option<Value> {
    let (frames, _) = reply.frames()?;
    frames.iter().find_map(|frame| serde_json::from_str(frame.data.as_deref()?).ok())
}

fn last_event(reply: &HttpReply) -> Option<Value> {
    let (frames, _) = reply.frames()?;
    frames.iter().rev().find_map(|frame| serde_json::from_str(frame.data.as_deref()?).ok())
}

/// Whether an answer came to an end, or brought events until then.
pub fn is_whole(reply: &Reply) -> bool {
    match reply {
        Reply::None(_) => false,
        Reply::Grpc(_) => true,
        Reply::Http(reply) => match &reply.body {
            Body::Whole(_) => true,
            Body::Partial(..) => false,
            Body::Stream { frames, end } => matches!(end, StreamEnd::Closed | StreamEnd::HungUp) || !frames.is_empty(),
        },
    }
}
