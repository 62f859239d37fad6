//! JSON request bodies.

use crate::harness_runtime::problem::Problem;
use serde_json::Value;

/// The text of a body: without a byte order mark, and with replacement characters where it is no UTF-8.
pub(super) fn text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.strip_prefix('\u{FEFF}').unwrap_or(&text).to_owned()
}

/// A body that may be missing: blank is as good as none.
pub(super) fn optional(text: &str) -> Result<Option<Value>, Problem> {
    if text.trim().is_empty() { Ok(None) } else { parse(text).map(Some) }
}

/// A body that has to be there.
pub(super) fn required(text: &str) -> Result<Value, Problem> {
    if text.trim().is_empty() { Err(Problem::validation("Request body is required")) } else { parse(text) }
}

fn parse(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|_| Problem::validation("Request body is not valid JSON"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_missing() {
        assert_eq!(optional(" \n"), Ok(None));
        assert!(required("").is_err());
        assert_eq!(required("null"), Ok(Value::Null));
        assert!(optional("{").is_err());
    }

    #[test]
    fn marks_and_bad_bytes_do_no_harm() {
        assert_eq!(text(b"\xEF\xBB\xBF{}"), "{}");
        assert_eq!(text(b"\"\xFF\""), "\"\u{FFFD}\"");
    }
}
