//! Keys that mean too much or too little.

use super::{DefectKind::Rule, Entry, defect};
use crate::harness_runtime::model::StartRequest;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[Entry {
    defect: defect(Rule, "key-ignores-input", "Two requests with one key and different inputs count as the same.", &[]),
    install: |blueprint, applied| {
        let (reference, applied) = (Arc::clone(&blueprint.rules.idempotency.equivalent), applied.clone());
        blueprint.rules.idempotency.equivalent = Arc::new(move |known, again| {
            let again = StartRequest { input: known.input.clone(), ..again.clone() };
            applied.instead_of(&reference(known, &again), reference(known, &again))
        });
    },
}];
