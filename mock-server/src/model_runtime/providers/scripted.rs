//! A provider that does what the script in `extensions.proofmark` says; without a script it says the input back.

use super::{Provider, Tallies, Work};
use crate::model_runtime::model::{Manifest, Request};
use crate::model_runtime::problem::{Code, Fault};
use crate::model_runtime::runtime::Session;
use crate::model_runtime::script::{Stage, Step, habit, parse, perform};
use futures_util::future::FutureExt;

pub(crate) struct Scripted {
    manifest: Manifest,
    tallies: Tallies,
}

impl Scripted {
    pub(crate) fn new(manifest: Manifest, tallies: Tallies) -> Self {
        Self { manifest, tallies }
    }

    /// What it does without a script.
    fn habit(&self, request: &Request) -> Vec<Step> {
        let speaks = self.manifest.models.iter().any(|model| model.output_modalities.contains(&"text"));
        if speaks { habit::text(request) } else { habit::media() }
    }
}

impl Provider for Scripted {
    fn manifest(&self) -> Manifest {
        self.manifest.clone()
    }

    /// A deaf script is never told that it shall stop: it is not even asked whether it wants to know.
    fn run(&self, session: Session) -> Work {
        let habit = self.habit(&session.request);
        let tallies = self.tallies.clone();
        async move {
            // A mistake is told by its place, which has only names that the language knows.
            let script = parse(&session.request.extensions)
                .map_err(|mistake| Fault::new(Code::InvalidRequest, &format!("Invalid script: {mistake}"), false))?;
            if let Some(name) = &script.tally {
                tallies.started(name);
            }
            let steps = script.steps(session.attempt).unwrap_or(&habit);
            let mut stage = Stage { session: &session, tallies: &tallies };
            if script.deaf {
                return perform(&mut stage, steps).await.map(|_flow| ());
            }
            tokio::select! {
                biased;
                () = session.aborted() => Err(Fault::cancelled()),
                played = perform(&mut stage, steps) => played.map(|_flow| ()),
            }
        }
        .boxed()
    }
}
