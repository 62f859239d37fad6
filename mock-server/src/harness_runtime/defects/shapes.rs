//! Documents whose members are missing, or of another type or spelling than the contract says.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::model::{State, event};
use crate::harness_runtime::wire::Document;
use serde_json::{Map, Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "description-by-hand",
            "The runtime has no name, a manifest lacks most of what it must say, two stand there twice, one as its mere id; health is \"up\".",
            &[
                "HR-DESC-2",
                "HR-DESC-4",
                "HR-DESC-5",
                "HR-DESC-7",
                "HR-DESC-8",
                "HR-DESC-9",
                "HR-DESC-10",
                "HR-DESC-12",
                "HR-DESC-13",
                "HR-DESC-14",
            ],
        ),
        install: description_by_hand,
    },
    Entry {
        defect: defect(
            Rule,
            "empty-left-out",
            "Members that are empty are left out: texts, lists, objects, the cursor 0.",
            &[
                "HR-ACTION-4",
                "HR-ART-1",
                "HR-ART-6",
                "HR-ART-11",
                "HR-CANCEL-13",
                "HR-CONV-4",
                "HR-CONV-5",
                "HR-CONV-8",
                "HR-EVENT-6",
                "HR-EVENT-14",
                "HR-EVENT-15",
                "HR-EVENT-16",
                "HR-EXEC-2",
                "HR-EXEC-10",
                "HR-REPLAY-1",
                "HR-REPLAY-5",
                "HR-START-8",
                "HR-START-9",
                "HR-START-10",
                "HR-START-12",
            ],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.document, applied, |reference, applied| {
                Arc::new(move |kind, document| {
                    let right = reference(kind, document);
                    applied.instead_of(&right, without_empty(kind, right.clone()))
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "times-from-the-start",
            "All times of an execution are there from the start, and the error of one that failed has only a code.",
            &["HR-EXEC-7", "HR-EXEC-9", "HR-EXEC-12"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.execution, applied, |reference, applied| {
                Arc::new(move |views, execution| {
                    applied.count();
                    let mut document = reference(views, execution);
                    for name in ["startedAt", "endedAt"] {
                        if document.get(name).is_none() {
                            document[name] = document["createdAt"].clone();
                        }
                    }
                    if execution.state == State::Failed {
                        document["error"] = json!({ "code": "PROVIDER_ERROR" });
                    }
                    document
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "event-data-of-its-own",
            "Events, actions and artifacts lack members, or have them in another type; the next cursor is a text.",
            &[
                "HR-ACTION-2",
                "HR-ACTION-4",
                "HR-ACTION-6",
                "HR-ACTION-10",
                "HR-ART-2",
                "HR-ART-5",
                "HR-CANCEL-13",
                "HR-EVENT-12",
                "HR-EVENT-13",
                "HR-EVENT-15",
                "HR-EVENT-16",
                "HR-EVENT-17",
                "HR-REPLAY-2",
            ],
        ),
        install: event_data_of_its_own,
    },
    Entry {
        defect: defect(
            Rule,
            "request-shown-loosely",
            "An execution shows resource names for ids, a trimmed input, defaults where nothing was given, and one capability less.",
            &["HR-START-2", "HR-START-3", "HR-START-4", "HR-START-5", "HR-START-8", "HR-START-9", "HR-START-10"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.execution, applied, |reference, applied| {
                Arc::new(move |views, execution| {
                    applied.count();
                    let mut document = reference(views, execution);
                    document["conversationId"] = json!(format!("conversations/{}", execution.conversation_id));
                    document["providerId"] = json!(format!("providers/{}", execution.provider_id));
                    document["input"] = json!(execution.input.trim());
                    let names = &execution.required_capabilities;
                    document["requiredCapabilities"] = match names.split_last() {
                        None => json!(["event.streaming"]),
                        Some((_, rest)) => json!(rest),
                    };
                    if execution.effective_config.is_empty() {
                        document["effectiveConfig"] = json!({ "profile": "default" });
                    }
                    document
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "native-events-raw",
            "What a provider observed natively has no type, and its data is the text that it was.",
            &["HR-EVENT-4", "HR-EVENT-6", "HR-EVENT-34"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.event, applied, |reference, applied| {
                Arc::new(move |views, event| {
                    let mut document = reference(views, event);
                    if applied.count_if(event.kind == event::PROVIDER_EVENT) {
                        remove(&mut document, &["type"]);
                        document["data"] = json!(document["data"].to_string());
                    }
                    document
                })
            });
        },
    },
];

fn description_by_hand(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.views.description, applied, |reference, applied| {
        Arc::new(move |views, runtime| {
            applied.count();
            let mut document = reference(views, runtime);
            remove(&mut document, &["name"]);
            document["version"] = json!(1);
            by_hand(&mut document);
            document
        })
    });
    wrap(&mut blueprint.rules.views.capabilities, applied, |reference, _| {
        Arc::new(move |views, runtime| {
            let mut document = reference(views, runtime);
            by_hand(&mut document);
            document
        })
    });
    wrap(&mut blueprint.wire.document, applied, |reference, _| {
        Arc::new(move |kind, document| match kind {
            Document::Health => json!({ "status": "up" }),
            _ => reference(kind, document),
        })
    });
}

/// The last manifest loses what it says, it and the first are listed once more, and an id stands for a manifest.
fn by_hand(document: &mut Value) {
    let Some(manifests) = document["providers"].as_array_mut() else { return };
    if let Some(last) = manifests.last_mut() {
        remove(last, &["protocolVersion"]);
        last["name"] = json!("");
        last["topologies"] = json!([]);
        last["capabilities"][""] = json!("native");
        last["metadata"] = json!("none");
    }
    let again: Vec<Value> = manifests.first().into_iter().chain(manifests.last()).cloned().collect();
    manifests.extend(again);
    manifests.push(json!("scripted"));
}

fn event_data_of_its_own(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.views.event, applied, |reference, applied| {
        Arc::new(move |views, event| {
            let mut document = reference(views, event);
            let data = &mut document["data"];
            match event.kind.as_str() {
                event::QUEUED | event::STARTED => remove(data, &["providerId"]),
                event::DONE => remove(data, &["text"]),
                event::COMPLETED => remove(data, &["finalOutput"]),
                event::FAILED => remove(data, &["message"]),
                event::CANCELLED => data["reason"] = json!({ "text": "cancelled" }),
                event::ACTION_REQUIRED => {
                    remove(data, &["title", "payload"]);
                    data["description"] = json!(7);
                }
                event::ACTION_RESPONDED if data.get("approved").is_some() => data["approved"] = json!(data["approved"].to_string()),
                _ => return document,
            }
            applied.count();
            document
        })
    });
    wrap(&mut blueprint.rules.views.artifact, applied, |reference, _| {
        Arc::new(move |views, artifact| {
            let mut document = reference(views, artifact);
            document.insert("name".to_owned(), json!(""));
            document.entry("uri").and_modify(|uri| *uri = json!(""));
            document
        })
    });
    wrap(&mut blueprint.rules.views.event_list, applied, |reference, _| {
        Arc::new(move |events, next| {
            let mut document = reference(events, next);
            document["nextCursor"] = json!(next.to_string());
            document
        })
    });
}

/// What providers and callers put in is left as it is.
fn without_empty(kind: Document, mut document: Value) -> Value {
    match kind {
        Document::EventList => each(&mut document, "events", strip_event),
        Document::ArtifactList => each(&mut document, "artifacts", strip),
        Document::Event => strip_event(&mut document),
        Document::Conversation | Document::Execution => {}
        Document::Health | Document::Description | Document::Capabilities | Document::Problem => return document,
    }
    strip(&mut document);
    document
}

fn each(document: &mut Value, name: &str, change: fn(&mut Value)) {
    document[name].as_array_mut().into_iter().flatten().for_each(change);
}

fn strip_event(event: &mut Value) {
    strip(&mut event["data"]);
    strip(event);
}

fn strip(document: &mut Value) {
    if let Some(members) = document.as_object_mut() {
        members.retain(|_, value| {
            let empty = match value {
                Value::String(text) => text.is_empty(),
                Value::Array(items) => items.is_empty(),
                Value::Object(members) => members.is_empty(),
                Value::Number(number) => number.as_u64() == Some(0),
                Value::Null | Value::Bool(_) => false,
            };
            !empty
        });
    }
}

fn remove(document: &mut Value, names: &[&str]) {
    if let Some(members) = document.as_object_mut() {
        let members: &mut Map<String, Value> = members;
        members.retain(|name, _| !names.contains(&name.as_str()));
    }
}
