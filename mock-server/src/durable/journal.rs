//! Where the records go that have to survive: to the writer of a store, or nowhere.

use super::{Keeping, Record, Writer};
use rusqlite::Connection;
use std::sync::Arc;

/// The way to the disk of one server. Without a store everything is settled at once.
#[derive(Clone)]
pub(crate) struct Journal<R>(Option<Arc<Kept<R>>>);

struct Kept<R> {
    writer: Writer<R>,
    keeping: Keeping<R>,
}

impl<R> Default for Journal<R> {
    fn default() -> Self {
        Self(None)
    }
}

impl<R: Record> Journal<R> {
    pub(crate) fn start(connection: Connection, keeping: Keeping<R>) -> std::io::Result<Self> {
        let linger = Arc::clone(&keeping.linger);
        let writer = Writer::start(connection, move || linger())?;
        Ok(Self(Some(Arc::new(Kept { writer, keeping }))))
    }

    pub(crate) fn is_kept(&self) -> bool {
        self.0.is_some()
    }

    /// Records that are written together, behind all that came before.
    pub(crate) fn submit(&self, records: Vec<R>) {
        if let Some(kept) = &self.0 {
            kept.writer.submit(records.into_iter().filter_map(|record| (kept.keeping.kept)(record)).collect());
        }
    }

    /// Waits until all that was submitted is durable.
    pub(crate) async fn settled(&self) {
        if let Some(kept) = self.0.as_ref().filter(|kept| (kept.keeping.waits)()) {
            kept.writer.settled().await;
        }
    }

    /// Waits until something cannot be written, and says why; for ever if that does not happen.
    pub(crate) async fn failed(&self) -> String {
        match &self.0 {
            Some(kept) => kept.writer.failed().await,
            None => std::future::pending().await,
        }
    }

    /// Writes what is left, and lets go of the store.
    pub(crate) async fn close(&self) {
        if let Some(kept) = &self.0 {
            kept.writer.close().await;
        }
    }
}
