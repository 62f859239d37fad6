//! The contracts as data: protos and their generated types, strict JSON, the canonical form, the hash chain, JSON Schemas by name.

pub mod agentsessions;
pub mod canonical;
pub mod chain;
pub mod journal;
pub mod json;
pub mod validate;
