//! What users see of a report: goldens of every rendering, and what holds for all of them.

mod exit;
mod json;
mod junit;
mod sample;
mod terminal;
