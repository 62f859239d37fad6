//! Runs a plan against a target: schedule, bounds, steps. Judges only through `judge`.

pub mod case;
pub mod interleaving;
pub mod outcome;
pub mod run;
pub mod session;
pub mod settings;
pub mod steps;
