//! Strict JSON: what a text says, exactly as it says it.
//!
//! The reader takes RFC 8259 texts and nothing looser, and refuses what RFC 7493 warns of: names that come twice, escapes
//! that are half a surrogate pair. Numbers keep their text, because whether `9007199254740993` is that integer or a double
//! depends on the field it stands in. Every error says where in the document it is.
//!
//! This module knows nothing of protobuf; [`crate::canonical`] gives the tree a meaning.

mod error;
mod reader;
mod text;

pub use error::{JsonError, Problem, Segment, path};
pub use reader::{DEPTH, parse};
pub use text::Text;

use std::borrow::Cow;

/// A JSON value that borrows from the text it was read from wherever the text needs no decoding.
#[derive(Clone, Debug, PartialEq)]
pub enum Json<'a> {
    Null,
    Bool(bool),
    /// The number as written, in the grammar of RFC 8259; may not fit any machine type.
    Number(Cow<'a, str>),
    String(Text<'a>),
    Array(Vec<Json<'a>>),
    /// Members in the order of the text, each name once.
    Object(Vec<(Text<'a>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// What the value is, in words for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::String(_) => "a string",
            Json::Array(_) => "an array",
            Json::Object(_) => "an object",
        }
    }

    /// The member of that name, when this is an object that has one.
    pub fn get(&self, name: &str) -> Option<&Json<'a>> {
        match self {
            Json::Object(members) => members.iter().find(|(key, _)| **key == *name).map(|(_, value)| value),
            _ => None,
        }
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads one strict JSON text into a `serde_json` value, for users that need no more than that.
///
/// Integers that fit 64 bits stay integers; every other number becomes the nearest double.
pub fn value(text: &[u8]) -> Result<serde_json::Value, JsonError> {
    to_value(&parse(text)?).map_err(|number| JsonError::new(Problem::NumberRange(number), 0))
}

fn to_value(json: &Json<'_>) -> Result<serde_json::Value, String> {
    use serde_json::Value;
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(text) => Value::Number(number(text).ok_or_else(|| text.to_string())?),
        Json::String(text) => Value::String(text.to_string()),
        Json::Array(items) => Value::Array(items.iter().map(to_value).collect::<Result<_, _>>()?),
        Json::Object(members) => {
            Value::Object(members.iter().map(|(key, value)| Ok((key.to_string(), to_value(value)?))).collect::<Result<_, String>>()?)
        }
    })
}

fn number(text: &str) -> Option<serde_json::Number> {
    if let Ok(integer) = text.parse::<i64>()
        && text != "-0"
    {
        return Some(integer.into());
    }
    if let Ok(integer) = text.parse::<u64>() {
        return Some(integer.into());
    }
    serde_json::Number::from_f64(text.parse().ok()?)
}

#[cfg(test)]
mod tests;
