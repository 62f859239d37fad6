//! The hash chain of a journal (sessions contract, section F).
//!
//! `content_hash` of a record is the lower-case hex SHA-256 of the canonical form of an object with exactly the members `event`,
//! `prev_hash` and `seq`; `prev_hash` is the `content_hash` of the record before and empty on the first. [`Record`] judges one
//! record, [`Verifier`] the records of a journal in their order, [`crate::journal::verify`] a whole file on all cores.

mod deviant;
mod evidence;
mod facts;
mod finding;
mod forks;
mod form;
mod hash;
mod lineage;
mod mismatches;
mod record;
mod report;
mod session;
mod verifier;

pub use facts::{Body, Facts};
pub use finding::{Detail, Finding, LISTED, Rule, Weight};
pub use forks::Fork;
pub use hash::{Hash, HashText};
pub use lineage::{Parent, parent};
pub use record::{Check, Record};
pub use report::{Counts, FirstBroken, Report, SessionReport, Verdict};
pub use session::Entry;
pub use verifier::{Expectations, Verifier};

use prost_reflect::DynamicMessage;

use crate::agentsessions::v1;
use crate::canonical::{self, CanonicalError, MessageType, jcs};
use crate::json::{Json, Text};

/// The hash of a record whose event has that canonical form.
pub fn content_hash(seq: i64, prev_hash: &str, canonical_event: &[u8]) -> Hash {
    let mut bytes = Vec::with_capacity(canonical_event.len() + 128);
    bytes.extend_from_slice(b"{\"event\":");
    bytes.extend_from_slice(canonical_event);
    bytes.extend_from_slice(b",\"prev_hash\":");
    jcs::push_string(&mut bytes, prev_hash);
    bytes.extend_from_slice(format!(",\"seq\":\"{seq}\"}}").as_bytes());
    Hash::of(&bytes)
}

/// The record that a host appends for an event.
pub fn seal(seq: i64, prev_hash: &str, fence: i64, event: v1::Event) -> Result<v1::LogRecord, CanonicalError> {
    let hash = content_hash(seq, prev_hash, &canonical::canonical_of("Event", &event)?);
    let (prev_hash, content_hash) = (prev_hash.to_owned(), hash.to_string());
    Ok(v1::LogRecord { seq, prev_hash, content_hash, fence, event: Some(event) })
}

/// A `LogRecord` as a line of a journal, without the line end.
///
/// A field that the descriptors do not know is a member named by its number, so that reading the line reports it.
pub fn line(record: &DynamicMessage) -> Result<Vec<u8>, CanonicalError> {
    let mut text = Vec::with_capacity(512);
    print(&canonical::tree(record)?, &mut text);
    Ok(text)
}

/// Prints a tree as it stands.
fn print(json: &Json<'_>, out: &mut Vec<u8>) {
    let quoted = |text: &Text<'_>, out: &mut Vec<u8>| jcs::push_string(out, text);
    match json {
        Json::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                out.push(if index == 0 { b'[' } else { b',' });
                print(item, out);
            }
            out.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
        }
        Json::Object(members) => {
            for (index, (name, value)) in members.iter().enumerate() {
                out.push(if index == 0 { b'{' } else { b',' });
                quoted(name, out);
                out.push(b':');
                print(value, out);
            }
            out.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
        }
        Json::String(text) => quoted(text, out),
        Json::Number(text) => out.extend_from_slice(text.as_bytes()),
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(value) => out.extend_from_slice(if *value { b"true" } else { b"false" }),
    }
}

/// The `spec_digest` of a `HarnessSpec` in proto3-JSON: `sha256:` and the hex hash of its canonical form (harness contract, 4.2).
///
/// # Panics
/// Never: the contract has that message.
pub fn spec_digest(text: &[u8]) -> Result<String, CanonicalError> {
    let spec = MessageType::named("HarnessSpec").expect("a message of the contract");
    Ok(format!("sha256:{}", Hash::of(&spec.canonical(text)?)))
}

/// The `spec_digest` of a `HarnessSpec` message.
pub fn spec_digest_of(spec: &v1::HarnessSpec) -> Result<String, CanonicalError> {
    Ok(format!("sha256:{}", Hash::of(&canonical::canonical_of("HarnessSpec", spec)?)))
}

#[cfg(test)]
mod tests;
