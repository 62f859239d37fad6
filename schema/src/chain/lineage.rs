//! A child held against the journal of the session that it was forked from.

use super::facts::Body;
use super::finding::{Finding, Place, Rule, Weight};
use super::hash::Hash;
use super::record::Record;
use super::session::{Entry, Session};

/// The recorded hashes of a parent's records, from seq 1. `None` stands for a record that could not be read.
pub type Parent = Box<dyn Iterator<Item = Option<Hash>>>;

/// Reads the hashes of the first session of a journal, line by line.
pub fn parent(lines: impl Iterator<Item = Vec<u8>> + 'static) -> Parent {
    let mut scratch = Vec::new();
    let mut begun = false;
    let records = lines.filter(|line| !line.trim_ascii().is_empty()).map(move |line| Record::read(&line, &mut scratch).ok());
    let session = records.take_while(move |record| {
        let begins = record.as_ref().is_some_and(|record| record.seq == 1);
        !(begins && std::mem::replace(&mut begun, true))
    });
    Box::new(session.map(|record| record.and_then(|record| record.content_hash.hash())))
}

pub(super) struct Lineage {
    parent: Parent,
    /// Records that child and parent have in common.
    shared: i64,
    /// The last of them is a fork marker: the parent may itself be a child of the same kind.
    shares_marker: bool,
    settled: bool,
}

impl Lineage {
    pub(super) fn new(parent: Parent) -> Self {
        Self { parent, shared: 0, shares_marker: false, settled: false }
    }

    /// Takes the next record of the child: it is the parent's, or it is the fork marker.
    pub(super) fn record(&mut self, session: usize, entry: Entry<'_>) -> Option<Finding> {
        if self.settled {
            return None;
        }
        let record = entry.record;
        if self.shared == 0 && record.seq > 1 && record.facts.body == Body::Fork {
            return self.segment(session, entry);
        }
        if record.seq != self.shared + 1 {
            // The chain itself is out of step, and says so.
            self.settled = true;
            return None;
        }
        let place = Place { session: Some(session), line: entry.line, seq: Some(record.seq) };
        let theirs = self.parent.next();
        if let Some(Some(hash)) = theirs
            && record.content_hash.hash() == Some(hash)
        {
            self.shared += 1;
            self.shares_marker = record.facts.body == Body::Fork;
            return None;
        }
        self.settled = true;
        if record.facts.body == Body::Fork || self.shares_marker {
            return None;
        }
        if theirs == Some(None) {
            let message = format!("Record {} of the parent cannot be read: nobody can say whether the child has it.", self.shared + 1);
            return Some(Finding::new(Weight::Unverifiable, Rule::Fork, place, message));
        }
        let message = format!("The record is neither record {} of the parent nor a fork marker.", self.shared + 1);
        let theirs = theirs.flatten().map_or_else(|| "(no such record)".to_owned(), |hash| hash.to_string());
        Some(Finding::new(Weight::Broken, Rule::Fork, place, message).with("parent", &theirs).with("child", &record.content_hash))
    }

    /// A record of the child could not be read: what follows stands at an unknown place.
    pub(super) fn give_up(&mut self) {
        self.settled = true;
    }

    /// A child that is kept without its inherited records: its marker alone links to the parent.
    fn segment(&mut self, session: usize, entry: Entry<'_>) -> Option<Finding> {
        self.settled = true;
        let at = usize::try_from(entry.record.seq - 2).ok()?;
        let hash = self.parent.nth(at).flatten();
        if hash.is_some() && hash == entry.record.prev_hash.hash() {
            return None;
        }
        let place = Place { session: Some(session), line: entry.line, seq: Some(entry.record.seq) };
        let message = format!("The fork marker does not link to record {} of the parent.", entry.record.seq - 1);
        let theirs = hash.map_or_else(|| "(no such record)".to_owned(), |hash| hash.to_string());
        Some(Finding::new(Weight::Broken, Rule::Fork, place, message).with("parent", &theirs).with("recorded", &entry.record.prev_hash))
    }

    /// The child ended: it has to have a fork marker.
    pub(super) fn close(self, session: &Session) -> Option<Finding> {
        if self.settled || self.shares_marker {
            return None;
        }
        let place = Place { session: Some(session.number), line: session.last_line, seq: Some(session.last_seq) };
        Some(Finding::new(Weight::Broken, Rule::Fork, place, "The journal holds records of the parent and no fork marker."))
    }
}
