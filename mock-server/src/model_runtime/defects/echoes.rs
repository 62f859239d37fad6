//! Errors, snapshots and manifests that repeat what a caller sent.

use super::{Entry, rule, set, spelling, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, Situation, Step, fail};
use crate::model_runtime::model::{Status, event};
use crate::model_runtime::problem::{Code, Fault, Problem};
use crate::model_runtime::rules::requests::Mistake;
use crate::model_runtime::wire::Document;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    rule("error-names-ability", "That nobody can serve a request is told with its ability.", &["MR-REDACT-2"], |b, a| {
        wrap(&mut b.decisions.route, a, |reference, applied| {
            Arc::new(move |situation, execution_id| {
                let step = reference(situation, execution_id);
                let failed = step.changes.iter().any(|change| matches!(change, Change::Event(event) if event.kind == event::FAILED));
                let Some(execution) = situation.store.execution(execution_id).filter(|_| failed) else { return step };
                applied.count();
                let message = format!("No model can do {}", execution.request.ability);
                fail(situation, execution, &Fault::new(Code::CapabilityUnavailable, &message, false))
            })
        });
    }),
    rule(
        "failure-quotes-request",
        "What an execution has failed of is told with its request.",
        &["MR-REDACT-2", "MR-REDACT-3", "MR-REDACT-4", "MR-REDACT-5", "MR-REDACT-6"],
        |b, a| {
            wrap(&mut b.decisions.route, a, |reference, applied| {
                Arc::new(move |situation, execution_id| quoted(situation, execution_id, reference(situation, execution_id), &applied))
            });
            wrap(&mut b.decisions.end, a, |reference, applied| {
                Arc::new(move |situation, ending| quoted(situation, &ending.execution_id, reference(situation, ending), &applied))
            });
        },
    ),
    rule("error-names-unknown-member", "An unknown member is told by its name.", &["MR-REDACT-9", "MR-REDACT-13"], |b, a| {
        refused(b, a, |mistake, body| {
            let name = mistake.place.rsplit('/').next().filter(|_| !mistake.place.starts_with("metadata"))?;
            let somewhere = body.as_object()?.contains_key(name) || mistake.place.contains('/');
            somewhere.then(|| name.to_owned())
        });
    }),
    rule("error-names-metadata-key", "A wrong value in metadata is told by its key.", &["MR-REDACT-3"], |b, a| {
        refused(b, a, |mistake, _| mistake.place.strip_prefix("metadata/").map(str::to_owned));
    }),
    rule("error-quotes-metadata", "A wrong request is told with its metadata.", &["MR-REDACT-3", "MR-REDACT-4"], |b, a| {
        refused(b, a, |_, body| body.get("metadata").map(Value::to_string));
    }),
    rule("error-quotes-input", "A wrong request is told with its input.", &["MR-REDACT-5", "MR-REDACT-9", "MR-REDACT-13"], |b, a| {
        refused(b, a, |_, body| body.get("input").map(Value::to_string));
    }),
    rule("error-quotes-extensions", "A wrong request is told with its extensions.", &["MR-REDACT-6"], |b, a| {
        refused(b, a, |_, body| body.get("extensions").map(Value::to_string));
    }),
    rule("error-quotes-ability", "A wrong request is told with its ability.", &["MR-REDACT-2"], |b, a| {
        refused(b, a, |_, body| body.get("ability").map(Value::to_string));
    }),
    rule("error-quotes-body", "A body that is no JSON is told as it came.", &["MR-REDACT-8"], |b, a| {
        wrap(&mut b.rules.requests.unreadable, a, |_reference, applied| {
            Arc::new(move |text| {
                applied.count();
                Problem::invalid(&format!("Not JSON: {text}"))
            })
        });
    }),
    rule("bad-cursor-quoted", "A cursor that cannot be read is told as it came.", &["MR-REDACT-24"], |b, a| {
        wrap(&mut b.rules.requests.cursor, a, |reference, applied| {
            Arc::new(move |after, last_event_id| {
                reference(after, last_event_id).map_err(|_| {
                    applied.count();
                    Problem::invalid(&format!("No cursor: {}", after.or(last_event_id).unwrap_or_default()))
                })
            })
        });
    }),
    rule("conflict-names-key", "A conflict is told with its key.", &["MR-REDACT-7"], |b, a| {
        wrap(&mut b.decisions.submit, a, |reference, applied| {
            Arc::new(move |situation, submission| {
                let mut step = reference(situation, submission);
                if applied.count_if(step.answer == Err(Problem::Conflict)) {
                    let key = submission.key.as_deref().unwrap_or_default();
                    step.answer = Err(Problem::invalid(&format!("Key {key} was already used")));
                }
                step
            })
        });
    }),
    rule("history-shows-key", "The first event has the idempotency key.", &["MR-REDACT-23"], |b, a| {
        wrap(&mut b.decisions.submit, a, |reference, applied| {
            Arc::new(move |situation, submission| {
                let mut step = reference(situation, submission);
                for change in &mut step.changes {
                    if let (Change::Event(accepted), Some(key)) = (change, &submission.key) {
                        applied.count();
                        accepted.data.insert("idempotency_key".to_owned(), json!(key));
                    }
                }
                step
            })
        });
    }),
    spelling("missing-names-id", "What does not exist is told with its id.", &["MR-REDACT-10"], |b, a| {
        wrap(&mut b.wire.answer, a, |reference, applied| {
            Arc::new(move |asked, answer| {
                let mut answer = reference(asked, answer);
                if let Ok(mut body) = serde_json::from_slice::<Value>(&answer.body)
                    && answer.status == 404
                    && body.get("error").is_some()
                {
                    applied.count();
                    set(&mut body["error"], "message", json!(format!("Nothing at {}", asked.path)));
                    answer.body = body.to_string().into_bytes();
                }
                answer
            })
        });
    }),
    spelling(
        "refusal-quotes-headers",
        "A refusal with 400 quotes the headers of the request, key and credentials included.",
        &["MR-REDACT-1", "MR-REDACT-7", "MR-REDACT-24"],
        |b, a| {
            wrap(&mut b.wire.answer, a, |reference, applied| {
                Arc::new(move |asked, answer| {
                    let mut answer = reference(asked, answer);
                    if answer.status == 400
                        && let Ok(mut body) = serde_json::from_slice::<Value>(&answer.body)
                    {
                        applied.count();
                        set(&mut body["error"], "message", json!(format!("Malformed request: {:?}", asked.headers)));
                        answer.body = body.to_string().into_bytes();
                    }
                    answer
                })
            });
        },
    ),
    spelling("credentials-echoed", "Answers repeat the headers of the request, credentials included.", &["MR-REDACT-1"], |b, a| {
        wrap(&mut b.wire.answer, a, |reference, applied| {
            Arc::new(move |asked, answer| {
                let mut answer = reference(asked, answer);
                let secrets =
                    asked.headers.iter().filter(|(name, _)| ["authorization", "api-key", "cookie"].iter().any(|part| name.contains(part)));
                for (name, value) in secrets {
                    applied.count();
                    answer.set_header(&format!("x-request-{name}"), value);
                }
                answer
            })
        });
    }),
    rule("manifest-holds-credential", "The list of manifests shows the credential that was used last.", &["MR-REDACT-1"], |b, a| {
        let last: Arc<Mutex<Option<String>>> = Arc::default();
        let seen = Arc::clone(&last);
        wrap(&mut b.wire.answer, a, |reference, _| {
            Arc::new(move |asked, answer| {
                let credential = asked.header("authorization");
                if !credential.is_empty() {
                    *seen.lock().unwrap_or_else(PoisonError::into_inner) = Some(credential);
                }
                reference(asked, answer)
            })
        });
        wrap(&mut b.wire.document, a, |reference, applied| {
            Arc::new(move |kind, document| {
                let mut document = reference(kind, document);
                let credential = last.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(credential) = credential.filter(|_| kind == Document::Providers) {
                    applied.count();
                    document["data"][0]["credential"] = json!(credential);
                }
                document
            })
        });
    }),
];

/// The same step; when it is a failure, with the request in its message.
fn quoted(situation: &Situation, execution_id: &str, step: Step<()>, applied: &Applied) -> Step<()> {
    let ended = step.changes.iter().find_map(|change| match change {
        Change::Execution(ended) if ended.status == Status::Failed => Some(ended),
        _ => None,
    });
    let Some((ended, fault)) = ended.and_then(|ended| Some((ended, ended.error.as_ref()?))) else { return step };
    applied.count();
    let request = situation.store.execution(execution_id).map(|execution| &execution.request.document);
    let message = format!("{}: {}", fault.message, request.unwrap_or(&Value::Null));
    fail(situation, ended, &Fault { message, ..fault.clone() })
}

/// Adds something to what is told of a malformed request.
fn refused(blueprint: &mut Blueprint, applied: &Applied, detail: fn(&Mistake, &Value) -> Option<String>) {
    wrap(&mut blueprint.rules.requests.refused, applied, |reference, applied| {
        Arc::new(move |mistake, body| match detail(mistake, body) {
            Some(detail) => {
                applied.count();
                Problem::invalid(&format!("Execution request is malformed: {detail}"))
            }
            None => reference(mistake, body),
        })
    });
}
