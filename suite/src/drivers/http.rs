//! HTTP requests and event streams over reqwest. Each request of a case has a connection of its own: a reused one may die under a
//! request through nobody's fault, and a conformance kit must neither repeat a request nor blame the target for that. What is read over
//! and over (waiting, the sweep) goes over kept connections, which saves a good part of a run; what fails there is asked anew.

use super::{sse, tls};
use crate::recorder::Recorder;
use crate::runner::settings::Reach;
use crate::target::Parts;
use crate::transcript::{Body, Frame, HttpReply, NoReply, Reply, Request, StreamEnd};
use bytes::{Bytes, BytesMut};
use futures_util::stream;
use std::io::Read as _;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Barrier;
use tokio::time::{Instant, timeout, timeout_at};

/// The largest body, after content decoding, that is read.
pub const BODY_BOUND: usize = 16 << 20;
/// The most frames of one stream.
pub const FRAMES_BOUND: usize = 200_000;
/// Said of what crossed a bound that HTTP does not have: no fault of the target.
pub const OWN_BOUND: &str = "a bound of the kit's HTTP client";
/// The most connections that are kept, and how long an idle one is.
const IDLE_MOST: usize = 16;
const IDLE_BOUND: Duration = Duration::from_secs(2);
/// How long a request waits for the other branches of a race before it goes alone.
const BARRIER_BOUND: Duration = Duration::from_millis(500);

#[derive(Debug, thiserror::Error)]
#[error("failed to set up the HTTP client: {0}")]
pub struct SetupError(String);

impl SetupError {
    pub fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

#[derive(Clone, Debug)]
pub struct HttpDriver {
    /// A connection for each request.
    client: reqwest::Client,
    /// Connections that are kept.
    kept: reqwest::Client,
    recorder: Arc<Recorder>,
}

/// Holds back the last byte of a request (or the whole of it, when it has no body) until all branches are there.
#[derive(Clone, Debug)]
pub struct Gate {
    pub barrier: Arc<Barrier>,
    /// Waited after the barrier.
    pub jitter: Duration,
}

impl Gate {
    pub async fn pass(&self) {
        // A branch that failed on its way must not hold the others for ever.
        let _ = timeout(BARRIER_BOUND, self.barrier.wait()).await;
        if !self.jitter.is_zero() {
            tokio::time::sleep(self.jitter).await;
        }
    }
}

impl HttpDriver {
    /// A client for the target at `base`. Over TLS HTTP/2 is offered first, by ALPN. The proxies of the environment are used,
    /// but never for a target on this machine.
    pub fn new(recorder: Arc<Recorder>, base: &str, reach: &Reach) -> Result<Self, SetupError> {
        let setup = |error: &dyn std::fmt::Display| SetupError(error.to_string());
        let tls = reach.trust.client_config(&[tls::HTTP2, tls::HTTP1]).map_err(|error| setup(&error))?;
        let client = |idle: usize| {
            let mut builder = reqwest::Client::builder()
                .tls_backend_preconfigured(tls.clone())
                .redirect(reqwest::redirect::Policy::none())
                .pool_max_idle_per_host(idle)
                .pool_idle_timeout(IDLE_BOUND);
            if Parts::of(base).is_loopback() {
                builder = builder.no_proxy();
            }
            if reach.prior_knowledge {
                builder = builder.http2_prior_knowledge();
            }
            builder.build().map_err(|error| setup(&error))
        };
        Ok(Self { client: client(0)?, kept: client(IDLE_MOST)?, recorder })
    }

    /// Sends and reads the whole answer within `bound`.
    pub async fn send(&self, request: &Request, bound: Duration, gate: Option<&Gate>) -> Reply {
        let deadline = Instant::now() + bound;
        match self.head(&self.client, request, deadline, bound, gate).await {
            Ok(response) => self.whole(response, deadline, bound).await,
            Err(none) => Reply::None(none),
        }
    }

    /// Reads once more what is read over and over, over a kept connection where there is one. Only for requests without effect: one
    /// that brings no answer is sent again, over a connection of its own.
    pub async fn read(&self, request: &Request, bound: Duration) -> Reply {
        let deadline = Instant::now() + bound;
        let reply = match self.head(&self.kept, request, deadline, bound, None).await {
            Ok(response) => self.whole(response, deadline, bound).await,
            Err(none) => Reply::None(none),
        };
        match reply {
            Reply::None(NoReply::Closed(_) | NoReply::Garbled(_)) | Reply::Http(HttpReply { body: Body::Partial(..), .. })
                if Instant::now() < deadline =>
            {
                self.send(request, bound, None).await
            }
            reply => reply,
        }
    }

    /// Sends and reads up to the head of the answer; the body follows as a stream if it is one.
    pub async fn open(&self, request: &Request, bound: Duration, gate: Option<&Gate>) -> Opened {
        let deadline = Instant::now() + bound;
        match self.head(&self.client, request, deadline, bound, gate).await {
            Ok(response) if is_event_stream(&response) => Opened::Stream(Box::new(EventStream::new(response, self.recorder.clone()))),
            Ok(response) => Opened::Reply(self.whole(response, deadline, bound).await),
            Err(none) => Opened::Reply(Reply::None(none)),
        }
    }

    async fn head(
        &self,
        client: &reqwest::Client,
        request: &Request,
        deadline: Instant,
        bound: Duration,
        gate: Option<&Gate>,
    ) -> Result<reqwest::Response, NoReply> {
        let method = reqwest::Method::from_bytes(request.method.as_bytes()).map_err(|e| NoReply::Garbled(e.to_string()))?;
        let mut builder = client.request(method, &request.url);
        for (name, value) in &request.headers {
            builder = builder.header(name, value);
        }
        match (&request.body, gate) {
            (Some(body), Some(gate)) if !body.is_empty() => {
                builder = builder.header("content-length", body.len()).body(held_back(body, gate.clone()));
            }
            (body, gate) => {
                if let Some(gate) = gate {
                    gate.pass().await;
                }
                if let Some(body) = body {
                    builder = builder.body(body.clone());
                }
            }
        }
        match timeout_at(deadline, builder.send()).await {
            Err(_) => Err(NoReply::TimedOut(bound)),
            Ok(Err(error)) => Err(no_reply(&error)),
            Ok(Ok(response)) => Ok(response),
        }
    }

    async fn whole(&self, mut response: reqwest::Response, deadline: Instant, bound: Duration) -> Reply {
        let (status, headers) = (response.status().as_u16(), headers(&response));
        let mut bytes = BytesMut::new();
        let broken = loop {
            match timeout_at(deadline, response.chunk()).await {
                Err(_) => break Some(format!("the body did not end within {bound:?}")),
                Ok(Err(error)) => break Some(bounded(innermost(&error))),
                Ok(Ok(None)) => break None,
                Ok(Ok(Some(chunk))) => {
                    bytes.extend_from_slice(&chunk);
                    if bytes.len() > BODY_BOUND {
                        break Some(format!("the body is longer than {BODY_BOUND} bytes"));
                    }
                }
            }
        };
        let gzip = headers.iter().any(|(n, v)| n == "content-encoding" && v.eq_ignore_ascii_case("gzip"));
        let body = match broken {
            Some(reason) => Body::Partial(bytes.freeze(), reason),
            None if gzip => gunzip(&bytes),
            None => Body::Whole(bytes.freeze()),
        };
        Reply::Http(HttpReply { status, headers, body })
    }
}

/// The body of a racing request: all but its last byte at once, the last one through the gate.
fn held_back(body: &Bytes, gate: Gate) -> reqwest::Body {
    let (start, last) = (body.slice(..body.len() - 1), body.slice(body.len() - 1..));
    let parts = stream::unfold(0_u8, move |part| {
        let (start, last, gate) = (start.clone(), last.clone(), gate.clone());
        async move {
            match part {
                0 if !start.is_empty() => Some((Ok::<_, std::io::Error>(start), 1)),
                0 | 1 => {
                    gate.pass().await;
                    Some((Ok(last), 2))
                }
                _ => None,
            }
        }
    });
    reqwest::Body::wrap_stream(parts)
}

fn gunzip(bytes: &[u8]) -> Body {
    let mut plain = Vec::new();
    let limit = u64::try_from(BODY_BOUND).unwrap_or(u64::MAX) + 1;
    match flate2::read::GzDecoder::new(bytes).take(limit).read_to_end(&mut plain) {
        Ok(_) if plain.len() > BODY_BOUND => Body::Partial(plain.into(), format!("the body is longer than {BODY_BOUND} bytes")),
        Ok(_) => Body::Whole(plain.into()),
        Err(error) => Body::Partial(plain.into(), format!("the body says gzip and is not: {error}")),
    }
}

fn is_event_stream(response: &reqwest::Response) -> bool {
    let kind = response.headers().get("content-type").and_then(|v| v.to_str().ok()).unwrap_or_default();
    kind.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case("text/event-stream")
}

fn headers(response: &reqwest::Response) -> Vec<(String, String)> {
    response.headers().iter().map(|(n, v)| (n.as_str().to_owned(), String::from_utf8_lossy(v.as_bytes()).into_owned())).collect()
}

/// The last cause in the chain: the one that says what happened.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut error = error;
    while let Some(source) = error.source() {
        error = source;
    }
    error.to_string()
}

/// What the HTTP library does not put up with, though HTTP allows it (RFC 9112, 7.1.1: a recipient ignores chunk extensions).
const LIMITS: &[&str] = &["chunk extensions over limit", "chunk trailers count overflow", "chunk trailers bytes over limit"];

/// Marks what is a bound of the kit's own.
fn bounded(problem: String) -> String {
    if LIMITS.contains(&problem.as_str()) { format!("{problem}, {OWN_BOUND}") } else { problem }
}

fn no_reply(error: &reqwest::Error) -> NoReply {
    let text = innermost(error);
    if error.is_connect() {
        return NoReply::Unreachable(text);
    }
    let parse = std::iter::successors(Some(error as &dyn std::error::Error), |e| e.source())
        .filter_map(|e| e.downcast_ref::<hyper::Error>())
        .any(hyper::Error::is_parse);
    if parse || error.is_builder() { NoReply::Garbled(text) } else { NoReply::Closed(text) }
}

/// What `open` got.
#[derive(Debug)]
pub enum Opened {
    Stream(Box<EventStream>),
    Reply(Reply),
}

/// An event stream being read.
#[derive(Debug)]
pub struct EventStream {
    response: reqwest::Response,
    recorder: Arc<Recorder>,
    reader: Option<sse::Reader>,
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub frames: Vec<Frame>,
    bytes: usize,
}

/// The most bytes of one stream.
const STREAM_BOUND: usize = 256 << 20;

impl EventStream {
    fn new(response: reqwest::Response, recorder: Arc<Recorder>) -> Self {
        let (status, headers) = (response.status().as_u16(), headers(&response));
        let reader = Some(sse::Reader::new(sse::Limits::default()));
        Self { response, recorder, reader, status, headers, frames: Vec::new(), bytes: 0 }
    }

    /// Reads the next piece until `deadline`. `Ok` with the number of new frames; `None` when the deadline came first.
    pub async fn read(&mut self, deadline: Instant) -> Result<Option<usize>, StreamEnd> {
        let chunk = match timeout_at(deadline, self.response.chunk()).await {
            Err(_) => return Ok(None),
            Ok(Err(error)) => return Err(StreamEnd::Cut(innermost(&error))),
            Ok(Ok(None)) => return Err(StreamEnd::Closed),
            Ok(Ok(Some(chunk))) => chunk,
        };
        self.bytes += chunk.len();
        let before = self.frames.len();
        if let Some(reader) = &mut self.reader {
            reader.push(&chunk, self.recorder.now(), &mut self.frames).map_err(|bound| StreamEnd::Bound(bound.to_string()))?;
        }
        if self.bytes > STREAM_BOUND {
            return Err(StreamEnd::Bound(format!("more than {STREAM_BOUND} bytes in one stream")));
        }
        if self.frames.len() > FRAMES_BOUND {
            return Err(StreamEnd::Bound(format!("more than {FRAMES_BOUND} frames in one stream")));
        }
        Ok(Some(self.frames.len() - before))
    }

    /// Hangs up and hands over what was read.
    pub fn end(self, end: StreamEnd) -> Reply {
        Reply::Http(HttpReply { status: self.status, headers: self.headers, body: Body::Stream { frames: self.frames, end } })
    }
}
