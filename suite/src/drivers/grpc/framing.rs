//! The length-prefixed messages of a gRPC body: one flag byte, four bytes of length, the message.

use bytes::{Buf, BufMut, Bytes, BytesMut};

/// Flag and length.
const PREFIX: usize = 5;

/// The body of a request of one message, not compressed.
pub(super) fn frame(message: &[u8]) -> Bytes {
    let length = u32::try_from(message.len()).expect("a request is made of a fixture, not of gigabytes");
    let mut frame = BytesMut::with_capacity(PREFIX + message.len());
    frame.put_u8(0);
    frame.put_u32(length);
    frame.put_slice(message);
    frame.freeze()
}

/// A frame that is not read any further.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("a message is compressed, although the request offered no compression")]
    Compressed,
    #[error("a message begins with the flag {0}, which is neither 0 nor 1")]
    Flag(u8),
    #[error("a message of {length} bytes is longer than {limit}")]
    TooLong { length: usize, limit: usize },
}

/// Takes a body apart as it arrives.
#[derive(Debug)]
pub(super) struct Deframer {
    limit: usize,
    buffer: BytesMut,
}

impl Deframer {
    /// `limit` is the length of the longest message, in bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, buffer: BytesMut::new() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// The next message that is complete.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, Unreadable> {
        let Some((prefix, rest)) = self.buffer.split_first_chunk::<PREFIX>() else { return Ok(None) };
        let [flag, length @ ..] = *prefix;
        let length = usize::try_from(u32::from_be_bytes(length)).unwrap_or(usize::MAX);
        match flag {
            0 if length > self.limit => Err(Unreadable::TooLong { length, limit: self.limit }),
            0 if rest.len() < length => Ok(None),
            0 => {
                self.buffer.advance(PREFIX);
                Ok(Some(self.buffer.split_to(length).freeze()))
            }
            1 => Err(Unreadable::Compressed),
            other => Err(Unreadable::Flag(other)),
        }
    }

    /// Bytes of a message that is not complete.
    pub(super) fn rest(&self) -> usize {
        self.buffer.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(deframer: &mut Deframer) -> Vec<Bytes> {
        std::iter::from_fn(|| deframer.next().expect("readable")).collect()
    }

    #[test]
    fn messages_come_whole_however_they_are_cut() {
        let body = [frame(b"abc"), frame(b""), frame(b"0123456789")].concat();
        for at in 0..=body.len() {
            let mut deframer = Deframer::new(10);
            deframer.push(&body[..at]);
            let mut read = messages(&mut deframer);
            deframer.push(&body[at..]);
            read.extend(messages(&mut deframer));
            assert_eq!(read, [&b"abc"[..], b"", b"0123456789"]);
            assert_eq!(deframer.rest(), 0);
        }
    }

    #[test]
    fn what_is_not_a_message_is_named() {
        for (bytes, problem) in [
            (&b"\x00\x00\x00\x00\x0b"[..], Unreadable::TooLong { length: 11, limit: 10 }),
            (b"\x00\xff\xff\xff\xff", Unreadable::TooLong { length: 0xffff_ffff, limit: 10 }),
            (b"\x01\x00\x00\x00\x01x", Unreadable::Compressed),
            (b"{\"a\":1}", Unreadable::Flag(b'{')),
        ] {
            let mut deframer = Deframer::new(10);
            deframer.push(bytes);
            assert_eq!(deframer.next(), Err(problem));
        }
    }

    #[test]
    fn an_incomplete_message_waits() {
        for bytes in [&b""[..], b"\x00\x00", b"\x00\x00\x00\x00\x02a"] {
            let mut deframer = Deframer::new(10);
            deframer.push(bytes);
            assert_eq!((deframer.next(), deframer.rest()), (Ok(None), bytes.len()));
        }
    }
}
