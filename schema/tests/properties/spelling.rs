//! Legal spellings of a record, texts that are nearly JSON, and damage.

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Map, Value};

/// Names whose values are data of somebody's own.
const STRUCTS: [&str; 5] = ["args", "output", "input_schema", "params", "data"];
const INT64: [&str; 10] = [
    "seq",
    "fence",
    "resume_from_seq",
    "input_count",
    "input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "approval_request_seq",
    "approval_decision_seq",
    "request_seq",
];
const ENUMS: [&str; 4] = ["kind", "mediation", "mode", "code"];
const BYTES: [&str; 3] = ["config", "opaque_bytes", "bytes"];

struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// Another spelling of a record in proto3-JSON with proto names.
pub(crate) fn respell(line: &str, seed: u64) -> String {
    let value: Value = serde_json::from_str(line).expect("a record is JSON");
    let mut out = String::new();
    let mut dice = Dice(seed);
    write_message(&value, &mut dice, &mut out);
    out
}

fn camel(name: &str) -> String {
    let mut parts = name.split('_');
    let head = parts.next().unwrap_or_default().to_owned();
    parts.fold(head, |name, part| name + &part[..1].to_uppercase() + &part[1..])
}

fn space(dice: &mut Dice, out: &mut String) {
    out.push_str(["", "", "", " ", "\t", "\r", "  "][usize::try_from(dice.below(7)).expect("small")]);
}

fn shuffled<'v>(members: &'v Map<String, Value>, dice: &mut Dice) -> Vec<(&'v String, &'v Value)> {
    let mut members: Vec<_> = members.iter().collect();
    for index in (1..members.len()).rev() {
        members.swap(index, usize::try_from(dice.below(index as u64 + 1)).expect("small"));
    }
    members
}

fn write_object(members: &[(String, String)], dice: &mut Dice, out: &mut String) {
    out.push('{');
    for (index, (name, value)) in members.iter().enumerate() {
        out.push_str(if index > 0 { "," } else { "" });
        space(dice, out);
        out.push_str(&string(name, dice));
        space(dice, out);
        out.push(':');
        space(dice, out);
        out.push_str(value);
    }
    space(dice, out);
    out.push('}');
}

fn write_message(value: &Value, dice: &mut Dice, out: &mut String) {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = shuffled(members, dice)
                .into_iter()
                .map(|(name, value)| {
                    let mut text = String::new();
                    write_field(name, value, dice, &mut text);
                    (if dice.coin() { camel(name) } else { name.clone() }, text)
                })
                .collect();
            write_object(&members, dice, out);
        }
        Value::Array(items) => {
            let items: Vec<String> = items
                .iter()
                .map(|item| {
                    let mut text = String::new();
                    write_message(item, dice, &mut text);
                    text
                })
                .collect();
            out.push('[');
            out.push_str(&items.join(" , "));
            out.push(']');
        }
        Value::String(text) => out.push_str(&string(text, dice)),
        other => out.push_str(&other.to_string()),
    }
}

fn write_field(name: &str, value: &Value, dice: &mut Dice, out: &mut String) {
    match value {
        // `data` is the field of a part as well as the Struct inside: only the inner one is data.
        Value::Object(members) if STRUCTS.contains(&name) && !(name == "data" && members.keys().all(|key| key == "data")) => {
            write_plain(value, dice, out);
        }
        Value::String(text) if INT64.contains(&name) => out.push_str(&integer(text, dice)),
        Value::String(text) if BYTES.contains(&name) => out.push_str(&string(&base64(text, dice), dice)),
        // In quotes a number would be the name of an enum value.
        Value::Number(number) if number.is_i64() && ENUMS.contains(&name) => out.push_str(&number.to_string()),
        Value::Number(number) if number.is_i64() => out.push_str(&integer(&number.to_string(), dice)),
        _ => write_message(value, dice, out),
    }
}

/// A Struct: its names and values are fixed, their order and escapes are not.
fn write_plain(value: &Value, dice: &mut Dice, out: &mut String) {
    match value {
        Value::Object(members) => {
            let members: Vec<_> = shuffled(members, dice)
                .into_iter()
                .map(|(name, value)| {
                    let mut text = String::new();
                    write_plain(value, dice, &mut text);
                    (name.clone(), text)
                })
                .collect();
            write_object(&members, dice, out);
        }
        Value::String(text) => out.push_str(&string(text, dice)),
        other => out.push_str(&other.to_string()),
    }
}

fn integer(text: &str, dice: &mut Dice) -> String {
    let spelled = match dice.below(4) {
        0 => format!("{text}.0"),
        1 => format!("{text}e0"),
        _ => text.to_owned(),
    };
    if dice.coin() { format!("\"{spelled}\"") } else { spelled }
}

fn base64(text: &str, dice: &mut Dice) -> String {
    let text = if dice.coin() { text.trim_end_matches('=').to_owned() } else { text.to_owned() };
    if dice.coin() { text.replace('+', "-").replace('/', "_") } else { text }
}

fn string(text: &str, dice: &mut Dice) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        let must = c == '"' || c == '\\' || c < ' ';
        match c {
            '/' if dice.coin() => out.push_str("\\/"),
            _ if must || dice.below(9) == 0 => {
                let upper = dice.coin();
                let escape = |unit: &u16| if upper { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") };
                out.extend(c.encode_utf16(&mut [0; 2]).iter().map(escape));
            }
            _ => out.push(c),
        }
    }
    out + "\""
}

/// Tokens of JSON, and some of what is mistaken for it, in any order.
pub(crate) fn nearly_json() -> impl Strategy<Value = String> {
    let tokens = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"\"",
        "\"a\"",
        "\"b\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00\"",
        "\"\\ud83d\"",
        "\"é\"",
        "0",
        "-0",
        "1",
        "01",
        "-1.5e3",
        "1e400",
        "1.",
        "18446744073709551616",
        "true",
        "false",
        "null",
        "nul",
        "NaN",
        " ",
        "\n",
        "\"",
        "\\",
        "'",
        "\u{1}",
        "{\"a\":",
        "[1,",
        "{\"a\":1,\"a\":2}",
        "{}",
        "[]",
    ];
    vec(prop::sample::select(tokens.to_vec()), 0..12).prop_map(|tokens| tokens.concat())
}

/// One thing that may happen to a text.
#[derive(Clone, Debug)]
pub(crate) struct Damage {
    kind: u8,
    at: prop::sample::Index,
    to: prop::sample::Index,
    byte: u8,
}

impl Damage {
    pub(crate) fn apply(&self, mut text: Vec<u8>) -> Vec<u8> {
        if text.is_empty() {
            return text;
        }
        let (at, to) = (self.at.index(text.len()), self.to.index(text.len()));
        match self.kind {
            0 => text[at] = self.byte,
            1 => text.insert(at, self.byte),
            2 => drop(text.drain(at.min(to)..at.max(to))),
            3 => text.swap(at, to),
            _ => {
                let piece = text[at.min(to)..at.max(to)].to_vec();
                text.splice(to..to, piece);
            }
        }
        text
    }
}

pub(crate) fn damage() -> impl Strategy<Value = Vec<Damage>> {
    let bytes = prop_oneof![any::<u8>(), prop::sample::select(br#"{}[]":,\0123456789eE+-.tfn"#.to_vec())];
    let one = (0..5_u8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), bytes);
    vec(one.prop_map(|(kind, at, to, byte)| Damage { kind, at, to, byte }), 1..4)
}
