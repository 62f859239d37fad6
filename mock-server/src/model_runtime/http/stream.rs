//! How one reader reads the history of an execution.

use super::Context;
use crate::http::follow::{Next, Source};
use crate::model_runtime::machine::Store;
use crate::model_runtime::model::Event;
use crate::model_runtime::problem::Problem;
use crate::model_runtime::rules::streaming::Progress;
use crate::model_runtime::wire::{Document, Frame, Wire};
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

    /// The events of the next positions that follow the cursor, and how far the stream has come with them.
    async fn events(&mut self) -> (Vec<Arc<Event>>, Progress) {
        let rules = &self.context.runtime.rules;
        let (after, position, live) = (self.after, self.position, self.live);
        let look = |store: &Store| {
            let log = store.log(&self.execution_id);
            let progress = Progress { position, length: log.len(), newest: log.last().cloned(), live };
            let batch = (rules.streaming.batch)(&progress, BATCH);
            let taken = log.get(batch.clone()).unwrap_or_default();
            let events: Vec<_> = taken.iter().filter(|event| (rules.replay.follows)(after, event.sequence)).cloned().collect();
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
        let (events, progress) = self.events().await;
        let frames = events.iter().map(|event| self.frame(event)).collect();
        let runtime = &self.context.runtime;
        let next = if (runtime.rules.streaming.ends)(&progress) {
            Next::End
        } else if progress.position >= progress.length && !self.live {
            Next::Seam((runtime.seams.live)(&progress))
        } else if events.is_empty() && progress.position >= progress.length {
            Next::Wait
        } else {
            Next::More
        };
        (frames, next)
    }

    async fn go_live(&mut self) {
        self.live = true;
        let look = |store: &Store| {
            let log = store.log(&self.execution_id);
            Progress { position: self.position, length: log.len(), newest: log.last().cloned(), live: false }
        };
        let progress = self.context.runtime.show(look).await;
        self.position = (self.context.runtime.rules.streaming.live_from)(&progress);
    }

    fn left(&mut self) {
        let runtime = Arc::clone(&self.context.runtime);
        if (runtime.rules.streaming.leaving_cancels)() {
            let execution_id = self.execution_id.clone();
            self.context.runtime.spawn(async move {
                runtime.cancel(&execution_id).await;
            });
        }
    }
}
