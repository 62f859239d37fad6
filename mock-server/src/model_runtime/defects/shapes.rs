//! Requests that are read too strictly or too generously.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::json::JsonObject;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::Request;
use crate::model_runtime::rules::bounds::Bound;
use crate::model_runtime::rules::requests::{Level, Mistake, within};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule("unknown-members-ignored", "Members that a request does not know are ignored.", &["MR-VAL-99"], |b, a| open(b, a, Level::Request)),
    rule("unknown-in-text-part-ignored", "Members that a text part does not know are ignored.", &["MR-VAL-20", "MR-VAL-37"], |b, a| {
        open(b, a, Level::TextPart);
    }),
    rule("unknown-in-json-part-ignored", "Members that a json part does not know are ignored.", &["MR-VAL-23", "MR-VAL-37"], |b, a| {
        open(b, a, Level::JsonPart);
    }),
    rule("unknown-in-media-part-ignored", "Members that a media part does not know are ignored.", &["MR-VAL-36", "MR-VAL-37"], |b, a| {
        open(b, a, Level::MediaPart);
    }),
    rule("unknown-requirements-ignored", "Requirements that nobody knows are ignored.", &["MR-VAL-41"], |b, a| {
        open(b, a, Level::Requirements);
    }),
    rule("unknown-routing-ignored", "Members that routing does not know are ignored.", &["MR-VAL-58"], |b, a| open(b, a, Level::Routing)),
    rule("repetitions-accepted", "Lists of names may have a name twice.", &["MR-VAL-43", "MR-VAL-53"], |b, a| {
        wrap(&mut b.rules.requests.distinct, a, |reference, applied| Arc::new(move |names| applied.instead_of(&reference(names), true)));
    }),
    rule("metadata-null-accepted", "A value in metadata may be null.", &["MR-VAL-83"], |b, a| metadata(b, a, Value::is_null)),
    rule("metadata-nested", "A value in metadata may be an object or an array.", &["MR-VAL-84"], |b, a| {
        metadata(b, a, |value| value.is_object() || value.is_array());
    }),
    rule("metadata-of-texts", "A value in metadata must be a text.", &["MR-START-1", "MR-VAL-82"], |b, a| {
        wrap(&mut b.rules.requests.metadata_value, a, |reference, applied| {
            Arc::new(move |value| applied.instead_of(&reference(value), reference(value) && value.is_string()))
        });
    }),
    rule("null-counts-as-missing", "An optional member that is null counts as missing.", &["MR-VAL-90"], |b, a| {
        mend(b, a, |body| {
            let optional = ["requirements", "routing", "deadline_ms", "metadata", "extensions"];
            let found = |name: &&&str| body.get(**name).is_some_and(Value::is_null);
            let nulls: Vec<&str> = optional.iter().filter(found).copied().collect();
            nulls.iter().for_each(|name| drop(body.remove(*name)));
            !nulls.is_empty()
        });
    }),
    rule("text-may-not-be-empty", "A text part may not be empty.", &["MR-VAL-17"], |b, a| {
        refuse(b, a, |body| parts(body).any(|part| part.get("text").and_then(Value::as_str) == Some("")));
    }),
    rule("json-null-refused", "The value of a json part may not be null.", &["MR-VAL-21"], |b, a| {
        refuse(b, a, |body| parts(body).any(|part| part.get("value").is_some_and(Value::is_null)));
    }),
    rule("json-value-optional", "A json part needs no value.", &["MR-VAL-22"], |b, a| {
        mend(b, a, |body| {
            let parts = body.get_mut("input").and_then(Value::as_array_mut).into_iter().flatten();
            let bare = parts.filter_map(Value::as_object_mut).filter(|part| part.get("type") == Some(&json!("json")) && part.len() == 1);
            bare.map(|part| part.insert("value".to_owned(), Value::Null)).count() > 0
        });
    }),
    rule("other-strategies-accepted", "Every strategy is accepted.", &["MR-VAL-51"], |b, a| {
        mend(b, a, |body| {
            let strategy = body.get_mut("routing").and_then(|routing| routing.get_mut("strategy"));
            let Some(strategy) = strategy.filter(|strategy| strategy.is_string()) else { return false };
            let other = !matches!(strategy.as_str(), Some("ordered" | "first_available"));
            *strategy = json!("ordered");
            other
        });
    }),
    rule("empty-provider-accepted", "A name in provider_order may be empty.", &["MR-VAL-54"], |b, a| {
        mend(b, a, |body| {
            let order = body.get_mut("routing").and_then(|routing| routing.get_mut("provider_order"));
            let Some(order) = order.and_then(Value::as_array_mut) else { return false };
            let before = order.len();
            order.retain(|name| name.as_str() != Some(""));
            order.len() < before
        });
    }),
    rule("fractions-rounded", "Numbers with a fraction are rounded down.", &["MR-VAL-63", "MR-VAL-69", "MR-VAL-75"], |b, a| {
        mend(b, a, |body| {
            let mut rounded = false;
            let mut round = |value: Option<&mut Value>| {
                let Some(value) = value else { return };
                if let Some(number) = value.as_f64().filter(|number| number.fract() != 0.0 && *number > 1.0) {
                    *value = json!(number.floor());
                    rounded = true;
                }
            };
            round(body.get_mut("deadline_ms"));
            round(body.get_mut("routing").and_then(|routing| routing.get_mut("max_attempts")));
            round(body.get_mut("routing").and_then(|routing| routing.get_mut("retry_budget_ms")));
            rounded
        });
    }),
    rule("first-part-checked-only", "Of the input only the first part is checked.", &["MR-VAL-16"], first_part_checked),
    rule("content-type-unchecked", "The content type of a submission is not looked at.", &["MR-VAL-94"], |b, a| {
        wrap(&mut b.rules.requests.content_type, a, |reference, applied| {
            Arc::new(move |value| applied.instead_of(&reference(value), true))
        });
    }),
    rule("content-type-without-parameters", "A content type must have no parameters.", &["MR-VAL-95"], |b, a| {
        wrap(&mut b.rules.requests.content_type, a, |reference, applied| {
            Arc::new(move |value| applied.instead_of(&reference(value), reference(value) && !value.contains(';')))
        });
    }),
    rule("content-type-by-case", "A content type must be written in small letters.", &["MR-VAL-96"], |b, a| {
        wrap(&mut b.rules.requests.content_type, a, |reference, applied| {
            Arc::new(move |value| applied.instead_of(&reference(value), value.starts_with("application/json")))
        });
    }),
];

/// A request of up to as many parts as there may be is read for what its first part is.
fn first_part_checked(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.requests.request, applied, |reference, applied| {
        Arc::new(move |requests, body, text| {
            let mistake = match reference(requests, body, text) {
                Ok(read) => return Ok(read),
                Err(mistake) => mistake,
            };
            let all: Vec<Value> = parts(body).cloned().collect();
            if all.len() < 2 || !within(requests, Bound::Parts, all.len()) {
                return Err(mistake);
            }
            let mut first = body.clone();
            first["input"] = json!([all[0]]);
            let read = reference(requests, &first, text)?;
            applied.count();
            let input = all.into_iter().filter_map(|part| part.as_object().cloned()).collect();
            Ok(Request { input, document: body.clone(), ..read })
        })
    });
}

/// Takes members at a level that are not known there.
fn open(blueprint: &mut Blueprint, applied: &Applied, opened: Level) {
    wrap(&mut blueprint.rules.requests.refuses_unknown, applied, |reference, applied| {
        Arc::new(move |level, name| applied.instead_of(&reference(level, name), reference(level, name) && level != opened))
    });
}

fn metadata(blueprint: &mut Blueprint, applied: &Applied, also: fn(&Value) -> bool) {
    wrap(&mut blueprint.rules.requests.metadata_value, applied, |reference, applied| {
        Arc::new(move |value| applied.instead_of(&reference(value), reference(value) || also(value)))
    });
}

/// Reads a request after `change`, which says whether it changed something.
pub(super) fn mend(blueprint: &mut Blueprint, applied: &Applied, change: fn(&mut JsonObject) -> bool) {
    wrap(&mut blueprint.rules.requests.request, applied, |reference, applied| {
        Arc::new(move |requests, body, text| {
            let mut mended = body.clone();
            if mended.as_object_mut().is_some_and(|members| applied.count_if(change(members))) {
                return reference(requests, &mended, text);
            }
            reference(requests, body, text)
        })
    });
}

/// Refuses what the reference takes.
pub(super) fn refuse(blueprint: &mut Blueprint, applied: &Applied, wrong: fn(&Value) -> bool) {
    wrap(&mut blueprint.rules.requests.request, applied, |reference, applied| {
        Arc::new(move |requests, body, text| {
            let read = reference(requests, body, text)?;
            if applied.count_if(wrong(body)) { Err(Mistake { place: "input".to_owned() }) } else { Ok(read) }
        })
    });
}

fn parts(body: &Value) -> impl Iterator<Item = &Value> {
    body.get("input").and_then(Value::as_array).into_iter().flatten()
}
