//! Locks whose data no panic leaves half-written.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A poisoned lock is as good as any.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
