//! The suite of Proofmark: plan, run, judge.

pub mod transcript;
