//! One session of a journal: its place in the count, its link, its hashes, and what its records prove.

use std::ops::RangeInclusive;

use super::evidence::Evidence;
use super::finding::{Finding, Findings, Place, Rule, Weight};
use super::hash::{Hash, HashText};
use super::mismatches::{Effort, Mismatches, Whole};
use super::record::{Check, Record, hash_at};

/// Findings of one kind that one session lists in full.
pub(super) const EACH: usize = 20;

/// A record on its way through the rules, with the line it was read from.
#[derive(Clone, Copy)]
pub struct Entry<'r> {
    /// In the file, from 1.
    pub line: u64,
    pub record: &'r Record,
    /// The text of the line, needed only when its hash differs.
    pub text: &'r [u8],
}

#[derive(Debug)]
pub(super) struct Session {
    /// From 1, in order of appearance.
    pub(super) number: usize,
    pub(super) first_line: u64,
    pub(super) first_seq: i64,
    first_link: Option<Hash>,
    pub(super) last_line: u64,
    pub(super) last_seq: i64,
    pub(super) records: u64,
    pub(super) recomputed: u64,
    pub(super) unverifiable: u64,
    /// The recorded hash of the last record; `None` when the record could not be read.
    head: Option<HashText>,
    /// Lines of the journal that could not be read, as of the last record: those that came since may have been of this session.
    pub(super) unread: u64,
    gaps: Vec<Gap>,
    /// A rule about places in the chain is broken.
    disordered: bool,
    /// A record is missing, changed or not understood: what the others prove together is unknown.
    disturbed: bool,
    evidence: Evidence,
    fence: Fence,
    mismatches: Mismatches,
}

#[derive(Debug)]
struct Gap {
    missing: RangeInclusive<i64>,
    finding: Finding,
}

#[derive(Debug, Default)]
struct Fence {
    highest: i64,
    first: Option<Finding>,
    count: u64,
}

impl Session {
    pub(super) fn new(number: usize, line: u64, unread: u64) -> Self {
        Self {
            number,
            first_line: line,
            first_seq: 0,
            first_link: None,
            last_line: line,
            last_seq: 0,
            records: 0,
            recomputed: 0,
            unverifiable: 0,
            head: Some(HashText::Empty),
            unread,
            gaps: Vec::new(),
            disordered: false,
            disturbed: false,
            evidence: Evidence::default(),
            fence: Fence::default(),
            mismatches: Mismatches::default(),
        }
    }

    /// The hash that the next record has to link to.
    pub(super) fn head(&self) -> Option<Hash> {
        self.head.as_ref()?.hash()
    }

    pub(super) fn next_seq(&self) -> i64 {
        self.last_seq.saturating_add(1)
    }

    /// Whether the first record is missing and has that hash, going by the second.
    pub(super) fn lacks(&self, first: Option<Hash>) -> bool {
        first.is_some() && self.first_link == first && self.gaps.iter().any(|gap| gap.missing == (1..=1))
    }

    /// Whether a record of that seq may come next although it does not link to the last one: the one between may be among the
    /// lines that could not be read, or the last one has no hash to link to.
    pub(super) fn may_continue(&self, seq: i64, unread: u64) -> bool {
        let skipped = u64::try_from(seq.saturating_sub(self.next_seq())).ok();
        skipped.is_some_and(|skipped| if skipped == 0 { self.head().is_none() } else { skipped <= unread - self.unread })
    }

    fn place(&self, line: u64, seq: i64) -> Place {
        Place { session: Some(self.number), line, seq: Some(seq) }
    }

    fn finding(&self, weight: Weight, rule: Rule, entry: Entry<'_>, message: impl Into<String>) -> Finding {
        Finding::new(weight, rule, self.place(entry.line, entry.record.seq), message)
    }

    /// Starts in the middle: a child without its inherited records, linked by its fork marker.
    pub(super) fn inherits(&mut self, seq: i64, prev_hash: HashText) {
        self.last_seq = seq - 1;
        self.head = Some(prev_hash);
    }

    /// Takes the next record; `unread` lines of the journal could not be read so far.
    pub(super) fn record(&mut self, entry: Entry<'_>, unread: u64, effort: &mut Effort, out: &mut Findings) {
        self.records += 1;
        self.last_line = entry.line;
        if self.records == 1 {
            self.first_seq = entry.record.seq;
            self.first_link = entry.record.prev_hash.hash();
        }
        let holes = std::mem::replace(&mut self.unread, unread).abs_diff(unread);
        let in_place = if self.is_next_by_hash(entry) {
            self.step_by_hash(entry, out);
            true
        } else {
            let in_place = self.step(entry, holes, out);
            self.hash(entry, effort, out);
            in_place
        };
        self.fence(entry);
        if in_place && !self.disturbed {
            for objection in self.evidence.record(self.last_seq, &entry.record.facts) {
                out.push(self.finding(objection.weight, objection.rule, entry, objection.message));
            }
        }
        if let Some(uri) = entry.record.facts.loose_uri {
            let message = format!("Content is kept at a {uri} without a digest: the chain does not cover it.");
            out.push(self.finding(Weight::Warning, Rule::Digest, entry, message));
        }
    }

    /// Whether the recorded hash is right for the next place in the session, and only what the record says of its place is not.
    fn is_next_by_hash(&self, entry: Entry<'_>) -> bool {
        let Some(head) = &self.head else { return false };
        let record = entry.record;
        let says_otherwise = record.seq != self.next_seq() || record.prev_hash != *head;
        matches!(record.check, Check::Differs { .. })
            && says_otherwise
            && record.content_hash.hash().is_some()
            && record.content_hash.hash() == hash_at(entry.text, self.next_seq(), &head.raw())
    }

    /// Takes a record at the place that its hash has it; only what it says otherwise is wrong.
    fn step_by_hash(&mut self, entry: Entry<'_>, out: &mut Findings) {
        let (seq, next) = (entry.record.seq, self.next_seq());
        if seq != next {
            let message = format!("The record says seq {seq}; its hash is that of record {next}.");
            out.push(self.finding(Weight::Broken, Rule::Order, entry, message));
        }
        self.link(entry, out);
        self.disordered = true;
        self.last_seq = next;
        self.head = Some(entry.record.content_hash.clone());
    }

    /// Judges the place in the count; true when the record is the next one of the session.
    fn step(&mut self, entry: Entry<'_>, holes: u64, out: &mut Findings) -> bool {
        let (seq, next) = (entry.record.seq, self.next_seq());
        if seq < next {
            self.comes_back(entry, out);
            return false;
        }
        match seq.abs_diff(next) {
            0 => self.link(entry, out),
            // Lines that could not be read may have been the missing records.
            missing if missing <= holes => self.disturbed = true,
            _ => self.skips(entry, next, out),
        }
        self.last_seq = seq;
        self.head = Some(entry.record.content_hash.clone());
        true
    }

    fn skips(&mut self, entry: Entry<'_>, next: i64, out: &mut Findings) {
        self.disordered = true;
        if self.links(entry) && next > 1 {
            let message = format!("Record {} follows record {} and links to it: a number is left out.", entry.record.seq, self.last_seq);
            return out.push(self.finding(Weight::Broken, Rule::Gap, entry, message));
        }
        self.disturbed = true;
        let missing = next..=entry.record.seq - 1;
        let message = format!("{}: {} follows {}.", are_missing(&missing), entry.record.seq, name(self.last_seq));
        let finding = self.finding(Weight::Broken, Rule::Gap, entry, message);
        if self.gaps.len() < EACH {
            self.gaps.push(Gap { missing, finding });
        } else {
            out.push(finding);
        }
    }

    fn comes_back(&mut self, entry: Entry<'_>, out: &mut Findings) {
        self.disordered = true;
        let seq = entry.record.seq;
        if self.links(entry) && self.last_seq > 0 {
            let message = format!("The record has seq {seq} and links to record {}.", self.last_seq);
            out.push(self.finding(Weight::Broken, Rule::Order, entry, message));
            self.last_seq = seq.max(0);
            self.head = Some(entry.record.content_hash.clone());
            return;
        }
        self.disturbed = true;
        if let Some(index) = self.gaps.iter().position(|gap| gap.missing.contains(&seq)) {
            let mut gap = self.gaps.swap_remove(index);
            gap.finding.rule = Rule::Order;
            gap.finding.message =
                format!("Record {} stands before record {seq}, which is on line {}.", gap.finding.seq.unwrap_or_default(), entry.line);
            out.push(gap.finding);
            let (start, end) = (*gap.missing.start(), *gap.missing.end());
            for missing in [start..=seq - 1, seq + 1..=end].into_iter().filter(|range| !range.is_empty()) {
                let message = format!("{}.", are_missing(&missing));
                self.gaps.push(Gap { finding: self.finding(Weight::Broken, Rule::Gap, entry, message), missing });
            }
            return;
        }
        let message = match seq {
            ..1 => format!("The record has seq {seq}; counting starts at 1."),
            _ if seq == self.last_seq && self.head.as_ref() == Some(&entry.record.content_hash) => format!("Record {seq} comes twice."),
            _ if seq == self.last_seq => format!("Record {seq} comes twice, with two contents."),
            _ => format!("Record {seq} comes after record {}.", self.last_seq),
        };
        out.push(self.finding(Weight::Broken, Rule::Order, entry, message));
    }

    fn links(&self, entry: Entry<'_>) -> bool {
        self.head.as_ref() == Some(&entry.record.prev_hash)
    }

    fn link(&mut self, entry: Entry<'_>, out: &mut Findings) {
        let Some(head) = &self.head else { return };
        let prev_hash = &entry.record.prev_hash;
        if prev_hash == head {
            return;
        }
        let finding = if *head == HashText::Empty && self.last_seq == 0 {
            let zeros = matches!(prev_hash, HashText::Hash(Hash(bytes)) if *bytes == [0; 32]);
            let known = if zeros { " (a known deviation: 64 zeros)" } else { "" };
            self.finding(
                Weight::Broken,
                Rule::FirstLink,
                entry,
                format!("The first record links to something{known}; its prev_hash has to be empty."),
            )
        } else {
            self.finding(Weight::Broken, Rule::Link, entry, format!("The record does not link to record {}.", self.last_seq))
                .with("expected", head)
        };
        out.push(finding.with("recorded", prev_hash));
        self.disordered = true;
    }

    fn hash(&mut self, entry: Entry<'_>, effort: &mut Effort, out: &mut Findings) {
        match &entry.record.check {
            Check::Holds => self.recomputed += 1,
            Check::Unverifiable(error) => {
                self.unverifiable += 1;
                self.disturbed = true;
                if self.unverifiable > EACH as u64 {
                    out.count(Weight::Unverifiable, 1);
                } else {
                    let message = format!("The hash cannot be recomputed: {error}.");
                    out.push(self.finding(Weight::Unverifiable, Rule::Known, entry, message));
                }
            }
            Check::Differs { computed } => {
                let place = self.place(entry.line, entry.record.seq);
                self.disturbed |= !self.mismatches.record(entry, place, *computed, effort);
            }
        }
    }

    fn fence(&mut self, entry: Entry<'_>) {
        let fence = entry.record.fence;
        if fence >= self.fence.highest.max(1) {
            self.fence.highest = fence;
            return;
        }
        self.fence.count += 1;
        if self.fence.first.is_none() {
            let message = match fence {
                ..1 => format!("The fence is {fence}; it has to be positive."),
                _ => format!("The fence falls from {} to {fence}.", self.fence.highest),
            };
            self.fence.first = Some(self.finding(Weight::Warning, Rule::Fence, entry, message));
        }
    }

    /// Says what could only be said once all records of the session were seen.
    pub(super) fn close(&mut self, out: &mut Findings) {
        for gap in self.gaps.drain(..) {
            out.push(gap.finding);
        }
        if let Some(mut finding) = self.fence.first.take() {
            if self.fence.count > 1 {
                finding.message = format!("{} So it is on {} records of this session.", finding.message, self.fence.count);
            }
            out.push(finding);
        }
        let whole = Whole {
            first: self.place(self.first_line, self.first_seq),
            judged: self.records - self.unverifiable,
            coherent_without_a_hash: self.recomputed == 0 && !self.disordered,
        };
        std::mem::take(&mut self.mismatches).close(whole, out);
    }
}

fn are_missing(range: &RangeInclusive<i64>) -> String {
    if range.start() == range.end() {
        format!("Record {} is missing", range.start())
    } else {
        format!("Records {} to {} are missing", range.start(), range.end())
    }
}

/// A record by its number, or the beginning.
fn name(seq: i64) -> String {
    if seq == 0 { "the beginning".to_owned() } else { format!("record {seq}") }
}
