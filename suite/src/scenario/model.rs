//! Scenarios as decoded: what a scenario file says, with places, nothing filled in yet. `fixtures/README.md` is the language reference.

use super::node::Place;
use crate::restart::Way;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// One file: the scenarios of one area.
#[derive(Clone, Debug)]
pub struct Area {
    pub name: String,
    pub about: String,
    pub scenarios: Vec<Scenario>,
}

#[derive(Clone, Debug)]
pub struct Scenario {
    pub id: String,
    pub title: String,
    pub at: Place,
    /// Stimuli and facts, by name.
    pub needs: Vec<String>,
    /// What the provider of the first stimulus must support.
    pub capabilities: Vec<String>,
    pub exclusive: bool,
    pub rounds: u32,
    pub vars: BTreeMap<String, Value>,
    /// Name and values of each case; one case without a name when the scenario has none.
    pub cases: Vec<(Option<String>, Value)>,
    /// Why no defect of the reference server turns it red.
    pub no_defect: Option<String>,
    pub steps: Vec<Step>,
}

impl Scenario {
    /// The ways in which its steps restart the target, each once.
    pub fn restarts(&self) -> BTreeSet<Way> {
        let mut ways = BTreeSet::new();
        self.steps.iter().for_each(|step| step.restarts(&mut ways));
        ways
    }
}

impl Step {
    fn restarts(&self, ways: &mut BTreeSet<Way>) {
        match &self.action {
            Action::Restart(way) => {
                ways.insert(*way);
            }
            Action::Together(branches) => branches.iter().flatten().for_each(|step| step.restarts(ways)),
            Action::Preamble { steps, .. } => steps.iter().for_each(|step| step.restarts(ways)),
            _ => {}
        }
    }
}

#[derive(Clone, Debug)]
pub struct Step {
    pub at: Place,
    /// As a reader would name it: `call cancelExecution`.
    pub label: String,
    pub action: Action,
    /// Leads there only: a failure blocks the scenario and is blamed on the step's own rules.
    pub given: bool,
    pub expect: Vec<Expectation>,
    pub save: Vec<(String, SavePath)>,
}

#[derive(Clone, Debug)]
pub enum Action {
    Call(Call),
    Grpc(GrpcCall),
    Raw {
        bytes: String,
    },
    Follow(Follow),
    Await {
        call: Call,
        until: Box<Expectation>,
    },
    Together(Vec<Vec<Step>>),
    /// Expectations over saved values; nothing is sent.
    Check,
    Generate {
        name: String,
        with: Value,
    },
    /// The target goes down and comes up again.
    Restart(Way),
    /// The steps of a preamble, after its `with` values are set.
    Preamble {
        with: BTreeMap<String, Value>,
        steps: Vec<Step>,
    },
}

/// One HTTP request.
#[derive(Clone, Debug, Default)]
pub struct Call {
    pub operation: String,
    pub path: BTreeMap<String, Value>,
    pub query: BTreeMap<String, Value>,
    /// `null` removes a header that the kit would send.
    pub headers: BTreeMap<String, Value>,
    pub body: Option<Value>,
    /// The body, verbatim.
    pub text: Option<String>,
    pub method: Option<String>,
    /// Path and query instead of the operation's, below the target's base.
    pub url: Option<String>,
}

#[derive(Clone, Debug)]
pub struct GrpcCall {
    /// `Sessions/GetSession`.
    pub method: String,
    pub request: Value,
    pub metadata: BTreeMap<String, Value>,
}

/// An event stream to read: that of an execution, or the one that answers a submission.
#[derive(Clone, Debug)]
pub struct Follow {
    pub execution: Value,
    /// The body of the submission whose answer is the stream; `execution` is null then.
    pub submit: Option<Value>,
    pub after: Option<Value>,
    pub headers: BTreeMap<String, Value>,
    pub until: Until,
}

#[derive(Clone, Debug)]
pub enum Until {
    /// Until the server ends the stream.
    Closed,
    /// Until a terminal event; then the kit hangs up.
    Terminal,
    Count(Value),
    Event(Value),
}

/// What one rule demands of a step's result.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The requirement; empty only in `until:` of an `await`.
    pub rule: String,
    pub at: Place,
    pub subject: Subject,
    pub when: Option<(Value, Value)>,
    pub tests: Vec<Test>,
}

/// What is judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Subject {
    /// The result of the step.
    Step,
    /// A saved value.
    Of(Value),
    /// Several saved values, one after the other.
    Each(Vec<String>),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    Answered,
    Status(Value),
    Code(Value),
    Message(Value),
    Headers(BTreeMap<String, Value>),
    Trailers(BTreeMap<String, Value>),
    Body(Value),
    Text(Value),
    Types(Vec<String>),
    Order(Vec<Value>),
    ExactlyOne(Value),
    NoEvent(Value),
    Some(Value),
    Count { of: Value, is: Value },
    First(Value),
    Last(Value),
    Every(Value),
    History(Value),
    Value { value: Value, is: Value },
    Same(Vec<Value>),
    Differ(Vec<Value>),
}

impl Test {
    /// The patterns that it matches.
    pub fn patterns(&self) -> Vec<&Value> {
        match self {
            Test::Answered | Test::Types(_) | Test::Same(_) | Test::Differ(_) => Vec::new(),
            Test::Status(pattern)
            | Test::Code(pattern)
            | Test::Message(pattern)
            | Test::Body(pattern)
            | Test::Text(pattern)
            | Test::ExactlyOne(pattern)
            | Test::NoEvent(pattern)
            | Test::Some(pattern)
            | Test::First(pattern)
            | Test::Last(pattern)
            | Test::Every(pattern)
            | Test::History(pattern)
            | Test::Value { is: pattern, .. } => vec![pattern],
            Test::Count { of, is } => vec![of, is],
            Test::Headers(patterns) | Test::Trailers(patterns) => patterns.values().collect(),
            Test::Order(patterns) => patterns.iter().collect(),
        }
    }

    /// Whether it judges a list of events.
    pub fn is_about_history(&self) -> bool {
        matches!(
            self,
            Test::Types(_)
                | Test::Order(_)
                | Test::ExactlyOne(_)
                | Test::NoEvent(_)
                | Test::Some(_)
                | Test::Count { .. }
                | Test::First(_)
                | Test::Last(_)
                | Test::Every(_)
                | Test::History(_)
        )
    }
}

/// Where a saved value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SavePath {
    /// Below the JSON body (or the reply message): `.a.b[0]`.
    Body(String),
    /// Status, headers and body together, and what comes below.
    Response(String),
    Status,
    Header(String),
    Events(String),
    Frames(String),
    Text,
}
