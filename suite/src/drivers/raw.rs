//! Bytes as given over a new TCP connection, and the one HTTP/1.1 answer to them.
//!
//! For requests that no HTTP client would let us send. The server may answer before we have sent everything, reset the
//! connection, talk garbage or for ever, or say nothing: each ends within the bounds, in words that name what happened.
//! Content codings are left on: whoever writes a request by hand decides what to ask for.

mod body;
mod head;
mod wire;

use super::dial::Dial;
use crate::transcript::{Body, HttpReply, NoReply, Reply};
use std::convert::Infallible;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use tokio::time::Instant;
use wire::{Stop, Wire};

/// What an exchange may cost at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The whole exchange, connecting included.
    pub time: Duration,
    /// Bytes of status line and header fields, interim answers and trailers included.
    pub head: usize,
    /// Bytes of the body.
    pub body: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), head: 64 << 10, body: 16 << 20 }
    }
}

/// Sends `bytes` over a new connection and reads one answer.
///
/// The connection stays open in our direction while we read: to close it would be another request.
pub async fn send(dial: &Dial, bytes: &[u8], bounds: &Bounds) -> Reply {
    let deadline = Instant::now() + bounds.time;
    match dial.connect(deadline, bounds.time).await {
        Ok(stream) => exchange(stream, bytes, bounds, deadline).await,
        Err(none) => Reply::None(none),
    }
}

/// Writes and reads at the same time, so that neither an early answer nor a full send buffer holds the other up. What happens
/// to the writing is not reported: a server is free to stop listening once it has answered.
async fn exchange(stream: impl AsyncRead + AsyncWrite, bytes: &[u8], bounds: &Bounds, deadline: Instant) -> Reply {
    let (reader, mut writer) = tokio::io::split(stream);
    let writing = async {
        let _ = writer.write_all(bytes).await;
        let _ = writer.flush().await;
        std::future::pending::<Infallible>().await
    };
    let has_body = !bytes.starts_with(b"HEAD ");
    tokio::select! {
        reply = read(Wire::new(reader, deadline), bounds, has_body) => reply,
        never = writing => match never {},
    }
}

async fn read<R: AsyncRead + Unpin>(mut wire: Wire<R>, bounds: &Bounds, has_body: bool) -> Reply {
    let head = match head::read_final(&mut wire, bounds.head).await {
        Ok(head) => head,
        Err(stop) => return Reply::None(no_reply(&stop, bounds.time)),
    };
    let mut bytes = Vec::new();
    let ended = match head.framing(has_body) {
        Ok(framing) => body::read(&mut wire, framing, bounds, &mut bytes).await,
        Err(problem) => Err(Stop::Malformed(problem)),
    };
    let body = match ended {
        Ok(()) => Body::Whole(bytes.into()),
        Err(stop) => Body::Partial(bytes.into(), stop.describe(bounds.time)),
    };
    Reply::Http(HttpReply { status: head.status, headers: head.headers, body })
}

fn no_reply(stop: &Stop, time: Duration) -> NoReply {
    match stop {
        Stop::TimedOut => NoReply::TimedOut(time),
        Stop::Closed | Stop::Broken(_) => NoReply::Closed(stop.describe(time)),
        Stop::Bound(_) | Stop::Malformed(_) => NoReply::Garbled(stop.describe(time)),
    }
}

#[cfg(test)]
mod tests;
