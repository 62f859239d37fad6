//! Strings of a JSON tree, which remember whether they can be printed as they are.

use std::borrow::Cow;
use std::ops::Deref;

/// The decoded content of a JSON string.
///
/// Content that stood in the text without an escape is borrowed, and by the grammar holds no quote, no backslash and no
/// control character: a canonical printer can copy it. Only the reader makes such a value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// `text` must hold no character that JSON escapes.
    pub(super) fn plain(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }

    /// The content when it is known to need no escape.
    pub fn as_plain(&self) -> Option<&str> {
        match &self.0 {
            Cow::Borrowed(text) => Some(text),
            Cow::Owned(_) => None,
        }
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self(Cow::Owned(text))
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}
