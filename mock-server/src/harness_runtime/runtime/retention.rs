//! Which ended executions are kept: all of them, or the newest.

use crate::harness_runtime::machine::Store;
use std::collections::VecDeque;

/// The ended executions, in the order of their ends.
#[derive(Debug, Default)]
pub(crate) struct Retention {
    /// `None` keeps all.
    most: Option<usize>,
    ended: VecDeque<String>,
}

impl Retention {
    /// What ended before, as the store has it, counts as well.
    pub(crate) fn new(most: Option<usize>, store: &Store) -> Self {
        let mut retention = Self { most, ended: VecDeque::new() };
        if most.is_some() {
            let mut ended: Vec<_> = store.executions().filter(|e| e.state.is_terminal()).map(|e| (e.ended_at, e.id.clone())).collect();
            ended.sort();
            retention.ended.extend(ended.into_iter().map(|(_, id)| id));
        }
        retention
    }

    /// Takes note of an end.
    pub(crate) fn ended(&mut self, execution_id: &str) {
        if self.most.is_some() {
            self.ended.push_back(execution_id.to_owned());
        }
    }

    /// The oldest ones beyond the bound, but for those that somebody reads: they go later.
    pub(crate) fn due(&mut self, is_read: impl Fn(&str) -> bool) -> Vec<String> {
        let Some(most) = self.most else { return Vec::new() };
        let beyond = self.ended.len().saturating_sub(most);
        let (pinned, due): (Vec<_>, Vec<_>) = self.ended.drain(..beyond).partition(|id| is_read(id));
        pinned.into_iter().rev().for_each(|id| self.ended.push_front(id));
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(most: Option<usize>, ids: &[&str]) -> Retention {
        let mut retention = Retention::new(most, &Store::default());
        ids.iter().for_each(|id| retention.ended(id));
        retention
    }

    #[test]
    fn the_oldest_go_first() {
        let mut retention = after(Some(2), &["a", "b", "c", "d"]);
        assert_eq!(retention.due(|_| false), ["a", "b"]);
        assert_eq!(retention.due(|_| false), [""; 0]);
        retention.ended("e");
        assert_eq!(retention.due(|_| false), ["c"]);
    }

    #[test]
    fn what_is_read_goes_when_nobody_reads_it_any_more() {
        let mut retention = after(Some(1), &["a", "b", "c"]);
        assert_eq!(retention.due(|id| id == "a"), ["b"]);
        assert_eq!(retention.due(|_| false), ["a"]);
    }

    #[test]
    fn without_a_bound_nothing_goes() {
        assert_eq!(after(None, &["a", "b"]).due(|_| false), [""; 0]);
    }
}
