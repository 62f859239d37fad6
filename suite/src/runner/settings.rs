//! How a run goes: bounds, concurrency, seed. Resolved once, read everywhere.

use crate::drivers::tls::Trust;
use std::time::Duration;

/// How a connection to the target is made.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    pub trust: Trust,
    /// HTTP/2 over plain TCP from the first byte on (RFC 9113, section 3.3).
    pub prior_knowledge: bool,
}

#[derive(Clone, Debug)]
pub struct Settings {
    /// Cases at once.
    pub jobs: usize,
    /// Executions of the kit alive on the target at once.
    pub in_flight: usize,
    /// The bound of one wait.
    pub timeout: Duration,
    /// The bound of the whole run.
    pub deadline: Duration,
    pub wait_ready: Duration,
    pub seed: u64,
    /// Makes keys and names of this run unique; outside the seed.
    pub nonce: String,
    /// Sent with every request; the values are credentials.
    pub headers: Vec<(String, String)>,
    pub reach: Reach,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            jobs: 16,
            in_flight: 8,
            timeout: Duration::from_secs(10),
            deadline: Duration::from_secs(600),
            wait_ready: Duration::from_secs(10),
            seed: 1,
            nonce: uuid::Uuid::new_v4().simple().to_string()[..12].to_owned(),
            headers: Vec::new(),
            reach: Reach::default(),
        }
    }
}

/// A small seeded generator (`splitmix64`): order and jitter need to be repeatable, not unpredictable.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// `stream` separates the users of one seed.
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    pub fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Below `bound`, which is not zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.draw() % bound
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = usize::try_from(self.below(u64::try_from(i).unwrap_or(u64::MAX) + 1)).unwrap_or_default();
            items.swap(i, j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_order() {
        let order = |seed| {
            let mut items: Vec<u32> = (0..50).collect();
            Random::new(seed, 7).shuffle(&mut items);
            items
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(3);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..50).collect::<Vec<u32>>());
    }
}
