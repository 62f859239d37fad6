//! Extensions that change what core members mean.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::json::JsonObject;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::Request;
use crate::model_runtime::rules::requests::Requests;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("extension-sets-deadline", "A deadline_ms in any namespace of extensions is the deadline.", &["MR-EXT-2"], |b, a| {
        imitate(b, a, "deadline_ms", namespaces);
    }),
    rule("extension-sets-ability", "An ability in any namespace of extensions is the ability.", &["MR-EXT-1"], |b, a| {
        imitate(b, a, "ability", namespaces);
    }),
    rule("extension-sets-routing", "Routing in any namespace of extensions is the routing.", &["MR-EXT-3"], |b, a| {
        imitate(b, a, "routing", namespaces);
    }),
    rule("extension-sets-requirements", "Requirements in any namespace of extensions are required.", &["MR-EXT-4"], |b, a| {
        imitate(b, a, "requirements", namespaces);
    }),
    rule("core-members-in-extensions", "Core members right in the extensions count.", &["MR-EXT-6"], |b, a| {
        for member in ["ability", "input", "deadline_ms", "routing", "requirements"] {
            imitate(b, a, member, |extensions| vec![extensions.clone()]);
        }
    }),
    rule(
        "unknown-namespaces-refused",
        "Extensions of a namespace that no provider knows are refused.",
        &["MR-EXT-9", "MR-START-1"],
        |b, a| {
            wrap(&mut b.rules.requests.request, a, |reference, applied| {
                Arc::new(move |requests, body, text| {
                    let read = reference(requests, body, text)?;
                    let foreign = read.extensions.keys().any(|name| name != "proofmark");
                    if applied.count_if(foreign) {
                        return Err(crate::model_runtime::rules::requests::Mistake { place: "extensions".to_owned() });
                    }
                    Ok(read)
                })
            });
        },
    ),
    rule("extension-null-refused", "A value in extensions may not be null.", &["MR-VAL-89"], |b, a| {
        wrap(&mut b.rules.requests.request, a, |reference, applied| {
            Arc::new(move |requests, body, text| {
                let read = reference(requests, body, text)?;
                if applied.count_if(read.extensions.values().any(Value::is_null)) {
                    return Err(crate::model_runtime::rules::requests::Mistake { place: "extensions".to_owned() });
                }
                Ok(read)
            })
        });
    }),
    rule("extension-sets-input", "An input in any namespace of extensions is the input.", &["MR-EXT-5"], |b, a| {
        imitate(b, a, "input", namespaces);
    }),
];

fn namespaces(extensions: &JsonObject) -> Vec<JsonObject> {
    extensions.values().filter_map(Value::as_object).cloned().collect()
}

/// Takes a core member from where it has no business, if it is a good one there.
fn imitate(blueprint: &mut Blueprint, applied: &Applied, member: &'static str, places: fn(&JsonObject) -> Vec<JsonObject>) {
    wrap(&mut blueprint.rules.requests.request, applied, |reference, applied| {
        Arc::new(move |requests: &Requests, body: &Value, text: &str| {
            let read = reference(requests, body, text)?;
            let found = places(&read.extensions).into_iter().find_map(|place| place.get(member).cloned());
            let Some(found) = found else { return Ok(read) };
            let mut changed = body.clone();
            changed[member] = json!(found);
            let Ok(changed) = reference(requests, &changed, text) else { return Ok(read) };
            applied.count();
            Ok(Request { document: read.document, ..changed })
        })
    });
}
