//! From what was seen to verdicts. Sends nothing.

pub mod evaluate;
pub mod fold;
pub mod shapes;
pub mod transcript;
