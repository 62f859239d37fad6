//! The event stream of one reader: reads a log by position and is merely woken, so that nothing is queued for who reads slowly.

use super::wire::{Refusal, Wire};
use crate::connections::stopped;
use axum::body::Bytes;
use futures_util::Stream;
use futures_util::stream;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::watch;

/// What comes after the frames that were taken.
pub(crate) enum Next {
    /// There may be more.
    More,
    /// The backlog has been passed; the live phase begins after the pause.
    Seam(Option<Duration>),
    /// Nothing until the bell rings.
    Wait,
    End,
}

/// A log that is read by one reader.
pub(crate) trait Source: Send + 'static {
    type Document: Copy;
    type Problem: Refusal;

    fn wire(&self) -> &Wire<Self::Document, Self::Problem>;

    /// Rings at every change of the log.
    fn bell(&mut self) -> &mut watch::Receiver<()>;

    /// True once the server stops: open streams end.
    fn stopping(&self) -> watch::Receiver<bool>;

    /// The next frames, a bounded batch of them.
    fn take(&mut self) -> impl Future<Output = (Vec<Vec<u8>>, Next)> + Send;

    /// The live phase begins.
    fn go_live(&mut self) -> impl Future<Output = ()> + Send;

    /// The reader went away before the end.
    fn left(&mut self);
}

pub(crate) struct Follow<S: Source> {
    source: S,
    opened: bool,
    /// Bytes of the batch at hand; never more than that.
    pieces: VecDeque<Bytes>,
    ended: bool,
}

impl<S: Source> Follow<S> {
    pub(crate) fn new(source: S) -> Self {
        Self { source, opened: false, pieces: VecDeque::new(), ended: false }
    }

    pub(crate) fn frames(self: Box<Self>) -> impl Stream<Item = Result<Bytes, Infallible>> + Send {
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
            let opening = (self.source.wire().opening)();
            self.send(opening);
            return;
        }
        self.source.bell().mark_unchanged();
        let (frames, next) = self.source.take().await;
        for frame in frames {
            self.send(frame);
        }
        match next {
            Next::More => {}
            Next::End => self.ended = true,
            Next::Wait => self.wait().await,
            Next::Seam(pause) => {
                if let Some(pause) = pause {
                    tokio::time::sleep(pause).await;
                }
                self.source.go_live().await;
            }
        }
    }

    /// Until something changed, the stream has been idle for too long, or the server stops.
    async fn wait(&mut self) {
        let idle = (self.source.wire().idle)();
        let pause = idle.as_ref().map(|(pause, _)| *pause);
        let stopping = self.source.stopping();
        tokio::select! {
            changed = self.source.bell().changed() => self.ended |= changed.is_err(),
            () = stopped(stopping) => self.ended = true,
            () = sleep(pause) => self.send(idle.map(|(_, words)| words).unwrap_or_default()),
        }
    }

    fn send(&mut self, bytes: Vec<u8>) {
        let wire = self.source.wire();
        let pieces = (wire.pieces)((wire.stream)(bytes)).into_iter().filter(|piece| !piece.is_empty());
        self.pieces.extend(pieces.map(Bytes::from));
    }
}

impl<S: Source> Drop for Follow<S> {
    fn drop(&mut self) {
        if !self.ended {
            self.source.left();
        }
    }
}

async fn sleep(pause: Option<Duration>) {
    match pause {
        Some(pause) => tokio::time::sleep(pause).await,
        None => std::future::pending().await,
    }
}
