//! JSON Schemas by name, compiled once. The only module that knows the validator crate.

use jsonschema::{Draft, Registry, Validator};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Arc, LazyLock, Mutex};

/// Path below `schema/json/` and text of every schema.
const SCHEMAS: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/json_schemas.rs"));

/// The base under which the schemas refer to each other.
const BASE: &str = "proofmark:///";

static REGISTRY: LazyLock<Result<Registry<'static>, SchemaError>> = LazyLock::new(registry);
static COMPILED: LazyLock<Mutex<BTreeMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// A schema that does not exist, does not parse or does not compile: a mistake in the kit's own data.
#[derive(Clone, Debug, thiserror::Error)]
#[error("schema `{name}`: {problem}")]
pub struct SchemaError {
    pub name: String,
    pub problem: String,
}

/// One place in a document that a schema does not allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// JSON Pointer into the document.
    pub pointer: String,
    /// The keyword's own words.
    pub message: String,
    /// JSON Pointer into the schema.
    pub keyword: String,
}

/// Names of all embedded schemas, without fragments.
pub fn names() -> impl Iterator<Item = &'static str> {
    SCHEMAS.iter().map(|(name, _)| *name)
}

/// Checks `document` against the schema `name`, which may carry a fragment: `harness-runtime/event.schema.json#/$defs/delta`.
pub fn check(name: &str, document: &Value) -> Result<Vec<Violation>, SchemaError> {
    let validator = compiled(name)?;
    Ok(validator
        .iter_errors(document)
        .map(|error| Violation {
            pointer: error.instance_path().to_string(),
            message: error.to_string(),
            keyword: error.schema_path().to_string(),
        })
        .collect())
}

/// Compiles the schema `name` and says what is wrong with it, if anything.
pub fn compile(name: &str) -> Result<(), SchemaError> {
    compiled(name).map(|_| ())
}

fn compiled(name: &str) -> Result<Arc<Validator>, SchemaError> {
    let mut cache = COMPILED.lock().expect("no panic while holding it");
    if let Some(validator) = cache.get(name) {
        return Ok(validator.clone());
    }
    let file = name.split('#').next().unwrap_or_default();
    let problem = |problem: String| SchemaError { name: name.to_owned(), problem };
    if !names().any(|known| known == file) {
        return Err(problem("no such file in schema/json".to_owned()));
    }
    let registry = REGISTRY.as_ref().map_err(Clone::clone)?;
    let reference = serde_json::json!({ "$ref": format!("{BASE}{name}") });
    let validator = jsonschema::options()
        .with_draft(Draft::Draft202012)
        .with_registry(registry)
        .build(&reference)
        .map_err(|error| problem(error.to_string()))?;
    let validator = Arc::new(validator);
    cache.insert(name.to_owned(), validator.clone());
    Ok(validator)
}

fn registry() -> Result<Registry<'static>, SchemaError> {
    let mut builder = Registry::new();
    for (name, text) in SCHEMAS {
        let problem = |problem: String| SchemaError { name: (*name).to_owned(), problem };
        let schema: Value = serde_json::from_str(text).map_err(|error| problem(error.to_string()))?;
        let resource = Draft::Draft202012.create_resource(schema);
        builder = builder.add(format!("{BASE}{name}"), resource).map_err(|error| problem(error.to_string()))?;
    }
    builder.prepare().map_err(|error| SchemaError { name: "registry".to_owned(), problem: error.to_string() })
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_embedded_schema_compiles() {
        for name in super::names() {
            super::compile(name).unwrap();
        }
    }

    #[test]
    fn an_unknown_schema_says_so() {
        let error = super::check("nothing.schema.json", &serde_json::Value::Null).unwrap_err();
        assert_eq!(error.to_string(), "schema `nothing.schema.json`: no such file in schema/json");
    }
}
