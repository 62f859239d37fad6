//! A store on disk: one `SQLite` database in one folder, open in one process, written by one thread.
//!
//! What a contract keeps, and in which tables, is its own business; it hands over records that know how to write themselves.

mod error;
mod journal;
mod keeping;
mod open;
mod rows;
#[cfg(test)]
mod tests;
mod writer;

pub use error::StoreError;
pub(crate) use journal::Journal;
pub(crate) use keeping::Keeping;
pub(crate) use open::{Form, open};
pub(crate) use rows::{Reader, add, put, remove};
pub(crate) use writer::{Record, Writer};
