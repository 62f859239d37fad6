//! Messages by descriptor: proto3-JSON to bytes, and bytes to proto3-JSON in proto names.

use prost::Message;
use prost_reflect::{DeserializeOptions, DynamicMessage, MapKey, MessageDescriptor, SerializeOptions, Value as Field};
use serde_json::Value;

/// Of one message at most so many fields are named that the descriptors do not know.
const MOST_UNKNOWN: usize = 20;

/// The bytes of the message that `json` describes, unknown fields refused.
pub(super) fn encode(descriptor: MessageDescriptor, json: &Value) -> Result<Vec<u8>, String> {
    let message =
        DynamicMessage::deserialize_with_options(descriptor, json, &DeserializeOptions::new()).map_err(|error| error.to_string())?;
    Ok(message.encode_to_vec())
}

/// A message as it was read.
#[derive(Debug)]
pub(super) struct Decoded {
    /// Fields that are not populated are left out; 64-bit integers are strings.
    pub(super) json: Value,
    /// What the JSON does not show because the descriptors do not know it: `.metadata: field 99`. (Not within the entries of a
    /// map, which have a key and a value and nothing else.)
    pub(super) unknown: Vec<String>,
}

pub(super) fn decode(descriptor: MessageDescriptor, bytes: &[u8]) -> Result<Decoded, String> {
    let name = descriptor.full_name().to_owned();
    let message = DynamicMessage::decode(descriptor, bytes).map_err(|error| format!("not a {name}: {error}"))?;
    let options = SerializeOptions::new().use_proto_field_name(true);
    let json = message.serialize_with_options(serde_json::value::Serializer, &options);
    let json = json.map_err(|error| format!("a {name} that JSON cannot express: {error}"))?;
    let mut unknown = Vec::new();
    list_unknown(&message, "", &mut unknown);
    Ok(Decoded { json, unknown })
}

fn list_unknown(message: &DynamicMessage, path: &str, unknown: &mut Vec<String>) {
    unknown.extend(message.unknown_fields().take(MOST_UNKNOWN).map(|field| format!("{path}: field {}", field.number())));
    for (field, value) in message.fields() {
        let path = format!("{path}.{}", field.name());
        match value {
            Field::Message(inner) => list_unknown(inner, &path, unknown),
            Field::List(items) => list_all(items.iter().enumerate(), &path, unknown),
            Field::Map(entries) => list_all(entries.iter().map(|(key, value)| (key_text(key), value)), &path, unknown),
            _ => {}
        }
    }
    unknown.truncate(MOST_UNKNOWN);
}

fn list_all<'a, K: std::fmt::Display>(values: impl Iterator<Item = (K, &'a Field)>, path: &str, unknown: &mut Vec<String>) {
    for (key, value) in values {
        if let Field::Message(inner) = value {
            list_unknown(inner, &format!("{path}[{key}]"), unknown);
        }
    }
}

fn key_text(key: &MapKey) -> String {
    match key {
        MapKey::Bool(key) => key.to_string(),
        MapKey::I32(key) => key.to_string(),
        MapKey::I64(key) => key.to_string(),
        MapKey::U32(key) => key.to_string(),
        MapKey::U64(key) => key.to_string(),
        MapKey::String(key) => format!("{key:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_schema::agentsessions::message;
    use serde_json::json;

    fn descriptor(name: &str) -> MessageDescriptor {
        message(name).expect("a message of the package")
    }

    fn there_and_back(name: &str, json: &Value) -> Value {
        decode(descriptor(name), &encode(descriptor(name), json).expect("legal")).expect("what we wrote").json
    }

    #[test]
    fn json_survives_the_wire_in_proto_names() {
        let session = json!({
            "metadata": { "uid": "u", "create_time": "2026-01-02T03:04:05.123456789Z" },
            "last_seq": "9007199254740993",
            "exec_state": "EXEC_PENDING",
            "labels": { "a": "", "\u{e9}": "b" },
            "identity": {},
        });
        assert_eq!(there_and_back("Session", &session), session);
        let data = json!({ "data": { "data": { "list": [1.5, null, true, "x", {}] } } });
        assert_eq!(there_and_back("Part", &data), data);
    }

    #[test]
    fn other_legal_spellings_are_taken_and_empty_fields_left_out() {
        let written = json!({ "lastSeq": 7, "model": "", "exec_state": 1, "fork_seq": "0", "harness": null });
        assert_eq!(there_and_back("Session", &written), json!({ "last_seq": "7", "exec_state": "EXEC_PENDING" }));
        assert_eq!(there_and_back("ExecRequest", &json!({ "expected_last_seq": "0" })), json!({ "expected_last_seq": "0" }));
    }

    #[test]
    fn requests_that_do_not_fit_are_refused() {
        for request in [json!({ "id": "a" }), json!({ "uid": 5 }), json!([]), json!("u")] {
            assert!(encode(descriptor("GetSessionRequest"), &request).is_err(), "{request}");
        }
    }

    #[test]
    fn unknown_fields_are_named_wherever_they_are() {
        // Field 1 (metadata) with 99 inside, field 11 (labels), 97 and 96 at the top.
        let bytes = b"\x0a\x03\x98\x06\x01\x5a\x06\x0a\x01a\x12\x01b\x88\x06\x01\x82\x06\x00";
        let decoded = decode(descriptor("Session"), bytes).expect("a session");
        assert_eq!(decoded.json, json!({ "metadata": {}, "labels": { "a": "b" } }));
        assert_eq!(decoded.unknown, [": field 96", ": field 97", ".metadata: field 99"]);
        let listed = [&b"\x0a\x03\x88\x06\x01"[..]; 2].concat();
        assert_eq!(
            decode(descriptor("ListSessionsResponse"), &listed).expect("a list").unknown,
            [".sessions[0]: field 97", ".sessions[1]: field 97"]
        );
        assert_eq!(decode(descriptor("Session"), &b"\x88\x06\x01".repeat(1000)).expect("a session").unknown.len(), MOST_UNKNOWN);
    }

    #[test]
    fn unknown_enum_numbers_stay_numbers() {
        assert_eq!(decode(descriptor("Session"), b"\x68\x63").expect("a session").json, json!({ "exec_state": 99 }));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for bytes in [&b"\x12\x01\xff"[..], b"\x12\x05a", b"\x0a", b"<html>", b"\x0f"] {
            let problem = decode(descriptor("Session"), bytes).expect_err("broken");
            assert!(problem.starts_with("not a agentsessions.v1.Session: "), "{problem}");
        }
        let year_zero = b"\x0a\x0d\x2a\x0b\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01";
        assert!(decode(descriptor("Session"), year_zero).expect_err("no such time").contains("JSON cannot express"));
    }
}
