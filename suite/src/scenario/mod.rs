//! Scenarios as data: reading, checking, filling in, matching. Sends nothing and judges nobody.

pub mod catalogue;
pub mod decode;
pub mod diagnostic;
pub mod expectations;
pub mod fields;
pub mod fill;
pub mod keys;
pub mod model;
pub mod names;
pub mod node;
pub mod operations;
pub mod operators;
pub mod pattern;
pub mod references;
pub mod requirements;
pub mod schema;
pub mod spelling;
pub mod stimuli;
