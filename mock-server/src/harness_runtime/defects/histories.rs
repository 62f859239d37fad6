//! Histories in which something is missing, comes too late or should not be.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::json::object;
use crate::harness_runtime::machine::{NewEvent, Situation};
use crate::harness_runtime::model::{Execution, State, event};
use crate::harness_runtime::rules::outcome::Occurrence;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "no-start-in-history", "run.started is not recorded.", &["HR-EVENT-21"]),
        install: |blueprint, applied| drop_events(blueprint, applied, |event| event.kind == event::STARTED),
    },
    Entry {
        defect: defect(
            Rule,
            "start-recorded-late",
            "run.started is recorded when the first thing that the provider did is.",
            &["HR-EVENT-22"],
        ),
        install: |blueprint, applied| {
            let late: Arc<Mutex<BTreeMap<String, NewEvent>>> = Arc::default();
            wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
                Arc::new(move |event| {
                    let mut late = late.lock().unwrap_or_else(PoisonError::into_inner);
                    if event.kind == event::STARTED {
                        late.insert(event.execution_id.clone(), event);
                        return Vec::new();
                    }
                    let Some(started) = late.remove(&event.execution_id) else { return reference(event) };
                    applied.count();
                    if event::is_terminal(&event.kind) || event.kind == event::DONE { vec![started, event] } else { vec![event, started] }
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "queued-twice", "run.queued is recorded by the API and by the queue.", &["HR-EVENT-19"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
                Arc::new(move |event| {
                    let twice = applied.count_if(event.kind == event::QUEUED);
                    let mut appended = reference(event.clone());
                    appended.extend(twice.then_some(event));
                    appended
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "native-events-not-replayed",
            "A list after a cursor leaves out what providers observed natively.",
            &["HR-EVENT-8"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.replay.listed, applied, |reference, applied| {
                Arc::new(move |execution, events| {
                    let mut events = reference(execution, events);
                    let replayed = events.first().is_some_and(|first| first.sequence > 1);
                    events.retain(|event| !applied.count_if(replayed && event.kind == event::PROVIDER_EVENT));
                    events
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "native-type-leaks",
            "A native event is recorded under the type that the provider gave it.",
            &["HR-EVENT-11", "HR-EVENT-34"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
                Arc::new(move |mut event| {
                    let method = event.data.get("method").and_then(Value::as_str).filter(|_| event.kind == event::PROVIDER_EVENT);
                    // The reports of the tally are no native events.
                    if let Some(method) = method.filter(|method| *method != "tally").map(str::to_owned) {
                        applied.count();
                        event.kind = method;
                    }
                    reference(event)
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "late-words", "What a provider says is recorded even when its execution has ended.", &["HR-EVENT-10"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.emissions.counts, applied, |reference, applied| {
                Arc::new(move |state| applied.instead_of(&reference(state), true))
            });
        },
    },
    Entry {
        defect: defect(Rule, "waiting-is-mute", "What a provider says while it waits for an answer is dropped.", &["HR-ACTION-35"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.emissions.counts, applied, |reference, applied| {
                Arc::new(move |state| applied.instead_of(&reference(state), reference(state) && !state.is_awaiting()))
            });
        },
    },
    Entry {
        defect: defect(Rule, "forgeries-recorded", "Providers may emit any type.", &["HR-EVENT-9", "HR-EVENT-30"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.emissions.allowed, applied, |reference, applied| {
                Arc::new(move |kind| applied.instead_of(&reference(kind), true))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "forgery-skipped",
            "An emission of a type that providers may not use is skipped, and the run goes on.",
            &["HR-EVENT-31"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    if applied.count_if(step.answer.is_err() && !(situation.rules.emissions.allowed)(&emission.kind)) {
                        step.answer = Ok(());
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "delta-without-text", "The data of a delta is not looked at.", &["HR-EVENT-14"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.emissions.data, applied, |reference, applied| {
                Arc::new(move |kind, data| {
                    reference(kind, data).or_else(|message| {
                        applied.count();
                        data.as_object().cloned().ok_or(message)
                    })
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "bad-delta-skipped", "A delta without text is skipped, and the run goes on.", &["HR-EVENT-33"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    if applied.count_if(emission.kind == event::DELTA && step.answer.is_err()) {
                        step.answer = Ok(());
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "no-final-text", "output.text.done is not recorded.", &["HR-EVENT-23"]),
        install: |blueprint, applied| {
            completed(blueprint, applied, |right| right.into_iter().filter(|(kind, _)| *kind != event::DONE).collect());
        },
    },
    Entry {
        defect: defect(Rule, "no-final-text-of-nothing", "output.text.done is recorded only where there is a text.", &["HR-EVENT-23"]),
        install: |blueprint, applied| {
            completed(blueprint, applied, |right| {
                let empty = |data: &crate::harness_runtime::model::JsonObject| data.get("text").is_some_and(|text| text == "");
                right.into_iter().filter(|(kind, data)| *kind != event::DONE || !empty(data)).collect()
            });
        },
    },
    Entry {
        defect: defect(Rule, "final-text-of-failure", "output.text.done closes every run, also one that fails.", &["HR-EVENT-24"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.failed, applied, |reference, applied| {
                Arc::new(move |message| {
                    applied.count();
                    let mut occurrences = vec![(event::DONE, object([("text", json!(""))]))];
                    occurrences.extend(reference(message));
                    occurrences
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "final-text-empty", "output.text.done carries no text, since it was said in deltas.", &["HR-EVENT-26"]),
        install: |blueprint, applied| {
            completed(blueprint, applied, |mut right| {
                replace(&mut right, event::DONE, "text");
                right
            });
        },
    },
    Entry {
        defect: defect(Rule, "final-output-empty", "run.completed carries an empty final output.", &["HR-EVENT-27"]),
        install: |blueprint, applied| {
            completed(blueprint, applied, |mut right| {
                replace(&mut right, event::COMPLETED, "finalOutput");
                right
            });
        },
    },
    Entry {
        defect: defect(Rule, "completed-twice", "run.completed is recorded by the worker and by the supervisor.", &["HR-EVENT-9"]),
        install: |blueprint, applied| {
            completed(blueprint, applied, |mut right| {
                right.extend(right.last().cloned());
                right
            });
        },
    },
    Entry {
        defect: defect(Rule, "words-after-completion", "Text that was buffered is recorded after run.completed.", &["HR-EVENT-10"]),
        install: |blueprint, applied| {
            completed(blueprint, applied, |mut right| {
                right.push((event::DELTA, object([("text", json!(""))])));
                right
            });
            end_with_state(blueprint);
        },
    },
    Entry {
        defect: defect(
            Rule,
            "failure-without-event",
            "An execution that fails has no terminal event; its streams end with its state.",
            &["HR-EVENT-9"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.failed, applied, |_reference, applied| {
                Arc::new(move |_| {
                    applied.count();
                    Vec::new()
                })
            });
            end_with_state(blueprint);
        },
    },
    Entry {
        defect: defect(
            Rule,
            "failure-in-other-words",
            "run.failed tells that the run failed, and leaves to the execution why.",
            &["HR-EVENT-28"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.failed, applied, |reference, applied| {
                Arc::new(move |_| {
                    applied.count();
                    reference("The run failed")
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "cancelled-as-failed",
            "A cancellation is recorded as run.failed, and the state says cancelled.",
            &["HR-CANCEL-19", "HR-EXEC-19"],
        ),
        install: |blueprint, applied| {
            let failed = blueprint.rules.outcome.failed.clone();
            wrap(&mut blueprint.rules.outcome.cancelled, applied, |_reference, applied| {
                Arc::new(move |reason, _| {
                    applied.count();
                    failed(reason.unwrap_or("cancelled"))
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "success-with-open-question",
            "A provider that returns while an action is unanswered has succeeded.",
            &["HR-EXEC-23"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.unresolved, applied, |reference, applied| {
                Arc::new(move |state| applied.instead_of(&reference(state), None))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "success-overtakes-cancel",
            "A success counts while the cleanup of a cancellation goes on.",
            &["HR-CANCEL-28"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.end, applied, |reference, applied| {
                Arc::new(move |situation, ending| {
                    let cleans_up = |execution: &Execution| execution.state == State::Cancelling;
                    let late = situation.store.execution(&ending.execution_id).is_some_and(cleans_up);
                    if !applied.count_if(late && ending.result.is_ok()) {
                        return reference(situation, ending);
                    }
                    let mut rules = situation.rules.clone();
                    rules.outcome.counts = Arc::new(|_| true);
                    reference(&Situation { rules: &rules, ..*situation }, ending)
                })
            });
        },
    },
];

/// Streams end when the state is terminal, whatever the last event is.
fn end_with_state(blueprint: &mut Blueprint) {
    let reference = Arc::clone(&blueprint.rules.streaming.ends);
    blueprint.rules.streaming.ends =
        Arc::new(move |progress| reference(progress) || progress.ended && progress.position >= progress.length);
}

/// Records nothing for the events that `dropped` picks.
fn drop_events(blueprint: &mut Blueprint, applied: &Applied, dropped: fn(&NewEvent) -> bool) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |event| if applied.count_if(dropped(&event)) { Vec::new() } else { reference(event) })
    });
}

/// Changes the events of a success.
fn completed(blueprint: &mut Blueprint, applied: &Applied, change: fn(Vec<Occurrence>) -> Vec<Occurrence>) {
    wrap(&mut blueprint.rules.outcome.completed, applied, |reference, applied| {
        Arc::new(move |output| applied.instead_of(&reference(output), change(reference(output))))
    });
}

/// Empties a member of the data of events of one type.
fn replace(occurrences: &mut [Occurrence], kind: &str, member: &str) {
    for (_, data) in occurrences.iter_mut().filter(|(other, _)| *other == kind) {
        data.insert(member.to_owned(), json!(""));
    }
}
