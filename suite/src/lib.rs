//! The suite of Proofmark: plan, run, judge.
//!
//! The way of one scenario: `fixtures` (text) -> `scenario` (data) -> `plan` (which cases, and why not) -> `runner` (requests, transcript)
//! -> `judge` (verdicts) -> a report of the `reports` crate. `check` walks it for one target; `commands` are what the program offers,
//! and `trials` is what a vendor's own tests call.

pub mod check;
pub mod commands;
pub mod contracts;
pub mod drivers;
pub mod fixtures;
pub mod judge;
pub mod monitors;
pub mod plan;
pub mod profile;
pub mod recorder;
#[cfg(feature = "reference-server")]
pub mod reference;
pub mod restart;
pub mod runner;
pub mod scenario;
#[cfg(feature = "reference-server")]
pub mod selftest;
pub mod target;
pub mod transcript;
pub mod trials;
