//! What running one case came to, before it is folded into a report.

use crate::judge::evaluate::Verdict;
use crate::scenario::node::Place;
use std::sync::Arc;
use std::time::Duration;

/// One expectation, judged.
#[derive(Clone, Debug)]
pub struct Evaluation {
    pub rule: String,
    pub at: Option<Place>,
    pub verdict: Verdict,
    /// Ids of the exchanges it rests on.
    pub exchanges: Vec<u64>,
    /// Whether it belongs to a step that only leads there.
    pub given: bool,
}

#[derive(Clone, Debug)]
pub struct CaseResult {
    pub path: Arc<str>,
    pub evaluations: Vec<Evaluation>,
    /// Why the case could not go on.
    pub blocked: Option<String>,
    /// The kit's own fault.
    pub errored: Option<String>,
    pub notes: Vec<String>,
    pub duration: Duration,
}

/// Why a step ended the case early.
#[derive(Clone, Debug)]
pub enum Stop {
    Blocked(String),
    Errored(String),
}
