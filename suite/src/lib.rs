//! The suite of Proofmark: plan, run, judge.

pub mod transcript;
pub mod scenario;
pub mod drivers;
