//! Failures that are told with the wrong code, or without what a caller needs.

use super::{Entry, remove, rule, set, spelling, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use crate::model_runtime::problem::{Code, Fault, Problem};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "native-code-replaces-code",
        "The provider's own code stands in the place of the portable one.",
        &["MR-ERR-7", "MR-ERR-9", "MR-ERR-17"],
        |b, a| {
            told(b, a, |fault, document| match &fault.provider_code {
                Some(native) => set(document, "code", json!(native)),
                None => false,
            });
        },
    ),
    rule(
        "native-code-of-what-is-retryable",
        "Where a failure is worth a retry, the provider's own code stands in the place of the portable one.",
        &["MR-ERR-7", "MR-ERR-9", "MR-ERR-17"],
        |b, a| {
            told(b, a, |fault, document| match fault.provider_code.as_ref().filter(|_| fault.retryable) {
                Some(native) => set(document, "code", json!(native)),
                None => false,
            });
        },
    ),
    rule("native-code-is-a-number", "The provider's own code is told as a number where it is one.", &["MR-ERR-8"], |b, a| {
        told(b, a, |fault, document| {
            let number = fault.provider_code.as_ref().and_then(|native| native.parse::<u64>().ok());
            number.is_some_and(|number| set(document, "provider_code", json!(number)))
        });
    }),
    rule("last-failure-is-final", "When the attempts are used up, the failure is said not to be retryable.", &["MR-ERR-16"], |b, a| {
        wrap(&mut b.rules.outcome.last, a, |reference, applied| {
            Arc::new(move |fault, committed| {
                let right = reference(fault, committed);
                applied.instead_of(&right, Fault { retryable: false, ..right.clone() })
            })
        });
    }),
    rule(
        "all-failures-are-unavailable",
        "Whatever a provider fails with, the code is provider_unavailable.",
        &["MR-ERR-17", "MR-USAGE-11", "MR-USAGE-14"],
        |b, a| {
            wrap(&mut b.rules.outcome.last, a, |reference, applied| {
                Arc::new(move |fault, committed| {
                    let right = reference(fault, committed);
                    let provider = !matches!(right.code, Code::Cancelled | Code::CapabilityUnavailable);
                    let code = if provider { Code::ProviderUnavailable } else { right.code };
                    applied.instead_of(&right, Fault { code, ..right.clone() })
                })
            });
        },
    ),
    spelling("refusal-without-message", "A refusal has a code and nothing to read.", &["MR-ERR-1"], |b, a| {
        refused(b, a, |_, body| remove(&mut body["error"], "message"));
    }),
    spelling("refusal-not-nested", "A refusal has its code and message right in the body.", &["MR-ERR-1"], |b, a| {
        refused(b, a, |_, body| {
            *body = body["error"].take();
            true
        });
    }),
    spelling("refusal-without-retryable", "A refusal does not say whether it is retryable.", &["MR-ERR-2"], |b, a| {
        refused(b, a, |problem, body| *problem != Problem::ExecutionNotFound && remove(&mut body["error"], "retryable"));
    }),
    spelling("refusal-is-retryable", "A malformed request is said to be worth another try.", &["MR-ERR-5"], |b, a| {
        refused(b, a, |problem, body| problem.code() == Some(Code::InvalidRequest) && set(&mut body["error"], "retryable", json!(true)));
    }),
    spelling("refusal-by-another-code", "A malformed request has the code bad_request.", &["MR-ERR-4"], |b, a| {
        refused(b, a, |problem, body| {
            problem.code() == Some(Code::InvalidRequest) && set(&mut body["error"], "code", json!("bad_request"))
        });
    }),
    spelling("missing-by-another-code", "What does not exist has the code unknown_execution.", &["MR-ERR-6"], |b, a| {
        refused(b, a, |problem, body| {
            *problem == Problem::ExecutionNotFound && set(&mut body["error"], "code", json!("unknown_execution"))
        });
    }),
];

/// Changes what is told of a fault; `change` says whether it did.
fn told(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Fault, &mut Value) -> bool) {
    wrap(&mut blueprint.rules.outcome.fault, applied, |reference, applied| {
        Arc::new(move |fault| {
            let mut document = reference(fault);
            applied.count_if(change(fault, &mut document));
            document
        })
    });
}

/// Changes the bodies of refusals; `change` says whether it did.
fn refused(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Problem, &mut Value) -> bool) {
    wrap(&mut blueprint.wire.problem, applied, |reference, applied| {
        Arc::new(move |problem| {
            let (status, mut body) = reference(problem);
            applied.count_if(change(problem, &mut body));
            (status, body)
        })
    });
}
