//! How values are written where only text can stand: in paths, queries, headers and bodies as written.

use serde_json::Value;

/// Below it a whole double is an integer, and no other one.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// A whole number, `3.0` included: to JSON they are the same.
pub fn integer(value: &Value) -> Option<i64> {
    let whole = |number: f64| number.fract() == 0.0 && number.abs() < EXACT;
    #[expect(clippy::cast_possible_truncation, reason = "below 2^53 a whole double is an integer")]
    let cast = |number: f64| number as i64;
    value.as_i64().or_else(|| value.as_f64().filter(|n| whole(*n)).map(cast))
}

/// A string as it is, a whole number in digits only, anything else as JSON.
pub fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_f64() => integer(value).map_or_else(|| value.to_string(), |whole| whole.to_string()),
        other => other.to_string(),
    }
}

/// Percent-encoding of everything but unreserved characters.
pub fn percent_encoded(text: &str) -> String {
    text.bytes().fold(String::new(), |mut out, byte| {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
        out
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_whole_number_is_written_in_digits_however_it_came() {
        let text = r#"[100.0, 1e2, 100, -3.0, 0.5, 1e300, "100.0", true, [1.0]]"#;
        let values: Vec<Value> = serde_json::from_str(text).unwrap();
        let written: Vec<String> = values.iter().map(plain).collect();
        assert_eq!(written, ["100", "100", "100", "-3", "0.5", "1e+300", "100.0", "true", "[1.0]"]);
        assert_eq!((integer(&json!(7.0)), integer(&json!(7.5)), integer(&json!("7"))), (Some(7), None, None));
    }

    #[test]
    fn only_unreserved_characters_stay() {
        assert_eq!(percent_encoded("a-Z_0.~/ %?#\u{fc}"), "a-Z_0.~%2F%20%25%3F%23%C3%BC");
    }
}
