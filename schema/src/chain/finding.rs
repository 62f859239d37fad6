//! What a verification has to say, and how much of it is kept.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Serialize, Serializer};

/// What a finding does to the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weight {
    /// A rule that binds does not hold.
    Broken,
    /// Nobody here can say whether the rule holds.
    Unverifiable,
    /// A rule that does not bind does not hold.
    Warning,
    /// Worth knowing.
    Note,
}

/// The rules of a journal. The names are stable: they stand in reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// Every line is a `LogRecord` in proto3-JSON.
    Record,
    /// The kit knows all that a record holds.
    Known,
    /// No sequence is left out (F1).
    Gap,
    /// Sequences rise from 1, each once (F1).
    Order,
    /// The first record has an empty `prev_hash` (F2).
    FirstLink,
    /// `prev_hash` is the `content_hash` of the record before (F2).
    Link,
    /// `content_hash` is the hash of the content (F3).
    ContentHash,
    /// Hashes are taken over the canonical form of the contract and no other (F3 to F6).
    CanonicalForm,
    /// The number of records is the session's `last_seq` (F15).
    LastSeq,
    /// A child starts with the records of its parent, then a fork marker (J7).
    Fork,
    /// Nothing transient is journaled (F13).
    Transient,
    /// Nothing of an execution precedes its start (3.6).
    StartFirst,
    /// A completed execution has as many inputs as its start says (F16).
    InputCount,
    /// A gated call has an id and a key (3.6).
    GatedCall,
    /// The id of a gated call is used once (3.6).
    GatedId,
    /// Call, request, decision and receipt follow each other, and nothing else comes between (3.6).
    ApprovalOrder,
    /// A request names the open call (3.6).
    ApprovalRequest,
    /// A decision names the call and the sequence of its request (3.6).
    ApprovalDecision,
    /// A receipt names the call, the request and the decision (3.6).
    ApprovalReceipt,
    /// A receipt has one of the three legal shapes (0.3).
    ReceiptShape,
    /// Only the receipt of a gated call names a request and a decision (3.6).
    UngatedReceipt,
    /// No execution ends while an approval is open (3.6).
    OpenEnd,
    /// Fences are positive and do not fall along a session (F12).
    Fence,
    /// Content kept outside has its digest in the record (F17).
    Digest,
    /// A bound of the kit was reached.
    Bound,
}

impl Rule {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Known => "known",
            Self::Gap => "gap",
            Self::Order => "order",
            Self::FirstLink => "first-link",
            Self::Link => "link",
            Self::ContentHash => "content-hash",
            Self::CanonicalForm => "canonical-form",
            Self::LastSeq => "last-seq",
            Self::Fork => "fork",
            Self::Transient => "transient",
            Self::StartFirst => "start-first",
            Self::InputCount => "input-count",
            Self::GatedCall => "gated-call",
            Self::GatedId => "gated-id",
            Self::ApprovalOrder => "approval-order",
            Self::ApprovalRequest => "approval-request",
            Self::ApprovalDecision => "approval-decision",
            Self::ApprovalReceipt => "approval-receipt",
            Self::ReceiptShape => "receipt-shape",
            Self::UngatedReceipt => "ungated-receipt",
            Self::OpenEnd => "open-end",
            Self::Fence => "fence",
            Self::Digest => "digest",
            Self::Bound => "bound",
        }
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing found, with the record it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub weight: Weight,
    pub rule: Rule,
    /// From 1, in the order of first records; none when the line belongs to no session.
    pub session: Option<usize>,
    /// In the file, from 1.
    pub line: u64,
    /// The `seq` of the record, when it could be read.
    pub seq: Option<i64>,
    pub message: String,
    /// Values that the message speaks of, by name, in reading order.
    pub details: Vec<Detail>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Detail {
    pub name: &'static str,
    pub value: String,
}

/// Where a finding points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) session: Option<usize>,
    pub(super) line: u64,
    pub(super) seq: Option<i64>,
}

impl Finding {
    pub(super) fn new(weight: Weight, rule: Rule, place: Place, message: impl Into<String>) -> Self {
        let Place { session, line, seq } = place;
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(LONGEST) {
            message.truncate(end);
            message.push('…');
        }
        Self { weight, rule, session, line, seq, message, details: Vec::new() }
    }

    pub(super) fn with(mut self, name: &'static str, value: &dyn fmt::Display) -> Self {
        self.details.push(Detail { name, value: value.to_string() });
        self
    }
}

/// Findings in full up to a number, and their count beyond it: memory does not grow with what is wrong.
#[derive(Debug, Default)]
pub(super) struct Findings {
    listed: Vec<Finding>,
    counts: BTreeMap<Weight, u64>,
    first_broken: Option<(u64, Option<usize>, Option<i64>)>,
}

/// Characters of a message: it may quote what a target wrote.
const LONGEST: usize = 600;

/// How many findings are kept in full.
pub const LISTED: usize = 1000;

impl Findings {
    pub(super) fn push(&mut self, finding: Finding) {
        *self.counts.entry(finding.weight).or_default() += 1;
        if finding.weight == Weight::Broken {
            let place = (finding.line, finding.session, finding.seq);
            self.first_broken = Some(self.first_broken.map_or(place, |first| first.min(place)));
        }
        if self.listed.len() < LISTED {
            self.listed.push(finding);
        }
    }

    /// Counts findings that nobody needs to read one by one.
    pub(super) fn count(&mut self, weight: Weight, number: u64) {
        *self.counts.entry(weight).or_default() += number;
    }

    pub(super) fn number(&self, weight: Weight) -> u64 {
        self.counts.get(&weight).copied().unwrap_or_default()
    }

    pub(super) fn first_broken(&self) -> Option<(u64, Option<usize>, Option<i64>)> {
        self.first_broken
    }

    /// In the order of the file, and how many more there were.
    pub(super) fn into_listed(mut self) -> (Vec<Finding>, u64) {
        let total: u64 = self.counts.values().sum();
        self.listed.sort_by_key(|finding| finding.line);
        let omitted = total - self.listed.len() as u64;
        (self.listed, omitted)
    }
}
