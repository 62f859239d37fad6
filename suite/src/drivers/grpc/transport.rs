//! HTTP/2 over one connection, and its errors in our words.

use super::Bounds;
use crate::transcript::NoReply;
use bytes::Bytes;
use h2::RecvStream;
use h2::client::{Builder, Connection, SendRequest};
use http::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};

/// How much a server may send ahead of our reading.
const WINDOW: u32 = 1 << 20;

/// HTTP/2 is told a limit on headers of so many times our own. What crosses its limit in trailers it drops without a word, the
/// status too; what crosses ours alone we see and can name.
const HEADROOM: u32 = 16;

/// Begins HTTP/2 on a connection. What is returned beside the sender has to be polled for anything to move.
pub(super) async fn open<T: AsyncRead + AsyncWrite + Unpin>(
    stream: T,
    bounds: &Bounds,
) -> Result<(SendRequest<Bytes>, Connection<T, Bytes>), h2::Error> {
    let mut builder = Builder::new();
    builder.enable_push(false).max_header_list_size(bounds.metadata.saturating_mul(HEADROOM));
    builder.initial_window_size(WINDOW).initial_connection_window_size(WINDOW);
    builder.handshake(stream).await
}

/// Sends the request and waits for the head of the answer.
pub(super) async fn send(sender: SendRequest<Bytes>, head: Request<()>, body: Bytes) -> Result<Response<RecvStream>, h2::Error> {
    let (response, mut stream) = sender.ready().await?.send_request(head, false)?;
    // Refused only when the server has already ended the stream; then its answer says why.
    let _ = stream.send_data(body, true);
    response.await
}

/// What an error before the head of an answer means.
pub(super) fn no_reply(error: &h2::Error) -> NoReply {
    if error.is_io() || error.is_remote() { NoReply::Closed(describe(error)) } else { NoReply::Garbled(describe(error)) }
}

/// An error in words that say whose doing it was.
pub(super) fn describe(error: &h2::Error) -> String {
    if let Some(io) = error.get_io() {
        return format!("the connection broke: {io}");
    }
    let reason = error.reason().map_or_else(|| error.to_string(), reason_name);
    match (error.is_remote(), error.is_reset(), error.is_go_away()) {
        (true, true, _) => format!("the server reset the stream: {reason}"),
        (true, _, true) => format!("the server ended the connection: {reason}"),
        _ => format!("not sound HTTP/2: {reason}"),
    }
}

/// The name that RFC 9113 gives an error code.
fn reason_name(reason: h2::Reason) -> String {
    format!("{reason:?}")
}
