//! A whole run against one target: every planned case within the bounds, then the final sweep.

use super::case;
use super::outcome::CaseResult;
use super::session::{Session, is_whole};
use super::settings::Random;
use super::steps::follow::{param_of, to_the_end};
use crate::plan::{Case, Decision};
use crate::recorder::About;
use crate::scenario::operations::Executions;
use futures_util::stream::{self, StreamExt as _};
use proofmark_reports::model::{Abort, AbortKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

/// Told about each case as it ends, for progress.
pub trait Progress: Send + Sync {
    fn planned(&self, cases: usize);
    fn ended(&self, path: &str);
    fn sweeping(&self, executions: usize);
}

/// Nobody watches.
pub struct Silent;

impl Progress for Silent {
    fn planned(&self, _cases: usize) {}
    fn ended(&self, _path: &str) {}
    fn sweeping(&self, _executions: usize) {}
}

pub struct Ran {
    pub results: BTreeMap<Arc<str>, CaseResult>,
    pub aborted: Option<Abort>,
}

/// Runs the cases that the plan decided to run: first all that may run at once, then the exclusive ones.
pub async fn run(session: &Arc<Session>, cases: &[Case], progress: &dyn Progress) -> Ran {
    let deadline = Instant::now() + session.settings.deadline;
    // The place in the plan, not in the shuffled order, is the case's stream of random numbers.
    let mut due: Vec<(u64, Case)> = (0..).zip(cases.iter().cloned()).filter(|(_, case)| case.decision == Decision::Run).collect();
    progress.planned(due.len());
    Random::new(session.settings.seed, 0).shuffle(&mut due);
    // What needs much of the budget goes first: it would have to wait for all others later, and they for it.
    due.sort_by_key(|(_, case)| std::cmp::Reverse(case.executions as u64 * u64::from(case.scenario.rounds)));
    let (alone, shared): (Vec<_>, Vec<_>) = due.into_iter().partition(|(_, case)| case.scenario.exclusive);
    let mut ran = Ran { results: BTreeMap::new(), aborted: None };
    for (batch, jobs) in [(shared, session.settings.jobs.max(1)), (alone, 1)] {
        if ran.aborted.is_none() {
            ran.aborted = run_batch(session, batch, jobs, deadline, progress, &mut ran.results).await;
        }
    }
    if ran.aborted.is_none() && timeout_at(deadline, sweep(session, progress)).await.is_err() {
        ran.aborted = Some(past_deadline(session));
    }
    ran
}

async fn run_batch(
    session: &Arc<Session>,
    batch: Vec<(u64, Case)>,
    jobs: usize,
    deadline: Instant,
    progress: &dyn Progress,
    results: &mut BTreeMap<Arc<str>, CaseResult>,
) -> Option<Abort> {
    let mut waiting = batch.into_iter();
    let mut running: JoinSet<CaseResult> = JoinSet::new();
    let mut paths: BTreeMap<tokio::task::Id, Arc<str>> = BTreeMap::new();
    loop {
        while running.len() < jobs
            && let Some((stream, case)) = waiting.next()
        {
            let (session, path) = (session.clone(), case.path.clone());
            let handle = running.spawn(async move { case::run(&session, &case, stream).await });
            paths.insert(handle.id(), path);
        }
        let ended = match timeout_at(deadline, running.join_next_with_id()).await {
            Err(_) => return Some(past_deadline(session)),
            Ok(None) => return None,
            Ok(Some(ended)) => ended,
        };
        let result = match ended {
            Ok((_, result)) => result,
            Err(error) => panicked(paths.get(&error.id()).cloned().unwrap_or_else(|| "?".into()), &error.to_string()),
        };
        progress.ended(&result.path);
        results.insert(result.path.clone(), result);
        if session.is_silent() && !is_there(session).await {
            let reason = format!("it answered at first and then left request after request unanswered; {} cases had ended", results.len());
            return Some(Abort { kind: AbortKind::StoppedAnswering, reason });
        }
    }
}

fn panicked(path: Arc<str>, problem: &str) -> CaseResult {
    CaseResult {
        path,
        evaluations: Vec::new(),
        blocked: None,
        errored: Some(format!("the kit itself failed: {problem}")),
        notes: Vec::new(),
        duration: std::time::Duration::ZERO,
    }
}

fn past_deadline(session: &Session) -> Abort {
    Abort { kind: AbortKind::Deadline, reason: format!("the run's bound of {:?} (--deadline) came first", session.settings.deadline) }
}

/// Whether the target still answers anything at all.
async fn is_there(session: &Session) -> bool {
    let Some((name, _)) = &session.catalogue.operations.detect else { return true };
    let Some(operation) = session.catalogue.operations.by_name.get(name) else { return true };
    let ask = session.ask(name, operation, &BTreeMap::new(), &BTreeMap::new());
    let about =
        About { case: format!("{}/discovery", session.catalogue.contract).into(), step: "still there?".to_owned(), ..About::default() };
    let answered = timeout(session.settings.timeout, session.send(&ask, &about, None, true)).await;
    let there = answered.is_ok_and(|exchange| is_whole(&exchange.reply));
    if there {
        session.was_heard();
    }
    there
}

/// Reads everything the run started once more: what must not have happened did not happen later either.
pub async fn sweep(session: &Arc<Session>, progress: &dyn Progress) {
    let Some(executions) = &session.catalogue.operations.executions else { return };
    let started = session.started();
    progress.sweeping(started.len());
    stream::iter(started).for_each_concurrent(session.settings.jobs.max(1), |(id, _)| sweep_one(session, executions, id)).await;
}

async fn sweep_one(session: &Arc<Session>, executions: &Executions, id: String) {
    for name in &executions.sweep {
        let Some(operation) = session.catalogue.operations.by_name.get(name) else { continue };
        let params: BTreeMap<String, String> = [(param_of(&operation.path), id.clone())].into();
        let ask = session.ask(name, operation, &params, &BTreeMap::new());
        let about = About {
            case: format!("{}/sweep", session.catalogue.contract).into(),
            step: format!("sweep {name}"),
            operation: Some(name.clone()),
            params,
            ..About::default()
        };
        if operation.stream.is_some() {
            to_the_end(session, executions, &ask, &about).await;
        } else {
            session.read(&ask, &about).await;
        }
    }
}
