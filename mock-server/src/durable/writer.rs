//! The one thread that writes: whatever waits when it looks becomes one transaction, so that many callers share one wait for the disk.

use crate::lock::lock;
use rusqlite::{Connection, Transaction};
use std::sync::{Mutex, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::watch;

/// Something that a store keeps.
pub(crate) trait Record: Send + 'static {
    fn write(&self, transaction: &Transaction) -> rusqlite::Result<()>;
}

/// So many submissions become one transaction at the most.
const MOST: usize = 1024;

/// How far the thread has come.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// The number of the last submission that is on disk.
    durable: u64,
    /// Why nothing is written any more.
    failure: Option<String>,
}

struct Submission<R> {
    number: u64,
    records: Vec<R>,
}

struct Line<R> {
    /// Of the last submission.
    number: u64,
    /// `None` once closed.
    sender: Option<mpsc::Sender<Submission<R>>>,
    thread: Option<JoinHandle<()>>,
}

/// Takes records in the order in which they are to be written.
pub(crate) struct Writer<R> {
    line: Mutex<Line<R>>,
    progress: watch::Receiver<Progress>,
}

impl<R: Record> Writer<R> {
    /// Starts the thread. `linger`: how long it waits before it takes what waits.
    pub(crate) fn start(connection: Connection, linger: impl Fn() -> Duration + Send + 'static) -> std::io::Result<Self> {
        let (sender, receiver) = mpsc::channel();
        let (told, progress) = watch::channel(Progress::default());
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn(move || write(connection, &receiver, &told, &linger))?;
        Ok(Self { line: Mutex::new(Line { number: 0, sender: Some(sender), thread: Some(thread) }), progress })
    }

    /// Puts records in line; they are written together or not at all. What is submitted after the end is never durable.
    pub(crate) fn submit(&self, records: Vec<R>) {
        if records.is_empty() {
            return;
        }
        let mut line = self.lock();
        line.number += 1;
        let submission = Submission { number: line.number, records };
        if let Some(sender) = &line.sender {
            // The thread is gone when a write has failed: then this is never durable, and who waits for it waits on.
            let _ = sender.send(submission);
        }
    }

    /// Waits until everything that was submitted so far is durable; for ever if it never is.
    pub(crate) async fn settled(&self) {
        let number = self.lock().number;
        let mut progress = self.progress.clone();
        if progress.wait_for(|progress| progress.durable >= number).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Waits until a write fails, and says why; for ever if none does.
    pub(crate) async fn failed(&self) -> String {
        let mut progress = self.progress.clone();
        let failure = progress.wait_for(|progress| progress.failure.is_some()).await.map(|progress| progress.failure.clone());
        match failure {
            Ok(Some(failure)) => failure,
            _ => std::future::pending().await,
        }
    }

    /// Writes what is in line, and lets go of the database.
    pub(crate) async fn close(&self) {
        let thread = {
            let mut line = self.lock();
            line.sender = None;
            line.thread.take()
        };
        if let Some(thread) = thread {
            // A thread that panicked has nothing more to write.
            let _ = tokio::task::spawn_blocking(|| thread.join()).await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Line<R>> {
        lock(&self.line)
    }
}

fn write<R: Record>(
    mut connection: Connection,
    line: &mpsc::Receiver<Submission<R>>,
    told: &watch::Sender<Progress>,
    linger: &dyn Fn() -> Duration,
) {
    while let Ok(first) = line.recv() {
        std::thread::sleep(linger());
        let mut group = vec![first];
        group.extend(line.try_iter().take(MOST - 1));
        let number = group.last().map_or(0, |submission| submission.number);
        match commit(&mut connection, &group) {
            Ok(()) => told.send_modify(|progress| progress.durable = number),
            Err(error) => {
                told.send_modify(|progress| progress.failure = Some(error.to_string()));
                return;
            }
        }
    }
}

fn commit<R: Record>(connection: &mut Connection, group: &[Submission<R>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    for record in group.iter().flat_map(|submission| &submission.records) {
        record.write(&transaction)?;
    }
    transaction.commit()
}
