//! Bells: who follows an execution is told of every change of it.

use crate::lock::lock;
use std::collections::BTreeMap;
use std::sync::Mutex;
use tokio::sync::watch;

/// One bell an execution, by its id.
#[derive(Debug, Default)]
pub(crate) struct Bells(Mutex<BTreeMap<String, watch::Sender<()>>>);

impl Bells {
    /// Rings at every later change; of an execution that nobody knows it is cut off at once.
    pub(crate) fn of(&self, id: &str) -> watch::Receiver<()> {
        let known = lock(&self.0).get(id).map(watch::Sender::subscribe);
        known.unwrap_or_else(|| watch::channel(()).1)
    }

    /// How many listen.
    #[cfg(test)]
    pub(crate) fn listeners(&self, id: &str) -> usize {
        lock(&self.0).get(id).map_or(0, watch::Sender::receiver_count)
    }

    /// Hangs up the bell of an execution that was there before the bells were.
    pub(crate) fn hang(&self, id: &str) {
        lock(&self.0).insert(id.to_owned(), watch::channel(()).0);
    }

    /// Rings, and hangs the bell up first where there is none.
    pub(crate) fn ring(&self, id: String) {
        lock(&self.0).entry(id).or_insert_with(|| watch::channel(()).0).send_replace(());
    }

    /// Takes down what `choose` chooses, which is told of an id whether anybody listens; nobody begins to meanwhile.
    pub(crate) fn take_down(&self, choose: impl FnOnce(&dyn Fn(&str) -> bool) -> Vec<String>) -> Vec<String> {
        let mut bells = lock(&self.0);
        let chosen = choose(&|id| bells.get(id).is_some_and(|bell| bell.receiver_count() > 0));
        for id in &chosen {
            bells.remove(id);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_later_changes_ring_and_only_those_of_the_execution() {
        let bells = Bells::default();
        bells.ring("a".to_owned());
        let mut bell = bells.of("a");
        assert!(!bell.has_changed().unwrap());
        bells.ring("b".to_owned());
        assert!(!bell.has_changed().unwrap());
        bells.ring("a".to_owned());
        assert!(bell.has_changed().unwrap());
        bell.mark_unchanged();
        assert_eq!((bells.listeners("a"), bells.listeners("b")), (1, 0));
        let chosen =
            bells.take_down(|listens: &dyn Fn(&str) -> bool| ["a", "b"].into_iter().filter(|id| !listens(id)).map(str::to_owned).collect());
        assert_eq!(chosen, ["b"]);
        assert!(bells.of("b").has_changed().is_err() && bells.of("c").has_changed().is_err());
    }
}
