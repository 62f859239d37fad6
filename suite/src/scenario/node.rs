//! A YAML document with the place of every node, read strictly. Owns no meaning: what a key means is decided in `decode`.

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};
use serde_saphyr::Spanned;
use std::fmt;
use std::sync::Arc;

/// Where something stands in a file that a person wrote. Lines and columns count from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: Arc<str>,
    pub line: u64,
    pub column: u64,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A node and where it stands. Through an alias this is the place of use.
#[derive(Clone, Debug)]
pub struct Node {
    pub line: u64,
    pub column: u64,
    pub kind: Kind,
}

#[derive(Clone, Debug)]
pub enum Kind {
    Null,
    Bool(bool),
    Number(Number),
    String(String),
    Seq(Vec<Node>),
    Map(Vec<(Key, Node)>),
}

#[derive(Clone, Debug)]
pub struct Key {
    pub line: u64,
    pub column: u64,
    pub name: String,
}

impl Key {
    pub fn place(&self, file: &Arc<str>) -> Place {
        Place { file: file.clone(), line: self.line, column: self.column }
    }
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::<Kind>::deserialize(deserializer)?;
        let at = spanned.referenced;
        Ok(Node { line: at.line(), column: at.column(), kind: spanned.value })
    }
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(KindVisitor)
    }
}

struct KindVisitor;

impl<'de> Visitor<'de> for KindVisitor {
    type Value = Kind;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_bool<E>(self, v: bool) -> Result<Kind, E> {
        Ok(Kind::Bool(v))
    }

    fn visit_i64<E>(self, v: i64) -> Result<Kind, E> {
        Ok(Kind::Number(v.into()))
    }

    fn visit_u64<E>(self, v: u64) -> Result<Kind, E> {
        Ok(Kind::Number(v.into()))
    }

    fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Kind, E> {
        Number::from_f64(v).map(Kind::Number).ok_or_else(|| E::custom("a number here must be finite"))
    }

    fn visit_str<E>(self, v: &str) -> Result<Kind, E> {
        Ok(Kind::String(v.to_owned()))
    }

    fn visit_unit<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_none<E>(self) -> Result<Kind, E> {
        Ok(Kind::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Kind, D::Error> {
        Kind::deserialize(deserializer)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Kind, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element()? {
            items.push(item);
        }
        Ok(Kind::Seq(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Kind, A::Error> {
        let mut entries = Vec::new();
        while let Some((key, value)) = map.next_entry::<Spanned<String>, Node>()? {
            let at = key.referenced;
            entries.push((Key { line: at.line(), column: at.column(), name: key.value }, value));
        }
        Ok(Kind::Map(entries))
    }
}

impl Node {
    /// Reads one document. Duplicate keys, YAML 1.1 booleans and octal look-alikes are not let through.
    pub fn parse(text: &str) -> Result<Node, serde_saphyr::Error> {
        let options = serde_saphyr::options! {
            strict_booleans: true,
            leading_zero_numbers_as_strings: true,
            underscored_numbers_as_strings: true,
            with_snippet: false,
        };
        serde_saphyr::from_str_with_options(text, options)
    }

    pub fn place(&self, file: &Arc<str>) -> Place {
        Place { file: file.clone(), line: self.line, column: self.column }
    }

    pub fn get(&self, name: &str) -> Option<&Node> {
        match &self.kind {
            Kind::Map(entries) => entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node),
            _ => None,
        }
    }

    pub fn entries(&self) -> &[(Key, Node)] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::Seq(items) => items,
            _ => &[],
        }
    }

    pub fn str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(b) => Value::Bool(*b),
            Kind::Number(n) => Value::Number(n.clone()),
            Kind::String(s) => Value::String(s.clone()),
            Kind::Seq(items) => Value::Array(items.iter().map(Node::to_json).collect()),
            Kind::Map(entries) => Value::Object(entries.iter().map(|(k, v)| (k.name.clone(), v.to_json())).collect()),
        }
    }

    /// The node at a JSON Pointer, or the deepest one on the way to it.
    pub fn deepest(&self, pointer: &str) -> &Node {
        let mut node = self;
        for part in pointer.split('/').skip(1) {
            let name = part.replace("~1", "/").replace("~0", "~");
            let next = match &node.kind {
                Kind::Map(_) => node.get(&name),
                Kind::Seq(items) => name.parse::<usize>().ok().and_then(|i| items.get(i)),
                _ => None,
            };
            match next {
                Some(next) => node = next,
                None => break,
            }
        }
        node
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_merges_and_aliases() {
        let text = "a: &x\n  b: 1\n  c: [yes, 010, 1_0, \"s\"]\nd: { <<: *x, b: 2 }\ne: *x\n";
        let node = Node::parse(text).unwrap();
        assert_eq!(
            node.to_json(),
            serde_json::json!({
                "a": {"b": 1, "c": ["yes", "010", "1_0", "s"]}, "d": {"b": 2, "c": ["yes", "010", "1_0", "s"]},
                "e": {"b": 1, "c": ["yes", "010", "1_0", "s"]}})
        );
        let b = node.get("a").unwrap().get("b").unwrap();
        assert_eq!((b.line, b.column), (2, 6));
        assert_eq!(node.get("e").unwrap().line, 5);
        assert_eq!(node.deepest("/a/c/3").column, 22);
        assert_eq!(node.deepest("/d/nothing/at/all").line, 4);
    }

    #[test]
    fn duplicate_keys_are_refused_with_their_place() {
        let error = Node::parse("a: 1\nb:\n  c: 1\n  c: 2\n").unwrap_err();
        assert_eq!(error.location().map(|l| (l.line(), l.column())), Some((4, 3)));
    }
}
