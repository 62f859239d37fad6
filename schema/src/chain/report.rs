//! What a verification found out, as a value.

use serde::Serialize;

use super::finding::{Finding, Findings, Weight};
use super::forks::Fork;
use super::session::Session;

/// The verdict over a journal, the first that applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// No line is a record.
    NotAJournal,
    /// A rule that binds does not hold.
    Broken,
    /// Nothing is broken as far as can be seen, and something cannot be seen.
    Unverifiable,
    /// Every record was recomputed, and every rule that binds holds.
    Held,
}

/// The result of a verification. `journal-report.schema.json` describes its serialized form.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    pub verdict: Verdict,
    pub lines: u64,
    pub records: u64,
    /// Lines that are neither blank nor records that can be read.
    pub unread: u64,
    /// Records whose hash is that of their content.
    pub recomputed: u64,
    /// Records whose hash cannot be judged.
    pub unverifiable: u64,
    /// All sessions; `sessions` lists the first of them.
    pub session_count: usize,
    pub sessions: Vec<SessionReport>,
    pub forks: Vec<Fork>,
    pub counts: Counts,
    /// The first record for which a rule that binds does not hold.
    pub first_broken: Option<FirstBroken>,
    /// In the order of the file.
    pub findings: Vec<Finding>,
    /// Findings that are counted and not listed.
    pub omitted: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub broken: u64,
    pub unverifiable: u64,
    pub warnings: u64,
    pub notes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FirstBroken {
    pub line: u64,
    pub session: Option<usize>,
    pub seq: Option<i64>,
}

/// One session of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionReport {
    /// From 1, in order of appearance.
    pub number: usize,
    pub first_line: u64,
    pub last_line: u64,
    pub records: u64,
    pub recomputed: u64,
    pub unverifiable: u64,
    pub first_seq: i64,
    pub last_seq: i64,
    /// The recorded hash of the last record: it stands for all before it.
    pub head: Option<String>,
}

impl SessionReport {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            number: session.number,
            first_line: session.first_line,
            last_line: session.last_line,
            records: session.records,
            recomputed: session.recomputed,
            unverifiable: session.unverifiable,
            first_seq: session.first_seq,
            last_seq: session.last_seq,
            head: session.head().map(|hash| hash.to_string()),
        }
    }
}

/// What is counted over a whole journal.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Totals {
    pub(super) lines: u64,
    pub(super) records: u64,
    pub(super) unread: u64,
    pub(super) recomputed: u64,
    pub(super) unverifiable: u64,
    pub(super) sessions: usize,
}

impl Report {
    pub(super) fn new(verdict: Verdict, totals: Totals, sessions: Vec<SessionReport>, forks: Vec<Fork>, findings: Findings) -> Self {
        let counts = Counts {
            broken: findings.number(Weight::Broken),
            unverifiable: findings.number(Weight::Unverifiable),
            warnings: findings.number(Weight::Warning),
            notes: findings.number(Weight::Note),
        };
        let first_broken = findings.first_broken().map(|(line, session, seq)| FirstBroken { line, session, seq });
        let (findings, omitted) = findings.into_listed();
        Self {
            verdict,
            lines: totals.lines,
            records: totals.records,
            unread: totals.unread,
            recomputed: totals.recomputed,
            unverifiable: totals.unverifiable,
            session_count: totals.sessions,
            sessions,
            forks,
            counts,
            first_broken,
            findings,
            omitted,
        }
    }
}
