//! The reference server of `harness-runtime`, seen over raw TCP.

mod actions;
mod artifacts;
mod cancellation;
mod client;
mod lifecycle;
mod problems;
mod profile;
#[path = "../raw/mod.rs"]
mod raw;
mod retention;
mod start;
mod streaming;
mod weather;
