//! The JSON rendering and its schema: every report is valid under it, and it lets nothing else pass.

use crate::sample;
use insta::assert_snapshot;
use jsonschema::Validator;
use proofmark_reports::json::render;
use proofmark_reports::model::Report;
use serde_json::{Value, json};

fn schema() -> Value {
    let text = include_str!("../../../schema/json/report.schema.json");
    serde_json::from_str(text).expect("the schema is JSON")
}

fn validator() -> Validator {
    jsonschema::draft202012::new(&schema()).expect("the schema is a schema")
}

fn value(report: &Report) -> Value {
    serde_json::from_str(&render(report)).expect("the rendering is JSON")
}

/// The messages of what is wrong with `value`.
fn errors(value: &Value) -> Vec<String> {
    validator().iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

#[test]
fn an_all_green_report() {
    assert_snapshot!(render(&sample::green()));
}

#[test]
fn every_report_is_valid() {
    for report in [sample::rich(), sample::empty(), sample::green()] {
        assert_eq!(errors(&value(&report)), Vec::<String>::new());
    }
}

#[test]
fn what_is_read_back_is_the_report() {
    let rich = sample::rich();
    let text = render(&rich);
    assert_eq!(serde_json::from_str::<Report>(&text).expect("it reads back"), rich);
    assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));
}

#[test]
fn nothing_in_it_steers_a_terminal() {
    let mut report = sample::green();
    report.run.nonce = format!("{}\u{e0041}", sample::HOSTILE);
    let text = render(&report);
    assert!(text.chars().all(|c| c == '\n' || !(c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c) || c >= '\u{ffff}')), "{text}");
    assert_eq!(serde_json::from_str::<Report>(&text).expect("it reads back"), report);
}

/// JSON pointers of all objects with fixed members.
fn objects(at: &str, value: &Value, found: &mut Vec<String>) {
    match value {
        // The two maps whose keys are data.
        Value::Object(_) if at.ends_with("/description") || at.ends_with("/readings") => {}
        Value::Object(members) => {
            found.push(at.to_owned());
            members.iter().for_each(|(name, member)| objects(&format!("{at}/{name}"), member, found));
        }
        Value::Array(elements) => {
            elements.iter().enumerate().for_each(|(index, element)| objects(&format!("{at}/{index}"), element, found));
        }
        _ => {}
    }
}

#[test]
fn the_schema_knows_every_member_and_no_other() {
    let (validator, rich) = (validator(), value(&sample::rich()));
    let mut found = Vec::new();
    objects("", &rich, &mut found);
    assert!(found.len() > 100, "the sample is rich");
    for pointer in found {
        let members = rich.pointer(&pointer).and_then(Value::as_object).expect("an object").clone();
        let changed = |members: Value| {
            let mut changed = rich.clone();
            *changed.pointer_mut(&pointer).expect("the same object") = members;
            validator.is_valid(&changed)
        };
        let mut more = members.clone();
        more.insert("another".to_owned(), json!(1));
        assert!(!changed(Value::Object(more)), "{pointer} takes another member");
        for name in members.keys() {
            let mut fewer = members.clone();
            fewer.remove(name);
            assert!(!changed(Value::Object(fewer)), "{pointer} can do without {name}");
        }
    }
}

/// All values that the schema allows at `pointer`, and all that the sample has under the members called `name`.
fn allowed_and_seen(pointer: &str, name: &str) -> (Vec<String>, Vec<String>) {
    let schema = schema();
    let allowed = schema.pointer(pointer).and_then(Value::as_array).expect("an enum").iter();
    let mut seen = Vec::new();
    collect(&value(&sample::rich()), name, &mut seen);
    for kind in sample::ABORTS {
        collect(&value(&sample::report(vec![sample::aborted(kind)])), name, &mut seen);
    }
    seen.sort();
    seen.dedup();
    let mut allowed: Vec<_> = allowed.map(|value| value.as_str().expect("a word").to_owned()).collect();
    allowed.sort();
    (allowed, seen)
}

fn collect(value: &Value, name: &str, seen: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                seen.extend(member.as_str().filter(|_| key == name).map(str::to_owned));
                collect(member, name, seen);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| collect(element, name, seen)),
        _ => {}
    }
}

#[test]
fn the_schema_knows_every_word_and_no_other() {
    for (pointer, name) in [
        ("/$defs/scenario/properties/outcome/enum", "outcome"),
        ("/$defs/requirement/properties/status/enum", "status"),
        ("/$defs/feature/properties/verdict/enum", "verdict"),
        ("/$defs/level/enum", "level"),
        ("/$defs/abort/properties/kind/enum", "kind"),
    ] {
        let (allowed, seen) = allowed_and_seen(pointer, name);
        assert_eq!(allowed, seen, "{name}");
    }
}

#[test]
fn accusations_keep_to_levels_that_can_accuse() {
    let mut rich = value(&sample::rich());
    let rules = rich.pointer_mut("/targets/0/requirements").and_then(Value::as_array_mut).expect("requirements");
    let habit = rules.iter_mut().find(|rule| rule["level"] == "observed").expect("an observed rule");
    habit["status"] = json!("broken");
    assert!(!validator().is_valid(&rich), "an observed rule cannot be broken");
}
