//! Matching: does a value fit a pattern, and where does it not. Patterns arrive with their `${...}` already filled in.

use jiff::Timestamp;
use proofmark_reports::model::Mismatch;
use proofmark_schema::validate;
use regex::Regex;
use serde_json::{Map, Value};

/// The operators, in the order of the documentation.
pub const OPERATORS: &[&str] = &[
    "$type",
    "$exactly",
    "$absent",
    "$in",
    "$any",
    "$all",
    "$not",
    "$contains",
    "$each",
    "$unordered",
    "$matches",
    "$minLength",
    "$maxLength",
    "$gt",
    "$gte",
    "$lt",
    "$lte",
    "$time",
    "$json",
    "$schema",
    "$readings",
    "$literal",
];

/// What a match found: the mismatches, and which of several accepted readings was seen.
#[derive(Debug, Default)]
pub struct Outcome {
    pub mismatches: Vec<Mismatch>,
    pub readings: Vec<String>,
}

/// Matches `actual` (`None`: the member is not there) against `pattern`; `path` names the place in mismatches.
pub fn matches(pattern: &Value, actual: Option<&Value>, path: &str) -> Outcome {
    let mut matcher = Matcher::default();
    matcher.value(pattern, actual, path);
    matcher.0
}

/// Whether it fits, without the reasons.
pub fn fits(pattern: &Value, actual: Option<&Value>) -> bool {
    matches(pattern, actual, "").mismatches.is_empty()
}

/// Deep equality in which numbers compare as numbers.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => compare(a, b) == Some(std::cmp::Ordering::Equal),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b))),
        _ => a == b,
    }
}

fn compare(a: &serde_json::Number, b: &serde_json::Number) -> Option<std::cmp::Ordering> {
    let whole = |n: &serde_json::Number| n.as_i64().map(i128::from).or_else(|| n.as_u64().map(i128::from));
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => Some(a.cmp(&b)),
        _ => a.as_f64()?.partial_cmp(&b.as_f64()?),
    }
}

/// A value as a mismatch shows it: JSON, cut when long.
pub fn show(value: Option<&Value>) -> String {
    const LONGEST: usize = 400;
    let Some(value) = value else { return "nothing".to_owned() };
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}... ({} bytes)", &text[..end], text.len()),
        None => text,
    }
}

#[derive(Default)]
struct Matcher(Outcome);

impl Matcher {
    fn miss(&mut self, path: &str, expected: impl Into<String>, actual: Option<&Value>) {
        self.0.mismatches.push(Mismatch { path: path.to_owned(), expected: expected.into(), actual: show(actual) });
    }

    fn value(&mut self, pattern: &Value, actual: Option<&Value>, path: &str) {
        match pattern {
            Value::Object(members) if members.keys().any(|k| k.starts_with('$')) => self.operators(members, actual, path),
            Value::Object(members) => self.members(members, actual, path),
            Value::Array(items) => self.items(items, actual, path),
            plain => {
                if !actual.is_some_and(|actual| equal(plain, actual)) {
                    self.miss(path, show(Some(plain)), actual);
                }
            }
        }
    }

    fn members(&mut self, members: &Map<String, Value>, actual: Option<&Value>, path: &str) {
        let Some(Value::Object(object)) = actual else { return self.miss(path, "an object", actual) };
        for (name, pattern) in members {
            self.value(pattern, object.get(name), &format!("{path}.{name}"));
        }
    }

    fn items(&mut self, items: &[Value], actual: Option<&Value>, path: &str) {
        let Some(Value::Array(array)) = actual else { return self.miss(path, "an array", actual) };
        if array.len() != items.len() {
            self.miss(path, format!("{} elements: {}", items.len(), show(Some(&Value::Array(items.to_vec())))), actual);
            return;
        }
        for (i, (pattern, element)) in items.iter().zip(array).enumerate() {
            self.value(pattern, Some(element), &format!("{path}[{i}]"));
        }
    }

    fn operators(&mut self, members: &Map<String, Value>, actual: Option<&Value>, path: &str) {
        let plain: Map<String, Value> = members.iter().filter(|(k, _)| !k.starts_with('$')).map(|(k, v)| (k.clone(), v.clone())).collect();
        if !plain.is_empty() {
            self.members(&plain, actual, path);
        }
        for (operator, operand) in members.iter().filter(|(k, _)| k.starts_with('$')) {
            self.operator(operator, operand, actual, path);
        }
    }

    fn operator(&mut self, operator: &str, operand: &Value, actual: Option<&Value>, path: &str) {
        match operator {
            "$absent" => {
                if (operand == &Value::Bool(true)) != actual.is_none() {
                    self.miss(path, if operand == &Value::Bool(true) { "nothing" } else { "to be there" }, actual);
                }
            }
            "$exactly" | "$literal" => {
                self.require(actual.is_some_and(|a| equal(operand, a)), path, actual, || format!("exactly {}", show(Some(operand))));
            }
            "$in" => {
                let found = actual.is_some_and(|a| elements(operand).iter().any(|o| equal(o, a)));
                self.require(found, path, actual, || format!("one of {}", show(Some(operand))));
            }
            "$any" => {
                let found = elements(operand).iter().any(|p| fits(p, actual));
                self.require(found, path, actual, || format!("to match one of {}", show(Some(operand))));
            }
            "$all" => elements(operand).iter().for_each(|p| self.value(p, actual, path)),
            "$not" => {
                let misses = !fits(operand, actual);
                self.require(misses, path, actual, || format!("not {}", show(Some(operand))));
            }
            "$contains" => self.require(contains(operand, actual), path, actual, || format!("to contain {}", show(Some(operand)))),
            "$each" => self.each(operand, actual, path),
            "$unordered" => {
                let same = matches!(actual, Some(Value::Array(a)) if unordered(elements(operand), a));
                self.require(same, path, actual, || format!("in any order {}", show(Some(operand))));
            }
            "$readings" => self.readings(operand, actual, path),
            _ => self.scalar_operator(operator, operand, actual, path),
        }
    }

    fn scalar_operator(&mut self, operator: &str, operand: &Value, actual: Option<&Value>, path: &str) {
        let text = actual.and_then(Value::as_str);
        match operator {
            "$type" => {
                let wanted = if operand.is_array() { elements(operand) } else { std::slice::from_ref(operand) };
                let fits = wanted.iter().filter_map(Value::as_str).any(|t| actual.is_some_and(|a| is_type(t, a)));
                self.require(fits, path, actual, || format!("type {}", show(Some(operand))));
            }
            "$matches" => {
                let regex = operand.as_str().and_then(|r| Regex::new(r).ok());
                let fits = matches!((regex, text), (Some(r), Some(t)) if r.is_match(t));
                self.require(fits, path, actual, || format!("to match /{}/", operand.as_str().unwrap_or_default()));
            }
            "$minLength" | "$maxLength" => {
                let length = text.map(|t| t.chars().count()).or_else(|| actual.and_then(Value::as_array).map(Vec::len));
                let bound = operand.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or_default();
                let (fits, word) = if operator == "$minLength" {
                    (length.is_some_and(|l| l >= bound), "least")
                } else {
                    (length.is_some_and(|l| l <= bound), "most")
                };
                self.require(fits, path, actual, || format!("a length of at {word} {bound}"));
            }
            "$gt" | "$gte" | "$lt" | "$lte" => {
                let order = match (actual, operand) {
                    (Some(Value::Number(a)), Value::Number(b)) => compare(a, b),
                    _ => None,
                };
                let (fits, sign) = match operator {
                    "$gt" => (order.is_some_and(std::cmp::Ordering::is_gt), ">"),
                    "$gte" => (order.is_some_and(std::cmp::Ordering::is_ge), ">="),
                    "$lt" => (order.is_some_and(std::cmp::Ordering::is_lt), "<"),
                    _ => (order.is_some_and(std::cmp::Ordering::is_le), "<="),
                };
                self.require(fits, path, actual, || format!("a number {sign} {operand}"));
            }
            "$time" => self.require(text.is_some_and(is_utc_time), path, actual, || {
                "a time in RFC 3339 form, UTC with Z, on a real calendar date".to_owned()
            }),
            "$json" => {
                let parsed = text.and_then(|t| serde_json::from_str::<Value>(t).ok());
                match parsed {
                    Some(parsed) => self.value(operand, Some(&parsed), &format!("{path} as JSON")),
                    None => self.miss(path, "a string that is JSON", actual),
                }
            }
            "$schema" => self.schema(operand.as_str().unwrap_or_default(), actual, path),
            unknown => self.miss(path, format!("an operator that exists instead of `{unknown}`"), actual),
        }
    }

    fn require(&mut self, holds: bool, path: &str, actual: Option<&Value>, expected: impl FnOnce() -> String) {
        if !holds {
            self.miss(path, expected(), actual);
        }
    }

    fn each(&mut self, pattern: &Value, actual: Option<&Value>, path: &str) {
        match actual {
            Some(Value::Array(array)) if !array.is_empty() => {
                for (i, element) in array.iter().enumerate() {
                    self.value(pattern, Some(element), &format!("{path}[{i}]"));
                }
            }
            _ => self.miss(path, "an array with at least one element", actual),
        }
    }

    fn readings(&mut self, operand: &Value, actual: Option<&Value>, path: &str) {
        let Value::Object(readings) = operand else { return self.miss(path, "a mapping of readings", actual) };
        match readings.iter().find(|(_, pattern)| fits(pattern, actual)) {
            Some((name, _)) => self.0.readings.push(name.clone()),
            None => self.miss(path, format!("one of the readings {}", show(Some(operand))), actual),
        }
    }

    fn schema(&mut self, name: &str, actual: Option<&Value>, path: &str) {
        let Some(actual) = actual else { return self.miss(path, format!("to be valid under {name}"), None) };
        match validate::check(name, actual) {
            Ok(violations) => self.0.mismatches.extend(violations.into_iter().map(|v| Mismatch {
                path: format!("{path}{}", pointer_as_path(&v.pointer)),
                expected: v.message,
                actual: show(actual.pointer(&v.pointer)),
            })),
            Err(error) => self.miss(path, error.to_string(), Some(actual)),
        }
    }
}

/// `/a/0/b` as `.a[0].b`.
pub fn pointer_as_path(pointer: &str) -> String {
    pointer.split('/').skip(1).fold(String::new(), |path, part| match part.parse::<usize>() {
        Ok(index) => format!("{path}[{index}]"),
        Err(_) => format!("{path}.{}", part.replace("~1", "/").replace("~0", "~")),
    })
}

fn elements(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn contains(pattern: &Value, actual: Option<&Value>) -> bool {
    match (pattern, actual) {
        (Value::String(part), Some(Value::String(whole))) => whole.contains(part.as_str()),
        (pattern, Some(Value::Array(array))) => array.iter().any(|element| fits(pattern, Some(element))),
        _ => false,
    }
}

/// Whether patterns and elements can be paired off one to one (a maximum matching, so that a greedy choice cannot fail it).
fn unordered(patterns: &[Value], elements: &[Value]) -> bool {
    fn place(p: usize, fit: &[Vec<usize>], seen: &mut [bool], taken: &mut [Option<usize>]) -> bool {
        fit[p].iter().any(|&e| {
            if std::mem::replace(&mut seen[e], true) {
                return false;
            }
            let free = match taken[e] {
                Some(other) => place(other, fit, seen, taken),
                None => true,
            };
            if free {
                taken[e] = Some(p);
            }
            free
        })
    }
    let fit: Vec<Vec<usize>> = patterns.iter().map(|p| (0..elements.len()).filter(|&e| fits(p, Some(&elements[e]))).collect()).collect();
    let mut taken = vec![None; elements.len()];
    patterns.len() == elements.len() && (0..patterns.len()).all(|p| place(p, &fit, &mut vec![false; elements.len()], &mut taken))
}

fn is_type(name: &str, value: &Value) -> bool {
    match name {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|n| n.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    }
}

/// RFC 3339 with `Z`: `2026-01-31T12:00:00Z`, any number of fraction digits or none. A leap second is legal.
pub fn is_utc_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let shape = bytes.len() >= 20
        && bytes.iter().enumerate().take(19).all(|(i, b)| match i {
            4 | 7 => *b == b'-',
            10 => *b == b'T' || *b == b't',
            13 | 16 => *b == b':',
            _ => b.is_ascii_digit(),
        });
    let Some(rest) = shape.then(|| &text[19..]) else { return false };
    let Some(fraction) = rest.strip_suffix(['Z', 'z']) else { return false };
    let digits = fraction.strip_prefix('.');
    if !(fraction.is_empty() || digits.is_some_and(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()))) {
        return false;
    }
    // The calendar is jiff's; the fraction (of any length) was judged above.
    text[..19].to_ascii_uppercase().parse::<jiff::civil::DateTime>().is_ok()
        || (&text[17..19] == "60" && format!("{}59Z", &text[..17]).parse::<Timestamp>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn misses(pattern: &Value, actual: &Value) -> Vec<String> {
        matches(pattern, Some(actual), "$").mismatches.into_iter().map(|m| format!("{}: {} / {}", m.path, m.expected, m.actual)).collect()
    }

    #[test]
    fn plain_values_objects_and_arrays() {
        assert!(fits(&json!({"a": 1, "b": [1, {"c": "x"}]}), Some(&json!({"a": 1.0, "b": [1, {"c": "x", "d": 0}], "e": 1}))));
        assert_eq!(misses(&json!({"a": {"b": "x"}}), &json!({"a": {"b": "y"}})), ["$.a.b: \"x\" / \"y\""]);
        assert_eq!(misses(&json!({"a": 1}), &json!([1])), ["$: an object / [1]"]);
        assert_eq!(misses(&json!([1]), &json!([1, 2])), ["$: 1 elements: [1] / [1,2]"]);
        assert!(!fits(&json!(9_007_199_254_740_993_u64), Some(&json!(9_007_199_254_740_992_u64))));
        assert!(!fits(&json!(null), None), "null is not the same as nothing");
    }

    #[test]
    fn every_operator_both_ways() {
        let cases = [
            (json!({"$type": "integer"}), json!(2.0), json!(2.5)),
            (json!({"$type": ["string", "null"]}), json!(null), json!(1)),
            (json!({"$exactly": {"a": 1}}), json!({"a": 1}), json!({"a": 1, "b": 2})),
            (json!({"$in": [1, 2]}), json!(2), json!(3)),
            (json!({"$any": [{"a": 1}, {"b": 1}]}), json!({"b": 1}), json!({"c": 1})),
            (json!({"$all": [{"a": 1}, {"b": 1}]}), json!({"a": 1, "b": 1}), json!({"a": 1})),
            (json!({"$not": 1}), json!(2), json!(1)),
            (json!({"$contains": {"a": 1}}), json!([0, {"a": 1}]), json!([0])),
            (json!({"$contains": "lo"}), json!("hello"), json!("help")),
            (json!({"$each": {"a": 1}}), json!([{"a": 1}]), json!([])),
            (json!({"$unordered": [{"$type": "number"}, 1]}), json!([1, 2]), json!([2, 2])),
            (json!({"$matches": "^a+$"}), json!("aa"), json!("ab")),
            (json!({"$minLength": 2}), json!("ab"), json!("a")),
            (json!({"$maxLength": 1}), json!([1]), json!([1, 2])),
            (json!({"$gt": 1, "$lte": 3}), json!(3), json!(1)),
            (json!({"$gte": 1, "$lt": 3}), json!(1), json!(3)),
            (json!({"$time": true}), json!("2024-02-29T10:00:00.123456789012Z"), json!("2026-02-30T10:00:00Z")),
            (json!({"$time": true}), json!("2026-06-30T23:59:60Z"), json!("2026-01-01T00:00:00+00:00")),
            (json!({"$json": {"a": 1}}), json!("{\"a\":1}"), json!("{")),
            (json!({"$literal": {"$type": 1}}), json!({"$type": 1}), json!(1)),
            (json!({"a": {"$absent": true}}), json!({}), json!({"a": null})),
            (json!({"a": {"$absent": false}}), json!({"a": null}), json!({})),
            (json!({"$readings": {"one": 1, "two": 2}}), json!(2), json!(3)),
        ];
        for (pattern, good, bad) in cases {
            assert!(fits(&pattern, Some(&good)), "{pattern} must match {good}");
            assert!(!fits(&pattern, Some(&bad)), "{pattern} must not match {bad}");
        }
    }

    #[test]
    fn the_reading_that_was_seen_is_told() {
        assert_eq!(matches(&json!({"a": {"$readings": {"one": 1, "two": 2}}}), Some(&json!({"a": 2})), "$").readings, ["two"]);
    }

    #[test]
    fn unordered_is_no_greedy_guess() {
        assert!(fits(&json!({"$unordered": [{"$type": "number"}, 1]}), Some(&json!([1, 2]))));
        assert!(fits(&json!({"$unordered": [1, {"$type": "number"}]}), Some(&json!([2, 1]))));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-z]{0,4}".prop_map(Value::from)
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map("[a-z]{1,3}", inner, 0..4).prop_map(|m| Value::Object(m.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_value_matches_itself_and_more_members(value in any_json()) {
            prop_assert!(fits(&value, Some(&value)));
            let (exactly, not) = (json!({"$exactly": value.clone()}), json!({"$not": value.clone()}));
            prop_assert!(fits(&exactly, Some(&value)));
            prop_assert!(!fits(&not, Some(&value)));
            if let Value::Object(mut more) = value.clone() {
                more.insert("zzzz".to_owned(), json!(1));
                prop_assert!(fits(&value, Some(&Value::Object(more))));
            }
        }

        #[test]
        fn different_values_are_told_apart(a in any_json(), b in any_json()) {
            prop_assert_eq!(fits(&json!({"$exactly": a.clone()}), Some(&b)), a == b);
        }
    }
}
