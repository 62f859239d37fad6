//! Requests with one key that are compared wrongly.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::member_order::member_order;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::Request;
use serde_json::Value;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("key-ignores-ability", "The ability is left out when requests with one key are compared.", &["MR-IDEM-10"], |b, a| {
        without(b, a, "ability");
    }),
    rule("key-ignores-part-order", "Parts of an input are compared as a set.", &["MR-IDEM-12"], |b, a| {
        also(b, a, |known, again| sorted(known) == sorted(again));
    }),
    rule("key-compares-first-part", "Of the input only the first part is compared.", &["MR-IDEM-13"], |b, a| {
        also(b, a, |known, again| first_only(known) == first_only(again));
    }),
    rule("key-ignores-requirements", "Requirements are left out when requests with one key are compared.", &["MR-IDEM-14"], |b, a| {
        without(b, a, "requirements");
    }),
    rule("key-ignores-routing", "Routing is left out when requests with one key are compared.", &["MR-IDEM-15"], |b, a| {
        without(b, a, "routing");
    }),
    rule("key-ignores-deadline", "The deadline is left out when requests with one key are compared.", &["MR-IDEM-16"], |b, a| {
        without(b, a, "deadline_ms");
    }),
    rule("key-ignores-metadata", "Metadata is left out when requests with one key are compared.", &["MR-IDEM-17"], |b, a| {
        without(b, a, "metadata");
    }),
    rule("key-ignores-extensions", "Extensions are left out when requests with one key are compared.", &["MR-IDEM-18"], |b, a| {
        without(b, a, "extensions");
    }),
    rule(
        "key-counts-member-order",
        "Requests are compared by their text after parsing, in which members keep their order.",
        &["MR-IDEM-23"],
        |b, a| stricter(b, a, |known, again| member_order(&known.text) == member_order(&again.text)),
    ),
    rule("key-hashes-the-body", "Requests are compared by a hash of the body as it was written.", &["MR-IDEM-23", "MR-IDEM-24"], |b, a| {
        stricter(b, a, |known, again| known.text == again.text);
    }),
    rule("key-takes-true-for-one", "A truth value and the number that stands for it are the same.", &["MR-IDEM-17"], |b, a| {
        also(b, a, |known, again| counted(known) == counted(again));
    }),
    rule("key-trims-texts", "Blanks around texts are taken off before they are compared.", &["MR-IDEM-11"], |b, a| {
        also(b, a, |known, again| worded(known, trimmed) == worded(again, trimmed));
    }),
    rule("key-composes-texts", "Texts are brought into one normal form before they are compared.", &["MR-IDEM-11"], |b, a| {
        also(b, a, |known, again| worded(known, composed) == worded(again, composed));
    }),
    rule(
        "key-ignores-texts",
        "Texts are left out when requests with one key are compared.",
        &["MR-IDEM-11", "MR-IDEM-12", "MR-IDEM-20", "MR-IDEM-21"],
        |b, a| also(b, a, |known, again| wordless(known) == wordless(again)),
    ),
];

/// Compares requests without a member.
fn without(blueprint: &mut Blueprint, applied: &Applied, member: &'static str) {
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, applied| {
        Arc::new(move |known, again| {
            let mut forgotten = again.clone();
            match known.document.get(member) {
                Some(value) => forgotten.document[member] = value.clone(),
                None => drop(super::remove(&mut forgotten.document, member)),
            }
            applied.instead_of(&reference(known, again), reference(known, &forgotten))
        })
    });
}

/// Takes requests as equivalent that the reference does not.
fn also(blueprint: &mut Blueprint, applied: &Applied, same: fn(&Value, &Value) -> bool) {
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, applied| {
        Arc::new(move |known, again| {
            let right = reference(known, again);
            applied.instead_of(&right, right || same(&known.document, &again.document))
        })
    });
}

/// Takes requests as different that the reference does not.
fn stricter(blueprint: &mut Blueprint, applied: &Applied, same: fn(&Request, &Request) -> bool) {
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, applied| {
        Arc::new(move |known, again| {
            let right = reference(known, again);
            applied.instead_of(&right, right && same(known, again))
        })
    });
}

fn sorted(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(parts) = document["input"].as_array_mut() {
        parts.sort_by_key(Value::to_string);
    }
    document
}

fn first_only(document: &Value) -> Value {
    let mut document = document.clone();
    if let Some(parts) = document["input"].as_array_mut() {
        parts.truncate(1);
    }
    document
}

fn wordless(document: &Value) -> Value {
    worded(document, |_| String::new())
}

fn trimmed(text: &str) -> String {
    text.trim().to_owned()
}

/// As far as a request of the suite needs it.
fn composed(text: &str) -> String {
    text.replace("e\u{301}", "\u{e9}")
}

/// A request with its texts in other words.
fn worded(document: &Value, change: fn(&str) -> String) -> Value {
    let mut document = document.clone();
    for part in document["input"].as_array_mut().into_iter().flatten() {
        if let Some(text) = part.get("text").and_then(Value::as_str) {
            part["text"] = change(text).into();
        }
    }
    document
}

fn counted(document: &Value) -> Value {
    match document {
        Value::Bool(truth) => Value::from(u8::from(*truth)),
        Value::Array(elements) => elements.iter().map(counted).collect(),
        Value::Object(members) => Value::Object(members.iter().map(|(name, value)| (name.clone(), counted(value))).collect()),
        other => other.clone(),
    }
}
