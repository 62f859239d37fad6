//! Tests that look behind the wire.

mod catalogue;
mod layers;
mod readers;
mod tour;
