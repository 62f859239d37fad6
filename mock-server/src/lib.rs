//! The reference servers: one correct implementation of each contract, which can also be started with a known defect, or with weather.
//!
//! Each contract has three layers: *rules* (its decisions, small named functions), a *machine* (pure: a command in; an answer, changes
//! and effects out) and a *wire* (parses, asks the machine, carries out effects, frames). Whoever wants to know a contract reads its rules.

mod agentsessions;
mod applied;
mod bells;
mod catalogue;
mod connections;
mod durable;
mod harness_runtime;
mod http;
mod json;
mod lock;
mod member_order;
mod model_runtime;
mod random;
mod running;
mod table;
mod tally;
mod weather;

pub use catalogue::{Defect, DefectKind, Weather, defects, weathers};
pub use durable::StoreError;
pub use running::{Behaviour, Running, StartError, start};
