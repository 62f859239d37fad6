//! Which session of a journal another one was forked from.
//!
//! A child begins with its parent's records, then has a fork marker that links to the last of them (J7). A hash stands for
//! everything before it, so a marker's `prev_hash` found in another session names that session as a parent. A journal may
//! hold the child without its parent: then nobody here can say.

use std::collections::HashMap;

use serde::Serialize;

use super::hash::Hash;

/// How many records are remembered as possible fork points.
const REMEMBERED: usize = 1 << 18;
/// How many fork markers are remembered.
const MARKERS: usize = 1 << 12;

/// A fork marker and the session that it branches off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Fork {
    pub child: usize,
    /// The line of the marker.
    pub line: u64,
    /// The last inherited sequence.
    pub at_seq: i64,
    /// The session that has that record too, when the journal holds one.
    pub parent: Option<usize>,
}

#[derive(Debug, Default)]
pub(super) struct Forks {
    /// The session in which a hash was seen first.
    seen: HashMap<u128, usize>,
    /// Markers that still look for a parent, by the hash they link to.
    looking: HashMap<u128, Vec<usize>>,
    markers: Vec<Fork>,
    overflowed: bool,
}

impl Forks {
    /// The session that holds a record of that hash.
    pub(super) fn owner(&self, hash: &Hash) -> Option<usize> {
        self.seen.get(&hash.short()).copied()
    }

    /// Remembers a record of a session, and answers markers that came before it.
    pub(super) fn record(&mut self, session: usize, hash: &Hash) {
        if !self.looking.is_empty()
            && let Some(markers) = self.looking.get_mut(&hash.short())
        {
            markers.retain(|marker| {
                let marker = &mut self.markers[*marker];
                if marker.child != session {
                    marker.parent = Some(session);
                }
                marker.parent.is_none()
            });
        }
        if self.seen.len() < REMEMBERED {
            self.seen.entry(hash.short()).or_insert(session);
        } else {
            self.overflowed = true;
        }
    }

    /// Takes a fork marker that stands at `at_seq + 1` and links to `hash`.
    pub(super) fn marker(&mut self, child: usize, line: u64, at_seq: i64, hash: Option<Hash>) {
        if self.markers.len() == MARKERS {
            self.overflowed = true;
            return;
        }
        let parent = hash.and_then(|hash| self.owner(&hash)).filter(|owner| *owner != child);
        if let (None, Some(hash)) = (parent, hash) {
            self.looking.entry(hash.short()).or_default().push(self.markers.len());
        }
        self.markers.push(Fork { child, line, at_seq, parent });
    }

    /// Whether some fork points were too many to remember.
    pub(super) fn overflowed(&self) -> bool {
        self.overflowed && !self.markers.is_empty()
    }

    pub(super) fn into_markers(self) -> Vec<Fork> {
        self.markers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(byte: u8) -> Hash {
        Hash([byte; 32])
    }

    #[test]
    fn a_parent_is_found_before_and_behind_its_child() {
        let mut forks = Forks::default();
        forks.record(1, &hash(1));
        forks.record(2, &hash(1)); // inherited
        forks.marker(2, 7, 1, Some(hash(1)));
        forks.record(3, &hash(9));
        forks.marker(3, 12, 1, Some(hash(9))); // its own prefix is no parent
        forks.record(4, &hash(9));
        forks.marker(5, 20, 1, Some(hash(5)));
        let parents: Vec<_> = forks.into_markers().iter().map(|fork| fork.parent).collect();
        assert_eq!(parents, [Some(1), Some(4), None]);
    }
}
