//! Server-sent events, read piece by piece as they arrive: bytes in, frames out.
//!
//! Off-the-shelf readers hide what a conformance kit must see: comments, `retry`, blocks that dispatch nothing, a last block
//! that was torn off. This one follows the grammar of the HTML standard and reports all of it. It owns no connection, no clock
//! and no opinion about what the events mean.

use crate::transcript::Frame;
use std::time::Duration;

/// What the reader accepts before it gives up, in bytes. A server that never ends a line or a block must not fill our memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// One line, its line end not counted.
    pub line: usize,
    /// The lines of one block, a byte for each line end included.
    pub frame: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { line: 4 << 20, frame: 8 << 20 }
    }
}

/// A limit was crossed. The reader is of no more use: it answers every further push with the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Bound {
    #[error("a line of the event stream is longer than {0} bytes")]
    Line(usize),
    #[error("a block of the event stream is longer than {0} bytes")]
    Frame(usize),
}

/// What stood at the end of a stream without the blank line that would have completed it. Nothing of it was dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// The fields and comments whose lines were complete.
    pub frame: Frame,
    /// The bytes after the last line end, invalid UTF-8 replaced.
    pub line: String,
}

/// An incremental reader of one event stream.
///
/// How the bytes were cut into pieces makes no difference to the frames, only to the time they are stamped with.
#[derive(Debug)]
pub struct Reader {
    limits: Limits,
    /// The line that has no end yet.
    line: Vec<u8>,
    /// The last byte was a CR that ended a line: a LF right after it belongs to it.
    after_cr: bool,
    /// No line was complete yet, so a byte order mark may stand at the start of this one.
    first_line: bool,
    block: Block,
    crossed: Option<Bound>,
}

/// The block of lines that is being read.
#[derive(Debug, Default)]
struct Block {
    frame: Frame,
    /// A line of the block was a field, known or not.
    has_fields: bool,
    size: usize,
}

impl Default for Reader {
    fn default() -> Self {
        Self::new(Limits::default())
    }
}

impl Reader {
    pub fn new(limits: Limits) -> Self {
        Self { limits, line: Vec::new(), after_cr: false, first_line: true, block: Block::default(), crossed: None }
    }

    /// Reads the next piece and appends the frames it completes, stamped with `at`.
    ///
    /// A frame is what stands between blank lines. Without a data line it dispatches nothing and comes with `data: None`. A
    /// comment before the first field of a block is a frame of its own, complete with its line: a heartbeat needs no blank line.
    /// When a limit is crossed, the frames before that place have been appended.
    pub fn push(&mut self, bytes: &[u8], at: Duration, frames: &mut Vec<Frame>) -> Result<(), Bound> {
        if let Some(bound) = self.crossed {
            return Err(bound);
        }
        let mut rest = bytes;
        while let Some(&first) = rest.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = rest.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            self.extend_line(&rest[..end.unwrap_or(rest.len())]).map_err(|bound| self.cross(bound))?;
            let Some(end) = end else { break };
            self.after_cr = rest[end] == b'\r';
            rest = &rest[end + 1..];
            let done = self.end_line().map_err(|bound| self.cross(bound))?;
            frames.extend(done.map(|frame| Frame { at, ..frame }));
        }
        Ok(())
    }

    /// Ends the stream; returns what was left of an unfinished block, if anything was.
    pub fn finish(self) -> Option<Torn> {
        let line = without_mark(&self.line, self.first_line);
        let torn = Torn { frame: self.block.frame, line: String::from_utf8_lossy(line).into_owned() };
        (self.block.has_fields || !torn.line.is_empty()).then_some(torn)
    }

    fn cross(&mut self, bound: Bound) -> Bound {
        self.crossed = Some(bound);
        bound
    }

    fn extend_line(&mut self, bytes: &[u8]) -> Result<(), Bound> {
        let length = self.line.len() + bytes.len();
        if length > self.limits.line {
            return Err(Bound::Line(self.limits.line));
        }
        if self.block.size + length > self.limits.frame {
            return Err(Bound::Frame(self.limits.frame));
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn end_line(&mut self) -> Result<Option<Frame>, Bound> {
        let line = std::mem::take(&mut self.line);
        let line = without_mark(&line, std::mem::take(&mut self.first_line));
        if line.is_empty() {
            return Ok(self.block.end());
        }
        self.block.size += line.len() + 1;
        if self.block.size > self.limits.frame {
            return Err(Bound::Frame(self.limits.frame));
        }
        // Line ends are ASCII, so decoding line by line replaces exactly what decoding the whole stream would.
        self.block.take_line(&String::from_utf8_lossy(line));
        Ok(if self.block.has_fields { None } else { self.block.end() })
    }
}

impl Block {
    fn take_line(&mut self, line: &str) {
        if let Some(comment) = line.strip_prefix(':') {
            self.frame.comments.push(comment.to_owned());
            return;
        }
        self.has_fields = true;
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        self.take_field(name, value.strip_prefix(' ').unwrap_or(value));
    }

    fn take_field(&mut self, name: &str, value: &str) {
        match name {
            "data" => match &mut self.frame.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                data @ None => *data = Some(value.to_owned()),
            },
            "event" => self.frame.event = Some(value.to_owned()),
            // The standard has clients ignore an id with NUL: the id before it stays the last one.
            "id" if !value.contains('\0') => self.frame.id = Some(value.to_owned()),
            // As written: whether it is a number is for the reader of the transcript to say.
            "retry" => self.frame.retry = Some(value.to_owned()),
            _ => {}
        }
    }

    /// Ends the block; a blank line after nothing is no frame.
    fn end(&mut self) -> Option<Frame> {
        let block = std::mem::take(self);
        (block.has_fields || !block.frame.comments.is_empty()).then_some(block.frame)
    }
}

/// The line without the byte order mark that may open a stream, and only there.
fn without_mark(line: &[u8], first: bool) -> &[u8] {
    let mark = if first { "\u{feff}".as_bytes() } else { b"" };
    line.strip_prefix(mark).unwrap_or(line)
}

#[cfg(test)]
mod tests;
