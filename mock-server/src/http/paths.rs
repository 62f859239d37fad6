//! Escapes in paths and query parameters.

/// The first value of a query parameter, decoded.
pub(crate) fn parameter(query: Option<&str>, name: &str) -> Option<String> {
    let pairs = query?.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let mut values = pairs.filter(|(key, _)| plain(key) == name).map(|(_, value)| plain(value));
    values.next()
}

fn plain(text: &str) -> String {
    decode(&text.replace('+', " "))
}

/// Decodes percent escapes; what is no escape, or would be no text, stays as it is.
pub(crate) fn decode(segment: &str) -> String {
    let mut decoded = Vec::new();
    let mut rest = segment.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let escaped = if first == b'%' { tail.get(..2).and_then(hexadecimal) } else { None };
        decoded.push(escaped.unwrap_or(first));
        rest = if escaped.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8(decoded).unwrap_or_else(|_| segment.to_owned())
}

/// Decodes percent escapes; `None` where one is broken, or where they make no text.
pub(crate) fn decode_strictly(segment: &str) -> Option<String> {
    let broken = segment.split('%').skip(1).any(|after| after.as_bytes().get(..2).and_then(hexadecimal).is_none());
    let decoded = decode(segment);
    // What makes no text stays as it was, escapes included.
    (!broken && (decoded != segment || !segment.contains('%'))).then_some(decoded)
}

fn hexadecimal(digits: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
    u8::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_parameter_wins() {
        assert_eq!(parameter(Some("x=1&after=2&after=3"), "after").as_deref(), Some("2"));
        assert_eq!(parameter(Some("after"), "after").as_deref(), Some(""));
        assert_eq!(parameter(Some("after=%202+"), "after").as_deref(), Some(" 2 "));
        assert_eq!(parameter(None, "after"), None);
    }

    #[test]
    fn bad_escapes_stay() {
        assert_eq!(decode("a%2Fb%zz%+1%e4"), "a%2Fb%zz%+1%e4");
        assert_eq!(decode("a%2fb%"), "a/b%");
        assert_eq!(decode("%C3%A4"), "\u{E4}");
    }

    #[test]
    fn strictness_tells_bad_escapes() {
        assert_eq!(decode_strictly("a%2fb").as_deref(), Some("a/b"));
        assert_eq!(decode_strictly("plain").as_deref(), Some("plain"));
        for bad in ["%", "a%zz", "%4", "%e4"] {
            assert_eq!(decode_strictly(bad), None, "{bad}");
        }
    }
}
