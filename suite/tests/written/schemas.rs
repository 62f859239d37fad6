//! The JSON Schemas that editors use, against the fixtures and against the decoders: they describe the same language.

use proofmark::fixtures::Fixtures;
use proofmark::profile;
use proofmark::scenario::node::Node;
use proofmark::scenario::pattern::OPERATORS;
use proofmark::scenario::{keys, schema};
use proofmark_schema::validate;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// The schemas of what people write.
const WRITTEN: &[&str] = &[
    "scenario.schema.json",
    "preambles.schema.json",
    "requirements.schema.json",
    "operations.schema.json",
    "stimuli.schema.json",
    "profile.schema.json",
];

fn document(name: &str) -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/json").join(name);
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The schema at `file#pointer`.
fn at(place: &str) -> Value {
    let (file, pointer) = place.split_once('#').unwrap_or((place, ""));
    document(file).pointer(pointer).unwrap_or_else(|| panic!("{place} does not exist")).clone()
}

fn members(schema: &Value) -> BTreeSet<String> {
    schema.as_object().expect("an object").keys().cloned().collect()
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|name| (*name).to_owned()).collect()
}

/// Every schema below `schema` with its pointer.
fn walk(schema: &Value, pointer: &str, visit: &mut dyn FnMut(&str, &Value)) {
    match schema {
        Value::Object(members) => {
            visit(pointer, schema);
            members.iter().for_each(|(name, value)| walk(value, &format!("{pointer}/{name}"), visit));
        }
        Value::Array(items) => items.iter().enumerate().for_each(|(i, item)| walk(item, &format!("{pointer}/{i}"), visit)),
        _ => {}
    }
}

#[test]
fn every_fixture_is_valid() {
    let fixtures = Fixtures::embedded();
    let mut seen = 0;
    for contract in fixtures.contracts() {
        for (file, text) in fixtures.of_contract(contract) {
            assert_eq!(Path::new(file).extension().unwrap(), "yaml", "{contract}/{file}");
            let node = Node::parse(text).unwrap();
            schema::check(&node, &Arc::from(format!("{contract}/{file}")), schema::of_file(file)).unwrap();
            seen += 1;
        }
        let name = format!("profiles/reference-{contract}.toml");
        if let Some(text) = fixtures.get(&name) {
            let file = Arc::from(name);
            schema::check(&profile::parse(text, &file).unwrap(), &file, schema::PROFILE).unwrap();
            seen += 1;
        }
    }
    assert!(seen > 10, "only {seen} files were looked at");
}

#[test]
fn schemas_and_decoders_know_the_same_keys() {
    for (place, lists) in keys::MAPPINGS {
        let schema = at(place);
        assert_eq!(members(&schema["properties"]), names(&lists.concat()), "{place}");
        assert_eq!(schema["additionalProperties"], Value::Bool(false), "{place} is closed");
    }
    assert_eq!(members(&at("scenario.schema.json#/$defs/step/properties")), names(keys::STEPS));
    assert_eq!(members(&at("scenario.schema.json#/$defs/http/properties")), names(keys::HTTP));
    assert_eq!(members(&at("scenario.schema.json#/$defs/grpc/properties")), names(keys::GRPC));
}

#[test]
fn every_closed_mapping_is_one_that_a_decoder_reads() {
    let known: BTreeSet<&str> = keys::MAPPINGS.iter().map(|(place, _)| *place).collect();
    for file in WRITTEN {
        walk(&document(file), "", &mut |pointer, schema| {
            if schema["additionalProperties"] == Value::Bool(false) {
                let place = if pointer.is_empty() { (*file).to_owned() } else { format!("{file}#{pointer}") };
                assert!(known.contains(place.as_str()), "{place} is in no list of keys");
            }
        });
    }
}

#[test]
fn schemas_and_matcher_know_the_same_words() {
    let words = |place: &str| -> BTreeSet<String> { serde_json::from_value(at(place)).unwrap() };
    let mut patterns = names(OPERATORS);
    patterns.insert("$merge".to_owned());
    let (pattern, template) = ("scenario.schema.json#/$defs/patternObject", "scenario.schema.json#/$defs/templateObject");
    assert_eq!(words(&format!("{pattern}/propertyNames/then/enum")), patterns);
    assert_eq!(members(&at(&format!("{pattern}/properties"))), patterns);
    assert_eq!(words(&format!("{template}/propertyNames/then/enum")), names(keys::TEMPLATE));
    assert_eq!(members(&at(&format!("{template}/properties"))), names(keys::TEMPLATE));
    assert_eq!(words("scenario.schema.json#/$defs/variable/not/enum"), names(keys::GIVEN));
    assert_eq!(words("scenario.schema.json#/$defs/generate/properties/generate/enum"), names(keys::GENERATORS));
}

/// An editor shows titles and descriptions; a key without one tells nobody anything.
#[test]
fn every_key_explains_itself() {
    let mut documents: BTreeMap<&str, Value> = BTreeMap::new();
    for file in WRITTEN {
        documents.insert(file, document(file));
    }
    for (place, _) in keys::MAPPINGS {
        let file = place.split('#').next().unwrap();
        for (key, schema) in at(place)["properties"].as_object().unwrap() {
            assert!(explains(&documents, file, schema, 0), "{place}: `{key}` has neither title nor description");
        }
    }
}

fn explains(documents: &BTreeMap<&str, Value>, file: &str, schema: &Value, depth: usize) -> bool {
    if schema.get("description").or_else(|| schema.get("title")).is_some() {
        return true;
    }
    let Some((target, pointer)) = schema["$ref"].as_str().and_then(|r| r.split_once('#')).filter(|_| depth < 8) else { return false };
    let file = if target.is_empty() { file } else { target };
    documents.get(file).and_then(|document| document.pointer(pointer)).is_some_and(|schema| explains(documents, file, schema, depth + 1))
}

#[test]
fn every_schema_refuses_what_is_no_mapping() {
    for file in WRITTEN {
        assert!(!validate::check(file, &Value::Array(Vec::new())).unwrap().is_empty(), "{file}");
        assert!(!validate::check(file, &serde_json::json!({ "contract": "c", "zebra": 1 })).unwrap().is_empty(), "{file}");
    }
}
