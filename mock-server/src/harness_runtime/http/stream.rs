//! How one reader reads the history of an execution.

use super::Context;
use crate::harness_runtime::machine::{CancelRequest, Store};
use crate::harness_runtime::model::Event;
use crate::harness_runtime::problem::Problem;
use crate::harness_runtime::rules::replay::Reader;
use crate::harness_runtime::rules::streaming::Progress;
use crate::harness_runtime::wire::{Document, Frame, Wire};
use crate::http::follow::{Next, Source};
use std::sync::Arc;
use tokio::sync::watch;

/// How many events are taken from the log at once.
const BATCH: usize = 64;

pub(super) struct Reading {
    context: Context,
    execution_id: String,
    after: u64,
    bell: watch::Receiver<()>,
    position: usize,
    live: bool,
}

impl Reading {
    /// Counts as a reader from now on, before anything was read.
    pub(super) fn new(context: Context, execution_id: String, after: u64) -> Self {
        let bell = context.runtime.bell(&execution_id);
        Self { context, execution_id, after, bell, position: 0, live: false }
    }

    /// Waits until the stream may open.
    pub(super) async fn opened(&mut self) {
        loop {
            self.bell.mark_unchanged();
            if (self.context.runtime.seams.head)(&self.progress().await) || self.bell.changed().await.is_err() {
                return;
            }
        }
    }

    async fn progress(&self) -> Progress {
        let (after, position, live) = (self.after, self.position, self.live);
        let look = |store: &Store| {
            let log = store.log(&self.execution_id);
            let ended = store.execution(&self.execution_id).is_some_and(|execution| execution.state.is_terminal());
            Progress { position, length: log.len(), newest: log.last().cloned(), live, after, ended }
        };
        self.context.runtime.show(look).await
    }

    /// The events of the next positions that follow the cursor, and how far the stream has come with them.
    async fn events(&mut self) -> (Vec<Arc<Event>>, Progress) {
        let rules = &self.context.runtime.rules;
        let (after, position, live) = (self.after, self.position, self.live);
        let look = |store: &Store| {
            let log = store.log(&self.execution_id);
            let ended = store.execution(&self.execution_id).is_some_and(|execution| execution.state.is_terminal());
            let progress = Progress { position, length: log.len(), newest: log.last().cloned(), live, after, ended };
            let batch = (rules.streaming.batch)(&progress, BATCH);
            let taken = log.get(batch.clone()).unwrap_or_default();
            let follows = |event: &&Arc<Event>| (rules.replay.follows)(Reader::Stream, after, event.sequence);
            let events: Vec<_> = taken.iter().filter(follows).cloned().collect();
            (events, Progress { position: batch.end, ..progress })
        };
        let (events, progress) = self.context.runtime.show(look).await;
        self.position = progress.position;
        (events, progress)
    }

    fn frame(&self, event: &Event) -> Vec<u8> {
        let views = &self.context.runtime.rules.views;
        let wire = &self.context.wire;
        let document = (wire.document)(Document::Event, (views.event)(views, event));
        (wire.frame)(wire, &Frame { kind: event.kind.clone(), sequence: event.sequence, document })
    }
}

impl Source for Reading {
    type Document = Document;
    type Problem = Problem;

    fn wire(&self) -> &Wire {
        &self.context.wire
    }

    fn bell(&mut self) -> &mut watch::Receiver<()> {
        &mut self.bell
    }

    fn stopping(&self) -> watch::Receiver<bool> {
        self.context.stopping.clone()
    }

    async fn take(&mut self) -> (Vec<Vec<u8>>, Next) {
        let before = self.position;
        let (events, progress) = self.events().await;
        let frames = events.iter().map(|event| self.frame(event)).collect();
        let runtime = &self.context.runtime;
        let next = if (runtime.rules.streaming.ends)(&progress) {
            Next::End
        } else if progress.position >= progress.length && !self.live {
            Next::Seam((runtime.seams.live)(&progress))
        } else if progress.position == before {
            Next::Wait
        } else {
            Next::More
        };
        (frames, next)
    }

    async fn go_live(&mut self) {
        let progress = self.progress().await;
        self.live = true;
        self.position = (self.context.runtime.rules.streaming.live_from)(&progress);
    }

    fn left(&mut self) {
        let runtime = Arc::clone(&self.context.runtime);
        if (runtime.rules.streaming.leaving_cancels)() {
            let request = CancelRequest { execution_id: self.execution_id.clone(), reason: None };
            self.context.runtime.spawn(async move {
                // Whatever comes of it, nobody is there to hear.
                let _ = runtime.cancel(&request).await;
            });
        }
    }
}
