//! One contract as data: requirements, operations, stimuli, preambles and scenarios, read together and checked against each other.

use super::decode::{self, Names};
use super::diagnostic::Diagnostic;
use super::fields::Result;
use super::model::{Action, Area, Scenario, Step};
use super::node::{Node, Place};
use super::operations::{self, Operations};
use super::references;
use super::requirements::{self, RequirementText};
use super::schema;
use super::stimuli::{self, Stimuli};
use crate::fixtures::Fixtures;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Files of a contract folder that hold no scenarios.
const TABLES: &[&str] = &["requirements.yaml", "operations.yaml", "stimuli.yaml", "preambles.yaml"];

#[derive(Clone, Debug)]
pub struct Catalogue {
    pub contract: String,
    /// In the order of the file.
    pub requirements: Vec<RequirementText>,
    pub operations: Operations,
    pub stimuli: Stimuli,
    pub areas: Vec<Area>,
}

impl Catalogue {
    /// Reads the folder of `contract`; the first mistake is the error.
    pub fn load(fixtures: &Fixtures, contract: &str) -> Result<Self> {
        let reader = Reader { fixtures, contract };
        let requirements = reader.read("requirements.yaml", |node, file| requirements::decode(node, file, contract))?;
        let operations = reader.read("operations.yaml", |node, file| operations::decode(node, file, contract))?;
        let stimuli = reader.read("stimuli.yaml", |node, file| stimuli::decode(node, file, contract))?;
        let known: BTreeSet<String> = operations.by_name.keys().cloned().collect();
        let mut preambles = BTreeMap::new();
        if fixtures.get(&reader.path("preambles.yaml")).is_some() {
            preambles = reader.read("preambles.yaml", |node, file| decode_preambles(node, file, contract, &known, operations.grpc))?;
        }
        let mut areas = Vec::new();
        for (file, _) in fixtures.of_contract(contract).filter(|(file, _)| !TABLES.contains(file) && is_yaml(file)) {
            let names = Names { contract, preambles: &preambles, operations: &known, grpc: operations.grpc };
            areas.push(reader.read(file, |node, path| {
                let area = decode::area(node, path, &names)?;
                check_area(&area, file, node, path)?;
                Ok(area)
            })?);
        }
        let catalogue = Self { contract: contract.to_owned(), requirements, operations, stimuli, areas };
        reader.with_source(references::check(&catalogue))?;
        Ok(catalogue)
    }

    pub fn requirement(&self, id: &str) -> Option<&RequirementText> {
        self.requirements.iter().find(|requirement| requirement.id == id)
    }

    pub fn scenarios(&self) -> impl Iterator<Item = (&Area, &Scenario)> {
        self.areas.iter().flat_map(|area| area.scenarios.iter().map(move |scenario| (area, scenario)))
    }

    /// The rules that a scenario itself names (not those of its preambles).
    pub fn own_rules(scenario: &Scenario) -> BTreeSet<&str> {
        let mut rules = BTreeSet::new();
        scenario.steps.iter().for_each(|step| collect_rules(step, &mut rules));
        rules
    }
}

fn is_yaml(file: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == "yaml")
}

/// Paths of scenarios start with contract and area; two files with one area could hold two cases under one path.
fn check_area(area: &Area, file: &str, node: &Node, path: &Arc<str>) -> Result<()> {
    if file.strip_suffix(".yaml") == Some(area.name.as_str()) {
        return Ok(());
    }
    let place = node.get("area").unwrap_or(node).place(path);
    Err(Diagnostic::new(place, format!("the area `{}` belongs into {}.yaml", area.name, area.name)))
}

fn collect_rules<'a>(step: &'a Step, rules: &mut BTreeSet<&'a str>) {
    if !step.given {
        rules.extend(step.expect.iter().map(|e| e.rule.as_str()));
    }
    if let Action::Together(branches) = &step.action {
        branches.iter().flatten().for_each(|step| collect_rules(step, rules));
    }
}

/// Preambles may use the ones above them.
fn decode_preambles(
    node: &Node,
    file: &Arc<str>,
    contract: &str,
    operations: &BTreeSet<String>,
    grpc: bool,
) -> Result<BTreeMap<String, Vec<Step>>> {
    let fields = super::fields::open(node, file, "the preambles file", super::keys::PREAMBLES_FILE)?;
    fields.contract(contract)?;
    let mut preambles = BTreeMap::new();
    for (key, node) in fields.entries("preambles")? {
        let names = Names { contract, preambles: &preambles, operations, grpc };
        let mut steps = decode::steps(node.items(), file, &names)?;
        for step in &mut steps {
            step.given = true;
        }
        preambles.insert(key.name.clone(), steps);
    }
    Ok(preambles)
}

struct Reader<'a> {
    fixtures: &'a Fixtures,
    contract: &'a str,
}

impl Reader<'_> {
    fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.contract)
    }

    fn read<T>(&self, file: &str, decode: impl FnOnce(&Node, &Arc<str>) -> Result<T>) -> Result<T> {
        let name: Arc<str> = Arc::from(self.path(file));
        let Some(text) = self.fixtures.get(&name) else {
            return Err(Diagnostic::new(Place { file: name, line: 1, column: 1 }, "this file is missing"));
        };
        let node = Node::parse(text).map_err(|error| yaml_error(&error, &name).with_source(text))?;
        let decoded = self.with_source(decode(&node, &name))?;
        self.with_source(schema::check(&node, &name, schema::of_file(file)))?;
        Ok(decoded)
    }

    fn with_source<T>(&self, result: Result<T>) -> Result<T> {
        result.map_err(|error| self.fixtures.with_source(error))
    }
}

/// A document that is not YAML, at the place the reader stopped.
pub fn yaml_error(error: &serde_saphyr::Error, file: &Arc<str>) -> Box<Diagnostic> {
    let (line, column) = error.location().map_or((1, 1), |at| (at.line(), at.column()));
    let message = match error.without_snippet() {
        serde_saphyr::Error::DuplicateMappingKey { key: Some(key), .. } => format!("the key `{key}` stands here twice"),
        other => {
            let text = other.to_string();
            let text = text.strip_suffix(&format!(" at line {line}, column {column}")).unwrap_or(&text);
            format!("not readable as YAML: {text}")
        }
    };
    Diagnostic::new(Place { file: file.clone(), line, column }, message)
}
