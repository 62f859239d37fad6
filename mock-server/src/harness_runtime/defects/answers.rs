//! Answers with another status, code or body than the contract says, where the state behind them is right.

use super::{
    DefectKind::{Rule, Wire},
    Entry, defect, wrap,
};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::machine::Change;
use crate::harness_runtime::model::State;
use crate::harness_runtime::problem::{Code, Problem};
use crate::harness_runtime::wire::{Answer, Asked};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Wire,
            "negotiation-too-strict",
            "Who would take a compressed answer, or any type, or does not say, gets none: 406.",
            &["HR-CONV-9", "HR-CONV-11", "HR-DESC-1", "HR-EXEC-1", "HR-REPLAY-1", "HR-REPLAY-12"],
        ),
        install: |blueprint, applied| {
            answer(blueprint, applied, |asked, answer| {
                let strict = asked.header("accept-encoding").contains("gzip")
                    || asked.header("accept").contains("*/*")
                    || asked.method == "GET" && asked.header("accept").is_empty();
                if strict {
                    *answer = json_answer(406, &json!({ "code": "NOT_ACCEPTABLE", "message": "Not acceptable" }));
                }
                strict
            });
        },
    },
    Entry {
        defect: defect(
            Wire,
            "missing-is-gone",
            "What does not exist is answered 410.",
            &[
                "HR-ACTION-17",
                "HR-ACTION-19",
                "HR-ART-12",
                "HR-CANCEL-30",
                "HR-CONV-11",
                "HR-EXEC-16",
                "HR-REPLAY-11",
                "HR-START-37",
                "HR-STREAM-18",
            ],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.actions.answerable, applied, |reference, _| {
                Arc::new(move |action, execution_id, action_id| match action {
                    None => Err(Problem::execution_not_found(action_id)),
                    _ => reference(action, execution_id, action_id),
                })
            });
            problem(blueprint, applied, |problem| (problem.code == Code::NotFound).then_some((410, "GONE")));
        },
    },
    Entry {
        defect: defect(
            Wire,
            "validation-is-422",
            "What is no valid request is answered 422, as unprocessable.",
            &[
                "HR-ACTION-23",
                "HR-ACTION-24",
                "HR-ACTION-25",
                "HR-ACTION-26",
                "HR-ACTION-27",
                "HR-ACTION-28",
                "HR-ACTION-39",
                "HR-CANCEL-7",
                "HR-CANCEL-8",
                "HR-CANCEL-9",
                "HR-CANCEL-10",
                "HR-CANCEL-11",
                "HR-CANCEL-31",
                "HR-CONV-13",
                "HR-CONV-14",
                "HR-CONV-15",
                "HR-REPLAY-8",
                "HR-REPLAY-9",
                "HR-REPLAY-10",
                "HR-START-14",
                "HR-START-15",
                "HR-START-16",
                "HR-START-17",
                "HR-START-18",
                "HR-START-19",
                "HR-START-20",
                "HR-START-21",
                "HR-START-22",
                "HR-START-23",
                "HR-START-24",
                "HR-START-25",
                "HR-START-26",
                "HR-START-27",
                "HR-START-28",
                "HR-START-29",
                "HR-START-31",
                "HR-START-34",
                "HR-START-35",
                "HR-STREAM-17",
            ],
        ),
        install: |blueprint, applied| {
            problem(blueprint, applied, |problem| (problem.code == Code::Validation).then_some((422, "UNPROCESSABLE_ENTITY")));
        },
    },
    Entry {
        defect: defect(
            Wire,
            "code-wears-off",
            "A start that was refused once is refused as a repetition when it comes again.",
            &["HR-ERR-3"],
        ),
        install: code_wears_off,
    },
    Entry {
        defect: defect(
            Wire,
            "successes-by-other-names",
            "A new conversation is answered 200, and the list of capabilities 206, as part of all there are.",
            &["HR-CONV-1", "HR-DESC-5"],
        ),
        install: |blueprint, applied| {
            answer(blueprint, applied, |asked, answer| {
                let other = match answer.status {
                    201 => 200,
                    200 if asked.path.ends_with("/runtime/capabilities") => 206,
                    _ => return false,
                };
                answer.status = other;
                true
            });
        },
    },
    Entry {
        defect: defect(
            Wire,
            "conversation-read-bare",
            "A conversation is read without its id and its metadata.",
            &["HR-CONV-2", "HR-CONV-4", "HR-CONV-9", "HR-CONV-10"],
        ),
        install: |blueprint, applied| {
            answer(blueprint, applied, |asked, answer| {
                let read = asked.method == "GET" && asked.path.contains("/conversations/") && answer.status == 200;
                if read {
                    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                    *answer = json_answer(200, &json!({ "createdAt": document["createdAt"] }));
                }
                read
            });
        },
    },
    Entry {
        defect: defect(Wire, "repetition-is-200", "A start that is repeated by its key is answered 200.", &["HR-IDEM-2"]),
        install: |blueprint, applied| {
            let started: Arc<Mutex<BTreeSet<String>>> = Arc::default();
            wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
                Arc::new(move |asked, answer| {
                    let mut answer = reference(asked, answer);
                    let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                    let id = document["id"].as_str().filter(|_| answer.status == 202).map(str::to_owned);
                    let mut started = started.lock().unwrap_or_else(PoisonError::into_inner);
                    if applied.count_if(id.is_some_and(|id| !started.insert(id))) {
                        answer.status = 200;
                    }
                    answer
                })
            });
        },
    },
    Entry {
        defect: defect(
            Wire,
            "commands-answer-receipts",
            "Cancels and responses are answered with a receipt instead of the execution.",
            &[
                "HR-ACTION-1",
                "HR-ACTION-14",
                "HR-ACTION-42",
                "HR-CANCEL-1",
                "HR-CANCEL-2",
                "HR-CANCEL-20",
                "HR-CANCEL-29",
                "HR-EXEC-2",
                "HR-EXEC-3",
                "HR-EXEC-4",
            ],
        ),
        install: |blueprint, applied| {
            answer(blueprint, applied, |asked, answer| {
                let command = asked.method == "POST" && (asked.path.ends_with(":cancel") || asked.path.ends_with(":respond"));
                let done = command && answer.status == 200;
                if done {
                    *answer = json_answer(200, &json!({ "status": "accepted" }));
                }
                done
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "failure-spills-over",
            "Of an execution that failed, artifacts and cancels are answered with the failure of its provider.",
            &["HR-ART-1", "HR-ART-11", "HR-CANCEL-20", "HR-ERR-19", "HR-EXEC-29"],
        ),
        install: failure_spills_over,
    },
    Entry {
        defect: defect(
            Rule,
            "artifacts-when-all-is-over",
            "Artifacts are listed once their execution has ended, owned by themselves and dated by the list.",
            &["HR-ART-7", "HR-ART-10", "HR-ART-11"],
        ),
        install: artifacts_when_all_is_over,
    },
    Entry {
        defect: defect(
            Wire,
            "lists-with-conditions",
            "The first list of a running execution is refused, and so are those after its last event and tails of what did not succeed.",
            &["HR-REPLAY-5", "HR-REPLAY-13", "HR-REPLAY-14"],
        ),
        install: lists_with_conditions,
    },
    Entry {
        defect: defect(
            Wire,
            "reads-lag-behind",
            "For a while after the start an execution is read as queued, though its history goes on.",
            &["HR-EXEC-20"],
        ),
        install: reads_lag_behind,
    },
];

/// How long what is read lags behind, in milliseconds.
const LAG: i64 = 400;

fn json_answer(status: u16, document: &Value) -> Answer {
    Answer::new(status, "application/json", document.to_string().into_bytes())
}

/// Changes answers before they are sent; `change` says whether it did.
fn answer(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Asked, &mut Answer) -> bool) {
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let mut answer = reference(asked, answer);
            applied.count_if(change(asked, &mut answer));
            answer
        })
    });
}

/// Gives some problems another status and code.
fn problem(blueprint: &mut Blueprint, applied: &Applied, other: fn(&Problem) -> Option<(u16, &'static str)>) {
    wrap(&mut blueprint.wire.problem, applied, |reference, applied| {
        Arc::new(move |problem| {
            let (status, mut body) = reference(problem);
            let Some((status, code)) = other(problem) else { return (status, body) };
            applied.count();
            body["code"] = json!(code);
            (status, body)
        })
    });
}

/// The id in the path of an execution's list: `/v1/executions/{id}/{list}`.
fn execution_of<'a>(asked: &'a Asked, list: &str) -> Option<&'a str> {
    let (execution, below) = asked.path.rsplit_once('/')?;
    let (_, id) = execution.rsplit_once('/')?;
    (asked.method == "GET" && below == list).then_some(id)
}

/// The message that the reading of a request leaves for the wire.
const REPEATED: &str = "Invalid execution request, again";

fn code_wears_off(blueprint: &mut Blueprint, applied: &Applied) {
    let refused: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    wrap(&mut blueprint.rules.requests.start, applied, |reference, _| {
        Arc::new(move |requests, body, text| {
            let read = reference(requests, body, text);
            let mut refused = refused.lock().unwrap_or_else(PoisonError::into_inner);
            if read.is_err() && !refused.insert(text.to_owned()) { Err(Problem::validation(REPEATED)) } else { read }
        })
    });
    problem(blueprint, applied, |problem| (problem.message == REPEATED).then_some((400, "REPEATED_FAILURE")));
}

fn failure_spills_over(blueprint: &mut Blueprint, applied: &Applied) {
    let failed: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let known = Arc::clone(&failed);
    wrap(&mut blueprint.decisions.end, applied, |reference, _| {
        Arc::new(move |situation, ending| {
            let step = reference(situation, ending);
            let fails = |change: &Change| matches!(change, Change::Execution(execution) if execution.state == State::Failed);
            if step.changes.iter().any(fails) {
                known.lock().unwrap_or_else(PoisonError::into_inner).insert(ending.execution_id.clone());
            }
            step
        })
    });
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let answer = reference(asked, answer);
            let cancelled = asked.path.rsplit_once('/').and_then(|(_, last)| last.strip_suffix(":cancel"));
            let id = execution_of(asked, "artifacts").or(cancelled).filter(|_| answer.status == 200);
            let failed = failed.lock().unwrap_or_else(PoisonError::into_inner);
            if applied.count_if(id.is_some_and(|id| failed.contains(id))) {
                return json_answer(424, &json!({ "code": "PROVIDER_ERROR", "message": "The provider failed" }));
            }
            answer
        })
    });
}

fn artifacts_when_all_is_over(blueprint: &mut Blueprint, applied: &Applied) {
    let unfinished: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    let noted = Arc::clone(&unfinished);
    wrap(&mut blueprint.rules.artifacts.listed, applied, |reference, applied| {
        Arc::new(move |store, execution| {
            let mut noted = noted.lock().unwrap_or_else(PoisonError::into_inner);
            if execution.state.is_terminal() {
                noted.remove(&execution.id)
            } else {
                noted.insert(execution.id.clone())
            };
            let mut artifacts = reference(store, execution);
            for artifact in &mut artifacts {
                applied.count();
                artifact.created_at += std::time::Duration::from_secs(1);
            }
            artifacts
        })
    });
    wrap(&mut blueprint.rules.views.artifact, applied, |reference, _| {
        Arc::new(move |views, artifact| {
            let mut document = reference(views, artifact);
            document.insert("executionId".to_owned(), json!(artifact.id));
            document
        })
    });
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let answer = reference(asked, answer);
            let unfinished = unfinished.lock().unwrap_or_else(PoisonError::into_inner);
            let early = execution_of(asked, "artifacts").is_some_and(|id| answer.status == 200 && unfinished.contains(id));
            if applied.count_if(early) { not_yet() } else { answer }
        })
    });
}

fn not_yet() -> Answer {
    json_answer(409, &json!({ "code": "INVALID_STATE", "message": "Not yet" }))
}

fn lists_with_conditions(blueprint: &mut Blueprint, applied: &Applied) {
    let seen: Arc<Mutex<BTreeSet<String>>> = Arc::default();
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, answer| {
            let answer = reference(asked, answer);
            let document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let Some((id, events)) = execution_of(asked, "events").zip(document["events"].as_array()) else { return answer };
            let first = seen.lock().unwrap_or_else(PoisonError::into_inner).insert(id.to_owned());
            let Some(last) = events.last() else {
                let nothing = applied.count_if(document["nextCursor"] != json!(0));
                let problem = json!({ "code": "NOT_FOUND", "message": "There are no such events" });
                return if nothing { json_answer(404, &problem) } else { answer };
            };
            let kind = last["type"].as_str().unwrap_or_default();
            let early = first && !["run.completed", "run.failed", "run.cancelled"].contains(&kind);
            let tail = ["run.failed", "run.cancelled"].contains(&kind) && events[0]["sequence"] != json!(1);
            if applied.count_if(early || tail) { not_yet() } else { answer }
        })
    });
}

fn reads_lag_behind(blueprint: &mut Blueprint, applied: &Applied) {
    // When each execution was started, until it was shown as something else than queued.
    let fresh: Arc<Mutex<BTreeMap<String, jiff::Timestamp>>> = Arc::default();
    wrap(&mut blueprint.wire.answer, applied, |reference, applied| {
        Arc::new(move |asked, mut answer| {
            let mut document: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
            let Some((id, state)) = document["id"].as_str().map(str::to_owned).zip(document["state"].as_str().map(str::to_owned)) else {
                return reference(asked, answer);
            };
            let mut fresh = fresh.lock().unwrap_or_else(PoisonError::into_inner);
            let now = jiff::Timestamp::now();
            if state == "queued" {
                fresh.entry(id).or_insert(now);
            } else if asked.method == "GET"
                && state == "running"
                && fresh.get(&id).is_some_and(|since| now.as_millisecond() - since.as_millisecond() < LAG)
            {
                applied.count();
                document["state"] = json!("queued");
                document.as_object_mut().and_then(|members| members.remove("startedAt"));
                answer.body = document.to_string().into_bytes();
            } else {
                fresh.remove(&id);
            }
            reference(asked, answer)
        })
    });
}
