//! One session of a journal: its place in the count, its link, its hashes, and what its records prove.

use std::ops::RangeInclusive;

use super::deviant;
use super::evidence::Evidence;
use super::finding::{Finding, Findings, Place, Rule, Weight};
use super::form::Form;
use super::hash::{Hash, HashText};
use super::record::{Check, Record};

/// Findings of one kind that one session lists in full.
const EACH: usize = 20;
/// The longest canonical form that a finding shows.
const SHOWN: usize = 2048;
/// The longest line that is kept to try further forms on.
const SAMPLE: usize = 64 * 1024;

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
    /// Lines since the last record that may have been records of this session.
    holes: i64,
    gaps: Vec<Gap>,
    /// A rule about places in the chain is broken.
    disordered: bool,
    /// A record is missing, changed or not understood: what the others prove together is unknown.
    disturbed: bool,
    evidence: Evidence,
    fence: Fence,
    mismatches: Mismatches,
}

/// What may still be spent on finding out which other canonical form somebody hashed. Shared by all sessions of a journal.
#[derive(Debug)]
pub(super) struct Effort {
    searches: u32,
    /// What explained the last session that had another form.
    hint: Form,
}

impl Default for Effort {
    fn default() -> Self {
        Self { searches: 32, hint: Form::default() }
    }
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

/// Records whose hash differs, sorted into those that another canonical form explains and the rest.
#[derive(Debug, Default)]
struct Mismatches {
    form: Option<Form>,
    explained: u64,
    first_explained: Option<Finding>,
    sample: Vec<u8>,
    unexplained: u64,
    listed: Vec<Finding>,
}

impl Session {
    pub(super) fn new(number: usize, line: u64) -> Self {
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
            holes: 0,
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

    fn place(&self, line: u64, seq: i64) -> Place {
        Place { session: Some(self.number), line, seq: Some(seq) }
    }

    fn finding(&self, weight: Weight, rule: Rule, entry: Entry<'_>, message: impl Into<String>) -> Finding {
        Finding::new(weight, rule, self.place(entry.line, entry.record.seq), message)
    }

    /// A line that could not be read, in the middle of this session.
    pub(super) fn hole(&mut self) {
        self.holes = self.holes.saturating_add(1);
        self.head = None;
        self.disturbed = true;
    }

    /// Starts in the middle: a child without its inherited records, linked by its fork marker.
    pub(super) fn inherits(&mut self, seq: i64, prev_hash: HashText) {
        self.last_seq = seq - 1;
        self.head = Some(prev_hash);
    }

    pub(super) fn record(&mut self, entry: Entry<'_>, effort: &mut Effort, out: &mut Findings) {
        self.records += 1;
        self.last_line = entry.line;
        if self.records == 1 {
            self.first_seq = entry.record.seq;
            self.first_link = entry.record.prev_hash.hash();
        }
        let in_place = self.step(entry, out);
        self.hash(entry, effort, out);
        self.fence(entry);
        if in_place && !self.disturbed {
            for objection in self.evidence.record(entry.record.seq, &entry.record.facts) {
                out.push(self.finding(objection.weight, objection.rule, entry, objection.message));
            }
        }
        if let Some(uri) = entry.record.facts.loose_uri {
            let message = format!("Content is kept at a {uri} without a digest: the chain does not cover it.");
            out.push(self.finding(Weight::Warning, Rule::Digest, entry, message));
        }
    }

    /// Judges the place in the count; true when the record is the next one of the session.
    fn step(&mut self, entry: Entry<'_>, out: &mut Findings) -> bool {
        let (seq, next) = (entry.record.seq, self.next_seq());
        if seq < next {
            self.comes_back(entry, out);
            return false;
        }
        // A line that could not be read may have been the missing record.
        if seq > next && seq - next > self.holes {
            self.skips(entry, next, out);
        } else if seq == next && self.holes == 0 {
            self.link(entry, out);
        }
        self.holes = 0;
        self.last_seq = seq;
        self.head = Some(entry.record.content_hash.clone());
        true
    }

    fn skips(&mut self, entry: Entry<'_>, next: i64, out: &mut Findings) {
        let missing = next..=entry.record.seq - 1;
        let message = format!("{}: {} follows {}.", are_missing(&missing), entry.record.seq, name(self.last_seq));
        let finding = self.finding(Weight::Broken, Rule::Gap, entry, message);
        self.disordered = true;
        self.disturbed = true;
        if self.gaps.len() < EACH {
            self.gaps.push(Gap { missing, finding });
        } else {
            out.push(finding);
        }
    }

    fn comes_back(&mut self, entry: Entry<'_>, out: &mut Findings) {
        self.disordered = true;
        self.disturbed = true;
        let seq = entry.record.seq;
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
            Check::Differs { computed } => self.differs(entry, *computed, effort),
        }
    }

    fn differs(&mut self, entry: Entry<'_>, computed: Hash, effort: &mut Effort) {
        let place = self.place(entry.line, entry.record.seq);
        if self.mismatches.explains(entry.text, effort) {
            self.mismatches.explained += 1;
            let finding = || Finding::new(Weight::Broken, Rule::CanonicalForm, place, "");
            self.mismatches.first_explained.get_or_insert_with(finding);
            return;
        }
        self.disturbed = true;
        self.mismatches.unexplained += 1;
        if self.mismatches.listed.len() < EACH {
            let message = match entry.record.content_hash {
                HashText::Hash(_) => "The content does not give the recorded hash.",
                HashText::Empty => "The record has no content_hash.",
                HashText::Other(_) => "The content_hash is not 64 lower-case hex digits.",
            };
            let mut finding = Finding::new(Weight::Broken, Rule::ContentHash, place, message)
                .with("recorded", &entry.record.content_hash)
                .with("computed", &computed);
            // Once a session is enough to follow the computation by hand.
            if self.mismatches.listed.is_empty()
                && let Some(hashed) = hashed_text(entry.text)
            {
                finding = finding.with("hashed", &hashed);
            }
            self.mismatches.listed.push(finding);
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
        self.close_mismatches(out);
    }

    fn close_mismatches(&mut self, out: &mut Findings) {
        let judged = self.records - self.unverifiable;
        let mismatches = std::mem::take(&mut self.mismatches);
        if let (Some(form), Some(mut finding)) = (mismatches.form, mismatches.first_explained) {
            finding.message = format!(
                "{} of {judged} records were hashed in another canonical form, here for the first time: {}.",
                mismatches.explained,
                form.names().join("; ")
            );
            out.push(finding);
        }
        let nothing_recomputes = self.recomputed == 0 && mismatches.explained == 0 && judged > 1;
        if nothing_recomputes && !self.disordered {
            let place = self.place(self.first_line, self.first_seq);
            let message = format!(
                "None of {judged} records gives its hash, and yet each links to the one before: another canonical form, none of those known here."
            );
            let first = mismatches.listed.into_iter().next();
            let mut finding = Finding::new(Weight::Broken, Rule::CanonicalForm, place, message);
            finding.details = first.map(|first| first.details).unwrap_or_default();
            out.push(finding);
            return;
        }
        out.count(Weight::Broken, mismatches.unexplained - mismatches.listed.len() as u64);
        for finding in mismatches.listed {
            out.push(finding);
        }
    }
}

/// The bytes whose hash is the computed one, unless they are too many to show.
fn hashed_text(line: &[u8]) -> Option<String> {
    let mut canonical = Vec::new();
    Record::read(line, &mut canonical).ok()?;
    String::from_utf8(canonical).ok().filter(|text| text.len() <= SHOWN)
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

impl Mismatches {
    /// Whether the form found so far, or one that explains the first mismatch as well, gives the hash of this line.
    fn explains(&mut self, line: &[u8], effort: &mut Effort) -> bool {
        let guess = self.form.unwrap_or(effort.hint);
        if guess != Form::default() && deviant::fits(line, &guess) {
            return self.adopt(guess, line);
        }
        if effort.searches == 0 || line.is_empty() {
            return false;
        }
        effort.searches -= 1;
        let Some(form) = deviant::explain(line, &self.form.unwrap_or_default()) else { return false };
        effort.hint = form;
        self.adopt(form, line)
    }

    /// Takes a form for the session, unless it does not give the hash of the first mismatch.
    fn adopt(&mut self, form: Form, line: &[u8]) -> bool {
        if self.form.is_some_and(|known| known != form) && !deviant::fits(&self.sample, &form) {
            return false;
        }
        if self.form.is_none() && line.len() <= SAMPLE {
            self.sample = line.to_vec();
        }
        self.form = Some(form);
        true
    }
}
