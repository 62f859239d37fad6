//! When two readers saw the same thing: equality by meaning, not by spelling.
//!
//! Member order and number spelling (`1`, `1.0`) never matter, nor do two spellings of one instant, nor members that the contract does
//! not know: anyone may add those, to one answer and not to the next. What a provider put in (`data` of deltas, provider events and
//! unknown events, payloads, metadata, config) is compared whole.

use super::dialect::Dialect;
use super::finding::mismatch;
use proofmark_reports::model::Mismatch;
use serde_json::{Map, Number, Value};

/// Longest rendering of a value in a mismatch, in characters.
const SHOWN: usize = 160;

/// The first difference between two sightings of one event; `None` when they tell the same.
///
/// Leaves out `sequence` (under which they were found) and the name of the execution (which has a rule of its own).
pub(super) fn event_difference(dialect: &Dialect, expected: &Value, actual: &Value) -> Option<Mismatch> {
    if expected == actual {
        return None;
    }
    let kind = expected["type"].as_str();
    member_difference("", dialect.envelope, expected, actual).or_else(|| {
        if let Some(members) = kind.and_then(documented_members) {
            return member_difference("", members, expected, actual);
        }
        let (left, right) = (&expected["data"], &actual["data"]);
        match kind.and_then(documented_data) {
            Some(members) if left.is_object() && right.is_object() => member_difference("data.", members, left, right),
            _ => member_difference("", &["data"], expected, actual),
        }
    })
}

/// The first difference between two snapshots of one execution in what the contract documents.
pub(super) fn execution_difference(dialect: &Dialect, expected: &Value, actual: &Value) -> Option<Mismatch> {
    if expected == actual { None } else { member_difference("$.", dialect.execution, expected, actual) }
}

/// Deep equality; numbers by value.
pub(super) fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => same_number(a, b),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => a.len() == b.len() && a.iter().all(|(k, v)| b.get(k).is_some_and(|w| same(v, w))),
        _ => left == right,
    }
}

/// A value as a reader of a report wants it: JSON on one line, cut with a mark.
pub(super) fn shown(value: &Value) -> String {
    if value.is_null() {
        return "null or absent".into();
    }
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((cut, _)) => format!("{}… ({} bytes)", &text[..cut], text.len()),
        None => text,
    }
}

/// Members by which two sightings of an event are compared whose members stand beside its envelope.
fn documented_members(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "execution.accepted" => &[],
        "route.selected" => &["target", "attempt"],
        "route.attempt_failed" => &["target", "attempt", "error"],
        "output.delta" => &["output_index", "delta"],
        "tool.call.started" => &["call_id", "name"],
        "tool.call.arguments.delta" => &["call_id", "delta"],
        "execution.progress" => &["phase", "progress"],
        "output.result" => &["result", "artifacts"],
        "usage.reported" => &["facts"],
        "execution.completed" => &["target"],
        "execution.failed" => &["error"],
        _ => return None,
    })
}

/// Members of `data` by which two sightings are compared; `None` where the provider owns the whole of it.
fn documented_data(kind: &str) -> Option<&'static [&'static str]> {
    Some(match kind {
        "run.queued" | "run.started" => &["providerId"],
        "output.text.done" => &["text"],
        "run.completed" => &["finalOutput"],
        "run.failed" => &["code", "message"],
        "run.cancelled" => &["reason", "providerCleanupError"],
        "action.required" => &["id", "executionId", "kind", "title", "description", "payload", "createdAt"],
        "action.responded" => &["actionId", "approved"],
        "artifact.created" => &["id", "executionId", "name", "mediaType", "uri", "metadata", "createdAt"],
        _ => return None,
    })
}

fn member_difference(prefix: &str, members: &[&str], expected: &Value, actual: &Value) -> Option<Mismatch> {
    let differs = |member: &&&str| !same_member(member, &expected[**member], &actual[**member]);
    let member = members.iter().find(differs)?;
    Some(mismatch(format!("{prefix}{member}"), shown(&expected[*member]), shown(&actual[*member])))
}

/// An absent member indexes as null, so null and absent are the same here; shapes judge which of them is legal.
fn same_member(name: &str, left: &Value, right: &Value) -> bool {
    match name {
        "time" | "createdAt" | "startedAt" | "endedAt" | "created_at" => same_time(left, right),
        "requiredCapabilities" => same_set(left, right),
        "error" => match (left, right) {
            (Value::Object(a), Value::Object(b)) => same_error(a, b),
            _ => same(left, right),
        },
        _ => same(left, right),
    }
}

fn same_error(left: &Map<String, Value>, right: &Map<String, Value>) -> bool {
    ["code", "message"].iter().all(|member| left.get(*member) == right.get(*member))
}

/// Their order is the business of another rule.
fn same_set(left: &Value, right: &Value) -> bool {
    let sorted = |value: &Value| {
        let mut texts: Vec<String> = value.as_array()?.iter().map(ToString::to_string).collect();
        texts.sort_unstable();
        Some(texts)
    };
    left == right || (left.is_array() && sorted(left) == sorted(right))
}

/// The same instant to the millisecond, the precision that the contract's times have.
pub(super) fn same_time(left: &Value, right: &Value) -> bool {
    let instant = |value: &Value| value.as_str()?.parse::<jiff::Timestamp>().ok();
    left == right
        || match (instant(left), instant(right)) {
            (Some(a), Some(b)) => a.duration_since(b).abs() < jiff::SignedDuration::from_millis(1),
            _ => false,
        }
}

fn same_number(left: &Number, right: &Number) -> bool {
    let whole = |number: &Number| number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
    match (whole(left), whole(right)) {
        (Some(a), Some(b)) => a == b,
        _ => left.as_f64() == right.as_f64(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::dialect::HARNESS;
    use serde_json::json;

    fn event(kind: &str, data: &Value) -> Value {
        json!({"id": "e:1", "executionId": "e", "sequence": 1, "type": kind, "time": "2026-09-02T10:00:00.120Z", "data": data})
    }

    #[test]
    fn numbers_compare_by_value() {
        assert!(same(&json!({"a": [1, 2.0]}), &json!({"a": [1.0, 2]})));
        assert!(same(&serde_json::from_str("-0").unwrap(), &json!(0)));
        assert!(!same(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992_u64)));
        assert!(!same(&json!("1"), &json!(1)));
    }

    #[test]
    fn unknown_members_around_a_closed_event_do_not_count() {
        let mut other = event("run.completed", &json!({"finalOutput": "x", "extra": 1}));
        other["deliveredAt"] = json!("2026-09-02T10:00:01Z");
        assert_eq!(event_difference(&HARNESS, &event("run.completed", &json!({"finalOutput": "x"})), &other), None);
    }

    #[test]
    fn what_a_provider_put_in_counts_whole() {
        for kind in ["output.text.delta", "provider.event", "vendor.event"] {
            let found = event_difference(&HARNESS, &event(kind, &json!({"text": "x", "n": 1})), &event(kind, &json!({"text": "x"})));
            assert_eq!(found.unwrap().path, "data", "{kind}");
        }
    }

    #[test]
    fn the_differing_member_is_named() {
        let left = event("run.failed", &json!({"code": "PROVIDER_ERROR", "message": "a"}));
        let right = event("run.failed", &json!({"code": "PROVIDER_ERROR", "message": "b"}));
        assert_eq!(event_difference(&HARNESS, &left, &right).unwrap(), mismatch("data.message", "\"a\"", "\"b\""));
        assert_eq!(event_difference(&HARNESS, &left, &event("run.completed", &json!({}))).unwrap().path, "type");
    }

    #[test]
    fn one_instant_has_many_spellings() {
        let time = |text: &str| json!({"type": "x", "id": "e:1", "time": text});
        let base = time("2026-09-02T10:00:00.120Z");
        assert_eq!(event_difference(&HARNESS, &base, &time("2026-09-02T10:00:00.12Z")), None);
        assert_eq!(event_difference(&HARNESS, &base, &time("2026-09-02T10:00:00.120000000Z")), None);
        assert_eq!(event_difference(&HARNESS, &base, &time("2026-09-02T10:00:00.121Z")).unwrap().path, "time");
        assert_eq!(event_difference(&HARNESS, &base, &time("yesterday")).unwrap().path, "time");
    }

    #[test]
    fn executions_compare_by_what_is_documented() {
        let left = json!({"id": "e", "state": "failed", "requiredCapabilities": ["a", "b"], "error": {"code": "C", "message": "m"}});
        let mut right = left.clone();
        right["requiredCapabilities"] = json!(["b", "a"]);
        right["updatedAt"] = json!("2026-09-02T10:00:00Z");
        right["error"]["trace"] = json!(7);
        right["finalOutput"] = json!(null);
        assert_eq!(execution_difference(&HARNESS, &left, &right), None);
        right["error"]["message"] = json!("n");
        assert_eq!(execution_difference(&HARNESS, &left, &right).unwrap().path, "$.error");
    }

    #[test]
    fn long_values_are_cut_at_a_character() {
        let text = shown(&json!("ü".repeat(500)));
        assert!(text.contains('…') && text.chars().count() < 200, "{text}");
    }
}
