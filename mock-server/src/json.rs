//! What two JSON values have in common, and how long a text is.

use serde_json::Map;
use serde_json::{Number, Value};

/// An object of JSON values.
pub(crate) type JsonObject = Map<String, Value>;

/// Whether two values say the same: member order and the spelling of numbers (`1`, `1.0`) do not matter, array order does.
pub(crate) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => same_number(left, right),
        (Value::Array(left), Value::Array(right)) => left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r)),
        (Value::Object(left), Value::Object(right)) => same_object(left, right),
        _ => left == right,
    }
}

pub(crate) fn same_object(left: &JsonObject, right: &JsonObject) -> bool {
    left.len() == right.len() && left.iter().all(|(name, value)| right.get(name).is_some_and(|other| same(value, other)))
}

/// Numbers are doubles, so integers beyond 2^53 that round to one double are one number.
fn same_number(left: &Number, right: &Number) -> bool {
    left == right || left.as_f64() == right.as_f64()
}

/// The length of a text in UTF-16 units, which is how the contracts count.
pub(crate) fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Builds an object from its members.
pub(crate) fn object<const N: usize>(members: [(&str, Value); N]) -> JsonObject {
    members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn spelling_does_not_matter_but_order_of_arrays_does() {
        assert!(same(&json!({ "a": 1, "b": [1.0, { "c": -0.0 }] }), &json!({ "b": [1, { "c": 0 }], "a": 1.0 })));
        assert!(!same(&json!([1, 2]), &json!([2, 1])));
        assert!(!same(&json!({ "a": 1 }), &json!({ "a": 1, "b": 2 })));
        assert!(!same(&json!(1), &json!("1")));
    }

    #[test]
    fn lengths_are_utf16_units() {
        assert_eq!(length("a\u{1F600}"), 3);
    }
}
