//! The profile of a target (TOML): how to provoke each stimulus on it, and facts about it. Read strictly.

use crate::restart::Restart;
use crate::scenario::diagnostic::Diagnostic;
use crate::scenario::fields::{Fields, Result, open};
use crate::scenario::fill;
use crate::scenario::keys;
use crate::scenario::node::{Key, Kind, Node, Place};
use crate::scenario::schema;
use crate::scenario::stimuli::Stimuli;
use serde_json::{Map, Number, Value};
use std::collections::BTreeMap;
use std::sync::Arc;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

#[derive(Clone, Debug, Default)]
pub struct Profile {
    pub contract: String,
    /// Members of a start request by stimulus: `providerId`, `input`, `config`, `requiredCapabilities`.
    pub stimuli: BTreeMap<String, Value>,
    pub facts: BTreeMap<String, Value>,
    pub restart: Restart,
}

impl Profile {
    /// The contract that a profile is for, before its names are checked, and where it says so.
    pub fn contract_of(text: &str, file: &str) -> Result<(String, Place)> {
        let file: Arc<str> = Arc::from(file);
        let node = parse(text, &file)?;
        let contract = node.get("contract").and_then(|at| Some((at.str()?.to_owned(), at.place(&file))));
        contract.ok_or_else(|| Diagnostic::new(node.place(&file), "`contract` is missing").with_source(text))
    }

    pub fn read(text: &str, file: &str, stimuli: &Stimuli) -> Result<Self> {
        let file: Arc<str> = Arc::from(file);
        let node = parse(text, &file)?;
        let profile = decode(&node, &file, stimuli).map_err(|error| error.with_source(text))?;
        schema::check(&node, &file, schema::PROFILE).map_err(|error| error.with_source(text))?;
        Ok(profile)
    }
}

fn decode(node: &Node, file: &Arc<str>, stimuli: &Stimuli) -> Result<Profile> {
    let fields = open(node, file, "a profile", keys::PROFILE)?;
    let mut profile = Profile { contract: fields.string("contract")?, ..Profile::default() };
    for (key, node) in fields.entries("stimuli")? {
        if !stimuli.stimuli.contains_key(&key.name) {
            return Err(unknown("stimulus", key, file, stimuli.stimuli.keys()));
        }
        let read = if stimuli.request { request(node, file)? } else { stimulus(node, file)? };
        profile.stimuli.insert(key.name.clone(), read);
    }
    for (key, node) in fields.entries("facts")? {
        if !stimuli.facts.contains_key(&key.name) {
            return Err(unknown("fact", key, file, stimuli.facts.keys()));
        }
        profile.facts.insert(key.name.clone(), node.to_json());
    }
    if let Some(node) = fields.get("restart") {
        profile.restart = restart(node, file)?;
    }
    Ok(profile)
}

fn restart(node: &Node, file: &Arc<str>) -> Result<Restart> {
    let fields = open(node, file, "the table `restart`", keys::PROFILE_RESTART)?;
    Ok(Restart {
        durable: fields.flag("durable")?,
        start: command(&fields, "start")?,
        stop: command(&fields, "stop")?,
        kill: command(&fields, "kill")?,
        ready: command(&fields, "ready")?,
    })
}

/// A program and its arguments.
fn command(fields: &Fields, key: &str) -> Result<Option<Vec<String>>> {
    let Some(node) = fields.get(key) else { return Ok(None) };
    let wrong = || fields.error(node, format!("`{key}` is a program and its arguments: a list of texts"));
    if node.str().is_some() {
        return Err(wrong().hint("no shell looks at it; for example [\"systemctl\", \"restart\", \"my-server\"]"));
    }
    let words = fields.strings(key)?;
    if words.first().is_none_or(String::is_empty) { Err(wrong()) } else { Ok(Some(words)) }
}

fn unknown<'a>(what: &str, key: &Key, file: &Arc<str>, known: impl Iterator<Item = &'a String>) -> Box<Diagnostic> {
    let place = Place { file: file.clone(), line: key.line, column: key.column };
    Diagnostic::new(place, format!("there is no {what} `{}`", key.name)).did_you_mean(&key.name, known.map(String::as_str))
}

fn stimulus(node: &Node, file: &Arc<str>) -> Result<Value> {
    let fields = open(node, file, "a stimulus", keys::PROFILE_STIMULUS)?;
    check_values(&fields)?;
    let mut members = Map::new();
    members.insert("providerId".to_owned(), Value::from(fields.string("provider")?));
    members.insert("input".to_owned(), Value::from(fields.optional_string("input")?.unwrap_or_default()));
    members.extend(fields.json("config").map(|config| ("config".to_owned(), config)));
    if fields.get("required-capabilities").is_some() {
        members.insert("requiredCapabilities".to_owned(), Value::from(fields.strings("required-capabilities")?));
    }
    Ok(Value::Object(members))
}

/// A start request as it goes out.
fn request(node: &Node, file: &Arc<str>) -> Result<Value> {
    let fields = open(node, file, "a stimulus", keys::PROFILE_REQUEST)?;
    check_values(&fields)?;
    fields.string("ability")?;
    fields.required("input")?;
    Ok(node.to_json())
}

/// A profile knows no saved values; what it may name is new in every scenario.
fn check_values(fields: &Fields) -> Result<()> {
    const KNOWN: &[&str] = &["tally", "interleaving", "unique", "unique:KEY", "repeat:TEXT:TIMES", "now"];
    for (_, node) in fields.node.entries() {
        let value = node.to_json();
        fill::check(&value).map_err(|error| fields.error(node, error.to_string()))?;
        let mut names = Vec::new();
        fill::names(&value, &mut names);
        if let Some(name) = names.iter().find(|name| !["tally", "interleaving"].contains(&name.as_str())) {
            let error = fields.error(node, format!("`${{{name}}}` means nothing in a profile"));
            return Err(error.did_you_mean(name, KNOWN.iter().copied()));
        }
    }
    Ok(())
}

/// TOML as nodes with places.
pub fn parse(text: &str, file: &Arc<str>) -> Result<Node> {
    let lines = Lines::new(text);
    match DeTable::parse(text) {
        Ok(table) => {
            let span = table.span();
            lines.table(table.get_ref(), span.start, file)
        }
        Err(error) => {
            let (line, column) = lines.place(error.span().map_or(0, |span| span.start));
            let place = Place { file: file.clone(), line, column };
            Err(Diagnostic::new(place, format!("not readable as TOML: {}", error.message())).with_source(text))
        }
    }
}

struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(i, _)| i + 1)).collect();
        Self { text, starts }
    }

    fn place(&self, offset: usize) -> (u64, u64) {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        let column = self.text.get(start..offset).map_or(0, |t| t.chars().count()) + 1;
        (u64::try_from(line).unwrap_or(u64::MAX), u64::try_from(column).unwrap_or(u64::MAX))
    }

    fn table(&self, table: &DeTable, offset: usize, file: &Arc<str>) -> Result<Node> {
        let (line, column) = self.place(offset);
        let mut entries = Vec::new();
        for (key, value) in table {
            let (line, column) = self.place(key.span().start);
            entries.push((Key { line, column, name: key.get_ref().to_string() }, self.value(value, file)?));
        }
        entries.sort_by_key(|(key, _)| (key.line, key.column));
        Ok(Node { line, column, kind: Kind::Map(entries) })
    }

    fn value(&self, value: &Spanned<DeValue>, file: &Arc<str>) -> Result<Node> {
        let offset = value.span().start;
        let (line, column) = self.place(offset);
        let wrong = |what: &str| Diagnostic::new(Place { file: file.clone(), line, column }, what.to_owned()).with_source(self.text);
        let kind = match value.get_ref() {
            DeValue::String(text) => Kind::String(text.to_string()),
            DeValue::Boolean(b) => Kind::Bool(*b),
            DeValue::Integer(n) => {
                let parsed = i64::from_str_radix(n.as_str(), n.radix()).map_err(|e| wrong(&format!("not a whole number: {e}")))?;
                Kind::Number(parsed.into())
            }
            DeValue::Float(n) => {
                let number = n.as_str().parse::<f64>().ok().and_then(Number::from_f64);
                Kind::Number(number.ok_or_else(|| wrong("a number here must be finite"))?)
            }
            DeValue::Datetime(at) => Kind::String(at.to_string()),
            DeValue::Array(items) => Kind::Seq(items.iter().map(|item| self.value(item, file)).collect::<Result<_>>()?),
            DeValue::Table(table) => return self.table(table, offset, file),
        };
        Ok(Node { line, column, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::stimuli::{Fact, Stimulus};
    use serde_json::json;

    fn stimuli() -> Stimuli {
        let stimulus = Stimulus { about: String::new(), capability: None, discovered: false, example: String::new() };
        Stimuli {
            request: false,
            stimuli: [("slow-run".to_owned(), stimulus)].into(),
            facts: [("provider".to_owned(), Fact { about: String::new(), discovered: true })].into(),
        }
    }

    #[test]
    fn a_stimulus_becomes_members_of_a_start_request() {
        let text = "contract = \"c\"\n[stimuli.slow-run]\nprovider = \"p\"\nconfig = { n = 1, list = [1.5, true] }\nrequired-capabilities = [\"x\"]\n[facts]\nprovider = \"p\"\n";
        let profile = Profile::read(text, "p.toml", &stimuli()).unwrap();
        let expected = json!({"providerId": "p", "input": "", "config": {"n": 1, "list": [1.5, true]}, "requiredCapabilities": ["x"]});
        assert_eq!(profile.stimuli["slow-run"], expected);
        assert_eq!(profile.facts["provider"], json!("p"));
    }

    #[test]
    fn mistakes_have_place_and_hint() {
        let cases = [
            (
                "contract = \"c\"\n[stimuli.slowrun]\nprovider = \"p\"\n",
                "p.toml:2:10: there is no stimulus `slowrun`",
                "did you mean `slow-run`?",
            ),
            (
                "contract = \"c\"\n[stimuli.slow-run]\nprovder = \"p\"\n",
                "p.toml:3:1: a stimulus has no key `provder`",
                "did you mean `provider`?",
            ),
            ("contract = \"c\"\n[stimuli.slow-run]\ninput = \"p\"\n", "p.toml:2:1: `provider` is missing", ""),
        ];
        for (text, message, hint) in cases {
            let error = Profile::read(text, "p.toml", &stimuli()).unwrap_err();
            assert_eq!((error.to_string().as_str(), error.hint.as_deref().unwrap_or_default()), (message, hint));
        }
        let error = Profile::read("contract = \n", "p.toml", &stimuli()).unwrap_err();
        assert!(error.to_string().starts_with("p.toml:1:"), "{error}");
        assert!(error.to_string().contains("not readable as TOML"), "{error}");
    }
}
