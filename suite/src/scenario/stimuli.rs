//! `stimuli.yaml`: the names of what a profile can provoke on a target, and of the facts that discovery finds.

use super::fields::{Result, open};
use super::keys;
use super::node::Node;
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Debug, Default)]
pub struct Stimuli {
    /// A stimulus of a profile is a start request, member by member, and not the fields that profiles otherwise have.
    pub request: bool,
    pub stimuli: BTreeMap<String, Stimulus>,
    pub facts: BTreeMap<String, Fact>,
}

#[derive(Clone, Debug)]
pub struct Stimulus {
    pub about: String,
    /// What the provider must support; a target without it is not judged by the scenarios that need this stimulus.
    pub capability: Option<String>,
    /// Found out by asking when no profile gives it.
    pub discovered: bool,
    /// TOML to paste into a profile, without the table header.
    pub example: String,
}

#[derive(Clone, Debug)]
pub struct Fact {
    pub about: String,
    pub discovered: bool,
}

impl Stimuli {
    pub fn is_known(&self, name: &str) -> bool {
        self.stimuli.contains_key(name) || self.facts.contains_key(name)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.stimuli.keys().chain(self.facts.keys()).map(String::as_str)
    }
}

pub fn decode(node: &Node, file: &Arc<str>, contract: &str) -> Result<Stimuli> {
    let fields = open(node, file, "the stimuli file", keys::STIMULI_FILE)?;
    fields.contract(contract)?;
    let mut stimuli = Stimuli { request: fields.flag("request")?, ..Stimuli::default() };
    for (key, node) in fields.entries("stimuli")? {
        let fields = open(node, file, "a stimulus", keys::STIMULUS)?;
        let stimulus = Stimulus {
            about: fields.string("about")?,
            capability: fields.optional_string("capability")?,
            discovered: fields.flag("discovered")?,
            example: fields.string("example")?,
        };
        stimuli.stimuli.insert(key.name.clone(), stimulus);
    }
    for (key, node) in fields.entries("facts")? {
        let fields = open(node, file, "a fact", keys::FACT)?;
        stimuli.facts.insert(key.name.clone(), Fact { about: fields.string("about")?, discovered: fields.flag("discovered")? });
    }
    Ok(stimuli)
}
