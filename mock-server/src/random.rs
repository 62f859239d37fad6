//! A small seeded source of variety: what weather and races draw from. Not for secrets.

use std::sync::atomic::{AtomicU64, Ordering};

/// A shared stream of numbers that a seed fixes (splitmix64).
#[derive(Debug)]
pub(crate) struct Dice(AtomicU64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    /// The next number of the stream.
    pub(crate) fn roll(&self) -> u64 {
        mix(self.0.fetch_add(0x9E37_79B9_7F4A_7C15, Ordering::Relaxed))
    }

    /// A number below `limit`; `0` when the limit is `0`.
    pub(crate) fn below(&self, limit: u64) -> u64 {
        self.roll().checked_rem(limit).unwrap_or(0)
    }
}

/// Spreads the bits of `seed`, so that neighbours look unrelated.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_stream() {
        let (left, right) = (Dice::new(7), Dice::new(7));
        let drawn: Vec<u64> = (0..8).map(|_| left.roll()).collect();
        assert_eq!(drawn, (0..8).map(|_| right.roll()).collect::<Vec<_>>());
        assert_ne!(drawn[0], drawn[1]);
    }

    #[test]
    fn numbers_stay_below_the_limit() {
        let dice = Dice::new(1);
        assert!((0..1000).all(|_| dice.below(6) < 6));
        assert_eq!(dice.below(0), 0);
    }
}
