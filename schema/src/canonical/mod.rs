//! The canonical form: proto3-JSON as the contract fixes it, printed by RFC 8785.
//!
//! Proto field names, enum names, unpopulated fields left out, 64-bit integers as strings, standard padded base64, times in UTC
//! with the fewest of 0, 3, 6 or 9 fraction digits, `Struct` as plain JSON; then names sorted by UTF-16 code units, minimal
//! escapes and ECMAScript numbers (sessions contract, F4 to F7).
//!
//! Reading takes every legal spelling of proto3-JSON and nothing else. What is wrong and what is merely unknown are told apart
//! by [`Reason::is_ignorance`].

mod dynamic;
mod error;
pub(crate) mod jcs;
pub(crate) mod scalar;
pub(crate) mod table;
pub(crate) mod writer;

use prost_reflect::{DynamicMessage, ReflectMessage as _};

pub use error::{CanonicalError, Reason};
pub use jcs::{OutOfRange, push_double, push_number, push_string, push_value, utf16_order};

use crate::agentsessions;
use crate::json::{self, Json};

/// A message of `agentsessions.v1` that documents can be read as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageType(usize);

impl MessageType {
    /// By short name, as in `"Event"`.
    pub fn named(name: &str) -> Option<Self> {
        table::table().index(name).map(Self)
    }

    /// The canonical bytes of a proto3-JSON text.
    pub fn canonical(self, text: &[u8]) -> Result<Vec<u8>, CanonicalError> {
        self.canonical_tree(&json::parse(text)?)
    }

    /// The canonical bytes of a tree that was read already.
    pub fn canonical_tree(self, json: &Json<'_>) -> Result<Vec<u8>, CanonicalError> {
        let mut out = Vec::with_capacity(512);
        writer::write(&mut out, self.0, json, &[])?;
        Ok(out)
    }
}

/// The proto3-JSON tree of a message of the package.
///
/// A field that the descriptors do not know is a member named by its number, as in `"[21]"`.
pub fn tree(message: &DynamicMessage) -> Result<Json<'static>, CanonicalError> {
    dynamic::tree(message)
}

/// The canonical bytes of a dynamic message. The message must be one of `agentsessions.v1`.
pub fn canonical(message: &DynamicMessage) -> Result<Vec<u8>, CanonicalError> {
    let tree = dynamic::tree(message)?;
    let Some(known) = MessageType::named(message.descriptor().name()) else {
        return Err(CanonicalError::new(Reason::UnknownField(message.descriptor().full_name().to_owned()), Vec::new()));
    };
    known.canonical_tree(&tree)
}

/// The canonical bytes of a generated message of the package, given its short name.
pub fn canonical_of<M: prost::Message>(name: &str, message: &M) -> Result<Vec<u8>, CanonicalError> {
    canonical(&to_dynamic(name, message)?)
}

/// A generated message of the package as a dynamic one. Fails on a message nested deeper than protobuf decoders read.
pub fn to_dynamic<M: prost::Message>(name: &str, message: &M) -> Result<DynamicMessage, CanonicalError> {
    let unknown = |reason| CanonicalError::new(reason, Vec::new());
    let descriptor = agentsessions::message(name).ok_or_else(|| unknown(Reason::UnknownField(name.to_owned())))?;
    DynamicMessage::decode(descriptor, message.encode_to_vec().as_slice()).map_err(|_| unknown(Reason::Json(json::Problem::TooDeep(100))))
}

#[cfg(test)]
mod tests;
