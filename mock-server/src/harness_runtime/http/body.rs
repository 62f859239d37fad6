//! JSON request bodies.

use crate::harness_runtime::problem::Problem;
use crate::harness_runtime::rules::requests::Requests;
use serde_json::Value;

/// The text of a body: without a byte order mark, and with replacement characters where it is no UTF-8.
pub(super) fn text(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    text.strip_prefix('\u{FEFF}').unwrap_or(&text).to_owned()
}

/// A body that may be missing: blank is as good as none.
pub(super) fn optional(requests: &Requests, text: &str) -> Result<Option<Value>, Problem> {
    if text.trim().is_empty() { Ok(None) } else { (requests.parsed)(text).map(Some) }
}

/// A body that has to be there.
pub(super) fn required(requests: &Requests, text: &str) -> Result<Value, Problem> {
    if text.trim().is_empty() { Err(Problem::validation("Request body is required")) } else { (requests.parsed)(text) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blank_is_missing() {
        let requests = Requests::default();
        assert_eq!(optional(&requests, " \n"), Ok(None));
        assert!(required(&requests, "").is_err());
        assert_eq!(required(&requests, "null"), Ok(Value::Null));
        assert!(optional(&requests, "{").is_err());
    }

    #[test]
    fn marks_and_bad_bytes_do_no_harm() {
        assert_eq!(text(b"\xEF\xBB\xBF{}"), "{}");
        assert_eq!(text(b"\"\xFF\""), "\"\u{FFFD}\"");
    }
}
