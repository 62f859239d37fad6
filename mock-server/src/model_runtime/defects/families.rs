//! Whole families of requests that are read too strictly or too generously, and submissions that are answered oddly.

use super::shapes::{mend, refuse};
use super::{Entry, remove, rule, set, spelling, wrap};
use crate::json::JsonObject;
use crate::model_runtime::machine::{Step, Submitted};
use crate::model_runtime::model::{MODALITIES, Request};
use crate::model_runtime::problem::{Code, Fault, Problem};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "wrong-types-count-as-missing",
        "Optional members of a wrong type, and modalities that nobody knows, count as missing.",
        &[
            "MR-VAL-39",
            "MR-VAL-42",
            "MR-VAL-45",
            "MR-VAL-47",
            "MR-VAL-49",
            "MR-VAL-55",
            "MR-VAL-57",
            "MR-VAL-64",
            "MR-VAL-70",
            "MR-VAL-76",
            "MR-VAL-79",
            "MR-VAL-86",
        ],
        |b, a| mend(b, a, without_wrong_types),
    ),
    rule(
        "input-read-leniently",
        "Parts that cannot be understood are left out, an ability is made from anything, and an input from nothing.",
        &[
            "MR-VAL-1",
            "MR-VAL-2",
            "MR-VAL-8",
            "MR-VAL-9",
            "MR-VAL-13",
            "MR-VAL-14",
            "MR-VAL-15",
            "MR-VAL-16",
            "MR-VAL-18",
            "MR-VAL-19",
            "MR-VAL-25",
            "MR-VAL-26",
            "MR-VAL-35",
        ],
        |b, a| mend(b, a, understood),
    ),
    rule(
        "rare-requests-refused",
        "Policies that say nothing, and members that are hardly ever used, are refused.",
        &[
            "MR-START-1",
            "MR-VAL-24",
            "MR-VAL-38",
            "MR-VAL-40",
            "MR-VAL-44",
            "MR-VAL-46",
            "MR-VAL-48",
            "MR-VAL-50",
            "MR-VAL-52",
            "MR-VAL-56",
        ],
        |b, a| refuse(b, a, |body| nothing_asked(body) || rarely_asked(body)),
    ),
    rule(
        "no-object-is-an-internal-error",
        "A body that is no JSON object is an internal error.",
        &["MR-VAL-91", "MR-VAL-92", "MR-VAL-93"],
        |b, a| {
            wrap(&mut b.rules.requests.unreadable, a, |_reference, applied| {
                Arc::new(move |_text| {
                    applied.count();
                    unexpected()
                })
            });
            wrap(&mut b.rules.requests.refused, a, |reference, applied| {
                Arc::new(move |mistake, body| if applied.count_if(!body.is_object()) { unexpected() } else { reference(mistake, body) })
            });
        },
    ),
    spelling("refusal-names-an-execution", "The refusal of a malformed request has an execution_id.", &["MR-VAL-100"], |b, a| {
        wrap(&mut b.wire.problem, a, |reference, applied| {
            Arc::new(move |problem| {
                let (status, mut body) = reference(problem);
                if applied.count_if(*problem == Problem::invalid("Execution request does not match the schema")) {
                    set(&mut body, "execution_id", json!("00000000-0000-4000-8000-000000000000"));
                }
                (status, body)
            })
        });
    }),
    rule(
        "strategy-answered-otherwise",
        "A request with a strategy is answered with an empty id and another status, and not whether it is a replay.",
        &["MR-START-2", "MR-START-3", "MR-START-5"],
        |b, a| {
            wrap(&mut b.rules.views.submission, a, |reference, applied| {
                Arc::new(move |views, execution, replay| {
                    let mut document = reference(views, execution, replay);
                    if applied.count_if(execution.request.document["routing"].get("strategy").is_some()) {
                        set(&mut document, "execution_id", json!(""));
                        set(&mut document, "status", json!("scheduled"));
                        remove(&mut document, "idempotent_replay");
                    }
                    document
                })
            });
        },
    ),
    rule("answered-as-routing", "A new submission is answered with the status routing.", &["MR-START-8"], |b, a| {
        wrap(&mut b.rules.views.submission, a, |reference, applied| {
            Arc::new(move |views, execution, replay| {
                let mut document = reference(views, execution, replay);
                if applied.count_if(!replay) {
                    set(&mut document, "status", json!("routing"));
                }
                document
            })
        });
    }),
    rule(
        "metadata-names-the-request",
        "Requests whose metadata has the same request_id are one, whatever their keys.",
        &["MR-IDEM-32", "MR-START-7"],
        |b, a| {
            let name = |request: &Request| request.metadata.get("request_id").cloned();
            wrap(&mut b.decisions.submit, a, |reference, applied| {
                Arc::new(move |situation, submission| {
                    let named = submission.request.as_ref().ok().and_then(|request| name(request));
                    let known =
                        named.and_then(|named| situation.store.executions().find(|known| name(&known.request) == Some(named.clone())));
                    let Some(known) = known else { return reference(situation, submission) };
                    applied.count();
                    Step::unchanged(Ok(Submitted { execution: known.clone(), replay: false }))
                })
            });
        },
    ),
];

fn unexpected() -> Problem {
    Problem::Refused(Fault::new(Code::InternalError, "Unexpected error", false))
}

type Kind = fn(&Value) -> bool;

/// Takes away what is there and of another kind, but not what is `null`; says whether there was something.
fn lose(members: &mut JsonObject, kinds: &[(&str, Kind)]) -> bool {
    let wrong = |(name, right): &&(&str, Kind)| members.get(*name).is_some_and(|value| !value.is_null() && !right(value));
    let wrong: Vec<&str> = kinds.iter().filter(wrong).map(|(name, _)| *name).collect();
    wrong.iter().for_each(|name| drop(members.remove(*name)));
    !wrong.is_empty()
}

fn without_wrong_types(body: &mut JsonObject) -> bool {
    let objects: Kind = Value::is_object;
    let mut lost = lose(
        body,
        &[
            ("requirements", objects),
            ("routing", objects),
            ("metadata", objects),
            ("extensions", objects),
            ("deadline_ms", Value::is_number),
        ],
    );
    if let Some(required) = body.get_mut("requirements").and_then(Value::as_object_mut) {
        let flags = ["stream", "tools", "structured_output", "async", "cancel"].map(|name| (name, Value::is_boolean as Kind));
        lost |= lose(required, &flags) | lose(required, &[("input_modalities", Value::is_array), ("output_modalities", Value::is_array)]);
        for name in ["input_modalities", "output_modalities"] {
            let Some(names) = required.get_mut(name).and_then(Value::as_array_mut) else { continue };
            let before = names.len();
            names.retain(|name| name.as_str().is_some_and(|name| MODALITIES.contains(&name)));
            lost |= names.len() < before;
        }
    }
    if let Some(routing) = body.get_mut("routing").and_then(Value::as_object_mut) {
        let names: Kind = |value| value.as_array().is_some_and(|names| names.iter().all(Value::is_string));
        lost |= lose(
            routing,
            &[
                ("provider_order", names),
                ("allow_fallback", Value::is_boolean),
                ("max_attempts", Value::is_number),
                ("retry_budget_ms", Value::is_number),
            ],
        );
    }
    lost
}

fn understood(body: &mut JsonObject) -> bool {
    let mut changed = false;
    if !body.get("ability").is_some_and(Value::is_string) {
        let made = body.get("ability").map_or_else(|| "none".to_owned(), Value::to_string);
        body.insert("ability".to_owned(), json!(made));
        changed = true;
    }
    if !body.get("input").is_some_and(Value::is_array) {
        body.insert("input".to_owned(), json!([null]));
    }
    let Some(parts) = body.get_mut("input").and_then(Value::as_array_mut) else { return changed };
    let before = parts.len();
    parts.retain(is_understood);
    if parts.len() == before {
        return changed;
    }
    if parts.is_empty() {
        parts.push(json!({ "type": "text", "text": "" }));
    }
    true
}

/// Whether the members that a part needs are there and are texts.
fn is_understood(part: &Value) -> bool {
    let text = |name: &str| part.get(name).is_some_and(Value::is_string);
    match part.get("type").and_then(Value::as_str) {
        Some("text") => text("text"),
        Some("json") => true,
        Some(kind) => MODALITIES.contains(&kind) && text("uri") && part.get("media_type").is_none_or(Value::is_string),
        None => false,
    }
}

/// Whether a request has a policy that says nothing.
fn nothing_asked(body: &Value) -> bool {
    let empty = |place: &Value| *place == json!({}) || *place == json!([]);
    let required = &body["requirements"];
    [required, &required["input_modalities"], &required["output_modalities"], &body["routing"]].into_iter().any(empty)
        || body["routing"] == json!({ "allow_fallback": false })
}

fn rarely_asked(body: &Value) -> bool {
    let (required, routing) = (&body["requirements"], &body["routing"]);
    let files = |names: &Value| names.as_array().is_some_and(|names| names.contains(&json!("file")));
    let bare = |part: &Value| part["type"] == "video" && part.get("media_type").is_none();
    files(&required["input_modalities"])
        || files(&required["output_modalities"])
        || required["async"] == true
        || routing["strategy"] == "ordered"
        || routing["provider_order"].as_array().is_some_and(|names| names.len() > 1)
        || body["input"].as_array().is_some_and(|parts| parts.iter().any(bare))
}
