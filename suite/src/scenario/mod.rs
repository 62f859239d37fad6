//! Scenarios as data: reading, checking, filling in, matching.

pub mod node;
