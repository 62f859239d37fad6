//! The suite of Proofmark: plan, run, judge.

pub mod drivers;
pub mod fixtures;
pub mod scenario;
pub mod transcript;
pub mod profile;
pub mod recorder;
