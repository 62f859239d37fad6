//! The status of a gRPC answer: its codes by name, its message, and where they stand.

use http::HeaderMap;

/// The codes, at the place of their number.
const CODES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

/// The name of a status code, as in `NOT_FOUND`; `None` for a number that gRPC does not define.
pub fn code_name(code: u32) -> Option<&'static str> {
    CODES.get(usize::try_from(code).ok()?).copied()
}

/// The number of a status code.
pub fn code_number(name: &str) -> Option<u32> {
    CODES.iter().zip(0..).find_map(|(code, number)| (*code == name).then_some(number))
}

/// What trailers (or the headers of an answer without a body) say.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Status {
    pub(super) code: Option<u32>,
    pub(super) message: String,
    /// Why there is no code, or which of several was taken.
    pub(super) fault: Option<String>,
}

impl Status {
    pub(super) fn read(trailers: &HeaderMap) -> Self {
        let message = trailers.get("grpc-message").map_or_else(String::new, |value| percent_decode(value.as_bytes()));
        let mut codes = trailers.get_all("grpc-status").iter();
        let Some(first) = codes.next() else {
            return Self { code: None, message, fault: Some("the answer ended without a grpc-status".to_owned()) };
        };
        let code = first.to_str().ok().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit())).and_then(|text| text.parse().ok());
        let fault = match (code, codes.next()) {
            (None, _) => Some(format!("grpc-status is not a number: \"{}\"", first.as_bytes().escape_ascii())),
            (Some(_), Some(_)) => Some("grpc-status comes more than once; the first one counts".to_owned()),
            (Some(_), None) => None,
        };
        Self { code, message, fault }
    }
}

/// Decodes `%XX`; what is no such escape stays as it is, and what is not UTF-8 then is replaced.
fn percent_decode(bytes: &[u8]) -> String {
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = after.first_chunk::<2>().filter(|_| byte == b'%').and_then(|digits| {
            let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
            u8::from_str_radix(digits, 16).ok()
        });
        decoded.push(escaped.unwrap_or(byte));
        rest = if escaped.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&decoded).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(trailers: &[(&'static str, &'static [u8])]) -> Status {
        let pairs = trailers.iter().map(|(name, value)| (http::HeaderName::from_static(name), http::HeaderValue::from_bytes(value)));
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(name, value.expect("a legal header value"));
        }
        Status::read(&map)
    }

    #[test]
    fn names_and_numbers_belong_together() {
        for number in 0..17 {
            assert_eq!(code_name(number).and_then(code_number), Some(number));
        }
        assert_eq!((code_number("NOT_FOUND"), code_number("UNAUTHENTICATED")), (Some(5), Some(16)));
        assert_eq!((code_name(17), code_name(u32::MAX), code_number("NotFound")), (None, None, None));
    }

    #[test]
    fn codes_are_plain_numbers() {
        for (text, code) in
            [("0", Some(0)), ("5", Some(5)), ("99", Some(99)), ("", None), ("+5", None), ("NOT_FOUND", None), ("4294967296", None)]
        {
            let status = status(&[("grpc-status", text.as_bytes())]);
            assert_eq!((status.code, status.fault.is_none()), (code, code.is_some()), "{text}");
        }
        assert_eq!(status(&[]).fault.as_deref(), Some("the answer ended without a grpc-status"));
        let twice = status(&[("grpc-status", b"0"), ("grpc-status", b"5")]);
        assert_eq!((twice.code, twice.fault.as_deref()), (Some(0), Some("grpc-status comes more than once; the first one counts")));
    }

    #[test]
    fn messages_are_percent_decoded() {
        for (sent, read) in [
            (&b"plain text"[..], "plain text"),
            (b"100%25 sure", "100% sure"),
            (b"caf%C3%a9", "caf\u{e9}"),
            (b"%F0%9F%98%80%0A", "\u{1f600}\n"),
            (b"50% of %zz and %4", "50% of %zz and %4"),
            (b"%+1%", "%+1%"),
            (b"%FF!", "\u{fffd}!"),
            (b"raw \xc3\xa9", "raw \u{e9}"),
        ] {
            assert_eq!(status(&[("grpc-status", b"2"), ("grpc-message", sent)]).message, read);
        }
    }
}
