//! The ledger of applications: how often each defect and each weather really changed something.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Counts one defect's or one weather's applications.
#[derive(Clone, Debug, Default)]
pub(crate) struct Applied(Arc<AtomicU64>);

impl Applied {
    /// One more application.
    pub(crate) fn count(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts when `changed` says that something differs from the reference, and hands the answer through.
    pub(crate) fn count_if(&self, changed: bool) -> bool {
        if changed {
            self.count();
        }
        changed
    }

    /// Takes `altered` instead of `reference`, and counts if they differ.
    pub(crate) fn instead_of<T: PartialEq>(&self, reference: &T, altered: T) -> T {
        self.count_if(*reference != altered);
        altered
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// The counters of one running server, by name.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ledger(BTreeMap<String, Applied>);

impl Ledger {
    /// The counter of `name`, opened at zero when it is new.
    pub(crate) fn open(&mut self, name: &str) -> Applied {
        self.0.entry(name.to_owned()).or_default().clone()
    }

    pub(crate) fn totals(&self) -> BTreeMap<String, u64> {
        self.0.iter().map(|(name, applied)| (name.clone(), applied.total())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changes_count() {
        let mut ledger = Ledger::default();
        let applied = ledger.open("odd");
        assert_eq!(applied.instead_of(&1, 1), 1);
        assert_eq!(applied.instead_of(&1, 2), 2);
        assert!(!applied.count_if(false));
        assert_eq!(ledger.totals(), BTreeMap::from([("odd".to_owned(), 1)]));
    }
}
