//! Documents that say the same in other words.

use super::Dressed;
use crate::applied::Applied;
use crate::table::wrap;
use serde_json::Value;
use std::fmt::Write;
use std::sync::Arc;

pub(super) fn other_order<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().text, applied, |_reference, applied| {
        Arc::new(move |document| {
            applied.count();
            let mut text = String::new();
            write_reversed(document, &mut text);
            text
        })
    });
}

pub(super) fn charset<B: Dressed>(blueprint: &mut B, applied: &Applied) {
    wrap(&mut blueprint.wire().answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let mut answer = reference(asked, answer);
            for (_, value) in answer.headers.iter_mut().filter(|(name, _)| name == "content-type") {
                match value.as_str() {
                    "application/json" => value.push_str("; charset=utf-8"),
                    "text/event-stream" => value.push_str(";charset=utf-8"),
                    _ => continue,
                }
                applied.count();
            }
            answer
        })
    });
}

/// Writes JSON in one line, members in reverse.
fn write_reversed(document: &Value, text: &mut String) {
    match document {
        Value::Object(members) => {
            text.push_str("{ ");
            for (index, (name, value)) in members.iter().rev().enumerate() {
                text.push_str(if index == 0 { "" } else { " ,\t" });
                write_escaped(name, text);
                text.push_str(" : ");
                write_reversed(value, text);
            }
            text.push_str(" }");
        }
        Value::Array(items) => {
            text.push_str("[ ");
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { " , " });
                write_reversed(item, text);
            }
            text.push_str(" ]");
        }
        Value::String(string) => write_escaped(string, text),
        plain => text.push_str(&plain.to_string()),
    }
}

fn write_escaped(string: &str, text: &mut String) {
    text.push('"');
    for unit in string.encode_utf16() {
        match u8::try_from(unit).map(char::from) {
            Ok('/') => text.push_str("\\/"),
            Ok(plain @ ' '..='~') if plain != '"' && plain != '\\' => text.push(plain),
            // Writing to a string cannot fail.
            _ => drop(write!(text, "\\u{unit:04X}")),
        }
    }
    text.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    proptest! {
        #[test]
        fn another_order_says_the_same(name in ".{0,8}", string in ".{0,20}", number in any::<f64>()) {
            let document = json!({ "a": [string, null, true], name: { "n": number } });
            let mut text = String::new();
            write_reversed(&document, &mut text);
            prop_assert!(!text.contains('\n'));
            prop_assert_eq!(serde_json::from_str::<Value>(&text).expect("JSON"), document);
        }
    }
}
