//! From a protobuf message to the JSON tree of its proto3-JSON form.
//!
//! The tree is natural, not canonical: the writer puts it in order. A field that the descriptors do not know becomes a member
//! whose name is its number in brackets, so that the writer reports it like any other unknown name.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use prost_reflect::{DynamicMessage, Kind, MapKey, ReflectMessage as _, Value};

use super::error::{CanonicalError, Reason};
use super::scalar::Instant;
use crate::json::{Json, Segment, Text};

type Result<T> = std::result::Result<T, Box<CanonicalError>>;

/// The proto3-JSON tree of a message: proto names, set fields only.
pub(crate) fn tree(message: &DynamicMessage) -> std::result::Result<Json<'static>, CanonicalError> {
    object(message).map_err(|mut error| {
        error.segments.reverse();
        *error
    })
}

/// Paths are built from the inside out and turned around once at the end.
fn fail<T>(reason: Reason) -> Result<T> {
    Err(Box::new(CanonicalError::new(reason, Vec::new())))
}

fn inside<T>(result: Result<T>, segment: impl FnOnce() -> Segment) -> Result<T> {
    result.map_err(|mut error| {
        error.segments.push(segment());
        error
    })
}

fn member<T>(result: Result<T>, name: &str) -> Result<T> {
    inside(result, || Segment::Member(name.to_owned()))
}

fn text(text: &str) -> Text<'static> {
    Text::from(text.to_owned())
}

fn object(message: &DynamicMessage) -> Result<Json<'static>> {
    let mut members = Vec::new();
    for (field, value) in message.fields() {
        members.push((text(field.name()), member(json(&field.kind(), value), field.name())?));
    }
    for unknown in message.unknown_fields() {
        let name = format!("[{}]", unknown.number());
        if members.iter().all(|(known, _): &(Text, Json)| **known != *name) {
            members.push((Text::from(name), Json::Null));
        }
    }
    Ok(Json::Object(members))
}

fn json(kind: &Kind, value: &Value) -> Result<Json<'static>> {
    Ok(match value {
        Value::Bool(value) => Json::Bool(*value),
        Value::I32(value) => Json::Number(value.to_string().into()),
        Value::I64(value) => Json::String(value.to_string().into()),
        Value::String(value) => Json::String(text(value)),
        Value::Bytes(value) => Json::String(STANDARD.encode(value).into()),
        Value::EnumNumber(number) => enumeration(kind, *number),
        Value::Message(message) => special(message)?,
        Value::List(items) => {
            let item = |(index, item)| inside(json(kind, item), || Segment::Index(index));
            Json::Array(items.iter().enumerate().map(item).collect::<Result<_>>()?)
        }
        Value::Map(entries) => {
            let mut members = Vec::new();
            for (key, value) in entries {
                let MapKey::String(key) = key else { return fail(Reason::Type { expected: "a string", found: "another key" }) };
                members.push((text(key), member(json(kind, value), key)?));
            }
            members.sort_by(|left: &(Text, Json), right| left.0.cmp(&right.0));
            Json::Object(members)
        }
        Value::U32(_) | Value::U64(_) | Value::F32(_) | Value::F64(_) => {
            return fail(Reason::Type { expected: "a type of this contract", found: "another" });
        }
    })
}

fn enumeration(kind: &Kind, number: i32) -> Json<'static> {
    let name = kind.as_enum().and_then(|list| list.get_value(number));
    name.map_or_else(|| Json::Number(number.to_string().into()), |value| Json::String(text(value.name())))
}

fn special(message: &DynamicMessage) -> Result<Json<'static>> {
    match message.descriptor().full_name() {
        "google.protobuf.Timestamp" => timestamp(message),
        "google.protobuf.Struct" => structure(message),
        _ => object(message),
    }
}

fn timestamp(message: &DynamicMessage) -> Result<Json<'static>> {
    let seconds = message.get_field_by_name("seconds").and_then(|value| value.as_i64()).unwrap_or_default();
    let nanos = message.get_field_by_name("nanos").and_then(|value| value.as_i32()).unwrap_or_default();
    let canonical = u32::try_from(nanos).ok().and_then(|nanos| Instant { seconds, nanos }.canonical());
    canonical.map_or_else(|| fail(Reason::Timestamp(format!("{seconds} s {nanos} ns"))), |canonical| Ok(Json::String(canonical.into())))
}

fn structure(message: &DynamicMessage) -> Result<Json<'static>> {
    let mut members = Vec::new();
    let fields = message.get_field_by_name("fields");
    for (key, value) in fields.as_ref().and_then(|fields| fields.as_map()).into_iter().flatten() {
        let (MapKey::String(key), Value::Message(value)) = (key, value) else { continue };
        members.push((text(key), member(plain(value), key)?));
    }
    members.sort_by(|left, right| left.0.cmp(&right.0));
    Ok(Json::Object(members))
}

/// A `google.protobuf.Value`.
fn plain(message: &DynamicMessage) -> Result<Json<'static>> {
    let Some((field, value)) = message.fields().next() else { return fail(Reason::NoKind) };
    Ok(match (field.name(), value) {
        ("null_value", _) => Json::Null,
        ("bool_value", Value::Bool(value)) => Json::Bool(*value),
        ("number_value", Value::F64(value)) if !value.is_finite() => return fail(Reason::NotFinite(value.to_string())),
        ("number_value", Value::F64(value)) => Json::Number(value.to_string().into()),
        ("string_value", Value::String(value)) => Json::String(text(value)),
        ("struct_value", Value::Message(value)) => structure(value)?,
        ("list_value", Value::Message(list)) => items(list)?,
        (name, _) => return fail(Reason::UnknownField(name.to_owned())),
    })
}

fn items(list: &DynamicMessage) -> Result<Json<'static>> {
    let values = list.get_field_by_name("values");
    let values = values.as_ref().and_then(|values| values.as_list()).unwrap_or_default();
    let item = |(index, item): (usize, &Value)| match item {
        Value::Message(value) => inside(plain(value), || Segment::Index(index)),
        _ => fail(Reason::NoKind),
    };
    Ok(Json::Array(values.iter().enumerate().map(item).collect::<Result<_>>()?))
}
