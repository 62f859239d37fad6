//! `requirements.yaml`: every rule of a contract, once.

use super::diagnostic::Diagnostic;
use super::fields::{Result, open};
use super::keys;
use super::node::{Node, Place};
use proofmark_reports::model::{Level, Source};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct RequirementText {
    pub id: String,
    pub area: String,
    pub level: Level,
    pub source: Source,
    pub text: String,
    /// Disputed rules: reading and what it says.
    pub readings: BTreeMap<String, String>,
    /// What it speaks of: where the target declares that it lacks all of these, the rule does not apply.
    pub capabilities: Vec<String>,
    /// The run-wide monitor that checks it.
    pub monitor: Option<String>,
    /// Why nobody can see it from outside.
    pub unobservable: Option<String>,
    /// Why no defect of the reference server breaks it.
    pub no_defect: Option<String>,
    pub at: Place,
}

pub fn decode(node: &Node, file: &Arc<str>, contract: &str) -> Result<Vec<RequirementText>> {
    let fields = open(node, file, "the requirements file", keys::REQUIREMENTS_FILE)?;
    fields.contract(contract)?;
    let mut seen = BTreeSet::new();
    let requirements = fields.list("requirements")?.iter().map(|node| requirement(node, file)).collect::<Result<Vec<RequirementText>>>()?;
    for requirement in &requirements {
        if !seen.insert(&requirement.id) {
            return Err(Diagnostic::new(requirement.at.clone(), format!("`{}` stands here twice", requirement.id)));
        }
    }
    Ok(requirements)
}

fn requirement(node: &Node, file: &Arc<str>) -> Result<RequirementText> {
    let fields = open(node, file, "a requirement", keys::REQUIREMENT)?;
    let source = open(fields.required("source")?, file, "a source", keys::SOURCE)?;
    let level = match fields.string("level")?.as_str() {
        "must" => Level::Must,
        "should" => Level::Should,
        "observed" => Level::Observed,
        "disputed" => Level::Disputed,
        other => {
            let error = fields.error(fields.required("level")?, format!("`{other}` is no level"));
            return Err(error.did_you_mean(other, ["must", "should", "observed", "disputed"]));
        }
    };
    let readings: BTreeMap<String, String> =
        fields.entries("readings")?.iter().map(|(key, node)| (key.name.clone(), node.str().unwrap_or_default().to_owned())).collect();
    if let Some(node) = fields.get("readings").filter(|_| level != Level::Disputed) {
        return Err(fields.error(node, "only a disputed rule has readings"));
    }
    let unobservable = fields.optional_string("unobservable")?;
    if level == Level::Disputed && readings.len() < 2 && unobservable.is_none() {
        return Err(fields.error(node, "a disputed rule has at least two `readings`"));
    }
    Ok(RequirementText {
        id: fields.string("id")?,
        area: fields.string("area")?,
        level,
        source: Source {
            document: source.string("document")?,
            section: source.string("section")?,
            normative_text: source.flag("normative-text")?,
        },
        text: fields.string("text")?,
        readings,
        capabilities: fields.strings("capabilities")?,
        monitor: fields.optional_string("monitor")?,
        unobservable,
        no_defect: fields.optional_string("no-defect")?,
        at: fields.place(),
    })
}
