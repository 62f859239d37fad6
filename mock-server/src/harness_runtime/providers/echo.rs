//! Providers that need no config: they say the input back in a few deltas, and succeed.

use super::{Provider, Work, manifest};
use crate::harness_runtime::model::{Manifest, Support, event};
use crate::harness_runtime::runtime::Session;
use futures_util::future::FutureExt;
use serde_json::json;
use std::time::Duration;

/// The input comes back in at most so many pieces.
const PIECES: usize = 4;
const PAUSE: Duration = Duration::from_millis(2);

pub(crate) struct Echo {
    manifest: Manifest,
    voice: fn(&str) -> String,
}

impl Echo {
    /// `mock-echo`: as it came.
    pub(crate) fn plain() -> Self {
        let capabilities = [
            ("artifact.list", Support::Native),
            ("conversation.continuity", Support::Native),
            ("event.replay", Support::Native),
            ("event.streaming", Support::Native),
            ("execution.cancel", Support::Native),
            ("extension.mcp", Support::Unsupported),
        ];
        Self { manifest: manifest("mock-echo", "Echo", &["embedded"], &capabilities), voice: str::to_owned }
    }

    /// `mock-loud`: in capitals.
    pub(crate) fn loud() -> Self {
        let capabilities = [
            ("artifact.list", Support::Native),
            ("event.replay", Support::Emulated),
            ("event.streaming", Support::Degraded),
            ("execution.cancel", Support::Emulated),
            ("extension.sandbox", Support::Unsupported),
        ];
        Self { manifest: manifest("mock-loud", "Loud echo", &["subprocess", "remote"], &capabilities), voice: str::to_uppercase }
    }
}

impl Provider for Echo {
    fn manifest(&self) -> Manifest {
        self.manifest.clone()
    }

    fn run(&self, session: Session) -> Work {
        let output = (self.voice)(&session.input);
        async move {
            tokio::select! {
                biased;
                reason = session.aborted() => Err(reason),
                said = say(&session, &output) => said.map(|()| Some(json!(output))),
            }
        }
        .boxed()
    }
}

async fn say(session: &Session, output: &str) -> Result<(), String> {
    for piece in pieces(output) {
        session.emit(event::DELTA, json!({ "text": piece })).await?;
        tokio::time::sleep(PAUSE).await;
    }
    Ok(())
}

/// Cuts a text between characters; an empty one is one empty piece.
fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let size = letters.len().div_ceil(PIECES).max(1);
    let pieces: Vec<String> = letters.chunks(size).map(|piece| piece.iter().collect()).collect();
    if pieces.is_empty() { vec![String::new()] } else { pieces }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_whole() {
        assert_eq!(pieces(""), [""]);
        assert_eq!(pieces("abc").concat(), "abc");
        let long = "x\u{1F600}".repeat(50);
        assert_eq!(pieces(&long).concat(), long);
        assert!(pieces(&long).len() <= PIECES);
    }
}
