//! RFC 8785: how strings, numbers and plain JSON values print, and in which order names come.

use std::cmp::Ordering;

use crate::json::{Json, Text};

/// A number that no double holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutOfRange;

/// The order of names: by UTF-16 code units.
///
/// UTF-8 sorts by code point, which is the same except that characters above U+FFFF (lead byte F0 and up) come before
/// U+E000 to U+FFFF (lead bytes EE and EF).
pub fn utf16_order(left: &str, right: &str) -> Ordering {
    let differing = left.bytes().zip(right.bytes()).find(|(l, r)| l != r);
    match differing {
        None => left.len().cmp(&right.len()),
        Some((l, r)) if l >= 0xEE && r >= 0xEE && (l >= 0xF0) != (r >= 0xF0) => r.cmp(&l),
        Some((l, r)) => l.cmp(&r),
    }
}

/// Appends `text` as a JSON string: only quote, backslash and U+0000 to U+001F are escaped.
pub fn push_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let mut plain = 0;
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        if byte >= 0x20 && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.extend_from_slice(&bytes[plain..at]);
        push_escape(out, byte);
        plain = at + 1;
    }
    out.extend_from_slice(&bytes[plain..]);
    out.push(b'"');
}

fn push_escape(out: &mut Vec<u8>, byte: u8) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let letter = match byte {
        b'"' | b'\\' => byte,
        0x08 => b'b',
        b'\t' => b't',
        b'\n' => b'n',
        0x0C => b'f',
        b'\r' => b'r',
        _ => {
            out.extend_from_slice(b"\\u00");
            out.extend_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
            return;
        }
    };
    out.extend_from_slice(&[b'\\', letter]);
}

/// Appends a string of a tree, without looking at it again when the reader found nothing to escape.
pub(super) fn push_text(out: &mut Vec<u8>, text: &Text<'_>) {
    match text.as_plain() {
        Some(plain) => {
            out.push(b'"');
            out.extend_from_slice(plain.as_bytes());
            out.push(b'"');
        }
        None => push_string(out, text),
    }
}

/// Appends the ECMAScript form of the double nearest to the JSON number `text`.
pub fn push_number(out: &mut Vec<u8>, text: &str) -> Result<(), OutOfRange> {
    if is_small_integer(text) {
        out.extend_from_slice(text.as_bytes());
        return Ok(());
    }
    let double: f64 = text.parse().map_err(|_| OutOfRange)?;
    push_double(out, double)
}

/// Appends the ECMAScript form of a double.
pub fn push_double(out: &mut Vec<u8>, double: f64) -> Result<(), OutOfRange> {
    if !double.is_finite() {
        return Err(OutOfRange);
    }
    out.extend_from_slice(ryu_js::Buffer::new().format_finite(double).as_bytes());
    Ok(())
}

/// Integers of up to fifteen digits print as they are written.
fn is_small_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    digits.len() <= 15 && text != "-0" && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Appends the canonical form of a plain JSON value, that is of one whose members need no descriptor (a `Struct`).
///
/// On a number that no double holds, the error is the number's text.
pub fn push_value(out: &mut Vec<u8>, json: &Json<'_>) -> Result<(), String> {
    match json {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(text) => push_number(out, text).map_err(|OutOfRange| text.to_string())?,
        Json::String(text) => push_text(out, text),
        Json::Array(items) => {
            out.push(b'[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_value(out, item)?;
            }
            out.push(b']');
        }
        Json::Object(members) => {
            out.push(b'{');
            for (index, (name, value)) in sorted(members).into_iter().enumerate() {
                if index > 0 {
                    out.push(b',');
                }
                push_text(out, name);
                out.push(b':');
                push_value(out, value)?;
            }
            out.push(b'}');
        }
    }
    Ok(())
}

/// The members of an object in canonical order.
pub(super) fn sorted<'m, 'a>(members: &'m [(Text<'a>, Json<'a>)]) -> Vec<(&'m Text<'a>, &'m Json<'a>)> {
    let mut sorted: Vec<_> = members.iter().map(|(name, value)| (name, value)).collect();
    sorted.sort_unstable_by(|left, right| utf16_order(left.0, right.0));
    sorted
}
