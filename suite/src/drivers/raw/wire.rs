//! The incoming bytes of one connection, with a deadline, in lines and in lengths.

use bytes::BytesMut;
use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::{Instant, timeout_at};

/// Why there is nothing more to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The server closed the connection.
    Closed,
    /// The connection broke; the system's words.
    Broken(String),
    /// The deadline.
    TimedOut,
    /// A bound on size was crossed; which one.
    Bound(String),
    /// The bytes are not HTTP/1.1; what is wrong with them.
    Malformed(String),
}

impl Stop {
    /// In words; `time` is the bound that the deadline stands for.
    pub(super) fn describe(&self, time: Duration) -> String {
        match self {
            Self::Closed => "the server closed the connection".to_owned(),
            Self::Broken(error) => format!("the connection broke: {error}"),
            Self::TimedOut => format!("not complete within {time:?}"),
            Self::Bound(what) | Self::Malformed(what) => what.clone(),
        }
    }
}

/// Bytes of the server as a message may show them: ASCII, not too many.
pub(super) fn shown(bytes: &[u8]) -> String {
    const MOST: usize = 60;
    let cut = if bytes.len() > MOST { "..." } else { "" };
    format!("\"{}{cut}\"", bytes[..bytes.len().min(MOST)].escape_ascii())
}

/// A reader that hands out lines and lengths and keeps the rest.
pub(super) struct Wire<R> {
    reader: R,
    deadline: Instant,
    buffer: BytesMut,
}

impl<R: AsyncRead + Unpin> Wire<R> {
    pub(super) fn new(reader: R, deadline: Instant) -> Self {
        Self { reader, deadline, buffer: BytesMut::new() }
    }

    /// What has arrived and was not taken yet.
    pub(super) fn arrived(&self) -> &[u8] {
        &self.buffer
    }

    /// Waits for at least one more byte.
    pub(super) async fn more(&mut self) -> Result<(), Stop> {
        // A timeout alone would never fire while bytes keep coming.
        if Instant::now() >= self.deadline {
            return Err(Stop::TimedOut);
        }
        self.buffer.reserve(8 << 10);
        match timeout_at(self.deadline, self.reader.read_buf(&mut self.buffer)).await {
            Err(_) => Err(Stop::TimedOut),
            Ok(Ok(0)) => Err(Stop::Closed),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Ok(Err(error)) => Err(Stop::Broken(error.to_string())),
        }
    }

    /// The next line without its end (CRLF, or LF as the standard lets a reader accept), of at most `limit` bytes.
    pub(super) async fn line(&mut self, limit: usize, what: &str) -> Result<BytesMut, Stop> {
        let mut searched = 0;
        loop {
            let end = self.buffer[searched..].iter().position(|byte| *byte == b'\n').map(|at| searched + at);
            if end.unwrap_or(self.buffer.len()) > limit {
                return Err(Stop::Bound(format!("{what} longer than {limit} bytes")));
            }
            if let Some(end) = end {
                let mut line = self.buffer.split_to(end + 1);
                line.truncate(if line.ends_with(b"\r\n") { end - 1 } else { end });
                return Ok(line);
            }
            searched = self.buffer.len();
            self.more().await?;
        }
    }

    /// Takes what has arrived, `limit` bytes at the most; waits if that is nothing.
    pub(super) async fn some(&mut self, limit: usize) -> Result<BytesMut, Stop> {
        if self.buffer.is_empty() {
            self.more().await?;
        }
        Ok(self.buffer.split_to(limit.min(self.buffer.len())))
    }
}
