//! Reports of Proofmark: the model of one run ([`model`]), what follows from it ([`summary`], [`exit`]) and its renderings.
//!
//! A renderer is a pure function from a [`model::Report`] to text. None prints, and none computes a verdict: [`summary`] and [`exit`] do, when
//! the report is made. What comes from a target is hostile until shown otherwise: nothing of it reaches a terminal or a file unescaped.

pub mod exit;
pub mod json;
pub mod junit;
pub mod model;
pub mod summary;
pub mod terminal;

mod groups;
mod text;
