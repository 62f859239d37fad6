//! The reference server of `model-runtime`, seen over raw TCP.

mod client;
mod keys;
mod lifecycle;
#[path = "../raw/mod.rs"]
mod raw;
mod refusals;
mod routing;
mod stops;
mod streams;
mod weather;
