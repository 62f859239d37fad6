//! Any event that a journal may hold.

use std::collections::BTreeMap;

use proofmark_schema::agentsessions::v1;
use proptest::collection::{btree_map, vec};
use proptest::option;
use proptest::prelude::*;
use prost_types::value::Kind;
use prost_types::{ListValue, Struct, Timestamp, Value};

/// Texts that are often empty, and often hold what printers get wrong.
fn text() -> impl Strategy<Value = String> {
    let special = prop::sample::select(vec![
        '"',
        '\\',
        '/',
        '\0',
        '\u{1f}',
        '\u{7f}',
        '<',
        '&',
        '\u{2028}',
        '\u{e000}',
        '\u{fffd}',
        '\u{ffff}',
        '😀',
        '\u{10ffff}',
    ]);
    prop_oneof![
        2 => Just(String::new()),
        3 => "[a-z_]{1,9}",
        3 => vec(prop_oneof![special, any::<char>()], 1..8).prop_map(|chars| chars.into_iter().collect()),
    ]
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..9)
}

fn double() -> impl Strategy<Value = f64> {
    let nice = prop::sample::select(vec![
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.1,
        1e21,
        1e-7,
        1e-6,
        9_007_199_254_740_993.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
    ]);
    prop_oneof![
        nice,
        any::<u64>().prop_map(f64::from_bits).prop_filter("finite", |value| value.is_finite()),
        any::<i32>().prop_map(f64::from)
    ]
}

fn structure() -> impl Strategy<Value = Struct> {
    let leaf = prop_oneof![
        Just(Kind::NullValue(0)),
        any::<bool>().prop_map(Kind::BoolValue),
        double().prop_map(Kind::NumberValue),
        text().prop_map(Kind::StringValue),
    ];
    let value = leaf.prop_recursive(3, 12, 4, |inner| {
        let inner = inner.prop_map(|kind| Value { kind: Some(kind) });
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(|values| Kind::ListValue(ListValue { values })),
            btree_map(text(), inner, 0..4).prop_map(|fields| Kind::StructValue(Struct { fields })),
        ]
    });
    btree_map(text(), value.prop_map(|kind| Value { kind: Some(kind) }), 0..4).prop_map(|fields| Struct { fields })
}

fn string_map() -> impl Strategy<Value = BTreeMap<String, String>> {
    btree_map(text(), text(), 0..3)
}

fn tool_call() -> impl Strategy<Value = v1::ToolCall> {
    (text(), text(), option::of(structure()), -1..6, text()).prop_map(|(id, tool, args, mediation, idempotency_key)| v1::ToolCall {
        id,
        tool,
        args,
        mediation,
        idempotency_key,
    })
}

fn tool_result(part: impl Strategy<Value = v1::Part>) -> impl Strategy<Value = v1::ToolResult> {
    let texts = (text(), text(), text(), text());
    (texts, option::of(structure()), any::<bool>(), vec(part, 0..3), 0..5, any::<i64>(), 0..3_i64).prop_map(
        |((id, output_uri, error, output_digest), output, is_error, content, code, approval_request_seq, approval_decision_seq)| {
            v1::ToolResult {
                id,
                output,
                output_uri,
                is_error,
                error,
                output_digest,
                content,
                code,
                approval_request_seq,
                approval_decision_seq,
            }
        },
    )
}

fn file() -> impl Strategy<Value = v1::FilePart> {
    use v1::file_part::Source;
    let source = option::of(prop_oneof![bytes().prop_map(Source::Bytes), text().prop_map(Source::Uri)]);
    (text(), source, text(), text()).prop_map(|(mime, source, name, digest)| v1::FilePart { mime, name, digest, source })
}

fn reasoning(part: impl Strategy<Value = v1::Part>) -> impl Strategy<Value = v1::ReasoningPart> {
    use v1::reasoning_part::Opaque;
    let opaque = option::of(prop_oneof![bytes().prop_map(Opaque::OpaqueBytes), text().prop_map(Opaque::OpaqueUri)]);
    let texts = (text(), text(), text(), text(), text());
    (texts, opaque, vec(part, 0..3), any::<i32>()).prop_map(
        |((provider, model_id, item_id, validity_scope, opaque_digest), opaque, summary, ordinal)| v1::ReasoningPart {
            provider,
            model_id,
            summary,
            item_id,
            ordinal,
            validity_scope,
            opaque_digest,
            opaque,
        },
    )
}

fn part() -> impl Strategy<Value = v1::Part> {
    use v1::part::Part;
    let leaf = prop_oneof![
        Just(None),
        text().prop_map(|text| Some(Part::Text(v1::TextPart { text }))),
        file().prop_map(|file| Some(Part::File(file))),
        option::of(structure()).prop_map(|data| Some(Part::Data(v1::DataPart { data }))),
        tool_call().prop_map(|call| Some(Part::ToolCall(call))),
    ];
    leaf.prop_map(|part| v1::Part { part }).prop_recursive(2, 8, 3, |inner| {
        prop_oneof![
            reasoning(inner.clone()).prop_map(|part| v1::Part { part: Some(Part::Reasoning(part)) }),
            tool_result(inner).prop_map(|result| v1::Part { part: Some(Part::ToolResult(result)) }),
        ]
    })
}

fn content() -> impl Strategy<Value = v1::Message> {
    (text(), vec(part(), 0..3)).prop_map(|(role, parts)| v1::Message { role, parts })
}

fn model_call() -> impl Strategy<Value = v1::ModelCall> {
    let tool = (text(), text(), option::of(structure())).prop_map(|(name, description, input_schema)| v1::ToolDefinition {
        name,
        description,
        input_schema,
    });
    let choice = (0..5, text()).prop_map(|(mode, name)| v1::ToolChoice { mode, name });
    let texts = (text(), text(), text());
    (texts, string_map(), vec(content(), 0..2), vec(tool, 0..2), option::of(choice)).prop_map(
        |((model, input_hash, id), params, messages, tools, tool_choice)| v1::ModelCall {
            model,
            params,
            input_hash,
            id,
            messages,
            tools,
            tool_choice,
        },
    )
}

fn execution_start() -> impl Strategy<Value = v1::ExecutionStart> {
    (bytes(), any::<i64>(), option::of(-1..3_i64), text(), text()).prop_map(
        |(config, resume_from_seq, input_count, harness, harness_version)| v1::ExecutionStart {
            config,
            resume_from_seq,
            input_count,
            harness,
            harness_version,
        },
    )
}

fn lifecycle() -> impl Strategy<Value = v1::Lifecycle> {
    (0..8, text(), text(), text(), any::<bool>(), any::<bool>()).prop_map(
        |(kind, detail, snapshot_local, snapshot_external_uri, snapshot_memory, snapshot_sealed)| v1::Lifecycle {
            kind,
            detail,
            snapshot_local,
            snapshot_external_uri,
            snapshot_memory,
            snapshot_sealed,
        },
    )
}

fn error() -> impl Strategy<Value = v1::Error> {
    (any::<i32>(), text()).prop_map(|(code, description)| v1::Error { code, description })
}

fn body() -> impl Strategy<Value = v1::event::Body> {
    use v1::event::Body;
    let end = (text(), option::of(error())).prop_map(|(state, error)| Body::End(v1::HarnessEnd { state, error }));
    let usage = (text(), any::<i64>(), 0..2_i64, any::<i64>()).prop_map(|(model, input_tokens, output_tokens, reasoning_tokens)| {
        Body::Usage(v1::Usage { model, input_tokens, output_tokens, reasoning_tokens })
    });
    let request = (text(), text()).prop_map(|(tool_call_id, reason)| Body::Approval(v1::ApprovalRequest { tool_call_id, reason }));
    let decision = (text(), any::<bool>(), text(), 0..9_i64).prop_map(|(tool_call_id, approved, reason, request_seq)| {
        Body::ApprovalResult(v1::ApprovalResult { tool_call_id, approved, reason, request_seq })
    });
    let parked = (text(), text(), 0..9_i64)
        .prop_map(|(execution_id, tool_call_id, request_seq)| Body::Parked(v1::ApprovalRef { execution_id, tool_call_id, request_seq }));
    prop_oneof![
        4 => content().prop_map(Body::Message),
        2 => model_call().prop_map(Body::Model),
        2 => tool_call().prop_map(Body::Tool),
        2 => tool_result(part()).prop_map(Body::Result),
        1 => request,
        1 => decision,
        1 => usage,
        1 => lifecycle().prop_map(Body::Lifecycle),
        1 => end,
        1 => error().prop_map(Body::Error),
        1 => execution_start().prop_map(Body::ExecutionStart),
        1 => parked,
    ]
}

fn time() -> impl Strategy<Value = Timestamp> {
    let nanos = prop_oneof![Just(0), (0..1000).prop_map(|n| n * 1_000_000), (0..1_000_000).prop_map(|n| n * 1000), 0..1_000_000_000];
    (-62_135_596_800..=253_402_300_799_i64, nanos).prop_map(|(seconds, nanos)| Timestamp { seconds, nanos })
}

pub(crate) fn event() -> impl Strategy<Value = v1::Event> {
    let actor = (text(), text(), text()).prop_map(|(principal, issuer, subject)| v1::IdentityRef { principal, issuer, subject });
    (text(), option::of(time()), any::<i32>(), prop_oneof![0..16, any::<i32>()], option::of(actor), option::of(body()))
        .prop_map(|(execution_id, ts, schema_version, kind, actor, body)| v1::Event { execution_id, ts, schema_version, kind, actor, body })
}
