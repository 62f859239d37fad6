//! Why a document has no canonical form.

use crate::json::{JsonError, Problem, Segment, path};

/// What stands in the way. [`Reason::is_ignorance`] tells a text that is wrong from one that this kit does not know enough about.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    #[error("{0}")]
    Json(Problem),
    #[error("{expected} was expected, {found} found")]
    Type { expected: &'static str, found: &'static str },
    #[error("{0:?} is no {1}-bit integer")]
    Integer(String, u8),
    #[error("{0:?} is no base64")]
    Base64(String),
    #[error("{0:?} is no RFC 3339 time between the years 1 and 9999 in UTC")]
    Timestamp(String),
    #[error("{0} is out of the range of a double")]
    NotFinite(String),
    #[error("the field {0} comes twice, under both of its names")]
    BothNames(&'static str),
    #[error("{0} and {1} exclude each other")]
    Oneof(&'static str, &'static str),
    #[error("a value of a Struct has no kind")]
    NoKind,
    #[error("{0} is missing")]
    Missing(&'static str),
    #[error("the line is longer than {0} bytes")]
    TooLong(usize),
    #[error("the field {0:?} is not known")]
    UnknownField(String),
    #[error("{0:?} is no known value of {1}")]
    UnknownEnumName(String, &'static str),
}

impl Reason {
    /// True when a newer or a more patient reader might read the document: its canonical form is unknown, not impossible.
    pub fn is_ignorance(&self) -> bool {
        matches!(self, Reason::UnknownField(_) | Reason::UnknownEnumName(..) | Reason::TooLong(_) | Reason::Json(Problem::TooDeep(_)))
    }
}

/// A document without a canonical form, with the place that is to blame.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason} at {}{}", path(.segments), .offset.map(|at| format!(", byte {at}")).unwrap_or_default())]
pub struct CanonicalError {
    pub reason: Reason,
    /// From the root of the document.
    pub segments: Vec<Segment>,
    /// In the text, from 0; known where the text is not JSON.
    pub offset: Option<usize>,
}

impl CanonicalError {
    pub fn new(reason: Reason, segments: Vec<Segment>) -> Self {
        Self { reason, segments, offset: None }
    }
}

impl From<JsonError> for CanonicalError {
    fn from(error: JsonError) -> Self {
        let segments = error.segments();
        Self { reason: Reason::Json(error.problem), segments, offset: Some(error.offset) }
    }
}
