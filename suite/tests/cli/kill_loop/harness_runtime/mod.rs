//! The kill loop of harness-runtime.

mod check;
mod load;

pub(super) use check::check;
pub(super) use load::turn;
