//! Other answers to what the texts leave open.

use super::{Entry, weather, wrap};
use crate::harness_runtime::machine::Step;
use crate::harness_runtime::model::StartRequest;
use crate::harness_runtime::problem::Code;
use std::sync::Arc;

pub(super) static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("key-per-conversation", "A key belongs to its conversation: in another one it is free."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.idempotency.filed_under, applied, |reference, applied| {
                Arc::new(move |request| {
                    let key = reference(request)?;
                    applied.count();
                    Some(format!("{} {key}", request.conversation_id))
                })
            });
        },
    },
    Entry {
        weather: weather("conflict-first", "A used key with a different request is a conflict before anything else is checked."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.start, applied, |reference, applied| {
                Arc::new(move |situation, request| {
                    let step = reference(situation, request);
                    let refused = matches!(&step.answer, Err(problem) if problem.code != Code::IdempotencyConflict);
                    let key = (situation.rules.idempotency.filed_under)(request).filter(|_| refused);
                    let Some(used) = key.and_then(|key| situation.store.key(&key)) else { return step };
                    applied.count();
                    let passing = StartRequest {
                        idempotency_key: request.idempotency_key.clone(),
                        input: format!("not {}", used.request.input),
                        ..used.request.clone()
                    };
                    Step::unchanged(reference(situation, &passing).answer)
                })
            });
        },
    },
];
