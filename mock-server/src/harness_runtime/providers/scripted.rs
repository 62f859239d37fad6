//! Providers that do what a script in `config` says; without a script they echo the input.

use super::{Provider, Tallies, Work, manifest};
use crate::harness_runtime::model::{Manifest, Support};
use crate::harness_runtime::runtime::Session;
use crate::harness_runtime::script::{Echo, Flow, Script, Stage, Step, parse, perform};
use futures_util::future::{BoxFuture, FutureExt};
use serde_json::{Value, json};

pub(crate) struct Scripted {
    manifest: Manifest,
    tallies: Tallies,
    attended: bool,
}

impl Scripted {
    /// `scripted`: can do everything a script can say.
    pub(crate) fn attended(tallies: Tallies) -> Self {
        let capabilities = [
            ("action.approval", Support::Native),
            ("action.input", Support::Native),
            ("artifact.list", Support::Native),
            ("conversation.continuity", Support::Emulated),
            ("event.replay", Support::Native),
            ("event.streaming", Support::Native),
            ("execution.cancel", Support::Native),
            ("extension.mcp", Support::Degraded),
            ("extension.sandbox", Support::Unsupported),
        ];
        Self { manifest: manifest("scripted", "Scripted", &["embedded"], &capabilities), tallies, attended: true }
    }

    /// `scripted-unattended`: the same without approvals.
    pub(crate) fn unattended(tallies: Tallies) -> Self {
        let capabilities = [
            ("action.input", Support::Degraded),
            ("artifact.list", Support::Native),
            ("event.replay", Support::Native),
            ("event.streaming", Support::Native),
            ("execution.cancel", Support::Native),
            ("extension.subagents", Support::Unsupported),
        ];
        Self { manifest: manifest("scripted-unattended", "Scripted, unattended", &["embedded"], &capabilities), tallies, attended: false }
    }
}

impl Provider for Scripted {
    fn manifest(&self) -> Manifest {
        self.manifest.clone()
    }

    fn run(&self, session: Session) -> Work {
        let (tallies, attended) = (self.tallies.clone(), self.attended);
        async move {
            let script = read(&session)?;
            if let Some(name) = &script.tally {
                tallies.started(name);
            }
            if script.deaf {
                return play(&session, &tallies, attended, &script).await;
            }
            tokio::select! {
                biased;
                reason = session.aborted() => Err(reason),
                output = play(&session, &tallies, attended, &script) => output,
            }
        }
        .boxed()
    }

    fn clean_up(&self, session: Session) -> BoxFuture<'static, Result<(), String>> {
        let (tallies, attended) = (self.tallies.clone(), self.attended);
        async move {
            let script = read(&session)?;
            if let Some(name) = &script.tally {
                tallies.cleaned_up(name);
            }
            let mut stage = stage(&session, &tallies, attended);
            perform(&mut stage, &script.cleanup).await.map(|_flow| ())
        }
        .boxed()
    }
}

fn read(session: &Session) -> Result<Script, String> {
    parse(&session.config).map_err(|mistake| format!("Invalid script: {mistake}"))
}

fn stage<'a>(session: &'a Session, tallies: &'a Tallies, attended: bool) -> Stage<'a> {
    Stage { session, tallies, attended, said: String::new(), answer: Value::Null }
}

/// The output is what the script returns, otherwise everything it said.
async fn play(session: &Session, tallies: &Tallies, attended: bool, script: &Script) -> Result<Option<Value>, String> {
    let echo = [Step::Echo(Echo::Input)];
    let mut stage = stage(session, tallies, attended);
    match perform(&mut stage, script.steps.as_deref().unwrap_or(&echo)).await? {
        Flow::Return(output) => Ok(Some(output)),
        Flow::GoOn => Ok(Some(json!(stage.said))),
    }
}
