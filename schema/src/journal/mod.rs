//! A journal as a file: JSON Lines of `LogRecord`, verified while it is read, on all cores, in bounded memory.
//!
//! One thread reads and cuts the stream at line ends, workers parse, canonicalize and hash whole batches of lines, and the
//! calling thread puts the batches back in order and lets [`Verifier`] judge the chain. A batch's buffer goes back to the
//! reader once it was judged, so that memory depends on the number of threads and the longest line only.

mod batch;
mod feed;

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use crate::chain::{Entry, Expectations, Report, Verifier};
use batch::{Batch, Judged, Outcome};
use feed::{Chunk, Feed};

pub use feed::LONGEST_LINE;

/// Batches in flight for each worker.
const AHEAD: usize = 4;

/// Verifies a journal until it ends. `progress` hears of the bytes done since it was last called.
///
/// Fails when the source does; what was seen until then proves nothing about the rest.
pub fn verify(
    source: impl Read + Send,
    expectations: Expectations,
    threads: NonZeroUsize,
    progress: &mut dyn FnMut(u64),
) -> io::Result<Report> {
    let mut verifier = Verifier::new(expectations);
    thread::scope(|scope| {
        let (recycle, buffers) = channel();
        let (work, chunks) = sync_channel(threads.get());
        let (done, judged) = channel();
        let chunks = Arc::new(Mutex::new(chunks));
        for _ in 0..threads.get() * AHEAD {
            let _ = recycle.send(Vec::new()); // its receiver is two lines above
        }
        for _ in 0..threads.get() {
            let (chunks, done) = (Arc::clone(&chunks), done.clone());
            scope.spawn(move || judge_chunks(&chunks, &done));
        }
        drop((chunks, done));
        let reader = scope.spawn(move || feed_chunks(source, &buffers, &work));
        put_in_order(&judged, &recycle, |batch| {
            let go_on = take(&mut verifier, batch);
            progress(batch.bytes.len() as u64);
            go_on
        });
        drop((judged, recycle));
        reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader stopped")))
    })?;
    Ok(verifier.finish())
}

/// As many threads as there are cores.
pub fn all_cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The reading thread: a buffer that came back is filled and handed on.
fn feed_chunks(source: impl Read, buffers: &Receiver<Vec<u8>>, work: &SyncSender<(usize, Chunk)>) -> io::Result<()> {
    let mut feed = Feed::new(source);
    for index in 0.. {
        // Nobody wants more: the journal was given up.
        let Ok(buffer) = buffers.recv() else { break };
        let Some(chunk) = feed.next(buffer)? else { break };
        if work.send((index, chunk)).is_err() {
            break;
        }
    }
    Ok(())
}

/// A working thread.
fn judge_chunks(chunks: &Mutex<Receiver<(usize, Chunk)>>, done: &Sender<(usize, thread::Result<Batch>)>) {
    let mut scratch = Vec::new();
    loop {
        let next = chunks.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok((index, chunk)) = next else { return };
        // A worker that died silently would leave the others waiting for its batch for ever.
        let batch = panic::catch_unwind(AssertUnwindSafe(|| Batch::judge(chunk, &mut scratch)));
        if done.send((index, batch)).is_err() {
            return;
        }
    }
}

/// Hands batches on in the order of the file until there are none or nobody wants more.
fn put_in_order(judged: &Receiver<(usize, thread::Result<Batch>)>, recycle: &Sender<Vec<u8>>, mut take: impl FnMut(&mut Batch) -> bool) {
    let mut early = BTreeMap::new();
    let mut next = 0;
    for (index, batch) in judged {
        early.insert(index, batch.unwrap_or_else(|cause| panic::resume_unwind(cause)));
        while let Some(mut batch) = early.remove(&next) {
            next += 1;
            if !take(&mut batch) {
                return;
            }
            // The reader may be gone already.
            let _ = recycle.send(batch.bytes);
        }
    }
}

/// Judges a batch; false when reading on makes no sense.
fn take(verifier: &mut Verifier, batch: &Batch) -> bool {
    for Judged { line, text, outcome } in batch.lines(verifier.lines_seen()) {
        match outcome {
            Outcome::Blank => verifier.blank(),
            Outcome::Record(record) => verifier.record(Entry { line, record, text }),
            Outcome::Unread(error) => verifier.unread(line, error),
        }
        if verifier.is_hopeless() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests;
