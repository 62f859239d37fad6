//! No change of a verified journal goes unnoticed, unless the journal still says the same.

use std::collections::HashMap;

use proofmark_schema::canonical::{CanonicalError, MessageType};
use proofmark_schema::chain::{Entry, Expectations, Record, Report, Verdict, Verifier};
use proofmark_schema::json::{self, Json};

type Read = Result<Record, CanonicalError>;

/// A journal that holds, with its lines read once: a change touches one or two of them, and there are many changes.
struct Journal {
    text: Vec<u8>,
    read: HashMap<Vec<u8>, Read>,
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}

fn read(line: &[u8]) -> Read {
    Record::read(line, &mut Vec::new())
}

impl Journal {
    fn of(names: &[&str]) -> Self {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/journals/held");
        let text: Vec<u8> = names.iter().flat_map(|name| std::fs::read(folder.join(name)).expect("a journal")).collect();
        let read = lines(&text).map(|line| (line.to_vec(), read(line))).collect();
        let journal = Self { text, read };
        assert_eq!(journal.verify(&journal.text).verdict, Verdict::Held);
        journal
    }

    fn verify(&self, text: &[u8]) -> Report {
        let mut verifier = Verifier::new(Expectations::default());
        for (number, line) in (1..).zip(lines(text)) {
            let fresh;
            let outcome = if let Some(known) = self.read.get(line) {
                known
            } else {
                fresh = read(line);
                &fresh
            };
            match outcome {
                // Without the text nobody searches for other canonical forms, which takes its time.
                Ok(record) => verifier.record(Entry { line: number, record, text: b"" }),
                Err(error) => verifier.unread(number, error),
            }
        }
        verifier.finish()
    }

    #[track_caller]
    fn assert_found(&self, changed: &[u8], what: std::fmt::Arguments<'_>) {
        if self.verify(changed).verdict == Verdict::Held {
            assert_eq!(meaning(changed), meaning(&self.text), "{what} was not found");
        }
    }
}

/// What a journal says apart from fences, which no hash covers: the canonical form of each record.
fn meaning(text: &[u8]) -> Option<Vec<Vec<u8>>> {
    let record = MessageType::named("LogRecord").expect("a message");
    let without_fence = |line: &[u8]| {
        let mut json = json::parse(line).ok()?;
        if let Json::Object(members) = &mut json {
            members.retain(|(name, _)| **name != *"fence");
        }
        record.canonical_tree(&json).ok()
    };
    lines(text).map(without_fence).collect()
}

/// Each byte becomes its neighbour, the other case, another kind of character, and something that no text holds.
#[test]
fn changing_any_one_byte_is_found() {
    let journal = Journal::of(&["one-turn.jsonl", "every-kind.jsonl"]);
    for at in 0..journal.text.len() {
        for change in [1_u8, 0x20, 0x10, 0x80] {
            let mut changed = journal.text.clone();
            changed[at] ^= change;
            journal.assert_found(&changed, format_args!("byte {at} ^ {change:#x}"));
        }
    }
}

#[test]
fn removing_or_doubling_any_one_byte_is_found() {
    let journal = Journal::of(&["one-turn.jsonl", "every-kind.jsonl"]);
    for at in 0..journal.text.len() {
        let mut shorter = journal.text.clone();
        let byte = shorter.remove(at);
        journal.assert_found(&shorter, format_args!("removing byte {at}"));
        let mut longer = journal.text.clone();
        longer.insert(at, byte);
        journal.assert_found(&longer, format_args!("doubling byte {at}"));
    }
}

#[test]
fn removing_doubling_or_moving_any_one_line_is_found() {
    let journal = Journal::of(&["one-turn.jsonl", "approved.jsonl", "every-kind.jsonl"]);
    let lines: Vec<&[u8]> = journal.text.split_inclusive(|byte| *byte == b'\n').collect();
    let is_first = |at: usize| lines.get(at).is_none_or(|line| line.starts_with(br#"{"seq":"1""#));
    for at in 0..lines.len() {
        // The last record of a session is missed only by who knows its last_seq.
        let is_last = is_first(at + 1);
        let mut shorter = lines.clone();
        shorter.remove(at);
        assert!(is_last || journal.verify(&shorter.concat()).verdict == Verdict::Broken, "removing line {at}");
        let mut longer = lines.clone();
        longer.insert(at, lines[at]);
        let report = journal.verify(&longer.concat());
        assert!(report.verdict == Verdict::Broken || (is_first(at) && report.counts.notes > 0), "doubling line {at}");
        let mut swapped = lines.clone();
        swapped.swap(at, (at + 1) % lines.len());
        assert!(is_last || journal.verify(&swapped.concat()).verdict == Verdict::Broken, "moving line {at}");
    }
}
