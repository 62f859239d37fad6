//! Reports of Proofmark: the model of one run ([`model`]) and its renderings.

pub mod model;
