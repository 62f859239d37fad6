//! gRPC calls with messages made and read by descriptor: one request, one reply or a stream of replies.
//!
//! The driver stands beneath the client libraries, directly on HTTP/2: framing, status and trailers are read here, so that what
//! a library would mend or hide is recorded instead. Each call has a connection of its own: a connection that one call breaks
//! would be blamed on the next.

mod answer;
mod framing;
mod message;
mod status;
mod transport;

pub use status::{code_name, code_number};

use super::dial::Dial;
use crate::transcript::{NoReply, Reply};
use answer::Answer;
use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use prost_reflect::{DescriptorPool, MethodDescriptor};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::{Instant, timeout_at};

/// What a call may cost at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The whole call, connecting included.
    pub time: Duration,
    /// Bytes of one reply message.
    pub message: usize,
    /// Number of reply messages.
    pub messages: usize,
    /// Bytes of all reply messages together.
    pub total: usize,
    /// Bytes of the headers, and again of the trailers, as HTTP/2 counts them.
    pub metadata: u32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), message: 4 << 20, messages: 100_000, total: 64 << 20, metadata: 64 << 10 }
    }
}

/// A request that cannot be made: a mistake in what the caller asked for, never the target's fault.
#[derive(Debug, thiserror::Error)]
pub enum RequestError {
    #[error("no method `{method}` in package {package}")]
    UnknownMethod { method: String, package: String },
    #[error("`{0}` takes a stream of requests")]
    ClientStream(String),
    #[error("the request of `{method}` is not a {message}: {problem}")]
    Message { method: String, message: String, problem: String },
    #[error("`{0}` cannot be sent as metadata")]
    Metadata(String),
    #[error("`{0}` is not an address")]
    Address(String),
}

/// What a call is made with.
#[derive(Clone, Debug)]
pub struct Client {
    dial: Dial,
    package: String,
    pool: DescriptorPool,
    bounds: Bounds,
}

impl Client {
    /// A client of the server behind `dial` for the services of `package` in `pool`.
    pub fn new(dial: Dial, package: impl Into<String>, pool: DescriptorPool, bounds: Bounds) -> Self {
        Self { dial, package: package.into(), pool, bounds }
    }

    /// Calls `method` (`Sessions/GetSession`) with `request` in proto3-JSON, in proto or JSON names, and reads the answer to its end.
    ///
    /// Values of metadata under names that end in `-bin` are given, and come back, in base64. No deadline is sent along.
    pub async fn call(&self, method: &str, request: &Value, metadata: &[(String, String)]) -> Result<Reply, RequestError> {
        let prepared = self.prepare(method, request, metadata)?;
        let deadline = Instant::now() + self.bounds.time;
        Ok(match self.dial.connect(deadline, self.bounds.time).await {
            Ok(stream) => self.converse(stream, prepared, deadline).await,
            Err(none) => Reply::None(none),
        })
    }

    fn prepare(&self, name: &str, request: &Value, metadata: &[(String, String)]) -> Result<Prepared, RequestError> {
        let method = self.method(name)?;
        let message = message::encode(method.input(), request).map_err(|problem| RequestError::Message {
            method: name.to_owned(),
            message: method.input().full_name().to_owned(),
            problem,
        })?;
        Ok(Prepared { head: self.head(&method, metadata)?, body: framing::frame(&message), method })
    }

    fn method(&self, name: &str) -> Result<MethodDescriptor, RequestError> {
        let unknown = || RequestError::UnknownMethod { method: name.to_owned(), package: self.package.clone() };
        let (service, method) = name.split_once('/').ok_or_else(unknown)?;
        let service = self.pool.get_service_by_name(&format!("{}.{service}", self.package)).ok_or_else(unknown)?;
        let found = service.methods().find(|candidate| candidate.name() == method).ok_or_else(unknown)?;
        if found.is_client_streaming() { Err(RequestError::ClientStream(name.to_owned())) } else { Ok(found) }
    }

    fn head(&self, method: &MethodDescriptor, metadata: &[(String, String)]) -> Result<Request<()>, RequestError> {
        let scheme = if self.dial.tls.is_some() { "https" } else { "http" };
        let mut head = Request::post(format!("{scheme}://{}/{}/{}", self.dial.address, method.parent_service().full_name(), method.name()))
            .header("te", "trailers")
            .header("content-type", "application/grpc")
            .header("user-agent", concat!("proofmark/", env!("CARGO_PKG_VERSION")))
            .body(())
            .map_err(|_| RequestError::Address(self.dial.address.clone()))?;
        for (name, value) in metadata {
            let refuse = || RequestError::Metadata(name.clone());
            let value = HeaderValue::from_str(value).map_err(|_| refuse())?;
            head.headers_mut().append(HeaderName::from_bytes(name.as_bytes()).map_err(|_| refuse())?, value);
        }
        Ok(head)
    }

    /// Sends the request over a new connection and reads the answer, while the connection is kept moving.
    async fn converse(&self, stream: impl AsyncRead + AsyncWrite + Unpin, prepared: Prepared, deadline: Instant) -> Reply {
        let Prepared { method, head, body } = prepared;
        let timed_out = || Reply::None(NoReply::TimedOut(self.bounds.time));
        let (sender, connection) = match timeout_at(deadline, transport::open(stream, &self.bounds)).await {
            Ok(Ok(opened)) => opened,
            Ok(Err(error)) => return Reply::None(transport::no_reply(&error)),
            Err(_) => return timed_out(),
        };
        let reading = async {
            match timeout_at(deadline, transport::send(sender, head, body)).await {
                Ok(Ok(response)) => Answer::new(&method, self.bounds, deadline).read(response).await,
                Ok(Err(error)) => Reply::None(transport::no_reply(&error)),
                Err(_) => timed_out(),
            }
        };
        tokio::pin!(reading);
        tokio::select! {
            biased;
            // The streams of a connection that has ended know how, so the reading comes to its end too.
            ended = connection => match (reading.await, ended) {
                (Reply::None(NoReply::Closed(_)), Err(error)) => Reply::None(transport::no_reply(&error)),
                (reply, _) => reply,
            },
            reply = &mut reading => reply,
        }
    }
}

/// A call that can be made.
struct Prepared {
    method: MethodDescriptor,
    head: Request<()>,
    body: Bytes,
}

#[cfg(test)]
mod tests;
