//! Documents and answers in which some member or some status is spelled as it must not be.

use super::{Entry, remove, rule, set, spelling, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, NewEvent};
use crate::model_runtime::model::{Event, Status, event};
use crate::model_runtime::problem::Problem;
use crate::model_runtime::wire::{Answer, Asked, Document};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    spelling(
        "descriptions-answered-with-203",
        "The runtime and the providers are described with the status 203.",
        &["MR-PROV-1", "MR-RUNTIME-1"],
        |b, a| answered(b, a, |asked| (asked.path.ends_with("/v1/runtime") || asked.path.ends_with("/v1/providers")).then_some(203)),
    ),
    spelling(
        "half-described",
        "The runtime has no name and counts in words, and a provider lists a model that it is about to have.",
        &["MR-PROV-4", "MR-PROV-6", "MR-PROV-7", "MR-PROV-9", "MR-RUNTIME-2", "MR-RUNTIME-4"],
        |b, a| {
            document(b, a, |kind, document| match kind {
                Document::Runtime => set(document, "name", json!("")) | set(document, "provider_count", json!("several")),
                Document::Providers => {
                    let models = document["data"].as_array_mut().and_then(|all| all.last_mut()?.get_mut("models")?.as_array_mut());
                    let soon = json!({
                        "model": "",
                        "abilities": "all",
                        "input_modalities": ["text"],
                        "output_modalities": ["speech"],
                        "stream": false, "tools": false, "structured_output": false, "async": false, "cancel": false,
                    });
                    models.map(|models| models.extend([soon, json!("soon")])).is_some()
                }
                _ => false,
            });
        },
    ),
    spelling(
        "one-model-has-no-name",
        "Where a target is the only model of its provider, the model is not named.",
        &["MR-EVENT-21", "MR-EVENT-31", "MR-EXEC-8", "MR-RESULT-3"],
        |b, a| {
            document(b, a, |_, document| {
                document["target"]["provider"] == "mock-media" && set(&mut document["target"], "model", json!(""))
            });
        },
    ),
    spelling(
        "types-guessed",
        "Empty deltas are left out of their events, flags of usage facts are texts, and artifacts beside a text have no uri and a number as name.",
        &["MR-ART-2", "MR-ART-3", "MR-EVENT-24", "MR-EVENT-25", "MR-USAGE-5"],
        |b, a| document(b, a, guess),
    ),
    rule(
        "reports-of-one-unit-misspelled",
        "Reports of image_count have an empty type, a status of their own and a sequence that is a text.",
        &["MR-EVENT-1", "MR-EVENT-3", "MR-EVENT-5", "MR-EVENT-9"],
        |b, a| {
            wrap(&mut b.rules.views.event, a, |reference, applied| {
                Arc::new(move |views, event| {
                    let mut document = reference(views, event);
                    if applied.count_if(document["facts"][0]["unit"] == "image_count") {
                        set(&mut document, "type", json!(""));
                        set(&mut document, "status", json!("reported"));
                        set(&mut document, "sequence", json!(event.sequence.to_string()));
                    }
                    document
                })
            });
        },
    ),
    rule(
        "rare-events-misspelled",
        "Events of runs that may fall back, and some that are rare, lack members or have them with other types.",
        &["MR-EVENT-23", "MR-EVENT-26", "MR-EVENT-27", "MR-EVENT-28", "MR-EVENT-29", "MR-EVENT-30"],
        |b, a| {
            wrap(&mut b.decisions.emit, a, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let execution = situation.store.execution(&emission.execution_id);
                    let falls_back = execution.is_some_and(|execution| execution.request.routing.allow_fallback == Some(true));
                    let log = situation.store.log(&emission.execution_id);
                    for change in &mut step.changes {
                        if let Change::Event(new) = change {
                            applied.count_if(misspell(log, new, falls_back));
                        }
                    }
                    step
                })
            });
            wrap(&mut b.rules.outcome.attempt_failed, a, |reference, applied| {
                Arc::new(move |outcome, target, attempt, fault| {
                    let mut data = reference(outcome, target, attempt, fault);
                    applied.count_if(data.get_mut("error").is_some_and(|error| remove(error, "message")));
                    data
                })
            });
        },
    ),
    spelling(
        "reads-answered-otherwise",
        "The first read of an execution and every result are answered with 203, the stream of a submission with 201, and with a key with 409.",
        &["MR-EXEC-1", "MR-IDEM-37", "MR-RESULT-1", "MR-STREAM-12"],
        |b, a| {
            let read: Mutex<BTreeSet<String>> = Mutex::default();
            let first = move |path: &str| read.lock().unwrap_or_else(PoisonError::into_inner).insert(path.to_owned());
            answered(b, a, move |asked| {
                let execution = asked.path.split_once("/v1/executions/").map(|(_, rest)| rest);
                let keyed = !asked.header("idempotency-key").is_empty();
                match (asked.method.as_str(), execution) {
                    ("GET", Some(id)) if id.ends_with("/result") || !id.contains('/') && first(&asked.path) => Some(203),
                    ("POST", None) if asked.header("accept").contains("event-stream") => Some(if keyed { 409 } else { 201 }),
                    _ => None,
                }
            });
        },
    ),
    spelling(
        "snapshot-of-another-table",
        "A snapshot has the id in capitals, times in whole seconds, and while it runs the last sequence as a text.",
        &["MR-EXEC-2", "MR-EXEC-5", "MR-EXEC-7", "MR-EXEC-14", "MR-START-10"],
        |b, a| {
            document(b, a, |kind, document| {
                if kind != Document::Snapshot {
                    return false;
                }
                let id = document["execution_id"].as_str().unwrap_or_default().to_uppercase();
                set(document, "execution_id", json!(id));
                for name in ["created_at", "updated_at"] {
                    let seconds = document[name].as_str().and_then(|time| time.split_once('.')).map(|(time, _)| format!("{time}.000Z"));
                    document[name] = json!(seconds);
                }
                let runs = [Status::Accepted, Status::Routing, Status::Running].iter().any(|status| document["status"] == status.name());
                if runs {
                    document["last_sequence"] = json!(document["last_sequence"].to_string());
                }
                true
            });
        },
    ),
    spelling(
        "missing-is-malformed",
        "An execution that does not exist is answered with 400.",
        &["MR-ERR-3", "MR-EXEC-15", "MR-RESULT-11", "MR-STREAM-15"],
        |b, a| {
            wrap(&mut b.wire.problem, a, |reference, applied| {
                Arc::new(move |problem| {
                    let (status, body) = reference(problem);
                    (if applied.count_if(*problem == Problem::ExecutionNotFound) { 400 } else { status }, body)
                })
            });
        },
    ),
    spelling(
        "unknown-execution-is-empty",
        "An execution that does not exist is shown as one that was accepted and has done nothing.",
        &["MR-EXEC-15", "MR-RESULT-11", "MR-STREAM-7", "MR-STREAM-15"],
        |b, a| {
            wrap(&mut b.wire.answer, a, |reference, applied| {
                Arc::new(move |asked, answer| {
                    let answer = reference(asked, answer);
                    let execution = asked.path.split_once("/v1/executions/").map(|(_, rest)| rest);
                    match execution.filter(|_| asked.method == "GET" && answer.status == 404) {
                        Some(execution) => {
                            applied.count();
                            nothing_done(execution)
                        }
                        None => answer,
                    }
                })
            });
        },
    ),
    spelling(
        "result-of-another-table",
        "A result without usage has no list of it, outputs have no type, and each read is counted among the outputs.",
        &["MR-EXEC-17", "MR-MAT-3", "MR-MAT-17", "MR-RESULT-4", "MR-RESULT-12", "MR-RESULT-15"],
        |b, a| {
            static READS: AtomicU64 = AtomicU64::new(0);
            document(b, a, |kind, document| {
                let mut changed = kind == Document::Result && document["usage"] == json!([]) && remove(document, "usage");
                if let Some(result) = document.get_mut("result").filter(|result| result["outputs"].is_array()) {
                    let outputs = result["outputs"].as_array_mut().into_iter().flatten();
                    changed |= outputs.filter(|output| output["text"] != "").map(|output| remove(output, "type")).count() > 0;
                    changed |= set(result, "reads", json!(READS.fetch_add(1, Ordering::Relaxed)));
                }
                changed
            });
        },
    ),
];

/// Changes documents; `change` says whether it did.
fn document(blueprint: &mut Blueprint, applied: &Applied, change: fn(Document, &mut Value) -> bool) {
    wrap(&mut blueprint.wire.document, applied, |reference, applied| {
        Arc::new(move |kind, document| {
            let mut document = reference(kind, document);
            applied.count_if(change(kind, &mut document));
            document
        })
    });
}

/// Answers with another status where all is well.
fn answered(blueprint: &mut Blueprint, applied: &Applied, status: impl Fn(&Asked) -> Option<u16> + Send + Sync + 'static) {
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let answer = reference(asked, answer);
            match status(asked).filter(|_| answer.status == 200) {
                Some(status) => {
                    applied.count();
                    Answer { status, ..answer }
                }
                None => answer,
            }
        })
    });
}

/// What is read of an execution of which nothing is known.
fn nothing_done(path: &str) -> Answer {
    let (id, part) = path.split_once('/').unwrap_or((path, ""));
    let document = match part {
        "events" => return Answer::new(200, "text/event-stream", Vec::new()),
        "result" => json!({ "execution_id": id, "target": { "provider": "none", "model": "none" }, "artifacts": [], "usage": [] }),
        _ => {
            let now = crate::model_runtime::rules::views::time(jiff::Timestamp::now());
            json!({ "execution_id": id, "status": "accepted", "created_at": now, "updated_at": now, "last_sequence": 0, "usage": [] })
        }
    };
    Answer::new(200, "application/json; charset=utf-8", document.to_string().into_bytes())
}

fn guess(kind: Document, document: &mut Value) -> bool {
    let mut guessed = false;
    if kind == Document::Event && document["type"] == event::DELTA && document["delta"] == "" {
        guessed |= remove(document, "delta") | remove(document, "output_index");
    }
    for list in ["usage", "facts"] {
        let facts = document.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten();
        for fact in facts.filter(|fact| fact["complete"].is_boolean()) {
            guessed |= set(fact, "complete", json!("yes"));
        }
    }
    if document["result"]["outputs"].is_array() {
        for artifact in document.get_mut("artifacts").and_then(Value::as_array_mut).into_iter().flatten() {
            guessed |= set(artifact, "uri", json!("")) | set(artifact, "name", json!(7));
        }
    }
    guessed
}

fn misspell(log: &[Arc<Event>], new: &mut NewEvent, falls_back: bool) -> bool {
    let data = &mut new.data;
    let started = |event: &Arc<Event>| event.kind == event::TOOL_STARTED && event.data.get("call_id") == data.get("call_id");
    match new.kind.as_str() {
        event::TOOL_STARTED if falls_back => data.remove("name").is_some(),
        event::PROGRESS if falls_back => data.insert("phase".to_owned(), json!("waiting")).is_some(),
        event::RESULT if falls_back => data.insert("artifacts".to_owned(), json!({})).is_none(),
        event::TOOL_ARGUMENTS if !log.iter().any(started) => data.remove("call_id").is_some(),
        event::USAGE if data.get("facts").is_some_and(|facts| facts[0]["source"] == "runtime" && facts[0]["unit"] == "input_token") => {
            data.insert("facts".to_owned(), json!({ "input_token": 1 })).is_some()
        }
        _ => false,
    }
}
