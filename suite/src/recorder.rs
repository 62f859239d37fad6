//! The transcript of a run while it grows. Drivers' users record here; judges read it when the run is over.

use crate::transcript::{Exchange, Reply, Request};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub struct Recorder {
    start: Instant,
    next: AtomicU64,
    exchanges: Mutex<Vec<Arc<Exchange>>>,
}

/// An exchange that has begun.
#[derive(Clone, Debug)]
pub struct Begun {
    pub id: u64,
    pub began: Duration,
}

/// What the recorder cannot know by itself.
#[derive(Clone, Debug, Default)]
pub struct About {
    pub case: Arc<str>,
    pub step: String,
    pub operation: Option<String>,
    pub params: BTreeMap<String, String>,
    pub query: BTreeMap<String, String>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { start: Instant::now(), next: AtomicU64::new(1), exchanges: Mutex::default() }
    }
}

impl Recorder {
    /// Time since the start of the run.
    pub fn now(&self) -> Duration {
        self.start.elapsed()
    }

    pub fn begin(&self) -> Begun {
        Begun { id: self.next.fetch_add(1, Ordering::Relaxed), began: self.now() }
    }

    pub fn end(&self, begun: &Begun, about: About, request: Request, reply: Reply) -> Arc<Exchange> {
        let exchange = Arc::new(Exchange {
            id: begun.id,
            case: about.case,
            step: about.step,
            operation: about.operation,
            params: about.params,
            query: about.query,
            request,
            began: begun.began,
            ended: self.now(),
            reply,
        });
        self.exchanges.lock().expect("no panic while holding it").push(exchange.clone());
        exchange
    }

    /// Everything so far, in the order in which requests were begun.
    pub fn exchanges(&self) -> Vec<Arc<Exchange>> {
        let mut all = self.exchanges.lock().expect("no panic while holding it").clone();
        all.sort_by_key(|exchange| exchange.id);
        all
    }
}
