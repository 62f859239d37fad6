//! The lines of one chunk, each read and hashed on its own.

use std::io::BufRead as _;

use super::feed::{Chunk, LONGEST_LINE};
use crate::canonical::{CanonicalError, Reason};
use crate::chain::Record;

/// What became of a line.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "nearly every outcome is a record, and a million boxes take their time")]
pub(super) enum Outcome {
    Blank,
    Record(Record),
    Unread(Box<CanonicalError>),
}

/// A chunk after its lines were judged one by one.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) bytes: Vec<u8>,
    /// Each line's end in `bytes`, after its line end, and what became of it.
    outcomes: Vec<(usize, Outcome)>,
}

/// One line in its place.
pub(super) struct Judged<'b> {
    /// In the file, from 1.
    pub(super) line: u64,
    pub(super) text: &'b [u8],
    pub(super) outcome: &'b Outcome,
}

impl Batch {
    pub(super) fn judge(chunk: Chunk, scratch: &mut Vec<u8>) -> Self {
        let bytes = match chunk {
            Chunk::Lines(bytes) => bytes,
            Chunk::TooLong(bytes) => {
                let error = CanonicalError::new(Reason::TooLong(LONGEST_LINE), Vec::new());
                return Self { bytes, outcomes: vec![(0, Outcome::Unread(Box::new(error)))] };
            }
        };
        let mut outcomes = Vec::with_capacity(bytes.len() / 256 + 1);
        let mut rest = bytes.as_slice();
        while !rest.is_empty() {
            let start = bytes.len() - rest.len();
            let length = rest.skip_until(b'\n').expect("reading from memory does not fail");
            outcomes.push((start + length, judge(&bytes[start..start + length], scratch)));
        }
        Self { bytes, outcomes }
    }

    /// The lines of the batch, when `before` lines of the file came earlier.
    pub(super) fn lines(&self, before: u64) -> impl Iterator<Item = Judged<'_>> {
        let starts = std::iter::once(0).chain(self.outcomes.iter().map(|(end, _)| *end));
        (before + 1..).zip(starts.zip(&self.outcomes)).map(|(line, (start, (end, outcome)))| {
            let text = self.bytes[start..*end].trim_ascii_end();
            Judged { line, text, outcome }
        })
    }
}

fn judge(line: &[u8], scratch: &mut Vec<u8>) -> Outcome {
    if line.trim_ascii().is_empty() {
        return Outcome::Blank;
    }
    match Record::read(line, scratch) {
        Ok(record) => Outcome::Record(record),
        Err(error) => Outcome::Unread(Box::new(error)),
    }
}
