//! Request bodies.

use axum::body::Body;
use futures_util::StreamExt;

/// How many bytes are kept.
const KEPT: usize = 4 << 20;
/// How many bytes are read, so that who sends too much gets an answer.
const READ: usize = 64 << 20;

/// A body, as far as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) bytes: Vec<u8>,
    /// How long it was, all in all.
    pub(super) length: usize,
}

/// Reads to the end, or until it is far too much.
pub(super) async fn read(body: Body) -> Read {
    let mut read = Read::default();
    let mut pieces = body.into_data_stream();
    while let Some(Ok(piece)) = pieces.next().await {
        read.length += piece.len();
        let room = KEPT.saturating_sub(read.bytes.len());
        read.bytes.extend_from_slice(&piece[..piece.len().min(room)]);
        if read.length > READ {
            break;
        }
    }
    read
}

impl Read {
    /// The text of a body, with replacement characters where it is no UTF-8; `None` if not all of it was kept.
    pub(super) fn text(&self) -> Option<String> {
        (self.bytes.len() == self.length).then(|| String::from_utf8_lossy(&self.bytes).into_owned())
    }
}
