//! Named counters of what a scripted provider really did: how often it was started, how often it cleaned up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) started: u64,
    pub(crate) cleaned_up: u64,
}

/// All tallies of a server, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tallies(Arc<Mutex<BTreeMap<String, Tally>>>);

impl Tallies {
    pub(crate) fn started(&self, name: &str) {
        self.change(name, |tally| tally.started += 1);
    }

    pub(crate) fn cleaned_up(&self, name: &str) {
        self.change(name, |tally| tally.cleaned_up += 1);
    }

    /// Zeros for a name that was never counted.
    pub(crate) fn read(&self, name: &str) -> Tally {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied().unwrap_or_default()
    }

    fn change(&self, name: &str, change: impl FnOnce(&mut Tally)) {
        change(self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(name.to_owned()).or_default());
    }
}
