//! What is kept of a new session, and which ones are refused.

use super::DefectKind::Rule;
use super::{Entry, defect};
use crate::agentsessions::rules::Refusal;
use proofmark_schema::agentsessions::v1::Session;
use std::collections::BTreeMap;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "names-are-unique",
            "A name that another session carries is refused, as if names were identities.",
            &["AS-CREATE-3"],
        ),
        install: |blueprint, applied| {
            let applied = applied.clone();
            blueprint.rules.name_fault = Arc::new(move |name, taken| {
                let clash = applied.count_if(taken && !name.is_empty());
                clash.then(|| Refusal::AlreadyExists(format!("a session named {name:?} exists")))
            });
        },
    },
    Entry {
        defect: defect(Rule, "annotations-are-forgotten", "Annotations of a new session are not stored.", &["AS-CREATE-7"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.described), applied.clone());
            blueprint.rules.described = Arc::new(move |asked| {
                let described = reference(asked);
                applied.instead_of(&described, Session { annotations: BTreeMap::new(), ..described.clone() })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "identity-is-forgotten",
            "On whose behalf a session was created is checked and then not recorded.",
            &["AS-CREATE-9"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.described), applied.clone());
            blueprint.rules.described = Arc::new(move |asked| {
                let described = reference(asked);
                applied.instead_of(&described, Session { identity: None, ..described.clone() })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "default-harness-is-not-stored",
            "The default harness is looked up when a turn starts, so a session shows none.",
            &["AS-CREATE-11"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.harness), applied.clone());
            blueprint.rules.harness = Arc::new(move |asked| applied.instead_of(&reference(asked), asked.to_owned()));
            let known = Arc::clone(&blueprint.rules.harness_fault);
            blueprint.rules.harness_fault = Arc::new(move |name| if name.is_empty() { None } else { known(name) });
        },
    },
    Entry {
        defect: defect(Rule, "any-harness-is-accepted", "The harness is not looked up before the first turn.", &["AS-CREATE-12"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.harness_fault), applied.clone());
            blueprint.rules.harness_fault = Arc::new(move |name| applied.instead_of(&reference(name), None));
        },
    },
];
