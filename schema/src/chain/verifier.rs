//! A journal from its first record to its last: which session a record belongs to, and what holds at the end.

use std::collections::{BTreeMap, HashMap};

use super::facts::Body;
use super::finding::{Finding, Findings, Place, Rule, Weight};
use super::forks::Forks;
use super::hash::Hash;
use super::lineage::{Lineage, Parent};
use super::mismatches::Effort;
use super::report::{Report, SessionReport, Totals, Verdict};
use super::session::{Entry, Session};
use crate::canonical::CanonicalError;

/// Sessions that may be in the middle of their records at once; the oldest is taken as complete.
const OPEN: usize = 4096;
/// Sessions that a report lists.
const LISTED: usize = 1000;
/// A journal that starts with this many lines of something else is none.
const NOT_A_JOURNAL: u64 = 100;

/// What is known of a journal from elsewhere.
#[derive(Default)]
pub struct Expectations {
    /// `Session.last_seq` of each session, in the order in which the sessions appear.
    pub last_seq: Vec<i64>,
    /// The hashes of the session that every session of this journal was forked from.
    pub parent: Option<Box<dyn Fn() -> Parent>>,
}

/// Takes the records of a journal in order.
///
/// A record belongs to the session whose last record it links to, wherever in the file that session is; a record with seq 1
/// begins a session; everything else belongs to the session of the line before. Memory does not grow with the journal.
#[derive(Default)]
pub struct Verifier {
    expectations: Expectations,
    sessions: BTreeMap<usize, Session>,
    lineages: BTreeMap<usize, Lineage>,
    /// The sessions that end with a hash, but for the current one. Children of one fork end alike until they go their ways.
    heads: HashMap<Hash, Vec<usize>>,
    current: Option<usize>,
    totals: Totals,
    /// Sessions were taken as complete to make room.
    forgetful: bool,
    /// How many records may still fail to link to anything without being wrong: each line that was beyond this kit may have been
    /// right, and have had a successor; and that successor may have been taken for one of another session.
    doubts: u64,
    /// How many such lines there were.
    beyond: u64,
    /// The sessions whose `last_seq` is known.
    ends: Vec<End>,
    effort: Effort,
    forks: Forks,
    /// Children that begin with their fork marker: session, line and seq.
    segments: Vec<(usize, u64, i64)>,
    findings: Findings,
    closed: Vec<SessionReport>,
}

/// Where a session ends.
#[derive(Clone, Copy)]
struct End {
    session: usize,
    line: u64,
    last_seq: i64,
    /// Lines after it that could not be read.
    holes: u64,
}

impl Verifier {
    pub fn new(expectations: Expectations) -> Self {
        Self { expectations, ..Self::default() }
    }

    /// Takes a record that could be read.
    pub fn record(&mut self, entry: Entry<'_>) {
        self.totals.lines += 1;
        self.totals.records += 1;
        let Some(number) = self.route(entry) else { return self.continues_nothing(entry) };
        if self.current != Some(number) {
            self.turn_to(number);
        }
        if let Some(session) = self.sessions.get_mut(&number) {
            session.record(entry, self.totals.unread, &mut self.effort, &mut self.findings);
        }
        self.trace(number, entry);
    }

    /// Leaves the current session where a later record finds it again, and takes up another.
    fn turn_to(&mut self, number: usize) {
        if let Some(left) = self.current
            && let Some(head) = self.sessions.get(&left).and_then(Session::head)
        {
            self.heads.entry(head).or_default().push(left);
        }
        if let Some(head) = self.sessions.get(&number).and_then(Session::head) {
            self.forget_head(head, number);
        }
        self.current = Some(number);
    }

    fn forget_head(&mut self, head: Hash, number: usize) {
        if let Some(numbers) = self.heads.get_mut(&head) {
            numbers.retain(|other| *other != number);
            if numbers.is_empty() {
                self.heads.remove(&head);
            }
        }
    }

    /// What a record says about where its session comes from.
    fn trace(&mut self, number: usize, entry: Entry<'_>) {
        let record = entry.record;
        if record.facts.body == Body::Fork {
            self.forks.marker(number, entry.line, record.seq.saturating_sub(1), record.prev_hash.hash());
        }
        if let Some(hash) = record.content_hash.hash() {
            self.forks.record(number, &hash);
        }
        if let Some(parent) = &self.expectations.parent {
            let lineage = self.lineages.entry(number).or_insert_with(|| Lineage::new(parent()));
            if let Some(finding) = lineage.record(number, entry) {
                self.findings.push(finding);
            }
        }
    }

    /// Takes a line without content.
    pub fn blank(&mut self) {
        self.totals.lines += 1;
    }

    /// Lines taken so far, of every kind.
    pub fn lines_seen(&self) -> u64 {
        self.totals.lines
    }

    /// Takes a line that is not a record, or that nobody here can read.
    pub fn unread(&mut self, line: u64, error: &CanonicalError) {
        self.totals.lines += 1;
        self.totals.unread += 1;
        if let Some(lineage) = self.current.and_then(|number| self.lineages.get_mut(&number)) {
            lineage.give_up();
        }
        let place = Place { session: self.current, line, seq: None };
        let finding = if error.reason.is_ignorance() {
            self.beyond += 1;
            self.doubts += 2;
            Finding::new(Weight::Unverifiable, Rule::Known, place, format!("The line cannot be judged: {error}."))
        } else {
            Finding::new(Weight::Broken, Rule::Record, place, format!("The line is not a record: {error}."))
        };
        self.findings.push(finding);
    }

    /// True once so much of something else was seen that reading on makes no sense.
    pub fn is_hopeless(&self) -> bool {
        self.totals.records == 0 && self.totals.unread - self.beyond >= NOT_A_JOURNAL
    }

    fn route(&mut self, entry: Entry<'_>) -> Option<usize> {
        let record = entry.record;
        let link = record.prev_hash.hash();
        let current = self.current.filter(|number| self.sessions.contains_key(number));
        let is_next = |number: usize| self.sessions[&number].next_seq() == record.seq;
        let links = |number: usize| link.is_some() && self.sessions[&number].head() == link;
        let by_head = link.and_then(|hash| self.heads.get(&hash)?.first().copied());
        // Whatever its seq: what links to the last record of a session belongs to it.
        let linked = current.filter(|number| links(*number)).or(by_head);
        if linked.is_some() {
            return linked;
        }
        if record.seq == 1 && !current.is_some_and(|number| self.sessions[&number].lacks(record.content_hash.hash())) {
            return Some(self.begin(entry));
        }
        let has_parent = link.is_some_and(|hash| self.forks.owner(&hash).is_some());
        let is_marker = record.facts.body == Body::Fork && record.seq > 1;
        if is_marker && !current.is_some_and(is_next) && (has_parent || current.is_none()) {
            return Some(self.begin_segment(entry));
        }
        if self.forgetful {
            return None;
        }
        let follows = current.filter(|number| self.sessions[number].may_continue(record.seq, self.totals.unread));
        if self.doubts > 0 && record.seq > 1 {
            self.doubts -= 1;
            return follows.or_else(|| Some(self.begin_in_the_middle(entry)));
        }
        current.or_else(|| Some(self.begin(entry)))
    }

    /// A session whose records until here are beyond this kit, as far as anybody here can say.
    fn begin_in_the_middle(&mut self, entry: Entry<'_>) -> usize {
        let number = self.begin(entry);
        let seq = entry.record.seq;
        if let Some(session) = self.sessions.get_mut(&number) {
            session.inherits(seq, entry.record.prev_hash.clone());
        }
        let place = Place { session: Some(number), line: entry.line, seq: Some(seq) };
        let message = format!("The record does not link to any that could be read; record {} may be among those that could not.", seq - 1);
        self.findings.push(Finding::new(Weight::Unverifiable, Rule::Known, place, message));
        number
    }

    fn continues_nothing(&mut self, entry: Entry<'_>) {
        let place = Place { session: None, line: entry.line, seq: Some(entry.record.seq) };
        let message = format!("The record continues none of the {OPEN} sessions that are remembered at once.");
        self.findings.push(Finding::new(Weight::Unverifiable, Rule::Bound, place, message));
    }

    fn begin(&mut self, entry: Entry<'_>) -> usize {
        if self.sessions.len() == OPEN
            && let Some(oldest) = self.sessions.keys().next().copied()
        {
            self.close(oldest);
            self.forgetful = true;
        }
        self.note_repeated_beginning(entry);
        self.totals.sessions += 1;
        let number = self.totals.sessions;
        self.sessions.insert(number, Session::new(number, entry.line, self.totals.unread));
        number
    }

    /// A child that is kept without its inherited records.
    fn begin_segment(&mut self, entry: Entry<'_>) -> usize {
        let number = self.begin(entry);
        if let Some(session) = self.sessions.get_mut(&number) {
            session.inherits(entry.record.seq, entry.record.prev_hash.clone());
        }
        if self.segments.len() < LISTED {
            self.segments.push((number, entry.line, entry.record.seq));
        }
        number
    }

    /// Two sessions may begin alike; a first record that stands there twice looks the same.
    fn note_repeated_beginning(&mut self, entry: Entry<'_>) {
        let Some(before) = self.current.and_then(|number| self.sessions.get(&number)) else { return };
        let is_same = before.records == 1 && before.head().is_some() && before.head() == entry.record.content_hash.hash();
        if is_same && before.last_line + 1 == entry.line {
            let place = Place { session: Some(self.totals.sessions + 1), line: entry.line, seq: Some(entry.record.seq) };
            let message = format!(
                "Session {} is this one record and no more: two sessions that begin alike, or a line that stands there twice.",
                before.number
            );
            self.findings.push(Finding::new(Weight::Note, Rule::Order, place, message));
        }
    }

    fn close(&mut self, number: usize) {
        let Some(mut session) = self.sessions.remove(&number) else { return };
        if let Some(head) = session.head() {
            self.forget_head(head, number);
        }
        session.close(&mut self.findings);
        if let Some(finding) = self.lineages.remove(&number).and_then(|lineage| lineage.close(&session)) {
            self.findings.push(finding);
        }
        if session.number <= self.expectations.last_seq.len() {
            let holes = self.totals.unread - session.unread;
            self.ends.push(End { session: session.number, line: session.last_line, last_seq: session.last_seq, holes });
        }
        self.totals.recomputed += session.recomputed;
        self.totals.unverifiable += session.unverifiable;
        if self.closed.len() < LISTED {
            self.closed.push(SessionReport::of(&session));
        }
    }

    /// What holds, now that there are no more records.
    pub fn finish(mut self) -> Report {
        for number in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.close(number);
        }
        self.check_last_seqs();
        let last_line = self.totals.lines;
        if self.forks.overflowed() {
            let place = Place { session: None, line: last_line, seq: None };
            let message = "There are more records or forks than are remembered: some parents may not have been recognised.";
            self.findings.push(Finding::new(Weight::Note, Rule::Bound, place, message));
        }
        let forks = std::mem::take(&mut self.forks).into_markers();
        let is_orphan = |child: usize| !forks.iter().any(|fork| fork.child == child && fork.parent.is_some());
        for (session, line, seq) in std::mem::take(&mut self.segments) {
            if self.expectations.parent.is_none() && is_orphan(session) {
                let place = Place { session: Some(session), line, seq: Some(seq) };
                let message =
                    format!("The session begins with a fork marker, and nothing here has the record {} that it links to.", seq - 1);
                self.findings.push(Finding::new(Weight::Unverifiable, Rule::Fork, place, message));
            }
        }
        self.closed.sort_by_key(|session| session.number);
        let verdict = match () {
            () if self.is_empty_as_expected() => Verdict::Held,
            () if self.totals.records == 0 && self.beyond == 0 => Verdict::NotAJournal,
            () if self.findings.number(Weight::Broken) > 0 => Verdict::Broken,
            () if self.findings.number(Weight::Unverifiable) > 0 => Verdict::Unverifiable,
            () => Verdict::Held,
        };
        Report::new(verdict, self.totals, self.closed, forks, self.findings)
    }

    /// A session without events has an empty journal.
    fn is_empty_as_expected(&self) -> bool {
        self.totals.records == 0 && self.totals.unread == 0 && self.expectations.last_seq == [0]
    }

    fn check_last_seqs(&mut self) {
        let (known, found) = (self.expectations.last_seq.len(), self.totals.sessions);
        if known == 0 || found == 0 {
            return;
        }
        // A line that is beyond this kit may be a record, and of any session.
        let weight = if self.beyond > 0 { Weight::Unverifiable } else { Weight::Broken };
        if known != found {
            let place = Place { session: None, line: self.totals.lines, seq: None };
            let message = format!("The journal holds {}; a last_seq is known for {known}.", sessions(found));
            self.findings.push(Finding::new(weight, Rule::LastSeq, place, message));
            return;
        }
        for End { session, line, last_seq, holes } in std::mem::take(&mut self.ends) {
            let expected = self.expectations.last_seq[session - 1];
            let how = match expected.abs_diff(last_seq) {
                // The missing records are lines that could not be read, and that was said.
                missing if expected >= last_seq && missing <= holes => continue,
                _ if expected > last_seq => format!("ends at record {last_seq}; its last_seq is {expected}: it is cut short"),
                _ => format!("goes on to record {last_seq}; its last_seq is {expected}"),
            };
            let place = Place { session: Some(session), line, seq: Some(last_seq) };
            self.findings.push(Finding::new(weight, Rule::LastSeq, place, format!("The session {how}.")));
        }
    }
}

fn sessions(count: usize) -> String {
    if count == 1 { "1 session".to_owned() } else { format!("{count} sessions") }
}
