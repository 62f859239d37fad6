//! Whether a result meets an expectation. Pure: a subject, the scope and the expectation in, a verdict out.

use crate::scenario::fill::{FillError, Scope};
use crate::scenario::model::{Expectation, Subject, Test};
use crate::scenario::pattern::{self, show};
use proofmark_reports::model::Mismatch;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// What one expectation came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Held {
        readings: Vec<String>,
    },
    Broken(Vec<Mismatch>),
    /// It could not be judged; why.
    Unseen(String),
}

impl Verdict {
    /// The readings of a disputed rule that were seen.
    pub fn readings(&self) -> &[String] {
        match self {
            Verdict::Held { readings } => readings,
            _ => &[],
        }
    }
}

/// A result as a value that expectations and `save` look into:
/// `{ answered, reason, status, headers, body, text, events, complete, code, message, trailers, exchanges }`, as far as each exists.
pub type Result = Value;

/// Judges `expectation` over the result of its step. An error is a mistake in the fixture or a value that was never saved.
pub fn evaluate(expectation: &Expectation, result: &Result, scope: &Scope) -> std::result::Result<Verdict, FillError> {
    if let Some((value, is)) = &expectation.when {
        let (value, is) = (scope.fill(value)?, scope.fill(is)?);
        if !pattern::fits(&is, Some(&value)) {
            return Ok(Verdict::Unseen(format!("it went another way: {} is not {}", show(Some(&value)), show(Some(&is)))));
        }
    }
    let subjects: Vec<(String, Value)> = match &expectation.subject {
        Subject::Step => vec![(String::new(), result.clone())],
        Subject::Of(value) => vec![(String::new(), as_result(scope.fill(value)?))],
        Subject::Each(names) => names
            .iter()
            .map(|name| scope.get(name).map(|v| (format!("{name}: "), as_result(v))).ok_or_else(|| FillError::Missing(name.clone())))
            .collect::<std::result::Result<_, _>>()?,
    };
    let mut judge = Judge { scope, outcome: pattern::Outcome::default(), unseen: None, prefix: String::new() };
    for (prefix, subject) in &subjects {
        judge.prefix.clone_from(prefix);
        for test in &expectation.tests {
            judge.test(test, subject)?;
        }
    }
    Ok(judge.verdict())
}

/// Whether a polled answer already is what is waited for.
pub fn satisfied(until: &Expectation, result: &Result, scope: &Scope) -> std::result::Result<bool, FillError> {
    Ok(matches!(evaluate(until, result, scope)?, Verdict::Held { .. }))
}

/// A saved value as a subject: a list of events, a whole result, or a body.
fn as_result(value: Value) -> Value {
    match value {
        Value::Array(events) => json!({ "answered": true, "events": events, "complete": true }),
        Value::Object(members) if members.contains_key("answered") => Value::Object(members),
        body => json!({ "answered": true, "body": body }),
    }
}

struct Judge<'a> {
    scope: &'a Scope,
    outcome: pattern::Outcome,
    unseen: Option<String>,
    prefix: String,
}

impl Judge<'_> {
    fn verdict(self) -> Verdict {
        if !self.outcome.mismatches.is_empty() {
            return Verdict::Broken(self.outcome.mismatches);
        }
        match self.unseen {
            Some(reason) => Verdict::Unseen(reason),
            None => Verdict::Held { readings: self.outcome.readings },
        }
    }

    fn test(&mut self, test: &Test, subject: &Value) -> std::result::Result<(), FillError> {
        match test {
            Test::Answered => {
                if subject["answered"] != Value::Bool(true) {
                    self.miss("answer", "an answer", &reason(subject));
                }
                return Ok(());
            }
            Test::Value { value, is } => return self.value(value, is),
            Test::Same(values) => return self.compare(values, true),
            Test::Differ(values) => return self.compare(values, false),
            _ => {}
        }
        if subject["answered"] != Value::Bool(true) {
            match subject.get("finding") {
                Some(finding) => self.miss("answer", "an answer", finding.as_str().unwrap_or_default()),
                None => self.unsee(reason(subject)),
            }
            return Ok(());
        }
        if test.is_about_history() { self.history(test, subject) } else { self.answer(test, subject) }
    }

    fn answer(&mut self, test: &Test, subject: &Value) -> std::result::Result<(), FillError> {
        match test {
            Test::Status(pattern) => self.matches(pattern, subject.get("status"), "status"),
            Test::Code(pattern) => self.matches(pattern, subject.get("code"), "code"),
            Test::Message(pattern) => self.matches(pattern, subject.get("message"), "message"),
            Test::Body(pattern) => self.matches(pattern, subject.get("body"), "$"),
            Test::Text(pattern) => self.matches(pattern, subject.get("text"), "text"),
            Test::Headers(patterns) => self.headers(patterns, &subject["headers"], "header"),
            Test::Trailers(patterns) => self.headers(patterns, &subject["trailers"], "trailer"),
            _ => Ok(()),
        }
    }

    fn headers(&mut self, patterns: &BTreeMap<String, Value>, headers: &Value, word: &str) -> std::result::Result<(), FillError> {
        for (name, pattern) in patterns {
            self.matches(pattern, headers.get(name.to_ascii_lowercase()), &format!("{word} {name}"))?;
        }
        Ok(())
    }

    fn history(&mut self, test: &Test, subject: &Value) -> std::result::Result<(), FillError> {
        let Some(events) = subject["events"].as_array() else {
            self.miss("events", "a list of events", &show(subject.get("body")));
            return Ok(());
        };
        let complete = subject["complete"] != Value::Bool(false);
        let filled = |judge: &Self, pattern: &Value| judge.scope.fill(pattern);
        match test {
            Test::Types(_) | Test::First(_) | Test::History(_) if !complete && !Self::may_accuse_prefix(test, events) => {
                self.unsee("the history was not read to its end".to_owned());
            }
            Test::Types(types) => self.types(types, events),
            Test::Order(patterns) => {
                let patterns = patterns.iter().map(|p| filled(self, p)).collect::<std::result::Result<Vec<_>, _>>()?;
                self.order(&patterns, events, complete);
            }
            Test::ExactlyOne(pattern) => {
                let pattern = filled(self, pattern)?;
                let found = count(&pattern, events);
                if found > 1 || (found == 0 && complete) {
                    self.miss("events", &format!("exactly one {}", show(Some(&pattern))), &format!("{found} among {}", types_of(events)));
                } else if found == 0 {
                    self.unsee("the history was not read to its end".to_owned());
                }
            }
            Test::Some(pattern) => {
                let pattern = filled(self, pattern)?;
                if count(&pattern, events) == 0 {
                    self.miss_or_unsee(complete, &format!("at least one {}", show(Some(&pattern))), events);
                }
            }
            Test::NoEvent(pattern) => {
                let pattern = filled(self, pattern)?;
                self.none(&pattern, events);
            }
            Test::Count { of, is } => {
                let (of, is) = (filled(self, of)?, filled(self, is)?);
                if !complete {
                    self.unsee("the history was not read to its end".to_owned());
                } else if events.is_empty() {
                    self.unsee("no event was seen at all".to_owned());
                } else {
                    let path = format!("{}events: number of {}", self.prefix, show(Some(&of)));
                    let outcome = pattern::matches(&is, Some(&Value::from(count(&of, events))), &path);
                    self.outcome.mismatches.extend(outcome.mismatches);
                }
            }
            Test::First(pattern) => self.matches(pattern, events.first(), "events[0]")?,
            Test::Last(pattern) if complete => {
                self.matches(pattern, events.last(), &format!("events[{}]", events.len().saturating_sub(1)))?;
            }
            Test::Last(_) => self.unsee("the history was not read to its end".to_owned()),
            Test::Every(pattern) => {
                if events.is_empty() {
                    self.unsee("no event was seen at all".to_owned());
                }
                for (i, event) in events.iter().enumerate() {
                    self.matches(pattern, Some(event), &format!("events[{i}]"))?;
                }
            }
            Test::History(pattern) => self.matches(pattern, Some(&subject["events"]), "events")?,
            _ => {}
        }
        Ok(())
    }

    /// Of a history that was not read to its end only its first event is certain.
    fn may_accuse_prefix(test: &Test, events: &[Value]) -> bool {
        matches!(test, Test::First(_)) && !events.is_empty()
    }

    fn types(&mut self, types: &[String], events: &[Value]) {
        let seen: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap_or("?")).collect();
        if seen != types {
            self.miss("events", &types.join(", "), &seen.join(", "));
        }
    }

    fn order(&mut self, patterns: &[Value], events: &[Value], complete: bool) {
        let mut rest = events.iter();
        for pattern in patterns {
            if !rest.any(|event| pattern::fits(pattern, Some(event))) {
                self.miss_or_unsee(complete, &format!("{} in its place in the order", show(Some(pattern))), events);
                return;
            }
        }
    }

    /// Absence counts only where something else was seen to arrive.
    fn none(&mut self, pattern: &Value, events: &[Value]) {
        if let Some(i) = events.iter().position(|event| pattern::fits(pattern, Some(event))) {
            self.miss(&format!("events[{i}]"), &format!("no event like {}", show(Some(pattern))), &show(events.get(i)));
        } else if events.is_empty() {
            self.unsee("no event was seen at all".to_owned());
        }
    }

    fn value(&mut self, value: &Value, is: &Value) -> std::result::Result<(), FillError> {
        let actual = self.scope.fill(value)?;
        if is.get("answered").is_none()
            && let Some(silent) = unanswered(value, &actual)
        {
            self.unsee(reason(silent));
            return Ok(());
        }
        let path = value.as_str().map_or_else(|| "value".to_owned(), str::to_owned);
        let path = path.trim_start_matches("${").trim_end_matches('}').to_owned();
        self.matches(is, Some(&actual), &path)
    }

    fn compare(&mut self, values: &[Value], equal: bool) -> std::result::Result<(), FillError> {
        let filled = values.iter().map(|v| self.scope.fill(v)).collect::<std::result::Result<Vec<_>, _>>()?;
        if let Some(silent) = values.iter().zip(&filled).find_map(|(template, value)| unanswered(template, value)) {
            self.unsee(reason(silent));
            return Ok(());
        }
        for (i, a) in filled.iter().enumerate() {
            for (j, b) in filled.iter().enumerate().skip(i + 1) {
                if pattern::equal(a, b) != equal {
                    let path = values[j].as_str().unwrap_or("value").to_owned();
                    let word = if equal { "the same as" } else { "different from" };
                    let other = values[i].as_str().unwrap_or("the first");
                    self.miss(&path, &format!("{word} {other}: {}", show(Some(a))), &show(Some(b)));
                    if equal {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn matches(&mut self, pattern: &Value, actual: Option<&Value>, path: &str) -> std::result::Result<(), FillError> {
        let pattern = self.scope.fill(pattern)?;
        let outcome = pattern::matches(&pattern, actual, &format!("{}{path}", self.prefix));
        self.outcome.mismatches.extend(outcome.mismatches);
        self.outcome.readings.extend(outcome.readings);
        Ok(())
    }

    fn miss(&mut self, path: &str, expected: &str, actual: &str) {
        let path = format!("{}{path}", self.prefix);
        self.outcome.mismatches.push(Mismatch { path, expected: expected.to_owned(), actual: actual.to_owned() });
    }

    fn miss_or_unsee(&mut self, complete: bool, expected: &str, events: &[Value]) {
        if complete {
            self.miss("events", expected, &format!("none among {}", types_of(events)));
        } else {
            self.unsee("the history was not read to its end".to_owned());
        }
    }

    fn unsee(&mut self, reason: String) {
        self.unseen.get_or_insert(reason);
    }
}

fn reason(subject: &Value) -> String {
    subject["reason"].as_str().unwrap_or("no answer").to_owned()
}

/// The result of a request that got no answer, where `template` names one as a whole.
fn unanswered<'v>(template: &Value, filled: &'v Value) -> Option<&'v Value> {
    match (template, filled) {
        (Value::String(text), Value::Object(result)) => {
            let names_one = text.starts_with("${") && !text.contains(['.', '[']);
            (names_one && result.get("answered") == Some(&Value::Bool(false))).then_some(filled)
        }
        (Value::Array(templates), Value::Array(values)) => templates.iter().zip(values).find_map(|(t, v)| unanswered(t, v)),
        (Value::Object(templates), Value::Object(values)) => templates.iter().find_map(|(name, t)| unanswered(t, values.get(name)?)),
        _ => None,
    }
}

fn count(pattern: &Value, events: &[Value]) -> usize {
    events.iter().filter(|event| pattern::fits(pattern, Some(event))).count()
}

fn types_of(events: &[Value]) -> String {
    let types: Vec<&str> = events.iter().map(|e| e["type"].as_str().unwrap_or("?")).collect();
    format!("[{}]", types.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{expectations, node::Node};
    use std::sync::Arc;

    fn verdict(expectation: &str, result: &Value) -> Verdict {
        let node = Node::parse(expectation).unwrap();
        let expectation = expectations::one(&node, &Arc::from("x.yaml"), true).unwrap();
        let saved = [
            ("left".to_owned(), json!({"answered": true, "status": 200, "body": {"answered": false}})),
            ("silent".to_owned(), json!({"answered": false, "reason": "no answer within 10s"})),
        ];
        let scope = Scope::new("u".to_owned(), saved.into());
        evaluate(&expectation, result, &scope).unwrap()
    }

    fn events(types: &[&str], complete: bool) -> Value {
        let events: Vec<Value> = types.iter().map(|t| json!({ "type": t })).collect();
        json!({ "answered": true, "events": events, "complete": complete })
    }

    fn held(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::Held { .. })
    }

    #[test]
    fn histories_both_ways() {
        let done = events(&["run.queued", "a", "a", "run.completed"], true);
        let cases = [
            ("exactlyOne: run.queued", "exactlyOne: a"),
            ("none: b", "none: a"),
            ("some: a", "some: b"),
            ("count: { of: a, is: 2 }", "count: { of: a, is: 1 }"),
            ("first: run.queued", "first: a"),
            ("last: run.completed", "last: a"),
            ("every: { type: { $type: string } }", "every: a"),
            ("order: [run.queued, a, run.completed]", "order: [a, run.queued]"),
            ("types: [run.queued, a, a, run.completed]", "types: [run.queued, a, run.completed]"),
            ("history: { $minLength: 4 }", "history: { $minLength: 5 }"),
        ];
        for (good, bad) in cases {
            assert!(held(&verdict(&format!("{{ rule: R, {good} }}"), &done)), "{good}");
            assert!(matches!(verdict(&format!("{{ rule: R, {bad} }}"), &done), Verdict::Broken(_)), "{bad}");
        }
    }

    #[test]
    fn absence_needs_something_seen_and_a_history_read_to_its_end() {
        assert!(matches!(verdict("{ rule: R, none: a }", &events(&[], true)), Verdict::Unseen(_)));
        assert!(matches!(verdict("{ rule: R, count: { of: a, is: 0 } }", &events(&[], true)), Verdict::Unseen(_)));
        for test in ["exactlyOne: b", "some: b", "last: b", "count: { of: b, is: 1 }", "order: [a, b]"] {
            assert!(matches!(verdict(&format!("{{ rule: R, {test} }}"), &events(&["a"], false)), Verdict::Unseen(_)), "{test}");
        }
        assert!(matches!(verdict("{ rule: R, exactlyOne: a }", &events(&["a", "a"], false)), Verdict::Broken(_)));
    }

    #[test]
    fn a_missing_answer_accuses_only_when_it_is_asked_for() {
        let silent = json!({ "answered": false, "reason": "no answer within 10s" });
        assert!(matches!(verdict("{ rule: R, status: 200 }", &silent), Verdict::Unseen(_)));
        assert!(matches!(verdict("{ rule: R, answered: true }", &silent), Verdict::Broken(_)));
        let closed = json!({ "answered": false, "reason": "closed", "finding": "the connection was closed without an answer" });
        assert!(matches!(verdict("{ rule: R, status: 200 }", &closed), Verdict::Broken(_)));
    }

    #[test]
    fn a_saved_answer_that_never_came_is_held_against_nobody() {
        let any = json!({ "answered": true });
        for test in [
            "value: \"${silent}\", is: { status: 200 }",
            "value: { a: \"${silent}\" }, is: { a: { status: 200 } }",
            "same: [\"${silent}\", \"${left}\"]",
        ] {
            assert!(matches!(verdict(&format!("{{ rule: R, {test} }}"), &any), Verdict::Unseen(_)), "{test}");
        }
        assert!(matches!(verdict("{ rule: R, value: \"${silent}\", is: { answered: true } }", &any), Verdict::Broken(_)));
        // What a target writes into a body is no result of ours.
        assert!(matches!(verdict("{ rule: R, value: \"${left.body}\", is: { answered: true } }", &any), Verdict::Broken(_)));
    }

    #[test]
    fn saved_values_conditions_and_comparisons() {
        let any = json!({ "answered": true });
        assert!(held(&verdict("{ rule: R, each: [left], status: 200 }", &any)));
        assert!(matches!(verdict("{ rule: R, each: [left], status: 409 }", &any), Verdict::Broken(_)));
        assert!(held(&verdict("{ rule: R, value: \"${left.status}\", is: { $in: [200] } }", &any)));
        assert!(matches!(verdict("{ rule: R, when: { value: \"${left.status}\", is: 1 }, status: 1 }", &any), Verdict::Unseen(_)));
        assert!(held(&verdict("{ rule: R, same: [1, 1.0] }", &any)));
        assert!(matches!(verdict("{ rule: R, same: [1, 1, 2] }", &any), Verdict::Broken(_)));
        assert!(matches!(verdict("{ rule: R, differ: [1, 2, 1] }", &any), Verdict::Broken(_)));
    }
}
