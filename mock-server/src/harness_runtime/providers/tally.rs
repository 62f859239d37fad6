//! Named counters of what the scripted provider really did: how often it was started, how often it cleaned up.

use crate::harness_runtime::records::Record;
use crate::harness_runtime::runtime::Journal;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tally {
    pub(crate) started: u64,
    pub(crate) cleaned_up: u64,
}

/// All tallies of a server, by name. They are kept like everything else: what a provider emits after its start is durable after it.
#[derive(Clone, Default)]
pub(crate) struct Tallies {
    counted: Arc<Mutex<BTreeMap<String, Tally>>>,
    journal: Journal,
}

impl Tallies {
    /// Goes on counting from what was counted before.
    pub(crate) fn new(counted: BTreeMap<String, Tally>, journal: Journal) -> Self {
        Self { counted: Arc::new(Mutex::new(counted)), journal }
    }

    pub(crate) fn started(&self, name: &str) {
        self.change(name, |tally| tally.started += 1);
    }

    pub(crate) fn cleaned_up(&self, name: &str) {
        self.change(name, |tally| tally.cleaned_up += 1);
    }

    /// Zeros for a name that was never counted.
    pub(crate) fn read(&self, name: &str) -> Tally {
        self.counted.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Tally)) {
        let mut counted = self.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = counted.entry(name.to_owned()).or_default();
        change(tally);
        self.journal.submit(vec![Record::Tally { name: name.to_owned(), tally: *tally }]);
    }
}
