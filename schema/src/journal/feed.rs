//! Cuts a stream into chunks of whole lines.

use std::io::{self, Read};

/// Bytes that a chunk aims at: enough to make handing it over cheap, little enough to stay in a core's cache.
const CHUNK: usize = 512 * 1024;
/// The longest line that is read. Hosts send records over gRPC, whose default bound is 4 MiB.
pub const LONGEST_LINE: usize = 64 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// A piece of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Chunk {
    /// Whole lines; the last one may lack its line end when the stream does.
    Lines(Vec<u8>),
    /// One line that was longer than the bound, and was skipped. The buffer is empty.
    TooLong(Vec<u8>),
}

pub(super) struct Feed<R> {
    source: R,
    /// The beginning of a line whose end is still to come.
    carry: Vec<u8>,
    longest: usize,
    started: bool,
    ended: bool,
}

impl<R: Read> Feed<R> {
    pub(super) fn new(source: R) -> Self {
        Self { source, carry: Vec::new(), longest: LONGEST_LINE, started: false, ended: false }
    }

    /// Fills a buffer with the next lines; `None` at the end of the stream.
    pub(super) fn next(&mut self, mut buffer: Vec<u8>) -> io::Result<Option<Chunk>> {
        buffer.clear();
        buffer.append(&mut self.carry);
        let mut scanned = 0;
        loop {
            if buffer.len() >= CHUNK || self.ended {
                if let Some(end) = buffer[scanned..].iter().rposition(|byte| *byte == b'\n') {
                    self.carry.extend_from_slice(&buffer[scanned + end + 1..]);
                    buffer.truncate(scanned + end + 1);
                    return Ok(Some(Chunk::Lines(buffer)));
                }
                if buffer.len() > self.longest {
                    return self.skip_line(buffer).map(Some);
                }
                if self.ended {
                    return Ok((!buffer.is_empty()).then_some(Chunk::Lines(buffer)));
                }
                scanned = buffer.len();
            }
            self.fill(&mut buffer)?;
        }
    }

    fn fill(&mut self, buffer: &mut Vec<u8>) -> io::Result<()> {
        let before = buffer.len();
        let wanted = CHUNK.saturating_sub(before).max(CHUNK / 4);
        let read = (&mut self.source).take(wanted as u64).read_to_end(buffer)?;
        self.ended = read < wanted;
        if !self.started && buffer.len() >= BYTE_ORDER_MARK.len() {
            self.started = true;
            if buffer.starts_with(BYTE_ORDER_MARK) {
                buffer.drain(..BYTE_ORDER_MARK.len());
            }
        }
        Ok(())
    }

    /// Drops what was read of a line and what is left of it.
    fn skip_line(&mut self, mut buffer: Vec<u8>) -> io::Result<Chunk> {
        while !self.ended {
            buffer.clear();
            self.fill(&mut buffer)?;
            if let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                self.carry.extend_from_slice(&buffer[end + 1..]);
                break;
            }
        }
        buffer.clear();
        buffer.shrink_to(CHUNK);
        Ok(Chunk::TooLong(buffer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads at most a few bytes at a time.
    struct Drip<'a>(&'a [u8], usize);

    impl Read for Drip<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let length = self.1.min(buffer.len()).min(self.0.len());
            buffer[..length].copy_from_slice(&self.0[..length]);
            self.0 = &self.0[length..];
            Ok(length)
        }
    }

    fn chunks(source: impl Read, longest: usize) -> Vec<Chunk> {
        let mut feed = Feed { longest, ..Feed::new(source) };
        std::iter::from_fn(|| feed.next(Vec::new()).unwrap()).collect()
    }

    #[test]
    fn chunks_are_whole_lines_and_nothing_is_lost() {
        let line = |n: usize| format!("{}\n", "x".repeat(n * 7919 % 90_000));
        for end in ["", "last"] {
            let text = (0..120).map(line).collect::<String>() + end;
            for step in [1_000_000, 4096, 977] {
                let chunks = chunks(Drip(text.as_bytes(), step), LONGEST_LINE);
                assert!(chunks.len() > 5);
                let lines: Vec<&Vec<u8>> =
                    chunks.iter().map(|chunk| if let Chunk::Lines(lines) = chunk { lines } else { panic!("too long") }).collect();
                assert!(lines[..lines.len() - 1].iter().all(|lines| lines.ends_with(b"\n")));
                assert!(lines.iter().map(|lines| lines.len()).max() < Some(3 * CHUNK));
                assert_eq!(lines.into_iter().flatten().copied().collect::<Vec<u8>>(), text.as_bytes());
            }
        }
    }

    #[test]
    fn a_line_beyond_the_bound_is_skipped_and_named() {
        let long = "y".repeat(3 * CHUNK);
        let text = format!("a\n{long}\nb\n{long}");
        let lines = |text: &str| Chunk::Lines(text.as_bytes().to_vec());
        let found = chunks(text.as_bytes(), CHUNK);
        assert_eq!(found, [lines("a\n"), Chunk::TooLong(vec![]), lines("b\n"), Chunk::TooLong(vec![])]);
    }

    #[test]
    fn a_byte_order_mark_is_no_part_of_the_first_line() {
        assert_eq!(chunks(&b"\xEF\xBB\xBF{}\n"[..], LONGEST_LINE), [Chunk::Lines(b"{}\n".to_vec())]);
        assert_eq!(chunks(&b""[..], LONGEST_LINE), []);
    }
}
