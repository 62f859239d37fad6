//! Prints a record in a form that is not the contract's, to find out what somebody hashed.
//!
//! Slow and general where the canonical writer is fast and single-minded; at the default form both have to agree, and a test
//! holds them against each other.

use super::form::{Defaults, First, Form, Names};
use super::hash::Hash;
use super::record::Envelope;
use crate::canonical::table::{Field, Kind, Message, Shape, table};
use crate::canonical::{jcs, scalar};
use crate::json::{self, Json};

/// A value whose scalars are decided and whose order and spelling are not.
enum Tree {
    /// Printed as it is.
    Literal(String),
    Text(String),
    List(Vec<Tree>),
    Map(Vec<(String, Tree)>),
}

/// A record that was read once and can be hashed in any form.
pub(super) struct Deviant<'j> {
    envelope: Envelope<'j>,
    recorded: Hash,
}

impl<'j> Deviant<'j> {
    /// `json` must be a record that has a canonical form. `None` when it has no hash to look for.
    pub(super) fn new(json: &'j Json<'j>) -> Option<Self> {
        let envelope = Envelope::read(json).ok()?;
        let recorded = Hash::parse(envelope.content_hash)?;
        Some(Self { envelope, recorded })
    }

    /// Whether the recorded hash is that of this form.
    pub(super) fn fits(&self, form: &Form) -> bool {
        Hash::of(self.print(form).as_bytes()) == self.recorded
    }

    /// The simplest known form, among those that include all deviations of `within`, that gives the recorded hash.
    pub(super) fn search(&self, within: &Form) -> Option<Form> {
        Form::known().iter().find(|form| form.includes(within) && self.fits(form)).copied()
    }

    fn print(&self, form: &Form) -> String {
        let mut out = String::with_capacity(1024);
        print(form, &self.tree(form), &mut out);
        out
    }

    fn tree(&self, form: &Form) -> Tree {
        let integer = |value: i64| if form.seq_number { Tree::Literal(value.to_string()) } else { Tree::Text(value.to_string()) };
        let mut members = vec![("event".to_owned(), message(form, table().message(table().event), self.envelope.event))];
        if let Some(link) = self.link(form) {
            let name = if form.names == Names::CamelAll { "prevHash" } else { "prev_hash" };
            members.push((name.to_owned(), Tree::Text(link)));
        }
        members.push(("seq".to_owned(), integer(self.envelope.seq)));
        if form.fence {
            members.push(("fence".to_owned(), integer(self.envelope.fence)));
        }
        Tree::Map(members)
    }

    fn link(&self, form: &Form) -> Option<String> {
        let recorded = self.envelope.prev_hash;
        match form.first {
            _ if self.envelope.seq != 1 => Some(recorded.to_owned()),
            First::AsRecorded => Some(recorded.to_owned()),
            First::Zeros => Some("0".repeat(64)),
            First::Omitted => None,
        }
    }
}

fn message(form: &Form, message: &'static Message, json: &Json<'_>) -> Tree {
    let fields = message.fields.iter().filter_map(|field| {
        let value = json.get(field.name).or_else(|| json.get(field.camel)).filter(|value| **value != Json::Null);
        let name = if form.names == Names::Proto { field.name } else { field.camel };
        member(form, field, value).map(|tree| (name.to_owned(), tree))
    });
    Tree::Map(fields.collect())
}

fn member(form: &Form, field: &Field, json: Option<&Json<'_>>) -> Option<Tree> {
    let Some(json) = json else { return absent(form, field) };
    match (field.shape, json) {
        (Shape::Repeated, Json::Array(items)) if items.is_empty() => absent(form, field),
        (Shape::Repeated, Json::Array(items)) => Some(Tree::List(items.iter().map(|item| value(form, field.kind, item).0).collect())),
        (Shape::Map, Json::Object(members)) if members.is_empty() => absent(form, field),
        (Shape::Map, _) => Some(plain(json)),
        (shape, _) => match value(form, field.kind, json) {
            (_, true) if shape == Shape::Implicit => absent(form, field),
            (tree, _) => Some(tree),
        },
    }
}

/// What a field prints when it has no value or the default one.
fn absent(form: &Form, field: &Field) -> Option<Tree> {
    if form.defaults == Defaults::Omitted || field.oneof.is_some() {
        return None;
    }
    let literal = |text: &str| Some(Tree::Literal(text.to_owned()));
    match (field.shape, field.kind) {
        (Shape::Repeated, _) => Some(Tree::List(Vec::new())),
        (Shape::Map, _) => Some(Tree::Map(Vec::new())),
        (_, Kind::Message(_) | Kind::Timestamp | Kind::Struct) if form.defaults == Defaults::PrintedWithNull => literal("null"),
        (_, Kind::Message(_) | Kind::Timestamp | Kind::Struct) | (Shape::Explicit, _) => None,
        (_, Kind::String | Kind::Bytes) => Some(Tree::Text(String::new())),
        (_, Kind::Bool) => literal("false"),
        (_, Kind::Int32) => literal("0"),
        (_, Kind::Int64) => Some(int64(form, 0)),
        (_, Kind::Enum(_)) if form.enum_numbers => literal("0"),
        (_, Kind::Enum(list)) => Some(Tree::Text(list.name_of(0).unwrap_or_default().to_owned())),
    }
}

fn int64(form: &Form, value: i64) -> Tree {
    if form.int64_numbers { Tree::Literal(value.to_string()) } else { Tree::Text(value.to_string()) }
}

/// A value, and whether it is the default of its kind.
fn value(form: &Form, kind: Kind, json: &Json<'_>) -> (Tree, bool) {
    let text: &str = match json {
        Json::String(text) => text,
        Json::Number(text) => text,
        _ => "",
    };
    let integer = || scalar::integer(text).unwrap_or_default();
    match kind {
        Kind::String => (Tree::Text(text.to_owned()), text.is_empty()),
        Kind::Bytes => (Tree::Text(scalar::base64(text).unwrap_or_default().into_owned()), text.is_empty()),
        Kind::Timestamp => (Tree::Text(scalar::instant(text).and_then(scalar::Instant::canonical).unwrap_or_default()), false),
        Kind::Bool => (plain(json), *json == Json::Bool(false)),
        Kind::Int32 => (Tree::Literal(integer().to_string()), integer() == 0),
        Kind::Int64 => (int64(form, integer()), integer() == 0),
        Kind::Message(index) => (message(form, table().message(index), json), false),
        Kind::Struct => (plain(json), false),
        Kind::Enum(list) => {
            let number = list.number(text).or_else(|| i32::try_from(integer()).ok()).unwrap_or_default();
            let name = list.name_of(number).filter(|_| !form.enum_numbers);
            (name.map_or_else(|| Tree::Literal(number.to_string()), |name| Tree::Text(name.to_owned())), number == 0)
        }
    }
}

/// A value that needs no descriptor.
fn plain(json: &Json<'_>) -> Tree {
    match json {
        Json::String(text) => Tree::Text(text.to_string()),
        Json::Array(items) => Tree::List(items.iter().map(plain).collect()),
        Json::Object(members) => Tree::Map(members.iter().map(|(name, value)| (name.to_string(), plain(value))).collect()),
        Json::Null | Json::Bool(_) | Json::Number(_) => {
            let mut printed = Vec::new();
            jcs::push_value(&mut printed, json).expect("the record has a canonical form");
            Tree::Literal(String::from_utf8(printed).expect("JSON is UTF-8"))
        }
    }
}

fn print(form: &Form, tree: &Tree, out: &mut String) {
    let comma = if form.spaced { ", " } else { "," };
    match tree {
        Tree::Literal(text) => out.push_str(text),
        Tree::Text(text) => print_text(form, text, out),
        Tree::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { comma } else { "" });
                print(form, item, out);
            }
            out.push(']');
        }
        Tree::Map(members) => {
            let mut members: Vec<_> = members.iter().collect();
            members.sort_by(|(left, _), (right, _)| if form.code_points { left.cmp(right) } else { jcs::utf16_order(left, right) });
            out.push('{');
            for (index, (name, value)) in members.into_iter().enumerate() {
                out.push_str(if index > 0 { comma } else { "" });
                print_text(form, name, out);
                out.push_str(if form.spaced { ": " } else { ":" });
                print(form, value, out);
            }
            out.push('}');
        }
    }
}

fn print_text(form: &Form, text: &str, out: &mut String) {
    let mut canonical = Vec::with_capacity(text.len() + 2);
    jcs::push_string(&mut canonical, text);
    for c in String::from_utf8(canonical).expect("JSON is UTF-8").chars() {
        let escape_html = form.html && matches!(c, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let escape_ascii = form.ascii && !c.is_ascii();
        if escape_html || escape_ascii {
            let mut units = [0; 2];
            out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        } else {
            out.push(c);
        }
    }
}

/// The simplest known form that gives the hash recorded in a line. `within` limits the search to its deviations and more.
pub(super) fn explain(line: &[u8], within: &Form) -> Option<Form> {
    Deviant::new(&json::parse(line).ok()?)?.search(within)
}

/// The hash that a record has in some form.
#[cfg(test)]
pub(super) fn hash(json: &Json<'_>, form: &Form) -> Option<Hash> {
    Deviant::new(json).map(|deviant| Hash::of(deviant.print(form).as_bytes()))
}

/// Whether a line was hashed in that form.
pub(super) fn fits(line: &[u8], form: &Form) -> bool {
    json::parse(line).is_ok_and(|json| Deviant::new(&json).is_some_and(|deviant| deviant.fits(form)))
}
