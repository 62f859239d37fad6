use prost_reflect::{DynamicMessage, SerializeOptions};

use super::*;
use crate::agentsessions::message;
use crate::json::{Problem, path};

const VECTORS: &str = include_str!("../../../fixtures/journals/vectors.json");
const NUMBERS: &str = include_str!("../../../fixtures/journals/numbers.json");

fn event(text: &str) -> Result<String, CanonicalError> {
    let bytes = MessageType::named("Event").expect("a message").canonical(text.as_bytes())?;
    Ok(String::from_utf8(bytes).expect("canonical JSON is UTF-8"))
}

/// The second opinion: descriptors by `prost-reflect`, printing by `serde_json_canonicalizer`.
fn oracle(name: &str, text: &str) -> String {
    let mut reader = serde_json::Deserializer::from_str(text);
    let message = DynamicMessage::deserialize(message(name).expect("a message"), &mut reader).expect("proto3-JSON");
    let options = SerializeOptions::new().use_proto_field_name(true).stringify_64_bit_integers(true);
    let value = message.serialize_with_options(serde_json::value::Serializer, &options).expect("a value");
    serde_json_canonicalizer::to_string(&value).expect("canonical")
}

#[test]
fn every_vector_prints_as_it_should() {
    let vectors: serde_json::Value = serde_json::from_str(VECTORS).unwrap();
    let vectors = vectors["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 27);
    for vector in vectors {
        let text = vector["event"].to_string();
        let (name, expected) = (&vector["name"], vector["canonical"].as_str().unwrap());
        let seq = vector["seq"].as_i64().unwrap();
        let canonical = event(&text).unwrap();
        assert_eq!(format!(r#"{{"event":{canonical},"prev_hash":{},"seq":"{seq}"}}"#, vector["prev_hash"]), expected, "{name}");
        assert_eq!(canonical, oracle("Event", &text), "{name}");
    }
}

#[test]
fn doubles_print_as_ecmascript_prints_them() {
    let samples: serde_json::Value = serde_json::from_str(NUMBERS).unwrap();
    let samples = samples["samples"].as_array().unwrap();
    assert!(samples.len() >= 24);
    for sample in samples {
        let bits = u64::from_str_radix(sample["ieee754"].as_str().unwrap(), 16).unwrap();
        let double = f64::from_bits(bits);
        let mut printed = Vec::new();
        let result = push_double(&mut printed, double);
        match sample["text"].as_str() {
            None => assert_eq!(result, Err(OutOfRange), "{sample}"),
            Some(text) => {
                assert_eq!(String::from_utf8(printed).unwrap(), text, "{sample}");
                let mut reread = Vec::new();
                push_number(&mut reread, text).unwrap();
                assert_eq!(String::from_utf8(reread).unwrap(), text, "{sample}");
            }
        }
    }
}

/// `serde_json` without its `float_roundtrip` feature reads some doubles one unit off, which would change hashes.
#[test]
fn serde_json_reads_doubles_exactly() {
    for text in ["8.4e-320", "1.7976931348623157e308", "9.007199254740993e15", "0.10000000000000001", "3.1234567890123456e-87"] {
        let value: f64 = serde_json::from_str(text).unwrap();
        assert_eq!(value.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
    }
    let mut bits = 0x9E37_79B9_7F4A_7C15_u64;
    for _ in 0..20_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let double = f64::from_bits(bits);
        if double.is_finite() {
            let text = format!("{double:e}");
            assert_eq!(serde_json::from_str::<f64>(&text).unwrap().to_bits(), bits, "{text}");
        }
    }
}

#[test]
fn every_legal_spelling_is_one_event() {
    let canonical = r#"{"execution_id":"e","execution_start":{"config":"+/8=","input_count":"0","resume_from_seq":"7"},"kind":"EVENT_EXECUTION_START","schema_version":3,"ts":"2023-11-14T22:13:20.500Z"}"#;
    for text in [
        canonical,
        r#"{"executionId":"e","executionStart":{"config":"+/8","inputCount":0,"resumeFromSeq":"7"},"kind":12,"schemaVersion":"3","ts":"2023-11-14T22:13:20.5Z"}"#,
        r#"{"ts":"2023-11-14T23:13:20.500000+01:00","schema_version":3e0,"kind":12.0,"execution_start":{"resume_from_seq":"0.7e1","input_count":-0,"config":"-_8","harness":"","harness_version":null},"execution_id":"\u0065","actor":null,"usage":null}"#,
        " { \"executionId\" : \"e\" , \"ts\" : \"2023-11-14T22:13:20.500Z\" , \"execution_start\" : { \"config\" : \"-_8=\" , \"input_count\" : \"0\" , \"resume_from_seq\" : 7.0 } , \"kind\" : \"EVENT_EXECUTION_START\" , \"schema_version\" : 3 } \r",
    ] {
        assert_eq!(event(text).unwrap(), canonical, "{text}");
    }
}

#[test]
fn presence_decides_what_prints() {
    for (text, canonical) in [
        (r#"{"execution_start":{}}"#, r#"{"execution_start":{}}"#),
        (r#"{"execution_start":{"input_count":"0","config":"","resume_from_seq":0}}"#, r#"{"execution_start":{"input_count":"0"}}"#),
        (r#"{"approval_result":{"approved":false,"reason":""}}"#, r#"{"approval_result":{}}"#),
        (r#"{"message":{"parts":[]}}"#, r#"{"message":{}}"#),
        (r#"{"message":{"parts":[{"file":{"uri":""}}]}}"#, r#"{"message":{"parts":[{"file":{"uri":""}}]}}"#),
        (r#"{"model":{"params":{}}}"#, r#"{"model":{}}"#),
        (r#"{"model":{"params":{"b":"","a":"1"}}}"#, r#"{"model":{"params":{"a":"1","b":""}}}"#),
        (r#"{"tool":{"args":{}}}"#, r#"{"tool":{"args":{}}}"#),
        (r#"{"tool":{"args":null,"mediation":0}}"#, r#"{"tool":{}}"#),
        (r#"{"tool":{"args":{"a":null,"b":[null]}}}"#, r#"{"tool":{"args":{"a":null,"b":[null]}}}"#),
        (r#"{"kind":0,"schema_version":0}"#, "{}"),
        (r#"{"kind":-7}"#, r#"{"kind":-7}"#),
    ] {
        assert_eq!(event(text).unwrap(), canonical);
        assert_eq!(oracle("Event", text), canonical);
    }
}

#[test]
fn wrong_texts_are_refused_with_their_place() {
    for (text, message) in [
        ("[]", "an object was expected, an array found at $"),
        (r#"{"kind":true}"#, "the name or the number of an enum value was expected, a boolean found at $.kind"),
        (r#"{"kind":2147483648}"#, "\"2147483648\" is no 32-bit integer at $.kind"),
        (r#"{"schema_version":1.5}"#, "\"1.5\" is no 32-bit integer at $.schema_version"),
        (r#"{"usage":{"input_tokens":"9223372036854775808"}}"#, "\"9223372036854775808\" is no 64-bit integer at $.usage.input_tokens"),
        (r#"{"usage":{"inputTokens":" 1"}}"#, "\" 1\" is no 64-bit integer at $.usage.input_tokens"),
        (r#"{"usage":{"input_tokens":1,"inputTokens":1}}"#, "the field input_tokens comes twice, under both of its names at $.usage"),
        (r#"{"usage":{"input_tokens":1,"input_tokens":1}}"#, "the name \"input_tokens\" comes twice at $.usage, byte 9"),
        (r#"{"usage":{},"error":{}}"#, "error and usage exclude each other at $"),
        (r#"{"message":{"parts":[{},{"file":{"bytes":"a","uri":"b"}}]}}"#, "bytes and uri exclude each other at $.message.parts[1].file"),
        (r#"{"message":{"parts":[{},{"file":{"bytes":"a*"}}]}}"#, "\"a*\" is no base64 at $.message.parts[1].file.bytes"),
        (r#"{"message":{"parts":[null]}}"#, "an object was expected, null found at $.message.parts[0]"),
        (r#"{"message":{"parts":{}}}"#, "an array was expected, an object found at $.message.parts"),
        (r#"{"model":{"params":{"a b":1}}}"#, "a string was expected, a number found at $.model.params[\"a b\"]"),
        (r#"{"model":{"params":{"a":null}}}"#, "a string was expected, null found at $.model.params.a"),
        (r#"{"ts":"2023-02-30T00:00:00Z"}"#, "\"2023-02-30T00:00:00Z\" is no RFC 3339 time between the years 1 and 9999 in UTC at $.ts"),
        (r#"{"ts":1}"#, "an RFC 3339 time in a string was expected, a number found at $.ts"),
        (r#"{"tool":{"args":[]}}"#, "an object was expected, an array found at $.tool.args"),
        (r#"{"tool":{"args":{"a":[0,{"b":-1e999}]}}}"#, "-1e999 is out of the range of a double at $.tool.args.a[1].b"),
        (r#"{"tool":{"args":{"a":NaN}}}"#, "NaN is not JSON: a number has to be finite at $.tool.args.a, byte 21"),
        (r#"{"tool":{"args":{"a":"\ud800"}}}"#, "an escape is half a surrogate pair at $.tool.args.a, byte 22"),
        (r#"{"result":{"is_error":"true"}}"#, "a boolean was expected, a string found at $.result.is_error"),
        (r#"{"execution_id":7}"#, "a string was expected, a number found at $.execution_id"),
    ] {
        let error = event(text).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(!error.reason.is_ignorance(), "{text}");
    }
}

#[test]
fn what_is_unknown_is_not_wrong() {
    let deep = format!(r#"{{"tool":{{"args":{{"a":{}1{}}}}}}}"#, "[".repeat(300), "]".repeat(300));
    for (text, message) in [
        (r#"{"parked_since":1}"#, "the field \"parked_since\" is not known at $"),
        (r#"{"usage":{"cached_tokens":null}}"#, "the field \"cached_tokens\" is not known at $.usage"),
        (r#"{"kind":"EVENT_SOMETHING"}"#, "\"EVENT_SOMETHING\" is no known value of EventKind at $.kind"),
        (r#"{"tool":{"mediation":"1"}}"#, "\"1\" is no known value of Mediation at $.tool.mediation"),
    ] {
        let error = event(text).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert!(error.reason.is_ignorance());
    }
    assert!(matches!(event(&deep).unwrap_err().reason, Reason::Json(Problem::TooDeep(_))));
    // A wrong value weighs more than an unknown one, wherever it stands.
    let error = event(r#"{"parked_since":1,"usage":{"input_tokens":"x"}}"#).unwrap_err();
    assert_eq!((path(&error.segments).as_str(), error.reason.is_ignorance()), ("$.usage.input_tokens", false));
}

#[test]
fn names_sort_by_utf16_units() {
    let mut names = [
        "\u{20ac}",
        "\r",
        "\u{fb33}",
        "1",
        "\u{1f600}",
        "\u{80}",
        "\u{f6}",
        "",
        "a",
        "aa",
        "\u{ffff}",
        "\u{10ffff}",
        "\u{e000}",
        "\u{d7ff}",
    ];
    let mut by_units = names;
    by_units.sort_by_key(|name| name.encode_utf16().collect::<Vec<_>>());
    names.sort_by(|left, right| utf16_order(left, right));
    assert_eq!(names, by_units);
}

#[test]
fn messages_from_the_wire_print_the_same_way() {
    use crate::agentsessions::v1;
    let event = v1::Event {
        execution_id: "e".into(),
        kind: 99,
        ts: Some(prost_types::Timestamp { seconds: -1, nanos: 500_000_000 }),
        body: Some(v1::event::Body::Message(v1::Message {
            role: "user".into(),
            parts: vec![v1::Part {
                part: Some(v1::part::Part::File(v1::FilePart {
                    mime: "a/b".into(),
                    source: Some(v1::file_part::Source::Bytes(vec![])),
                    ..Default::default()
                })),
            }],
        })),
        ..Default::default()
    };
    let canonical = canonical_of("Event", &event).unwrap();
    let expected = r#"{"execution_id":"e","kind":99,"message":{"parts":[{"file":{"bytes":"","mime":"a/b"}}],"role":"user"},"ts":"1969-12-31T23:59:59.500Z"}"#;
    assert_eq!(String::from_utf8(canonical).unwrap(), expected);
}

#[test]
fn a_struct_that_is_not_finite_has_no_form() {
    use crate::agentsessions::v1;
    use prost_types::value::Kind;
    let list = prost_types::ListValue { values: vec![prost_types::Value { kind: Some(Kind::NumberValue(f64::NAN)) }] };
    let args = prost_types::Struct { fields: [("a".to_owned(), prost_types::Value { kind: Some(Kind::ListValue(list)) })].into() };
    let event =
        v1::Event { body: Some(v1::event::Body::Tool(v1::ToolCall { args: Some(args), ..Default::default() })), ..Default::default() };
    assert_eq!(canonical_of("Event", &event).unwrap_err().to_string(), "NaN is out of the range of a double at $.tool.args.a[0]");
}

#[test]
fn a_field_from_a_newer_peer_is_reported_by_its_number() {
    // Event.usage (14) holding field 9 = 1.
    let message = DynamicMessage::decode(message("Event").unwrap(), [0x72, 2, 0x48, 1].as_slice()).unwrap();
    let error = canonical(&message).unwrap_err();
    assert_eq!(error.to_string(), "the field \"[9]\" is not known at $.usage");
    assert!(error.reason.is_ignorance());
}
