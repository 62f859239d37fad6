//! Requests that are refused for no reason, accepted in spite of one, or refused and done all the same.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::json::length;
use crate::harness_runtime::machine::{CancelRequest, Situation, Step};
use crate::harness_runtime::model::{Action, ActionKind, StartRequest, State, Support};
use crate::harness_runtime::problem::{Code, Problem};
use crate::harness_runtime::rules::cancellation::CancelEffect;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "trailing-text-ignored",
            "Of a body only the first JSON value is read, whatever follows it.",
            &["HR-ACTION-25", "HR-CANCEL-10", "HR-CONV-14", "HR-START-16"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.requests.parsed, applied, |reference, applied| {
                Arc::new(move |text| {
                    reference(text).or_else(|problem| {
                        let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
                        let first = values.next().and_then(Result::ok);
                        applied.count_if(first.is_some());
                        first.ok_or(problem)
                    })
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "wrong-type-is-absent",
            "A body or an optional member of a wrong type counts as not there.",
            &[
                "HR-ACTION-27",
                "HR-ACTION-28",
                "HR-CANCEL-9",
                "HR-CANCEL-11",
                "HR-CONV-13",
                "HR-CONV-15",
                "HR-START-26",
                "HR-START-29",
                "HR-START-35",
            ],
        ),
        install: wrong_type_is_absent,
    },
    Entry {
        defect: defect(
            Rule,
            "requests-must-say-more",
            "A new conversation needs a body, a cancel a reason, keys and reasons two characters; the value of a response is a text.",
            &["HR-ACTION-31", "HR-CANCEL-3", "HR-CANCEL-4", "HR-CANCEL-5", "HR-CONV-6", "HR-CONV-7", "HR-START-32"],
        ),
        install: requests_must_say_more,
    },
    Entry {
        defect: defect(
            Rule,
            "refused-and-done",
            "A cancel with a bad reason is refused when it has begun, a start in an unknown conversation when its provider works.",
            &["HR-CANCEL-32", "HR-START-39"],
        ),
        install: refused_and_done,
    },
    Entry {
        defect: defect(
            Rule,
            "preflight-wants-emulation",
            "Capabilities that are all native do not pass, nor does an empty list of them, and a refusal does not name the provider.",
            &["HR-PREF-3", "HR-PREF-8", "HR-PREF-12", "HR-START-1"],
        ),
        install: preflight_wants_emulation,
    },
    Entry {
        defect: defect(
            Rule,
            "running-cannot-be-cancelled",
            "An execution that runs cannot be cancelled.",
            &["HR-CANCEL-1", "HR-CANCEL-16"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.cancellation.effect, applied, |reference, applied| {
                Arc::new(move |state| {
                    let refused = |problem: Problem| -> Result<CancelEffect, Problem> { Err(problem) };
                    let right = reference(state);
                    let running = state == State::Running;
                    let problem = Problem::new(Code::InvalidState, "A running execution cannot be cancelled");
                    applied.instead_of(&right, if running { refused(problem) } else { right.clone() })
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "approval-must-be-said",
            "A response to an approval has to say `approved`.",
            &["HR-ACTION-30", "HR-ACTION-36"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let step = reference(situation, responding);
                    let approval = |action: &Action| action.kind == ActionKind::Approval;
                    let unsaid =
                        situation.store.action(&responding.action_id).is_some_and(approval) && responding.body.get("approved").is_none();
                    if applied.count_if(step.answer.is_ok() && unsaid) {
                        return Step::unchanged(Err(Problem::validation("Invalid action response")));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "one-answer-a-run",
            "A run takes one response; those to its later actions are refused.",
            &["HR-ACTION-1", "HR-ACTION-34"],
        ),
        install: |blueprint, applied| {
            let answered: Arc<std::sync::Mutex<std::collections::BTreeSet<String>>> = Arc::default();
            wrap(&mut blueprint.decisions.respond, applied, |reference, applied| {
                Arc::new(move |situation, responding| {
                    let step = reference(situation, responding);
                    let mut answered = answered.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    if step.answer.is_ok() && !answered.insert(responding.execution_id.clone()) {
                        applied.count();
                        return Step::unchanged(Err(Problem::new(Code::InvalidState, "The execution was answered")));
                    }
                    step
                })
            });
        },
    },
];

fn wrong_type_is_absent(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.requests.conversation, applied, |reference, applied| {
        Arc::new(move |body| {
            let mended = body.filter(|body| body.is_object() || body.is_null()).map(|body| without(body, &["metadata"], scalar));
            reference(applied.instead_of(&body.cloned(), mended).as_ref())
        })
    });
    wrap(&mut blueprint.rules.requests.start, applied, |reference, applied| {
        Arc::new(move |requests, body, text| {
            let mended = without(body, &["config"], scalar);
            let mended = without(&mended, &["requiredCapabilities"], |value| scalar(value) || value.is_object());
            let mended = without(&mended, &["idempotencyKey"], |value| !value.is_string() && !value.is_null());
            reference(requests, &applied.instead_of(body, mended), text)
        })
    });
    wrap(&mut blueprint.rules.requests.cancellation, applied, |reference, applied| {
        Arc::new(move |requests, body| {
            let mended = body.filter(|body| body.is_object() || body.is_null());
            let mended = mended.map(|body| without(body, &["reason"], |value| !value.is_string() && !value.is_null()));
            reference(requests, applied.instead_of(&body.cloned(), mended).as_ref())
        })
    });
    wrap(&mut blueprint.rules.requests.response, applied, |reference, applied| {
        Arc::new(move |body| {
            let mended = if body.is_object() { without(body, &["metadata"], scalar) } else { json!({}) };
            reference(&applied.instead_of(body, mended))
        })
    });
}

fn scalar(value: &Value) -> bool {
    value.is_string() || value.is_number() || value.is_boolean()
}

/// The body less those of the members that are `wrong`.
fn without(body: &Value, names: &[&str], wrong: fn(&Value) -> bool) -> Value {
    let mut body = body.clone();
    if let Some(members) = body.as_object_mut() {
        members.retain(|name, value| !(names.contains(&name.as_str()) && wrong(value)));
    }
    body
}

fn requests_must_say_more(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.requests.key_fits, applied, |reference, applied| {
        Arc::new(move |key| applied.instead_of(&reference(key), reference(key) && length(key) > 1))
    });
    wrap(&mut blueprint.rules.requests.reason_fits, applied, |reference, applied| {
        Arc::new(move |reason| applied.instead_of(&reference(reason), reference(reason) && length(reason) > 1))
    });
    wrap(&mut blueprint.rules.requests.conversation, applied, |reference, applied| {
        Arc::new(
            move |body| {
                if applied.count_if(body.is_none()) { Err(Problem::validation("Request body is required")) } else { reference(body) }
            },
        )
    });
    wrap(&mut blueprint.rules.requests.cancellation, applied, |reference, applied| {
        Arc::new(move |requests, body| match reference(requests, body) {
            Ok(None) => {
                applied.count();
                Err(Problem::validation("A reason is required"))
            }
            read => read,
        })
    });
    wrap(&mut blueprint.rules.requests.response, applied, |reference, applied| {
        Arc::new(move |body| {
            let other = body.get("value").is_some_and(|value| !value.is_string() && !value.is_null());
            if applied.count_if(other) { Err(Problem::validation("The value of a response is a text")) } else { reference(body) }
        })
    });
}

/// How the reading of a request tells the decision that its reason was bad.
const BAD_REASON: &str = "\u{0}bad";

fn refused_and_done(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.rules.requests.cancellation, applied, |reference, _| {
        Arc::new(move |requests, body| {
            let reason = body.and_then(|body| body.get("reason")).is_some();
            reference(requests, body).or_else(|problem| if reason { Ok(Some(BAD_REASON.to_owned())) } else { Err(problem) })
        })
    });
    wrap(&mut blueprint.decisions.cancel, applied, |reference, applied| {
        Arc::new(move |situation, request| {
            if request.reason.as_deref() != Some(BAD_REASON) {
                return reference(situation, request);
            }
            applied.count();
            let step = reference(situation, &CancelRequest { reason: None, ..request.clone() });
            Step { answer: Err(Problem::validation("Invalid cancellation request")), ..step }
        })
    });
    wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
        Arc::new(move |situation, request| {
            let step = reference(situation, request);
            let known = situation.store.conversation(&request.conversation_id).is_some();
            let Some(other) = situation.store.executions().next().filter(|_| !known) else { return step };
            applied.count();
            let elsewhere = StartRequest { conversation_id: other.conversation_id.clone(), idempotency_key: None, ..request.clone() };
            Step { answer: step.answer, ..reference(situation, &elsewhere) }
        })
    });
}

fn preflight_wants_emulation(blueprint: &mut Blueprint, applied: &Applied) {
    wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
        Arc::new(move |situation, request| {
            let step = reference(situation, request);
            if applied.count_if(step.answer.is_ok() && (all_native(situation, request) || empty_list(request))) {
                return Step::unchanged(Err(Problem::capability_unsupported(&request.provider_id, &request.required_capabilities)));
            }
            step
        })
    });
    wrap(&mut blueprint.wire.problem, applied, |reference, _| {
        Arc::new(move |problem| {
            let (status, mut body) = reference(problem);
            if let Some(details) = body.get_mut("details").and_then(Value::as_object_mut) {
                details.remove("providerId");
            }
            (status, body)
        })
    });
}

fn all_native(situation: &Situation, request: &StartRequest) -> bool {
    let provider = situation.providers.iter().find(|manifest| manifest.id == request.provider_id);
    let native = |name: &String| provider.and_then(|manifest| manifest.capabilities.get(name)) == Some(&Support::Native);
    !request.required_capabilities.is_empty() && request.required_capabilities.iter().all(native)
}

/// Not one that is missing.
fn empty_list(request: &StartRequest) -> bool {
    let body: Value = serde_json::from_str(&request.text).unwrap_or_default();
    body["requiredCapabilities"] == json!([])
}
