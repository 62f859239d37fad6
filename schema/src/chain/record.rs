//! One line of a journal: read, put in canonical form, hashed.

use std::io::Write as _;

use super::facts::Facts;
use super::hash::{Hash, HashText};
use crate::canonical::table::table;
use crate::canonical::writer::{self, Step};
use crate::canonical::{CanonicalError, Reason, jcs, scalar};
use crate::json::{self, Json, Segment};

/// A `LogRecord`, with what its own content says about its hash.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub seq: i64,
    pub prev_hash: HashText,
    pub content_hash: HashText,
    pub fence: i64,
    pub facts: Facts,
    pub check: Check,
}

/// Whether the recorded hash is that of the record's content.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    Holds,
    Differs {
        computed: Hash,
    },
    /// The content holds something that this kit does not know, so nobody here can say.
    Unverifiable(Box<CanonicalError>),
}

impl Record {
    /// Reads a line of a journal, without its line end. `scratch` is overwritten; when the record could be put in canonical
    /// form it holds the hashed bytes afterwards.
    pub fn read(line: &[u8], scratch: &mut Vec<u8>) -> Result<Self, CanonicalError> {
        let json = json::parse(line)?;
        let envelope = Envelope::read(&json)?;
        let check = envelope.check(scratch)?;
        Ok(Self {
            seq: envelope.seq,
            content_hash: HashText::read(envelope.content_hash),
            fence: envelope.fence,
            facts: Facts::of(envelope.event),
            prev_hash: HashText::read(envelope.prev_hash),
            check,
        })
    }
}

/// The members of a record before anything is computed from them.
pub(super) struct Envelope<'j> {
    pub(super) seq: i64,
    pub(super) prev_hash: &'j str,
    pub(super) content_hash: &'j str,
    pub(super) fence: i64,
    pub(super) event: &'j Json<'j>,
    /// A member that no record is known to have: what it adds to the hash or the chain is unknown.
    unknown: Option<String>,
}

/// The hash that the content of a line would have at another place.
pub(super) fn hash_at(line: &[u8], seq: i64, prev_hash: &str) -> Option<Hash> {
    let json = json::parse(line).ok()?;
    let envelope = Envelope { seq, prev_hash, ..Envelope::read(&json).ok()? };
    let mut canonical = Vec::new();
    envelope.canonical(&mut canonical).ok()?;
    Some(Hash::of(&canonical))
}

fn error(reason: Reason, member: Option<&str>) -> CanonicalError {
    CanonicalError::new(reason, member.map(|name| Segment::Member(name.to_owned())).into_iter().collect())
}

impl<'j> Envelope<'j> {
    pub(super) fn read(json: &'j Json<'j>) -> Result<Self, CanonicalError> {
        let Json::Object(members) = json else {
            return Err(error(Reason::Type { expected: "a record (an object)", found: json.kind() }, None));
        };
        let fields = table().message(table().log_record);
        let mut slots: [Option<&'j Json<'j>>; 8] = [None; 8];
        let mut unknown = None;
        for (name, value) in members {
            match fields.find(name) {
                None => unknown = unknown.or_else(|| Some(name.to_string())),
                Some(index) if slots[index].replace(value).is_some() => {
                    return Err(error(Reason::BothNames(fields.fields[index].name), None));
                }
                Some(_) => {}
            }
        }
        let slot = |name: &str| fields.find(name).and_then(|index| slots[index]).filter(|value| **value != Json::Null);
        Ok(Self {
            seq: integer(slot("seq"), "seq")?,
            prev_hash: string(slot("prev_hash"), "prev_hash")?,
            content_hash: string(slot("content_hash"), "content_hash")?,
            fence: integer(slot("fence"), "fence")?,
            event: slot("event").ok_or_else(|| error(Reason::Missing("event"), None))?,
            unknown,
        })
    }

    /// Leaves the hashed bytes in `out`.
    pub(super) fn canonical(&self, out: &mut Vec<u8>) -> Result<(), CanonicalError> {
        out.clear();
        out.extend_from_slice(b"{\"event\":");
        writer::write(out, table().event, self.event, &[Step::Member("event")])?;
        out.extend_from_slice(b",\"prev_hash\":");
        jcs::push_string(out, self.prev_hash);
        write!(out, ",\"seq\":\"{}\"}}", self.seq).expect("a vector takes everything");
        Ok(())
    }

    fn check(&self, scratch: &mut Vec<u8>) -> Result<Check, CanonicalError> {
        match self.canonical(scratch) {
            Ok(()) => {}
            Err(error) if error.reason.is_ignorance() => return Ok(Check::Unverifiable(Box::new(error))),
            Err(error) => return Err(error),
        }
        if let Some(name) = &self.unknown {
            return Ok(Check::Unverifiable(Box::new(error(Reason::UnknownField(name.clone()), None))));
        }
        let computed = Hash::of(scratch);
        Ok(if Hash::parse(self.content_hash) == Some(computed) { Check::Holds } else { Check::Differs { computed } })
    }
}

fn integer(json: Option<&Json<'_>>, name: &'static str) -> Result<i64, CanonicalError> {
    let text: &str = match json {
        None => return Ok(0),
        Some(Json::Number(text)) => text,
        Some(Json::String(text)) => text,
        Some(other) => return Err(error(Reason::Type { expected: "an integer", found: other.kind() }, Some(name))),
    };
    scalar::integer(text).ok_or_else(|| error(Reason::Integer(text.chars().take(80).collect(), 64), Some(name)))
}

fn string<'j>(json: Option<&'j Json<'j>>, name: &'static str) -> Result<&'j str, CanonicalError> {
    match json {
        None => Ok(""),
        Some(Json::String(text)) => Ok(text),
        Some(other) => Err(error(Reason::Type { expected: "a string", found: other.kind() }, Some(name))),
    }
}
