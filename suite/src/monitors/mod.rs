//! Monitors: rules that hold over everything a run saw, not in one step. What each contract calls things is in [`dialect`].
//!
//! [`World::new`] reads the transcript once; each monitor is a pure function over it. A monitor accuses under exactly one rule, and
//! each kind of violation has exactly one monitor: the file of a monitor says what it leaves to others. Shared facts (which numbers a
//! reader can be trusted with, what a reader lacks) are worked out in [`history`].
//!
//! | violation | monitor |
//! |---|---|
//! | an event of another execution, or labelled as one | `envelope-owner` |
//! | a number below 1, out of order, twice in a list, or skipped by every reader | `sequence` |
//! | two contents under one number; an event that is gone from the history | `append-only` |
//! | an event at or below the cursor; a known event above it that a list or a stream leaves out | `cursor` |
//! | a status that the states do not allow after the one before it | `status-order` |
//! | several terminal events; a terminal state whose history has none | `one-terminal` |
//! | a non-terminal event above the terminal one | `terminal-last` |
//! | an execution that changes after it was terminal | `terminal-final` |
//! | an execution that lives on or succeeds after it was cancelling | `cancelling-holds` |
//! | another startedAt than before, or none once it was cancelled | `started-once` |
//! | an end for a deadline before that was due | `deadline-due` |
//! | a final text / a final output of run.completed that is not the one of the execution | `final-text` / `final-output` |
//! | a nextCursor that is not the last number of its list | `next-cursor` |
//! | state and terminal event of different outcome, or a live state after the terminal event | `state-matches-event` |
//! | a stream that ends without its terminal event, or does not end after it | `stream-ends` |
//! | artifacts listed without one creation event each, created without being listed, or in another order | `artifacts-match` |
//! | two answers to one action | `action-answered-once` |
//! | a documented failure without code and message / with another status than its code has | `problem-body` / `problem-status` |
//! | a credential in an answer | `secret-echo` |

mod action_answered_once;
mod append_only;
mod artifacts_match;
mod cancelling_holds;
mod cursor;
mod deadline_due;
mod dialect;
mod envelope_owner;
mod final_output;
mod finding;
mod history;
mod next_cursor;
mod numbering;
mod one_terminal;
mod problem;
mod problem_body;
mod problem_status;
mod reading;
mod same;
mod secret_echo;
mod sequence;
mod snapshot;
mod started_once;
mod state_matches_event;
mod status_order;
mod stream_ends;
mod terminal_final;
mod terminal_last;

#[cfg(test)]
mod fairness;
#[cfg(test)]
mod testing;

pub use finding::{MonitorFinding, Observation};

use crate::transcript::Exchange;
use dialect::Dialect;
use history::History;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything a run saw, ready to be judged.
pub struct World<'a> {
    /// All exchanges of the run with one target, the sweep included, in any order.
    pub exchanges: &'a [Arc<Exchange>],
    /// Values of credential headers as they were sent, scheme included (`Bearer abc`).
    pub secrets: &'a [String],
    /// Documented error code -> its HTTP status.
    pub problems: &'a BTreeMap<String, u16>,
    history: History<'a>,
    dialect: &'static Dialect,
}

impl<'a> World<'a> {
    /// Reads the histories out of the exchanges: n log n in the number of events seen.
    pub fn new(contract: &str, exchanges: &'a [Arc<Exchange>], secrets: &'a [String], problems: &'a BTreeMap<String, u16>) -> Self {
        let dialect = dialect::of(contract);
        Self { exchanges, secrets, problems, history: History::of(exchanges, dialect), dialect }
    }
}

/// What a monitor says of a whole run.
pub type Check = fn(&World<'_>) -> Observation;

/// Every monitor under the name that `monitor:` in requirements.yaml calls it by.
pub fn monitors() -> &'static [(&'static str, Check)] {
    &[
        ("envelope-owner", envelope_owner::check),
        ("sequence", sequence::check),
        ("append-only", append_only::check),
        ("cursor", cursor::check),
        ("one-terminal", one_terminal::check),
        ("terminal-last", terminal_last::check),
        ("terminal-final", terminal_final::check),
        ("cancelling-holds", cancelling_holds::check),
        ("started-once", started_once::check),
        ("deadline-due", deadline_due::check),
        ("final-text", final_output::text),
        ("final-output", final_output::output),
        ("next-cursor", next_cursor::check),
        ("state-matches-event", state_matches_event::check),
        ("status-order", status_order::check),
        ("stream-ends", stream_ends::check),
        ("artifacts-match", artifacts_match::check),
        ("action-answered-once", action_answered_once::check),
        ("problem-body", problem_body::check),
        ("problem-status", problem_status::check),
        ("secret-echo", secret_echo::check),
    ]
}
