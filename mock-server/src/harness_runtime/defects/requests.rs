//! Requests that are read too strictly or too generously.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::json::length;
use crate::harness_runtime::model::Response;
use crate::harness_runtime::problem::Problem;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "key-up-to-199", "A key may have at most 199 characters.", &["HR-START-33"]),
        install: |blueprint, applied| key(blueprint, applied, |key, right| right && length(key) < 200),
    },
    Entry {
        defect: defect(Rule, "key-up-to-201", "A key may have 201 characters.", &["HR-START-34"]),
        install: |blueprint, applied| key(blueprint, applied, |key, right| right || length(key) == 201),
    },
    Entry {
        defect: defect(Rule, "key-may-be-empty", "An empty key counts as none.", &["HR-START-31"]),
        install: |blueprint, applied| key(blueprint, applied, |key, right| right || key.is_empty()),
    },
    Entry {
        defect: defect(Rule, "reason-up-to-499", "A reason may have at most 499 characters.", &["HR-CANCEL-6"]),
        install: |blueprint, applied| reason(blueprint, applied, |reason, right| right && length(reason) < 500),
    },
    Entry {
        defect: defect(Rule, "reason-of-any-length", "A reason may be as long as it likes.", &["HR-CANCEL-7"]),
        install: |blueprint, applied| reason(blueprint, applied, |reason, right| right || !reason.is_empty()),
    },
    Entry {
        defect: defect(Rule, "reason-may-be-empty", "A reason may be empty.", &["HR-CANCEL-8"]),
        install: |blueprint, applied| reason(blueprint, applied, |reason, right| right || reason.is_empty()),
    },
    Entry {
        defect: defect(Rule, "input-may-not-be-empty", "An empty input is refused as missing.", &["HR-START-12"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.requests.start, applied, |reference, applied| {
                Arc::new(move |requests, body, text| match reference(requests, body, text) {
                    Ok(request) if request.input.is_empty() => {
                        applied.count();
                        Err(Problem::validation("Invalid execution request"))
                    }
                    read => read,
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "input-of-any-type", "An input that is no string is turned into one.", &["HR-START-25"]),
        install: |blueprint, applied| {
            mend(blueprint, applied, |body| match body.get("input") {
                None | Some(Value::String(_)) => None,
                Some(input) => Some(("input", json!(input.to_string()))),
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "capability-names-unchecked",
            "Names of required capabilities are not looked at: what is no name is skipped.",
            &["HR-START-27", "HR-START-28"],
        ),
        install: |blueprint, applied| {
            mend(blueprint, applied, |body| {
                let names = body.get("requiredCapabilities")?.as_array()?;
                let good: Vec<&Value> = names.iter().filter(|name| name.as_str().is_some_and(|name| !name.is_empty())).collect();
                (good.len() < names.len()).then(|| ("requiredCapabilities", json!(good)))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "bad-cursor-is-zero",
            "A cursor that cannot be read counts as none.",
            &["HR-REPLAY-8", "HR-REPLAY-9", "HR-REPLAY-10", "HR-STREAM-17"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.requests.cursor, applied, |reference, applied| {
                Arc::new(move |after| {
                    reference(after).or_else(|_| {
                        applied.count();
                        Ok(0)
                    })
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "cursor-rounded-down", "A cursor with a fraction is rounded down.", &["HR-REPLAY-9", "HR-STREAM-17"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.requests.cursor, applied, |reference, applied| {
                Arc::new(move |after| {
                    let whole = after.and_then(|after| after.split_once('.')).map(|(whole, _)| whole);
                    applied.count_if(whole.is_some());
                    reference(whole.or(after))
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "approval-as-text",
            "`approved` may be a text: \"yes\" and \"true\" approve, others do not.",
            &["HR-ACTION-26"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.requests.response, applied, |reference, applied| {
                Arc::new(move |body| match body.get("approved") {
                    Some(Value::String(said)) => {
                        applied.count();
                        let mut body = body.clone();
                        body["approved"] = json!(said == "yes" || said == "true");
                        reference(&body)
                    }
                    _ => reference(body),
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "response-may-not-be-empty", "A response must say `approved` or `value`.", &["HR-ACTION-30", "HR-ACTION-36"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.requests.response, applied, |reference, applied| {
                Arc::new(move |body| match reference(body) {
                    Ok(Response { approved: None, value: None, .. }) => {
                        applied.count();
                        Err(Problem::validation("Invalid action response"))
                    }
                    read => read,
                })
            });
        },
    },
];

fn key(blueprint: &mut Blueprint, applied: &Applied, decide: fn(&str, bool) -> bool) {
    wrap(&mut blueprint.rules.requests.key_fits, applied, |reference, applied| {
        Arc::new(move |key| applied.instead_of(&reference(key), decide(key, reference(key))))
    });
}

fn reason(blueprint: &mut Blueprint, applied: &Applied, decide: fn(&str, bool) -> bool) {
    wrap(&mut blueprint.rules.requests.reason_fits, applied, |reference, applied| {
        Arc::new(move |reason| applied.instead_of(&reference(reason), decide(reason, reference(reason))))
    });
}

/// Reads a start request after one member was replaced by what `replace` says.
fn mend(blueprint: &mut Blueprint, applied: &Applied, replace: fn(&Value) -> Option<(&'static str, Value)>) {
    wrap(&mut blueprint.rules.requests.start, applied, |reference, applied| {
        Arc::new(move |requests, body, text| match replace(body) {
            None => reference(requests, body, text),
            Some((name, value)) => {
                applied.count();
                let mut body = body.clone();
                body[name] = value;
                reference(requests, &body, text)
            }
        })
    });
}
