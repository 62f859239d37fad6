//! Runs one case: its rounds, its steps, their expectations. How a kind of step talks to the target is in `steps`.

use super::outcome::{CaseResult, Evaluation, Stop};
use super::session::{Patience, Session};
use super::settings::Random;
use super::steps;
use crate::drivers::http::Gate;
use crate::judge::evaluate::{Verdict, evaluate};
use crate::plan::Case;
use crate::scenario::fill::{FillError, Scope};
use crate::scenario::model::{Action, Expectation, SavePath, Step};
use crate::scenario::node::Place;
use crate::scenario::{fill, model};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::Barrier;

/// The longest jitter of a branch in a race.
const JITTER_US: u64 = 1_500;

/// Why a case that a busy target turned away again and again shows nothing.
pub const BUSY: &str = "the target stayed busy (a lower --in-flight asks less of it)";

/// One round of a case while it runs.
pub struct Round<'a> {
    pub session: &'a Arc<Session>,
    pub case: Arc<str>,
    pub scope: Arc<Scope>,
    pub random: Arc<Mutex<Random>>,
    /// Set in the branches of a race until the first request passes it.
    pub gate: Option<Gate>,
    pub evaluations: Vec<Evaluation>,
    pub notes: Vec<String>,
}

/// Runs all rounds of `case`; the first one that breaks or blocks ends it. A round in which the target accepted an execution and ended it
/// for lack of room says nothing of what the round is about: it is run again, as a request is sent again that a busy target refused.
pub async fn run(session: &Arc<Session>, case: &Case, stream: u64) -> CaseResult {
    let started = Instant::now();
    let mut result = CaseResult {
        path: case.path.clone(),
        evaluations: Vec::new(),
        blocked: None,
        errored: None,
        notes: Vec::new(),
        duration: Duration::ZERO,
    };
    let permits = u32::try_from(case.executions.min(session.settings.in_flight)).unwrap_or(1);
    let permit = session.budget.clone().acquire_many_owned(permits).await;
    let mut patience = Patience::new(session.settings.timeout);
    let mut number = 0;
    let mut tries = 0;
    while number < case.scenario.rounds {
        let (turned_away, judged) = (session.turned_away(&case.path), result.evaluations.len());
        let mut stop = round(session, case, stream, Turn { number, again: tries }, &mut result).await;
        steps::tidy::after(session, &case.path).await;
        if session.turned_away(&case.path) > turned_away {
            result.evaluations.truncate(judged);
            if patience.wait().await {
                tries += 1;
                continue;
            }
            stop = Err(Stop::Blocked(BUSY.to_owned()));
        }
        number += 1;
        let broken = result.evaluations.iter().any(|e| matches!(e.verdict, Verdict::Broken(_)));
        match stop {
            Err(Stop::Blocked(reason)) => result.blocked = Some(reason),
            Err(Stop::Errored(reason)) => result.errored = Some(reason),
            Ok(()) if !broken => continue,
            Ok(()) => {}
        }
        break;
    }
    if result.blocked.is_some() {
        withdraw(&case.scenario.steps, &mut result.evaluations);
    }
    drop(permit);
    result.duration = started.elapsed();
    result
}

/// A rule of which the case would have looked at more, had it come to its end, is not credited for the part that was seen.
fn withdraw(steps: &[Step], evaluations: &mut [Evaluation]) {
    let judged: BTreeSet<(String, Option<Place>)> = evaluations.iter().map(|e| (e.rule.clone(), e.at.clone())).collect();
    let mut owned = Vec::new();
    expectations(steps, &mut owned);
    let open = |e: &&&Expectation| !judged.contains(&(e.rule.clone(), Some(e.at.clone())));
    let open: BTreeSet<&str> = owned.iter().filter(open).map(|e| e.rule.as_str()).collect();
    for evaluation in evaluations.iter_mut().filter(|e| !e.given && open.contains(e.rule.as_str())) {
        if matches!(evaluation.verdict, Verdict::Held { .. }) {
            evaluation.verdict = Verdict::Unseen("the case ended before all of it was looked at".to_owned());
        }
    }
}

fn expectations<'a>(steps: &'a [Step], found: &mut Vec<&'a Expectation>) {
    for step in steps.iter().filter(|step| !step.given) {
        found.extend(&step.expect);
        if let Action::Together(branches) = &step.action {
            branches.iter().for_each(|branch| expectations(branch, found));
        }
    }
}

/// Which round, and how often it was run before because the target was busy.
#[derive(Clone, Copy)]
struct Turn {
    number: u32,
    again: u32,
}

async fn round(session: &Arc<Session>, case: &Case, stream: u64, turn: Turn, result: &mut CaseResult) -> Result<(), Stop> {
    let Turn { number, again } = turn;
    // Keys of a round that is run again are new ones, too.
    let again = if again > 0 { format!("-{again}") } else { String::new() };
    let prefix = format!("pm-{}-{stream}-{number}{again}", session.settings.nonce);
    let mut values: BTreeMap<String, Value> = BTreeMap::new();
    values.insert("stimulus".to_owned(), json!(session.stimuli));
    values.insert("fact".to_owned(), json!(session.facts));
    values.insert("tally".to_owned(), json!(format!("{prefix}-tally")));
    let stream = stream.wrapping_mul(1000) + u64::from(number);
    // Drawn apart, so that what a case draws otherwise does not depend on it.
    values.insert("interleaving".to_owned(), super::interleaving::draw(&mut Random::new(!session.settings.seed, stream)));
    let scope = Arc::new(Scope::new(prefix, values));
    // The profile's own `${...}` and the case's values are filled in once a round, so that they stay the same within it.
    for (name, template) in [("stimulus", json!(session.stimuli)), ("case", case.values.clone())] {
        scope.set(name, scope.fill(&template).map_err(|e| filled(&e))?);
    }
    for (name, template) in &case.scenario.vars {
        scope.set(name, scope.fill(template).map_err(|e| filled(&e))?);
    }
    let random = Random::new(session.settings.seed, stream);
    let mut round = Round {
        session,
        case: case.path.clone(),
        scope,
        random: Arc::new(Mutex::new(random)),
        gate: None,
        evaluations: Vec::new(),
        notes: Vec::new(),
    };
    let stop = round.steps(&case.scenario.steps).await;
    result.evaluations.append(&mut round.evaluations);
    result.notes.append(&mut round.notes);
    stop
}

pub fn filled(error: &FillError) -> Stop {
    match error {
        FillError::Missing(name) => Stop::Blocked(format!("`{name}` was not in what came before")),
        FillError::Unfit(..) => Stop::Blocked(error.to_string()),
        FillError::Malformed(..) | FillError::Open(_) => Stop::Errored(error.to_string()),
    }
}

type Future<'f, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'f>>;

impl Round<'_> {
    /// Boxed: preambles and branches nest.
    pub fn steps<'f>(&'f mut self, steps: &'f [Step]) -> Future<'f, Result<(), Stop>> {
        Box::pin(async move {
            for step in steps {
                self.step(step).await?;
            }
            Ok(())
        })
    }

    async fn step(&mut self, step: &Step) -> Result<(), Stop> {
        let result = match &step.action {
            Action::Preamble { with, steps } => {
                for (name, template) in with {
                    let value = self.scope.fill(template).map_err(|e| filled(&e))?;
                    self.scope.set(name, value);
                }
                return self.steps(steps).await;
            }
            Action::Together(branches) => self.together(branches).await?,
            Action::Check => json!({ "answered": true }),
            Action::Call(call) => steps::call::run(self, step, call).await?,
            Action::Await { call, until } => steps::waiting::run(self, step, call, until).await?,
            Action::Raw { bytes } => steps::raw::run(self, step, bytes).await?,
            Action::Follow(follow) => steps::follow::run(self, step, follow).await?,
            Action::Grpc(call) => steps::grpc::run(self, step, call).await?,
            Action::Restart(way) => steps::restart::run(self, step, *way).await?,
            Action::Generate { name, with } => steps::generate::run(self, step, name, with).await?,
        };
        self.judge(step, &result)?;
        self.save(step, &result)
    }

    /// Judges the expectations of a step; a given one that does not hold ends the case.
    fn judge(&mut self, step: &Step, result: &Value) -> Result<(), Stop> {
        if self.stayed_busy(step, result) {
            for expectation in &step.expect {
                self.evaluated(expectation, Verdict::Unseen(BUSY.to_owned()), result, step.given);
            }
            return Err(Stop::Blocked(format!("`{}` ({}): {BUSY}", step.label, step.at)));
        }
        let mut failed = None;
        // What a step saves may be named by its own expectations.
        let _ = self.save(step, result);
        for expectation in &step.expect {
            let verdict = evaluate(expectation, result, &self.scope).map_err(|e| filled(&e))?;
            if step.given && !matches!(verdict, Verdict::Held { .. }) {
                failed.get_or_insert_with(|| format!("`{}` ({}) did not lead there: {}", step.label, step.at, why(&verdict)));
            }
            self.evaluated(expectation, verdict, result, step.given);
        }
        if step.given && step.expect.is_empty() {
            failed = failed.or(self.judge_success(step, result)?);
        }
        match failed {
            Some(reason) => Err(Stop::Blocked(reason)),
            None => Ok(()),
        }
    }

    /// Whether the target was busy for as long as the kit has patience: that says nothing of what the step is about.
    fn stayed_busy(&self, step: &Step, result: &Value) -> bool {
        let status = result["status"].as_u64().and_then(|status| u16::try_from(status).ok());
        status.is_some_and(|status| self.session.says_busy(status, &result["body"])) && !steps::call::expects_busy(step)
    }

    /// A `given` operation without expectations of its own must succeed, under the rule of the operation.
    fn judge_success(&mut self, step: &Step, result: &Value) -> Result<Option<String>, Stop> {
        let operation = match &step.action {
            Action::Call(call) => &call.operation,
            Action::Grpc(call) => &call.method,
            _ => return Ok(None),
        };
        let Some(operation) = self.session.catalogue.operations.by_name.get(operation) else { return Ok(None) };
        let grpc = matches!(step.action, Action::Grpc(_));
        let status = operation.success.status.clone();
        let expectation = Expectation {
            rule: operation.success.rule.clone(),
            at: step.at.clone(),
            subject: model::Subject::Step,
            when: None,
            tests: vec![if grpc { model::Test::Code(status) } else { model::Test::Status(status) }],
        };
        let verdict = evaluate(&expectation, result, &self.scope).map_err(|e| filled(&e))?;
        let held = matches!(verdict, Verdict::Held { .. });
        let reason = (!held).then(|| format!("`{}` ({}) did not succeed: {}", step.label, step.at, why(&verdict)));
        self.evaluated(&expectation, verdict, result, true);
        Ok(reason)
    }

    fn evaluated(&mut self, expectation: &Expectation, verdict: Verdict, result: &Value, given: bool) {
        let exchanges = result["exchanges"].as_array().map(|ids| ids.iter().filter_map(Value::as_u64).collect()).unwrap_or_default();
        self.evaluations.push(Evaluation { rule: expectation.rule.clone(), at: Some(expectation.at.clone()), verdict, exchanges, given });
    }

    fn save(&self, step: &Step, result: &Value) -> Result<(), Stop> {
        for (name, path) in &step.save {
            let (root, below) = match path {
                SavePath::Body(below) => (&result["body"], below.as_str()),
                SavePath::Response(below) => (result, below.as_str()),
                SavePath::Status => (&result["status"], ""),
                SavePath::Header(name) => (&result["headers"][name], ""),
                SavePath::Events(below) => (&result["events"], below.as_str()),
                SavePath::Frames(below) => (&result["frames"], below.as_str()),
                SavePath::Text => (&result["text"], ""),
            };
            let found = fill::walk(root, below).filter(|value| !value.is_null() || matches!(path, SavePath::Body(_)));
            let Some(value) = found else {
                let reason = result["reason"].as_str().map(|r| format!(": {r}")).unwrap_or_default();
                return Err(Stop::Blocked(format!("`{}` ({}) brought nothing to save as `{name}`{reason}", step.label, step.at)));
            };
            self.scope.set(name, value.clone());
        }
        Ok(())
    }

    /// Branches wait at a barrier (with the last byte of their first request), then go at once.
    async fn together(&mut self, branches: &[Vec<Step>]) -> Result<Value, Stop> {
        let barrier = Arc::new(Barrier::new(branches.len()));
        let mut rounds: Vec<Round> = Vec::new();
        for _ in branches {
            let jitter = {
                let mut random = self.random.lock().expect("no panic while holding it");
                if random.below(2) == 0 { 0 } else { random.below(JITTER_US) }
            };
            rounds.push(Round {
                session: self.session,
                case: self.case.clone(),
                scope: self.scope.clone(),
                random: self.random.clone(),
                gate: Some(Gate { barrier: barrier.clone(), jitter: Duration::from_micros(jitter) }),
                evaluations: Vec::new(),
                notes: Vec::new(),
            });
        }
        let runs = rounds.iter_mut().zip(branches).map(|(round, steps)| round.steps(steps));
        let stops = futures_util::future::join_all(runs).await;
        let mut exchanges: Vec<Value> = Vec::new();
        for round in rounds {
            exchanges.extend(round.evaluations.iter().flat_map(|e| e.exchanges.iter().map(|id| json!(id))));
            self.evaluations.extend(round.evaluations);
            self.notes.extend(round.notes);
        }
        stops.into_iter().collect::<Result<Vec<()>, Stop>>()?;
        Ok(json!({ "answered": true, "exchanges": exchanges }))
    }
}

fn why(verdict: &Verdict) -> String {
    match verdict {
        Verdict::Held { .. } => "held".to_owned(),
        Verdict::Unseen(reason) => reason.clone(),
        Verdict::Broken(mismatches) => {
            let shown: Vec<String> = mismatches.iter().map(|m| format!("{} expected {}, got {}", m.path, m.expected, m.actual)).collect();
            shown.join("; ")
        }
    }
}
