//! What the records of one execution prove about its approvals, its start and its inputs (harness contract, 3.6 and 0.3;
//! sessions contract, F13 and F16).
//!
//! Writers from before the approval set left sequences at zero; where the contract keeps that legal it is not accused.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::facts::{Body, Facts};
use super::finding::{Rule, Weight};
use crate::agentsessions::v1::tool_result::Code;

/// Executions of a session that are remembered at once; the oldest is forgotten first.
const EXECUTIONS: usize = 16;
/// Call ids that are remembered in one execution.
const CALLS: usize = 4096;
/// Gated calls of one execution that may be open at once; the contract has one.
const OPEN: usize = 16;

/// The executions of one session.
#[derive(Debug, Default)]
pub(super) struct Evidence {
    /// In order of first appearance. Few, and the last is nearly always the one that is asked for.
    executions: VecDeque<(String, Execution)>,
}

#[derive(Debug, Default)]
struct Execution {
    records: u64,
    inputs: i64,
    /// How many inputs the start announces, when there was one that says so.
    announced: Option<i64>,
    calls: HashSet<u64>,
    gated: HashSet<u64>,
    /// A step of an approval was wrong: later ones are not judged.
    spoiled: bool,
    /// More calls came than are remembered.
    crowded: bool,
    open: Vec<Gate>,
}

/// A gated call without its receipt.
#[derive(Debug)]
struct Gate {
    call: String,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Called,
    Requested { seq: i64 },
    Decided { request_seq: i64, decision_seq: i64, approved: bool, legacy: bool },
}

/// A finding before it has a place.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Objection {
    pub(super) weight: Weight,
    pub(super) rule: Rule,
    pub(super) message: String,
}

fn broken(rule: Rule, message: impl Into<String>) -> Objection {
    Objection { weight: Weight::Broken, rule, message: message.into() }
}

fn warning(rule: Rule, message: impl Into<String>) -> Objection {
    Objection { weight: Weight::Warning, rule, message: message.into() }
}

fn note(rule: Rule, message: impl Into<String>) -> Objection {
    Objection { weight: Weight::Note, rule, message: message.into() }
}

/// Ids are kept as hashes: an execution may use long ones, and many.
fn key(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

impl Evidence {
    /// Takes the next record of the session.
    pub(super) fn record(&mut self, seq: i64, facts: &Facts) -> Vec<Objection> {
        let mut objections = Vec::new();
        match facts.body {
            Body::Fork | Body::Lifecycle | Body::Unknown => return objections,
            Body::Parked => objections.push(broken(Rule::Transient, "EVENT_PARKED is journaled; it belongs on the harness stream only.")),
            // Journals from before execution ids hold turn after turn under the empty one.
            Body::Start { .. } if facts.execution.is_empty() => self.forget(""),
            _ => {}
        }
        self.execution(&facts.execution).record(seq, &facts.body, &mut objections);
        if facts.execution.is_empty() && matches!(facts.body, Body::End | Body::Error) {
            self.forget("");
        }
        objections
    }

    fn execution(&mut self, id: &str) -> &mut Execution {
        let known = self.executions.iter().rposition(|(known, _)| known == id);
        let index = known.unwrap_or_else(|| {
            if self.executions.len() == EXECUTIONS {
                self.executions.pop_front();
            }
            self.executions.push_back((id.to_owned(), Execution::default()));
            self.executions.len() - 1
        });
        &mut self.executions[index].1
    }

    fn forget(&mut self, id: &str) {
        self.executions.retain(|(known, _)| known != id);
    }
}

impl Execution {
    fn record(&mut self, seq: i64, body: &Body, out: &mut Vec<Objection>) {
        self.records += 1;
        let before = out.len();
        self.nothing_between(body, out);
        match body {
            Body::Start { input_count } => self.started(*input_count, out),
            Body::Input => self.inputs += 1,
            Body::End => self.ended(out),
            Body::ToolCall { id, gated, keyed } => self.called(id, *gated, *keyed, out),
            _ if self.spoiled => {}
            Body::Request { call } => self.requested(seq, call, out),
            Body::Decision { call, request_seq, approved } => self.decided(seq, call, *request_seq, *approved, out),
            Body::Receipt { .. } => self.received(body, out),
            _ => {}
        }
        // What follows a broken step proves nothing more about it.
        if out[before..].iter().any(|objection| objection.weight == Weight::Broken) {
            self.open.clear();
            self.spoiled = true;
        }
    }

    fn gate(&mut self, call: &str) -> Option<&mut Gate> {
        self.open.iter_mut().find(|gate| gate.call == call)
    }

    /// While a call waits, only its own next record and errors may come. A wrong end or step of the call itself is judged
    /// where it is taken.
    fn nothing_between(&self, body: &Body, out: &mut Vec<Objection>) {
        let about = match body {
            Body::Error | Body::End => return,
            Body::Request { call } | Body::Decision { call, .. } if self.open.iter().all(|gate| gate.call != *call) => return,
            Body::Request { call } | Body::Decision { call, .. } | Body::Receipt { call, .. } => Some(call),
            _ => None,
        };
        if let Some(gate) = self.open.iter().find(|gate| Some(&gate.call) != about) {
            let message = format!("Another record of the execution comes while {}.", gate.waits());
            out.push(warning(Rule::ApprovalOrder, message));
        }
    }

    fn started(&mut self, input_count: Option<i64>, out: &mut Vec<Objection>) {
        if self.records > 1 {
            out.push(broken(Rule::StartFirst, "EXECUTION_START is not the first record of its execution."));
        }
        if input_count.is_none_or(|count| count < 0) {
            out.push(warning(Rule::InputCount, "EXECUTION_START does not say how many inputs follow."));
        }
        self.announced = input_count.filter(|count| *count >= 0);
    }

    fn ended(&mut self, out: &mut Vec<Objection>) {
        self.calls = HashSet::new();
        for gate in self.open.drain(..) {
            out.push(broken(Rule::OpenEnd, format!("The execution ends while {}.", gate.waits())));
        }
        if let Some(count) = self.announced.filter(|count| *count != self.inputs) {
            let message = format!("The execution ends with {} INPUT records; its start says {count}.", self.inputs);
            out.push(broken(Rule::InputCount, message));
        }
    }

    fn called(&mut self, id: &str, gated: bool, keyed: bool, out: &mut Vec<Objection>) {
        let known = self.calls.contains(&key(id));
        if (gated && known) || self.gated.contains(&key(id)) {
            out.push(warning(Rule::GatedId, format!("The call id {id:?} is used again, and one of its calls is gated.")));
        }
        if known || self.calls.len() < CALLS {
            self.calls.insert(key(id));
        } else if !std::mem::replace(&mut self.crowded, true) {
            out.push(note(Rule::Bound, format!("The execution has more than {CALLS} calls; reuse of ids is not followed beyond.")));
        }
        if gated {
            self.gated(id, keyed, out);
        }
    }

    fn gated(&mut self, id: &str, keyed: bool, out: &mut Vec<Objection>) {
        if id.is_empty() || !keyed {
            let lacking = if id.is_empty() { "id" } else { "idempotency key" };
            out.push(warning(Rule::GatedCall, format!("A call that waits for an approval has no {lacking}.")));
        }
        if self.gated.len() < CALLS {
            self.gated.insert(key(id));
        }
        if self.open.len() == OPEN {
            out.push(note(Rule::Bound, format!("The execution has more than {OPEN} open approvals; the oldest is not followed further.")));
            self.open.remove(0);
        }
        self.open.push(Gate { call: id.to_owned(), stage: Stage::Called });
    }

    fn requested(&mut self, seq: i64, call: &str, out: &mut Vec<Objection>) {
        if let Some(gate) = self.gate(call) {
            match gate.stage {
                Stage::Called => gate.stage = Stage::Requested { seq },
                _ => out.push(broken(Rule::ApprovalOrder, format!("A second request comes while {}.", gate.waits()))),
            }
            return;
        }
        out.push(match self.open.first() {
            Some(gate) => broken(Rule::ApprovalRequest, format!("A request names the call {call:?} while {}.", gate.waits())),
            None if self.gated.is_empty() => {
                note(Rule::ApprovalRequest, "A request without a gated call: from before the approval gate, not judged.")
            }
            None => broken(Rule::ApprovalOrder, format!("A request for {call:?} comes without an open call.")),
        });
    }

    fn decided(&mut self, seq: i64, call: &str, request_seq: i64, approved: bool, out: &mut Vec<Objection>) {
        let waiting = self.open.first().map(Gate::waits);
        let any_gated = !self.gated.is_empty();
        let Some(gate) = self.gate(call) else {
            out.push(match waiting {
                Some(waiting) => broken(Rule::ApprovalDecision, format!("A decision names the call {call:?} while {waiting}.")),
                None if request_seq == 0 && !any_gated => {
                    note(Rule::ApprovalDecision, "A decision without a request: from before the approval gate, not judged.")
                }
                None => broken(Rule::ApprovalDecision, format!("A decision on {call:?} comes without an open request.")),
            });
            return;
        };
        let Stage::Requested { seq: open } = gate.stage else {
            let which = if matches!(gate.stage, Stage::Called) { "A decision" } else { "A second decision" };
            out.push(broken(Rule::ApprovalOrder, format!("{which} comes while {}.", gate.waits())));
            return;
        };
        let legacy = request_seq == 0;
        if legacy {
            out.push(note(Rule::ApprovalDecision, "The decision names no request sequence: from before the approval gate, not judged."));
        } else if request_seq != open {
            let message = format!("The decision names the request at seq {request_seq}; the open one is at {open}.");
            out.push(broken(Rule::ApprovalDecision, message));
        }
        gate.stage = Stage::Decided { request_seq: open, decision_seq: seq, approved, legacy };
    }

    fn received(&mut self, body: &Body, out: &mut Vec<Objection>) {
        let Body::Receipt { call, request_seq, decision_seq, code, is_error } = body else { return };
        if let Some(index) = self.open.iter().position(|gate| gate.call == *call) {
            self.open.remove(index).close((*request_seq, *decision_seq), *code, *is_error, out);
            return;
        }
        let names_approval = *request_seq != 0 || *decision_seq != 0;
        if self.gated.contains(&key(call)) {
            out.push(warning(Rule::ApprovalReceipt, format!("The gated call {call:?} has a second receipt.")));
        } else if names_approval || *code == Code::ApprovalDenied as i32 {
            let what = if names_approval { "names an approval" } else { "is a denial" };
            out.push(broken(Rule::UngatedReceipt, format!("The receipt of {call:?}, which is not gated, {what}.")));
        }
    }
}

impl Gate {
    /// What has to come next, as part of a sentence.
    fn waits(&self) -> String {
        let what = match self.stage {
            Stage::Called => "its request",
            Stage::Requested { .. } => "a decision",
            Stage::Decided { .. } => "its receipt",
        };
        format!("the gated call {:?} waits for {what}", self.call)
    }

    /// Judges the receipt that closes the gate; `named` is the request and the decision that it names.
    fn close(self, named: (i64, i64), code: i32, is_error: bool, out: &mut Vec<Objection>) {
        let Stage::Decided { request_seq, decision_seq, approved, legacy } = self.stage else {
            out.push(broken(Rule::ApprovalOrder, format!("A receipt comes while {}.", self.waits())));
            return;
        };
        if named == (0, 0) && legacy {
            out.push(note(Rule::ApprovalReceipt, "The receipt names no approval: from before the approval gate, not judged."));
            return;
        }
        let expected = (request_seq, decision_seq);
        if named != expected {
            let message =
                format!("The receipt names request {} and decision {}; they are at {} and {}.", named.0, named.1, expected.0, expected.1);
            out.push(broken(Rule::ApprovalReceipt, message));
        }
        if !legal_shape(approved, code, is_error) {
            let code = Code::try_from(code).map_or_else(|_| code.to_string(), |code| code.as_str_name().to_owned());
            let verdict = if approved { "approved" } else { "denied" };
            let message = format!("The call was {verdict}, and its receipt says {code} with is_error {is_error}.");
            out.push(broken(Rule::ReceiptShape, message));
        }
    }
}

/// The three shapes of a receipt; everything else fails closed.
fn legal_shape(approved: bool, code: i32, is_error: bool) -> bool {
    match Code::try_from(code) {
        Ok(Code::ApprovalDenied) => !approved && is_error,
        Ok(Code::ExecutorError) => approved && is_error,
        Ok(Code::Unspecified) => approved && !is_error,
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests;
