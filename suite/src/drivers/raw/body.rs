//! The body of an answer: by length, in chunks, or until the connection closes.

use super::Bounds;
use super::head::Framing;
use super::wire::{Stop, Wire, shown};
use tokio::io::AsyncRead;

/// A chunk-size line with its extensions.
const CHUNK_LINE: usize = 4 << 10;

/// Reads the body into `bytes`; what had arrived stays there whatever the outcome.
pub(super) async fn read<R: AsyncRead + Unpin>(
    wire: &mut Wire<R>,
    framing: Framing,
    bounds: &Bounds,
    bytes: &mut Vec<u8>,
) -> Result<(), Stop> {
    match framing {
        Framing::Length(length) => take(wire, length, bounds, bytes).await,
        Framing::Chunked => chunks(wire, bounds, bytes).await,
        Framing::UntilClose => match take(wire, u64::MAX, bounds, bytes).await {
            Err(Stop::Closed) => Ok(()),
            other => other,
        },
    }
}

/// Takes `count` bytes.
async fn take<R: AsyncRead + Unpin>(wire: &mut Wire<R>, count: u64, bounds: &Bounds, bytes: &mut Vec<u8>) -> Result<(), Stop> {
    let mut left = count;
    while left > 0 {
        let room = bounds.body - bytes.len();
        let piece = wire.some(usize::try_from(left).unwrap_or(usize::MAX)).await?;
        left -= piece.len() as u64;
        bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if piece.len() > room {
            return Err(Stop::Bound(format!("the body is longer than {} bytes", bounds.body)));
        }
    }
    Ok(())
}

async fn chunks<R: AsyncRead + Unpin>(wire: &mut Wire<R>, bounds: &Bounds, bytes: &mut Vec<u8>) -> Result<(), Stop> {
    loop {
        let size = chunk_size(&wire.line(CHUNK_LINE, "a chunk-size line is").await?)?;
        if size == 0 {
            return trailers(wire, bounds.head).await;
        }
        take(wire, size, bounds, bytes).await?;
        if !wire.line(CHUNK_LINE, "the line after a chunk is").await?.is_empty() {
            return Err(Stop::Malformed(format!("a chunk of {size} bytes is not followed by a line end")));
        }
    }
}

fn chunk_size(line: &[u8]) -> Result<u64, Stop> {
    let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii_end();
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let size = digits.and_then(|digits| u64::from_str_radix(digits, 16).ok());
    size.ok_or_else(|| Stop::Malformed(format!("not a chunk size: {}", shown(line))))
}

/// Passes over the trailers; nothing of ours rests on them.
async fn trailers<R: AsyncRead + Unpin>(wire: &mut Wire<R>, limit: usize) -> Result<(), Stop> {
    let mut left = limit;
    loop {
        let line = wire.line(left, "the trailers are").await.map_err(|stop| match stop {
            Stop::Bound(_) => Stop::Bound(format!("the trailers are longer than {limit} bytes")),
            other => other,
        })?;
        if line.is_empty() {
            return Ok(());
        }
        left = left.saturating_sub(line.len() + 2);
    }
}
