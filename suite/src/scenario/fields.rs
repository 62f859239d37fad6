//! Strict reading of mappings: every key is known, every value has the kind that is wanted, every mistake has its place.

use super::diagnostic::Diagnostic;
use super::node::{Kind, Node, Place};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

pub type Result<T> = std::result::Result<T, Box<Diagnostic>>;

/// A mapping whose keys are all among the allowed ones.
pub struct Fields<'a> {
    pub node: &'a Node,
    pub file: &'a Arc<str>,
}

/// Opens `node` as a mapping with the `allowed` keys. `what` names it in messages: `a step`.
pub fn open<'a>(node: &'a Node, file: &'a Arc<str>, what: &str, allowed: &[&str]) -> Result<Fields<'a>> {
    let Kind::Map(entries) = &node.kind else {
        return Err(Diagnostic::new(node.place(file), format!("{what} must be a mapping, not {}", kind_name(node))));
    };
    for (key, _) in entries {
        if !allowed.contains(&key.name.as_str()) {
            let error = Diagnostic::new(key.place(file), format!("{what} has no key `{}`", key.name));
            return Err(error.did_you_mean(&key.name, allowed.iter().copied()));
        }
    }
    Ok(Fields { node, file })
}

pub fn kind_name(node: &Node) -> &'static str {
    match node.kind {
        Kind::Null => "nothing",
        Kind::Bool(_) => "true or false",
        Kind::Number(_) => "a number",
        Kind::String(_) => "text",
        Kind::Seq(_) => "a list",
        Kind::Map(_) => "a mapping",
    }
}

impl<'a> Fields<'a> {
    pub fn place(&self) -> Place {
        self.node.place(self.file)
    }

    pub fn get(&self, name: &str) -> Option<&'a Node> {
        self.node.get(name)
    }

    pub fn error(&self, node: &Node, message: impl Into<String>) -> Box<Diagnostic> {
        Diagnostic::new(node.place(self.file), message)
    }

    /// The file must be of the contract whose folder it lies in.
    pub fn contract(&self, folder: &str) -> Result<()> {
        let contract = self.string("contract")?;
        if contract == folder {
            return Ok(());
        }
        Err(self.error(self.required("contract")?, format!("this folder holds `{folder}`, not `{contract}`")))
    }

    pub fn required(&self, name: &str) -> Result<&'a Node> {
        self.get(name).ok_or_else(|| self.error(self.node, format!("`{name}` is missing")))
    }

    pub fn string(&self, name: &str) -> Result<String> {
        let node = self.required(name)?;
        match node.str() {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            _ => Err(self.error(node, format!("`{name}` must be text that is not empty"))),
        }
    }

    pub fn optional_string(&self, name: &str) -> Result<Option<String>> {
        match self.get(name) {
            None => Ok(None),
            Some(node) => match node.str() {
                Some(text) => Ok(Some(text.to_owned())),
                None => Err(self.error(node, format!("`{name}` must be text, not {}", kind_name(node)))),
            },
        }
    }

    pub fn flag(&self, name: &str) -> Result<bool> {
        match self.get(name).map(|node| (node, &node.kind)) {
            None => Ok(false),
            Some((_, Kind::Bool(value))) => Ok(*value),
            Some((node, _)) => Err(self.error(node, format!("`{name}` must be true or false, not {}", kind_name(node)))),
        }
    }

    pub fn integer(&self, name: &str) -> Result<Option<u64>> {
        match self.get(name).map(|node| (node, &node.kind)) {
            None => Ok(None),
            Some((_, Kind::Number(number))) if number.is_u64() => Ok(number.as_u64()),
            Some((node, _)) => Err(self.error(node, format!("`{name}` must be a whole number, not negative"))),
        }
    }

    pub fn list(&self, name: &str) -> Result<&'a [Node]> {
        match self.get(name).map(|node| (node, &node.kind)) {
            None => Ok(&[]),
            Some((_, Kind::Seq(items))) => Ok(items),
            Some((node, _)) => Err(self.error(node, format!("`{name}` must be a list, not {}", kind_name(node)))),
        }
    }

    pub fn strings(&self, name: &str) -> Result<Vec<String>> {
        self.list(name)?
            .iter()
            .map(|node| match node.str() {
                Some(text) => Ok(text.to_owned()),
                None => Err(self.error(node, format!("`{name}` must be a list of texts; this is {}", kind_name(node)))),
            })
            .collect()
    }

    pub fn map(&self, name: &str) -> Result<BTreeMap<String, Value>> {
        Ok(self.entries(name)?.iter().map(|(key, node)| (key.name.clone(), node.to_json())).collect())
    }

    pub fn entries(&self, name: &str) -> Result<&'a [(super::node::Key, Node)]> {
        match self.get(name).map(|node| (node, &node.kind)) {
            None => Ok(&[]),
            Some((_, Kind::Map(entries))) => Ok(entries),
            Some((node, _)) => Err(self.error(node, format!("`{name}` must be a mapping, not {}", kind_name(node)))),
        }
    }

    pub fn json(&self, name: &str) -> Option<Value> {
        self.get(name).map(Node::to_json)
    }
}
