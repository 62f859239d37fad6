//! The event stream of one reader: reads the log by position and is merely woken, so that nothing is queued for who reads slowly.

use super::Context;
use crate::connections::stopped;
use crate::harness_runtime::machine::{CancelRequest, Store};
use crate::harness_runtime::model::Event;
use crate::harness_runtime::rules::replay::Reader;
use crate::harness_runtime::rules::streaming::Progress;
use crate::harness_runtime::wire::Frame;
use axum::body::Bytes;
use futures_util::Stream;
use futures_util::stream;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// How many events are taken from the log at once.
const BATCH: usize = 64;

pub(super) struct Follow {
    context: Context,
    execution_id: String,
    after: u64,
    bell: watch::Receiver<()>,
    position: usize,
    live: bool,
    opened: bool,
    /// Bytes of the batch at hand; never more than that.
    pieces: VecDeque<Bytes>,
    ended: bool,
}

impl Follow {
    /// Counts as a reader from now on, before anything was read.
    pub(super) fn new(context: Context, execution_id: String, after: u64) -> Self {
        let bell = context.runtime.bell(&execution_id);
        Self { context, execution_id, after, bell, position: 0, live: false, opened: false, pieces: VecDeque::new(), ended: false }
    }

    pub(super) fn frames(self: Box<Self>) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
        stream::unfold(self, |mut follow| async move { follow.next().await.map(|piece| (Ok(piece), follow)) })
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if let Some(piece) = self.pieces.pop_front() {
                return Some(piece);
            }
            if self.ended {
                return None;
            }
            self.advance().await;
        }
    }

    /// One step: the opening, the next batch, the end, the seam between backlog and live phase, or a wait.
    async fn advance(&mut self) {
        if !self.opened {
            self.opened = true;
            let opening = (self.context.wire.opening)();
            self.send(opening);
            return;
        }
        self.bell.mark_unchanged();
        let (events, progress) = self.take().await;
        for event in &events {
            self.frame(event);
        }
        let rules = &self.context.runtime.rules.streaming;
        if (rules.ends)(&progress) {
            self.ended = true;
        } else if progress.position >= progress.length && !self.live {
            self.pass_seam(&progress).await;
        } else if events.is_empty() && progress.position >= progress.length {
            self.wait().await;
        }
    }

    /// The events of the next positions that follow the cursor, and how far the stream has come with them.
    async fn take(&mut self) -> (Vec<Arc<Event>>, Progress) {
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

    async fn pass_seam(&mut self, progress: &Progress) {
        self.live = true;
        if let Some(pause) = (self.context.runtime.seams.live)(progress) {
            tokio::time::sleep(pause).await;
        }
        let look = |store: &Store| {
            let log = store.log(&self.execution_id);
            Progress { length: log.len(), newest: log.last().cloned(), ..progress.clone() }
        };
        let progress = self.context.runtime.show(look).await;
        self.position = (self.context.runtime.rules.streaming.live_from)(&progress);
    }

    /// Until something changed, the stream has been idle for too long, or the server stops.
    async fn wait(&mut self) {
        let idle = (self.context.wire.idle)();
        let pause = idle.as_ref().map(|(pause, _)| *pause);
        tokio::select! {
            changed = self.bell.changed() => self.ended |= changed.is_err(),
            () = stopped(self.context.stopping.clone()) => self.ended = true,
            () = sleep(pause) => self.send(idle.map(|(_, words)| words).unwrap_or_default()),
        }
    }

    fn frame(&mut self, event: &Event) {
        let views = &self.context.runtime.rules.views;
        let wire = Arc::clone(&self.context.wire);
        let document = (wire.document)(crate::harness_runtime::wire::Document::Event, (views.event)(views, event));
        let frame = Frame { kind: event.kind.clone(), sequence: event.sequence, document };
        self.send((wire.frame)(&wire, &frame));
    }

    fn send(&mut self, bytes: Vec<u8>) {
        let wire = &self.context.wire;
        let pieces = (wire.pieces)((wire.stream)(bytes)).into_iter().filter(|piece| !piece.is_empty());
        self.pieces.extend(pieces.map(Bytes::from));
    }
}

impl Drop for Follow {
    fn drop(&mut self) {
        let runtime = Arc::clone(&self.context.runtime);
        if !self.ended && (runtime.rules.streaming.leaving_cancels)() {
            let request = CancelRequest { execution_id: self.execution_id.clone(), reason: None };
            self.context.runtime.spawn(async move {
                // Whatever comes of it, nobody is there to hear.
                let _ = runtime.cancel(&request).await;
            });
        }
    }
}

async fn sleep(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}
