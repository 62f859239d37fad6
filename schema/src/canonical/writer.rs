//! From a strict JSON tree to canonical bytes, in one walk along the descriptors.

use std::io::Write as _;

use super::error::{CanonicalError, Reason};
use super::jcs;
use super::scalar;
use super::table::{Enum, Field, Kind, Message, Shape, table};
use crate::json::{Json, Segment, Text};

type Result<T> = std::result::Result<T, Box<CanonicalError>>;

/// One step from the root to the value at hand; becomes a [`Segment`] only when something is wrong.
#[derive(Clone, Copy)]
pub(crate) enum Step<'j> {
    Member(&'j str),
    Index(usize),
}

/// Appends canonical bytes to a buffer. Whatever it appended before it failed is of no use.
pub(crate) struct Writer<'j, 'o> {
    out: &'o mut Vec<u8>,
    path: Vec<Step<'j>>,
    /// The first thing that this kit does not know. The walk goes on behind it, because a wrong value elsewhere weighs more.
    ignorance: Option<CanonicalError>,
}

/// Writes a message that stands at `root` in its document.
pub(crate) fn write(out: &mut Vec<u8>, message: usize, json: &Json<'_>, root: &[Step<'static>]) -> std::result::Result<(), CanonicalError> {
    let mut writer = Writer { out, path: root.to_vec(), ignorance: None };
    writer.message(message, json).map_err(|error| *error)?;
    writer.ignorance.map_or(Ok(()), Err)
}

impl<'j> Writer<'j, '_> {
    fn error(&self, reason: Reason) -> CanonicalError {
        let segment = |step: &Step<'_>| match step {
            Step::Member(name) => Segment::Member((*name).to_owned()),
            Step::Index(index) => Segment::Index(*index),
        };
        CanonicalError::new(reason, self.path.iter().map(segment).collect())
    }

    fn fail<T>(&self, reason: Reason) -> Result<T> {
        Err(Box::new(self.error(reason)))
    }

    fn not<T>(&self, expected: &'static str, found: &Json<'_>) -> Result<T> {
        self.fail(Reason::Type { expected, found: found.kind() })
    }

    fn unknown(&mut self, reason: Reason) {
        if self.ignorance.is_none() {
            self.ignorance = Some(self.error(reason));
        }
    }

    fn message(&mut self, index: usize, json: &'j Json<'_>) -> Result<()> {
        let Json::Object(members) = json else { return self.not("an object", json) };
        let message = table().message(index);
        let slots = self.slots(message, members)?;
        self.out.push(b'{');
        let start = self.out.len();
        for (field, slot) in message.fields.iter().zip(slots) {
            let Some(value) = slot else { continue };
            let mark = self.out.len();
            if mark > start {
                self.out.push(b',');
            }
            self.out.extend_from_slice(&field.label);
            self.path.push(Step::Member(field.name));
            let prints = self.field(field, value)?;
            self.path.pop();
            if !prints {
                self.out.truncate(mark);
            }
        }
        self.out.push(b'}');
        Ok(())
    }

    /// The members of an object, sorted into the fields of their message. `null` is absence.
    fn slots(&mut self, message: &Message, members: &'j [(Text<'_>, Json<'_>)]) -> Result<[Option<&'j Json<'j>>; 32]> {
        let mut slots = [None; 32];
        let mut seen = 0_u32;
        for (name, value) in members {
            let Some(index) = message.find(name) else {
                self.unknown(Reason::UnknownField(excerpt(name)));
                continue;
            };
            let field = &message.fields[index];
            if seen & (1 << index) != 0 {
                return self.fail(Reason::BothNames(field.name));
            }
            seen |= 1 << index;
            if *value != Json::Null {
                slots[index] = Some(value);
            }
        }
        self.check_oneofs(message, &slots)?;
        Ok(slots)
    }

    fn check_oneofs(&self, message: &Message, slots: &[Option<&Json<'_>>; 32]) -> Result<()> {
        let mut chosen: [Option<&'static str>; 4] = [None; 4];
        for (field, _) in message.fields.iter().zip(slots).filter(|(_, slot)| slot.is_some()) {
            let Some(oneof) = field.oneof else { continue };
            if let Some(other) = chosen[oneof].replace(field.name) {
                return self.fail(Reason::Oneof(other, field.name));
            }
        }
        Ok(())
    }

    /// Writes the value of a field; false when the field is at its default and so does not print.
    fn field(&mut self, field: &Field, json: &'j Json<'_>) -> Result<bool> {
        match field.shape {
            Shape::Implicit => self.value(field.kind, json),
            Shape::Explicit => self.value(field.kind, json).map(|_| true),
            Shape::Repeated => self.list(field.kind, json),
            Shape::Map => self.map(json),
        }
    }

    fn list(&mut self, kind: Kind, json: &'j Json<'_>) -> Result<bool> {
        let Json::Array(items) = json else { return self.not("an array", json) };
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.path.push(Step::Index(index));
            self.value(kind, item)?;
            self.path.pop();
        }
        self.out.push(b']');
        Ok(!items.is_empty())
    }

    fn map(&mut self, json: &'j Json<'_>) -> Result<bool> {
        let Json::Object(members) = json else { return self.not("an object", json) };
        self.out.push(b'{');
        for (index, (name, value)) in jcs::sorted(members).into_iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            jcs::push_text(self.out, name);
            self.out.push(b':');
            self.path.push(Step::Member(name));
            self.value(Kind::String, value)?;
            self.path.pop();
        }
        self.out.push(b'}');
        Ok(!members.is_empty())
    }

    /// Writes one value; false when it is the default of its kind.
    fn value(&mut self, kind: Kind, json: &'j Json<'_>) -> Result<bool> {
        match kind {
            Kind::String => self.string(json),
            Kind::Bytes => self.bytes(json),
            Kind::Bool => self.bool(json),
            Kind::Int32 => self.int32(json),
            Kind::Int64 => self.int64(json),
            Kind::Enum(list) => self.enumeration(list, json),
            Kind::Message(index) => self.message(index, json).map(|()| true),
            Kind::Timestamp => self.timestamp(json).map(|()| true),
            Kind::Struct => self.plain(json).map(|()| true),
        }
    }

    fn string(&mut self, json: &Json<'_>) -> Result<bool> {
        let Json::String(text) = json else { return self.not("a string", json) };
        jcs::push_text(self.out, text);
        Ok(!text.is_empty())
    }

    fn quoted(&mut self, text: &str) {
        self.out.push(b'"');
        self.out.extend_from_slice(text.as_bytes());
        self.out.push(b'"');
    }

    fn bytes(&mut self, json: &Json<'_>) -> Result<bool> {
        let Json::String(text) = json else { return self.not("base64 in a string", json) };
        let Some(standard) = scalar::base64(text) else { return self.fail(Reason::Base64(excerpt(text))) };
        self.quoted(&standard);
        Ok(!standard.is_empty())
    }

    fn bool(&mut self, json: &Json<'_>) -> Result<bool> {
        let Json::Bool(value) = json else { return self.not("a boolean", json) };
        self.out.extend_from_slice(if *value { b"true" } else { b"false" });
        Ok(*value)
    }

    fn integer(&self, json: &Json<'_>, bits: u8) -> Result<i64> {
        let text: &str = match json {
            Json::Number(text) => text,
            Json::String(text) => text,
            _ => return self.not("an integer", json),
        };
        let value = scalar::integer(text).filter(|value| bits == 64 || i32::try_from(*value).is_ok());
        value.map_or_else(|| self.fail(Reason::Integer(excerpt(text), bits)), Ok)
    }

    fn int32(&mut self, json: &Json<'_>) -> Result<bool> {
        let value = self.integer(json, 32)?;
        push_integer(self.out, value);
        Ok(value != 0)
    }

    fn int64(&mut self, json: &Json<'_>) -> Result<bool> {
        let value = self.integer(json, 64)?;
        self.out.push(b'"');
        push_integer(self.out, value);
        self.out.push(b'"');
        Ok(value != 0)
    }

    fn enumeration(&mut self, list: &'static Enum, json: &Json<'_>) -> Result<bool> {
        let number = match json {
            Json::String(name) => {
                let Some(number) = list.number(name) else {
                    self.unknown(Reason::UnknownEnumName(excerpt(name), list.name));
                    return Ok(true);
                };
                number
            }
            Json::Number(_) => i32::try_from(self.integer(json, 32)?).expect("checked to fit"),
            _ => return self.not("the name or the number of an enum value", json),
        };
        match list.name_of(number) {
            Some(name) => self.quoted(name),
            None => push_integer(self.out, number.into()),
        }
        Ok(number != 0)
    }

    fn timestamp(&mut self, json: &Json<'_>) -> Result<()> {
        let Json::String(text) = json else { return self.not("an RFC 3339 time in a string", json) };
        let canonical = scalar::instant(text).and_then(scalar::Instant::canonical);
        let Some(canonical) = canonical else { return self.fail(Reason::Timestamp(excerpt(text))) };
        self.quoted(&canonical);
        Ok(())
    }

    fn plain(&mut self, json: &'j Json<'_>) -> Result<()> {
        if !matches!(json, Json::Object(_)) {
            return self.not("an object", json);
        }
        if jcs::push_value(self.out, json).is_ok() {
            return Ok(());
        }
        let number = self.descend_to_bad_number(json).unwrap_or_default();
        self.fail(Reason::NotFinite(number))
    }

    /// Extends the path to the first number that no double holds, and returns its text.
    fn descend_to_bad_number(&mut self, json: &'j Json<'_>) -> Option<String> {
        let depth = self.path.len();
        let found = match json {
            Json::Number(text) => jcs::push_number(&mut Vec::new(), text).is_err().then(|| excerpt(text)),
            Json::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                self.path.truncate(depth);
                self.path.push(Step::Index(index));
                self.descend_to_bad_number(item)
            }),
            Json::Object(members) => members.iter().find_map(|(name, value)| {
                self.path.truncate(depth);
                self.path.push(Step::Member(name));
                self.descend_to_bad_number(value)
            }),
            _ => None,
        };
        if found.is_none() {
            self.path.truncate(depth);
        }
        found
    }
}

fn push_integer(out: &mut Vec<u8>, value: i64) {
    write!(out, "{value}").expect("a vector takes everything");
}

/// Enough of a text to recognise it in a message.
fn excerpt(text: &str) -> String {
    const LIMIT: usize = 80;
    match text.char_indices().nth(LIMIT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
