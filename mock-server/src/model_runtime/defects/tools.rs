//! Tool calls that are added up wrongly.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::model::{Event, event};
use crate::model_runtime::rules::materialise::{Call, text};
use serde_json::Value;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "fragments-to-the-last-call",
        "A fragment belongs to the call that was started last.",
        &["MR-MAT-7", "MR-MAT-12", "MR-MAT-20"],
        |b, a| {
            calls(b, a, |log, right| {
                let mut calls: Vec<Call> = right.iter().map(|call| Call { arguments: String::new(), ..call.clone() }).collect();
                let mut last = None;
                for event in log {
                    match event.kind.as_str() {
                        event::TOOL_STARTED => last = calls.iter().position(|call| call.id == text(&event.data, "call_id")),
                        event::TOOL_ARGUMENTS => {
                            if let Some(call) = last.and_then(|last| calls.get_mut(last)) {
                                call.arguments.push_str(text(&event.data, "delta"));
                            }
                        }
                        _ => {}
                    }
                }
                calls
            });
        },
    ),
    rule("arguments-parsed", "Arguments that are JSON are written anew.", &["MR-MAT-7", "MR-MAT-20"], |b, a| {
        calls(b, a, |_, right| {
            let anew = |text: &str| serde_json::from_str::<Value>(text).map_or_else(|_| text.to_owned(), |value| format!("{value:#}"));
            right.iter().map(|call| Call { arguments: anew(&call.arguments), ..call.clone() }).collect()
        });
    }),
    rule("last-fragment-wins", "The arguments of a call are its last fragment.", &["MR-MAT-7", "MR-MAT-20"], |b, a| {
        calls(b, a, |log, right| {
            let of = |call: &Call, event: &Event| event.kind == event::TOOL_ARGUMENTS && text(&event.data, "call_id") == call.id;
            let last = |call: &Call| log.iter().rev().find(|event| of(call, event)).map(|event| text(&event.data, "delta").to_owned());
            right.iter().map(|call| Call { arguments: last(call).unwrap_or_default(), ..call.clone() }).collect()
        });
    }),
    rule(
        "bare-arguments-are-an-object",
        "A call without fragments has the arguments {}.",
        &["MR-MAT-10", "MR-MAT-12", "MR-MAT-20"],
        |b, a| {
            calls(b, a, |_, right| {
                let filled = |call: &Call| if call.arguments.is_empty() { "{}".to_owned() } else { call.arguments.clone() };
                right.iter().map(|call| Call { arguments: filled(call), ..call.clone() }).collect()
            });
        },
    ),
    rule(
        "unknown-calls-appear",
        "Fragments for a call that was not started make one without a name.",
        &["MR-MAT-11", "MR-MAT-12"],
        |b, a| {
            calls(b, a, |log, right| {
                let mut calls = right.to_vec();
                for event in log.iter().filter(|event| event.kind == event::TOOL_ARGUMENTS) {
                    let (call_id, fragment) = (text(&event.data, "call_id"), text(&event.data, "delta"));
                    if right.iter().any(|call| call.id == call_id) {
                        continue;
                    }
                    match calls.iter_mut().find(|call| call.id == call_id) {
                        Some(call) => call.arguments.push_str(fragment),
                        None => calls.push(Call { id: call_id.to_owned(), name: String::new(), arguments: fragment.to_owned() }),
                    }
                }
                calls
            });
        },
    ),
    rule("restart-goes-on", "A call that is started again goes on with its arguments.", &["MR-MAT-12"], |b, a| {
        calls(b, a, |log, right| {
            let of = |call: &Call, event: &Event| event.kind == event::TOOL_ARGUMENTS && text(&event.data, "call_id") == call.id;
            let all = |call: &Call| log.iter().filter(|event| of(call, event)).map(|event| text(&event.data, "delta")).collect();
            right.iter().map(|call| Call { arguments: all(call), ..call.clone() }).collect()
        });
    }),
    rule("restart-is-another-call", "A call that is started again is listed twice.", &["MR-MAT-11"], |b, a| {
        calls(b, a, |log, right| {
            let mut seen = Vec::new();
            let mut calls = right.to_vec();
            for event in log.iter().filter(|event| event.kind == event::TOOL_STARTED) {
                let call_id = text(&event.data, "call_id");
                if seen.contains(&call_id) {
                    calls.extend(right.iter().find(|call| call.id == call_id).cloned());
                }
                seen.push(call_id);
            }
            calls
        });
    }),
    rule("calls-in-reverse", "Tool calls are listed in the reverse order of their start.", &["MR-MAT-9", "MR-MAT-12"], |b, a| {
        calls(b, a, |_, right| right.iter().rev().cloned().collect());
    }),
];

/// Adds calls up differently, given what the reference comes to.
fn calls(blueprint: &mut Blueprint, applied: &Applied, fold: fn(&[Arc<Event>], &[Call]) -> Vec<Call>) {
    wrap(&mut blueprint.rules.materialise.calls, applied, |reference, applied| {
        Arc::new(move |log| {
            let right = reference(log);
            let other = fold(log, &right);
            applied.instead_of(&right, other)
        })
    });
}
