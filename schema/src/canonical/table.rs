//! The descriptors once more, in the order and the form that reading and printing need.

use std::collections::HashMap;
use std::sync::LazyLock;

use prost_reflect::{EnumDescriptor, FieldDescriptor, Kind as ProtoKind, MessageDescriptor};

use crate::agentsessions::descriptors;

/// How a value prints and what it may look like.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    String,
    Bytes,
    Bool,
    Int32,
    Int64,
    Enum(&'static Enum),
    /// Index into [`Table::messages`].
    Message(usize),
    Timestamp,
    Struct,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Absence and the default are one: the default never prints.
    Implicit,
    /// Absence is a value of its own: whatever is there prints.
    Explicit,
    Repeated,
    /// String to string.
    Map,
}

#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) camel: &'static str,
    /// `"name":`, ready to copy.
    pub(crate) label: Vec<u8>,
    pub(crate) kind: Kind,
    pub(crate) shape: Shape,
    /// Which choice of the message this field is a member of.
    pub(crate) oneof: Option<usize>,
}

#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) name: &'static str,
    /// In canonical order. At most 32, so that a set of fields is a `u32`.
    pub(crate) fields: Vec<Field>,
    /// The fields for a URI of content kept elsewhere and for its digest, when the message has both.
    pub(crate) external: Option<(&'static str, &'static str)>,
}

impl Message {
    /// The index of the field with that proto name or that lowerCamelCase name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let by = |spelling: fn(&Field) -> &'static str| self.fields.iter().position(|field| spelling(field) == name);
        by(|field| field.name).or_else(|| by(|field| field.camel))
    }
}

#[derive(Debug)]
pub(crate) struct Enum {
    pub(crate) name: &'static str,
    values: Vec<(&'static str, i32)>,
}

impl Enum {
    pub(crate) fn number(&self, name: &str) -> Option<i32> {
        self.values.iter().find(|(known, _)| *known == name).map(|(_, number)| *number)
    }

    pub(crate) fn name_of(&self, number: i32) -> Option<&'static str> {
        self.values.iter().find(|(_, known)| *known == number).map(|(name, _)| *name)
    }
}

pub(crate) struct Table {
    messages: Vec<Message>,
    by_name: HashMap<&'static str, usize>,
    pub(crate) log_record: usize,
    pub(crate) event: usize,
}

static TABLE: LazyLock<Table> = LazyLock::new(Table::build);

/// The messages of `agentsessions.v1`.
pub(crate) fn table() -> &'static Table {
    &TABLE
}

/// Names of the package live as long as the program: they are leaked once, while the table is built.
fn forever(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

impl Table {
    pub(crate) fn message(&self, index: usize) -> &Message {
        &self.messages[index]
    }

    /// The index of the message with that short name.
    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    fn build() -> Self {
        let pool = descriptors();
        let own: Vec<MessageDescriptor> =
            pool.all_messages().filter(|m| m.package_name() == "agentsessions.v1" && !m.is_map_entry()).collect();
        let by_full_name: HashMap<&str, usize> = own.iter().enumerate().map(|(index, m)| (m.full_name(), index)).collect();
        let mut enums: HashMap<String, &'static Enum> = HashMap::new();
        let messages: Vec<Message> = own.iter().map(|descriptor| message(descriptor, &by_full_name, &mut enums)).collect();
        let by_name: HashMap<&'static str, usize> = messages.iter().enumerate().map(|(index, m)| (m.name, index)).collect();
        let (log_record, event) = (by_name["LogRecord"], by_name["Event"]);
        Self { messages, by_name, log_record, event }
    }
}

fn message(descriptor: &MessageDescriptor, messages: &HashMap<&str, usize>, enums: &mut HashMap<String, &'static Enum>) -> Message {
    let mut fields: Vec<Field> = descriptor.fields().map(|f| field(&f, messages, enums)).collect();
    assert!(fields.len() <= 32, "a set of fields is a u32");
    assert!(fields.iter().all(|field| field.oneof < Some(4)), "a message has at most four choices");
    fields.sort_by_key(|field| field.name);
    let pairs = [("uri", "digest"), ("opaque_uri", "opaque_digest"), ("output_uri", "output_digest")];
    let has = |name: &str| fields.iter().any(|field| field.name == name);
    let external = pairs.into_iter().find(|(uri, digest)| has(uri) && has(digest));
    Message { name: forever(descriptor.name()), fields, external }
}

fn field(descriptor: &FieldDescriptor, messages: &HashMap<&str, usize>, enums: &mut HashMap<String, &'static Enum>) -> Field {
    let shape = if descriptor.is_map() {
        assert!(is_text_map(descriptor), "{} is no map of strings", descriptor.full_name());
        Shape::Map
    } else if descriptor.is_list() {
        Shape::Repeated
    } else if descriptor.supports_presence() {
        Shape::Explicit
    } else {
        Shape::Implicit
    };
    let kind = match descriptor.kind() {
        _ if shape == Shape::Map => Kind::String,
        ProtoKind::String => Kind::String,
        ProtoKind::Bytes => Kind::Bytes,
        ProtoKind::Bool => Kind::Bool,
        ProtoKind::Int32 => Kind::Int32,
        ProtoKind::Int64 => Kind::Int64,
        ProtoKind::Enum(list) => Kind::Enum(enums.entry(list.full_name().to_owned()).or_insert_with(|| enumeration(&list))),
        ProtoKind::Message(m) if m.full_name() == "google.protobuf.Timestamp" => Kind::Timestamp,
        ProtoKind::Message(m) if m.full_name() == "google.protobuf.Struct" => Kind::Struct,
        ProtoKind::Message(m) => Kind::Message(messages[m.full_name()]),
        other => panic!("{} has a type that this contract does not use: {other:?}", descriptor.full_name()),
    };
    let oneof = descriptor.containing_oneof().filter(|oneof| !oneof.is_synthetic()).map(|oneof| {
        let of = descriptor.parent_message();
        of.oneofs().position(|other| other == oneof).expect("a oneof of its own message")
    });
    let name = forever(descriptor.name());
    Field { name, camel: forever(descriptor.json_name()), label: format!("\"{name}\":").into_bytes(), kind, shape, oneof }
}

fn is_text_map(descriptor: &FieldDescriptor) -> bool {
    let ProtoKind::Message(entry) = descriptor.kind() else { return false };
    entry.fields().all(|field| matches!(field.kind(), ProtoKind::String))
}

fn enumeration(descriptor: &EnumDescriptor) -> &'static Enum {
    let values = descriptor.values().map(|value| (forever(value.name()), value.number())).collect();
    Box::leak(Box::new(Enum { name: forever(descriptor.name()), values }))
}
