//! Named counters of what a scripted provider really did: how often it was started, how often it cleaned up.

use crate::lock::lock;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) started: u64,
    pub(crate) cleaned_up: u64,
}

/// Told of every change, in order.
pub(crate) type Keep = Arc<dyn Fn(&str, Tally) + Send + Sync>;

/// All tallies of a server, by name. A server with a store keeps them like everything else: what a provider emits after its start is
/// durable after it.
#[derive(Clone, Default)]
pub(crate) struct Tallies {
    counted: Arc<Mutex<BTreeMap<String, Tally>>>,
    keep: Option<Keep>,
}

impl Tallies {
    /// Goes on counting from what was counted before.
    pub(crate) fn new(counted: BTreeMap<String, Tally>, keep: Keep) -> Self {
        Self { counted: Arc::new(Mutex::new(counted)), keep: Some(keep) }
    }

    pub(crate) fn started(&self, name: &str) {
        self.change(name, |tally| tally.started += 1);
    }

    pub(crate) fn cleaned_up(&self, name: &str) {
        self.change(name, |tally| tally.cleaned_up += 1);
    }

    /// Zeros for a name that was never counted.
    pub(crate) fn read(&self, name: &str) -> Tally {
        lock(&self.counted).get(name).copied().unwrap_or_default()
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Tally)) {
        let mut counted = lock(&self.counted);
        let tally = counted.entry(name.to_owned()).or_default();
        change(tally);
        if let Some(keep) = &self.keep {
            keep(name, *tally);
        }
    }
}
