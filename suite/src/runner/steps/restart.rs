//! `restart`: the target is brought down and up again by the commands of its profile. Sends nothing but the question whether it is there.

use super::super::case::Round;
use super::super::outcome::Stop;
use super::super::session::Session;
use crate::restart::{CommandProblem, Started, Way, run as command};
use crate::scenario::model::Step;
use crate::target::{self, Recognised};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Between two looks at a target that comes or goes.
const PAUSE: Duration = Duration::from_millis(20);
/// Before a start that failed is tried again.
const AGAIN: Duration = Duration::from_millis(200);

pub async fn run(round: &mut Round<'_>, step: &Step, way: Way) -> Result<Value, Stop> {
    let session = round.session;
    let (Some(down), Some(start)) = (session.restart.down(way), &session.restart.start) else {
        return Err(Stop::Errored(format!("`{}` ({}) was planned without its commands", step.label, step.at)));
    };
    session.goes_down();
    let problem = restarted(session, down, start).await.err().map(|problem| format!("`{}` ({}): {problem}", step.label, step.at));
    session.came_up(problem.as_deref());
    problem.map_or_else(|| Ok(json!({ "answered": true })), |problem| Err(Stop::Blocked(problem)))
}

async fn restarted(session: &Arc<Session>, down: &[String], start: &[String]) -> Result<(), String> {
    command(down, session.settings.wait_ready).await.map_err(|problem| problem.to_string())?;
    gone(session).await?;
    let deadline = Instant::now() + session.settings.wait_ready;
    loop {
        let started = Started::new(start).map_err(|problem| problem.to_string())?;
        session.foreground.set(started);
        match back(session, deadline).await {
            // The process that was brought down may still hold what this one needs: its port, its store.
            Err(Fall::Ended(_)) if Instant::now() + AGAIN < deadline => sleep(AGAIN).await,
            Err(Fall::Ended(problem) | Fall::Late(problem)) => return Err(problem),
            Ok(()) => return Ok(()),
        }
    }
}

/// Waits until the target answers no more: a command may return before the process has ended.
async fn gone(session: &Arc<Session>) -> Result<(), String> {
    let bound = session.settings.wait_ready;
    let deadline = Instant::now() + bound;
    while !matches!(target::look(session).await, Recognised::Silent(_)) {
        if Instant::now() >= deadline {
            return Err(format!("the target still answered {bound:?} (--wait-ready) after it was brought down"));
        }
        sleep(PAUSE).await;
    }
    Ok(())
}

/// Why a start did not bring the target back.
enum Fall {
    /// The command has ended, and not well.
    Ended(String),
    /// It runs or has ended well, and the target does not answer within the bound.
    Late(String),
}

/// Waits until the target is ready, by its own command if there is one, and answers.
async fn back(session: &Arc<Session>, deadline: Instant) -> Result<(), Fall> {
    let bound = session.settings.wait_ready;
    let late = |what: &str, last: &str| {
        let said = session.foreground.said();
        Fall::Late(format!("the target {what} within {bound:?} (--wait-ready) after its start{said}; the last look: {last}"))
    };
    let ended = || session.foreground.look().map_err(|problem| Fall::Ended(problem.to_string()));
    if let Some(ready) = &session.restart.ready {
        while let Err(problem) = command(ready, deadline.saturating_duration_since(Instant::now()).max(PAUSE)).await {
            ended()?;
            if Instant::now() >= deadline || matches!(problem, CommandProblem::NotStarted { .. }) {
                return Err(late("was not ready", &problem.to_string()));
            }
            sleep(PAUSE).await;
        }
    }
    loop {
        let seen = target::look(session).await;
        if let Recognised::Yes(_) = seen {
            session.was_heard();
            return Ok(());
        }
        ended()?;
        if Instant::now() >= deadline {
            let (Recognised::Silent(reason) | Recognised::No(reason)) = seen else { return Ok(()) };
            return Err(late("did not answer", &reason));
        }
        sleep(PAUSE).await;
    }
}
