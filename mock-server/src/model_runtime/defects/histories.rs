//! Histories that have too much in them, too little, or wrong numbers.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::json::{JsonObject, object};
use crate::model_runtime::Blueprint;
use crate::model_runtime::machine::{Change, NewEvent, event as recorded};
use crate::model_runtime::model::{Event, Status, event};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    rule("sequence-anew-after-fallback", "Each attempt counts its events from 1.", &["MR-EVENT-35", "MR-EVENT-36"], |b, a| {
        wrap(&mut b.rules.events.sequence, a, |reference, applied| {
            Arc::new(move |log, of_all| {
                let right = reference(log, of_all);
                let failed = log.iter().rposition(|event| event.kind == event::ATTEMPT_FAILED);
                applied.instead_of(&right, failed.map_or(right, |failed| (log.len() - failed) as u64))
            })
        });
    }),
    rule("progress-not-numbered", "Progress has the number of the event before it.", &["MR-EVENT-36"], |b, a| {
        wrap(&mut b.rules.events.sequence, a, |reference, applied| {
            Arc::new(move |log, of_all| {
                let right = reference(log, of_all);
                let last = log.last().filter(|last| last.kind == event::PROGRESS).map(|last| last.sequence);
                applied.instead_of(&right, last.unwrap_or(right))
            })
        });
    }),
    rule("acceptance-not-recorded", "A history begins with the first route.", &["MR-EVENT-33"], |b, a| {
        appended(b, a, |_, new| if new.kind == event::ACCEPTED { Some(Vec::new()) } else { None });
    }),
    rule("acceptance-recorded-twice", "A history has execution.accepted twice.", &["MR-EVENT-33"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::ACCEPTED).then(|| vec![new.clone(), new.clone()]));
    }),
    rule("failure-recorded-twice", "A failure is recorded twice.", &["MR-EVENT-34", "MR-EXEC-13"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::FAILED && new.status == Status::Failed).then(|| vec![new.clone(), new.clone()]));
    }),
    rule("end-not-last", "A usage report follows the end of a success.", &["MR-EVENT-35", "MR-EXEC-13"], |b, a| {
        appended(b, a, |_, new| {
            let report =
                NewEvent { kind: event::USAGE.to_owned(), data: object([("facts", json!([])), ("late", json!(true))]), ..new.clone() };
            let report = NewEvent { status: Status::Running, ..report };
            (new.kind == event::COMPLETED).then(|| vec![new.clone(), report])
        });
        let ended = |last: &Event| last.data.contains_key("late");
        wrap(&mut b.rules.streaming.ends, a, |reference, _| {
            Arc::new(move |progress| {
                let late = progress.newest.as_ref().is_some_and(|last| ended(last));
                reference(progress) || late && progress.position >= progress.length
            })
        });
    }),
    rule(
        "equal-deltas-dropped",
        "A delta that is the same as the event before it is dropped as a repetition.",
        &["MR-EVENT-47"],
        |b, a| {
            appended(b, a, |log, new| {
                let again = log.last().is_some_and(|last| last.kind == new.kind && last.data == new.data);
                (again && new.kind == event::DELTA).then(Vec::new)
            });
        },
    ),
    rule(
        "outputs-one-after-the-other",
        "Deltas of other outputs than the first are held back until the run ends, and come in the order of their index.",
        &["MR-EVENT-47"],
        output_by_output,
    ),
    rule("tool-start-not-recorded", "The start of a tool call is not recorded.", &["MR-EVENT-48"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::TOOL_STARTED).then(Vec::new));
    }),
    rule("progress-not-recorded", "Progress is not recorded.", &["MR-EVENT-49"], |b, a| {
        appended(b, a, |_, new| (new.kind == event::PROGRESS).then(Vec::new));
    }),
    rule("selected-while-running", "route.selected has the status running.", &["MR-EVENT-11", "MR-EXEC-18"], |b, a| {
        status(b, a, event::SELECTED, Status::Running);
    }),
    rule("accepted-while-routing", "execution.accepted has the status routing.", &["MR-EVENT-10"], |b, a| {
        status(b, a, event::ACCEPTED, Status::Routing);
    }),
    rule("progress-while-routing", "Progress has the status routing.", &["MR-EVENT-16"], |b, a| {
        status(b, a, event::PROGRESS, Status::Routing);
    }),
    rule("attempt-failed-while-failed", "route.attempt_failed has the status failed.", &["MR-EVENT-12", "MR-EXEC-18"], |b, a| {
        status(b, a, event::ATTEMPT_FAILED, Status::Failed);
    }),
    rule("completed-without-target", "execution.completed has no target.", &["MR-EVENT-31"], |b, a| {
        data(b, a, event::COMPLETED, |data| drop(data.remove("target")));
    }),
    rule("failed-without-retryable", "The error of execution.failed does not say whether it is retryable.", &["MR-EVENT-32"], |b, a| {
        data(b, a, event::FAILED, |data| {
            if let Some(error) = data.get_mut("error") {
                super::remove(error, "retryable");
            }
        });
    }),
    rule("selected-without-attempt", "route.selected has no attempt.", &["MR-EVENT-22"], |b, a| {
        data(b, a, event::SELECTED, |data| drop(data.remove("attempt")));
    }),
    rule(
        "output-while-routing",
        "Tool calls, results and usage have the status routing.",
        &["MR-EVENT-14", "MR-EVENT-15", "MR-EVENT-17", "MR-EVENT-18"],
        |b, a| {
            for kind in [event::TOOL_STARTED, event::TOOL_ARGUMENTS, event::RESULT, event::USAGE] {
                status(b, a, kind, Status::Routing);
            }
        },
    ),
    rule(
        "empty-runs-end-as-they-were",
        "The terminal event of a run that gave nothing has the status of the event before it.",
        &["MR-EVENT-19", "MR-EVENT-20"],
        |b, a| {
            appended(b, a, |log, new| {
                let status = match (new.kind.as_str(), log.len()) {
                    (event::COMPLETED, 2) => Status::Routing,
                    (event::FAILED, 1) => Status::Accepted,
                    _ => return None,
                };
                Some(vec![NewEvent { status, ..new.clone() }])
            });
        },
    ),
    rule("nothing-told-as-failure", "A success that gave nothing ends with execution.failed.", &["MR-EVENT-38", "MR-EXEC-16"], |b, a| {
        appended(b, a, |log, new| {
            let error = json!({ "code": "provider_protocol_error", "message": "Nothing was produced", "retryable": false });
            let failed =
                NewEvent { kind: event::FAILED.to_owned(), status: Status::Failed, data: object([("error", error)]), ..new.clone() };
            (new.kind == event::COMPLETED && log.len() == 2).then(|| vec![failed])
        });
    }),
    rule(
        "failure-told-as-cancellation",
        "A final failure before any output is told as a cancellation.",
        &["MR-EVENT-39", "MR-EVENT-46", "MR-EXEC-16"],
        |b, a| {
            appended(b, a, |log, new| {
                let error = new.data.get("error")?;
                let last = new.status == Status::Failed && error["code"] == "provider_unavailable" && error["retryable"] == false;
                (last && log.len() == 2).then(|| vec![NewEvent { status: Status::Cancelled, ..new.clone() }])
            });
        },
    ),
    rule(
        "completed-by-the-first-target",
        "The target of execution.completed is the one that was selected first.",
        &["MR-EVENT-50"],
        |b, a| {
            appended(b, a, |log, new| {
                let first = log.iter().find(|event| event.kind == event::SELECTED).filter(|_| new.kind == event::COMPLETED)?;
                let mut told = new.clone();
                told.data.insert("target".to_owned(), first.data.get("target")?.clone());
                (told != *new).then(|| vec![told])
            });
        },
    ),
    rule(
        "first-attempt-not-recorded",
        "Of runs that may fall back, deltas of the first attempt are not recorded.",
        &["MR-EVENT-37"],
        |b, a| {
            wrap(&mut b.decisions.emit, a, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let execution = situation.store.execution(&emission.execution_id);
                    let falls_back = execution.is_some_and(|execution| execution.request.routing.allow_fallback == Some(true));
                    let before = step.changes.len();
                    let said =
                        |change: &Change| matches!(change, Change::Event(event) if event.kind == event::DELTA && event.data["delta"] != "");
                    step.changes.retain(|change| !(falls_back && emission.attempt == 1 && said(change)));
                    applied.count_if(step.changes.len() < before);
                    step
                })
            });
        },
    ),
    rule(
        "tools-told-to-all",
        "Starts of tool calls are recorded in other executions too, when these run by a script.",
        &["MR-EXEC-26"],
        |b, a| {
            wrap(&mut b.decisions.emit, a, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let Some(execution) = situation.store.execution(&emission.execution_id) else { return step };
                    let runs = situation.store.executions().filter(|other| {
                        other.status == Status::Running
                            && other.request.ability != execution.request.ability
                            && !other.request.extensions.is_empty()
                    });
                    let started = emission.kind == event::TOOL_STARTED && !step.changes.is_empty();
                    for other in runs.filter(|_| started) {
                        applied.count();
                        step.changes.push(recorded(situation, other, &emission.kind, emission.data.clone()));
                    }
                    step
                })
            });
        },
    ),
    rule(
        "cancel-recorded-twice",
        "A cancellation that meets output is recorded twice.",
        &["MR-CANCEL-17", "MR-CANCEL-19", "MR-EVENT-34", "MR-EXEC-13"],
        |b, a| {
            appended(b, a, |log, new| {
                let meets = log.last().is_some_and(|last| last.kind == event::DELTA);
                (meets && new.kind == event::FAILED && new.status == Status::Cancelled).then(|| vec![new.clone(), new.clone()])
            });
        },
    ),
];

fn output_by_output(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        let held: Mutex<BTreeMap<String, Vec<NewEvent>>> = Mutex::default();
        Arc::new(move |log, new| {
            let mut held = held.lock().unwrap_or_else(PoisonError::into_inner);
            let index = |event: &NewEvent| event.data.get("output_index").and_then(Value::as_u64);
            if applied.count_if(new.kind == event::DELTA && index(&new).is_some_and(|index| index > 0)) {
                held.entry(new.execution_id.clone()).or_default().push(new);
                return Vec::new();
            }
            let mut recorded = Vec::new();
            if event::is_terminal(&new.kind) {
                recorded = held.remove(&new.execution_id).unwrap_or_default();
                recorded.sort_by_key(index);
                recorded.iter_mut().for_each(|event| event.time = new.time);
            }
            recorded.extend(reference(log, new));
            recorded
        })
    });
}

type Replace = fn(&[Arc<Event>], &NewEvent) -> Option<Vec<NewEvent>>;

/// Appends something else for some events.
fn appended(blueprint: &mut Blueprint, applied: &Applied, replace: Replace) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |log, new| {
            let replaced = replace(log, &new);
            applied.count_if(replaced.is_some());
            replaced.unwrap_or_else(|| reference(log, new))
        })
    });
}

/// Records events of one type with another status.
fn status(blueprint: &mut Blueprint, applied: &Applied, kind: &'static str, status: Status) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |log, new| {
            let changed = applied.count_if(new.kind == kind);
            reference(log, if changed { NewEvent { status, ..new } } else { new })
        })
    });
}

/// Records events of one type with other data.
fn data(blueprint: &mut Blueprint, applied: &Applied, kind: &'static str, change: fn(&mut JsonObject)) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |log, mut new| {
            if applied.count_if(new.kind == kind) {
                change(&mut new.data);
            }
            reference(log, new)
        })
    });
}
