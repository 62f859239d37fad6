//! `restart`: the target is brought down and up again by the commands of its profile. Sends nothing but the question whether it is there.

use super::super::case::Round;
use super::super::outcome::Stop;
use super::super::session::Session;
use crate::restart::{CommandProblem, Restart, Started, Way, run as command};
use crate::scenario::model::Step;
use crate::target::{self, Recognised};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// Between two looks at a target that comes or goes.
const PAUSE: Duration = Duration::from_millis(20);

pub async fn run(round: &mut Round<'_>, step: &Step, way: Way) -> Result<Value, Stop> {
    let session = round.session;
    let blocked = |problem: String| Stop::Blocked(format!("`{}` ({}): {problem}", step.label, step.at));
    let told = |problem: CommandProblem| blocked(problem.to_string());
    let restart = &session.restart;
    let (Some(down), Some(start)) = (restart.down(way), &restart.start) else {
        return Err(Stop::Errored(format!("`{}` ({}) was planned without its commands", step.label, step.at)));
    };
    session.restarts();
    command(down, session.settings.wait_ready).await.map_err(told)?;
    gone(session).await.map_err(blocked)?;
    session.foreground.set(Started::new(start).map_err(told)?);
    back(session, restart).await.map_err(blocked)?;
    Ok(json!({ "answered": true }))
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

/// Waits until the target is ready, by its own command if there is one, and answers.
async fn back(session: &Arc<Session>, restart: &Restart) -> Result<(), String> {
    let bound = session.settings.wait_ready;
    let deadline = Instant::now() + bound;
    let late = |what: &str| format!("the target {what} within {bound:?} (--wait-ready) after its start{}", session.foreground.said());
    if let Some(ready) = &restart.ready {
        while let Err(problem) = command(ready, deadline.saturating_duration_since(Instant::now()).max(PAUSE)).await {
            session.foreground.look().map_err(|problem| problem.to_string())?;
            if Instant::now() >= deadline || matches!(problem, CommandProblem::NotStarted { .. }) {
                return Err(format!("{}; the last look: {problem}", late("was not ready")));
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
        session.foreground.look().map_err(|problem| problem.to_string())?;
        if Instant::now() >= deadline {
            let (Recognised::Silent(reason) | Recognised::No(reason)) = seen else { return Ok(()) };
            return Err(format!("{}; the last look: {reason}", late("did not answer")));
        }
        sleep(PAUSE).await;
    }
}
