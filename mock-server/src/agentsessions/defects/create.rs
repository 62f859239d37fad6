//! What is kept of a new session, and which ones are refused.

use super::DefectKind::Rule;
use super::{Entry, defect};
use crate::agentsessions::rules::{Projection, Refusal};
use proofmark_schema::agentsessions::v1::{ComputeState, Session};
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
    Entry {
        defect: defect(
            Rule,
            "description-is-forgotten",
            "Of what a caller says of a session only annotations and identity are stored.",
            &["AS-CREATE-4", "AS-CREATE-5", "AS-CREATE-6", "AS-CREATE-8"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.described), applied.clone());
            blueprint.rules.described = Arc::new(move |asked| {
                let described = reference(asked);
                let Session { harness, annotations, identity, .. } = described.clone();
                applied.instead_of(&described, Session { harness, annotations, identity, ..Session::default() })
            });
        },
    },
    Entry {
        defect: defect(Rule, "no-default-project", "A session that names no project is in none.", &["AS-CREATE-10"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.project), applied.clone());
            blueprint.rules.project = Arc::new(move |asked| applied.instead_of(&reference(asked), asked.to_owned()));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "default-harness-renamed",
            "A harness that a session asks for by its name is shown by its address.",
            &["AS-CREATE-15"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.harness), applied.clone());
            blueprint.rules.harness = Arc::new(move |asked| {
                let named = reference(asked);
                let address = if asked.is_empty() { named.clone() } else { format!("harness://{asked}") };
                applied.instead_of(&named, address)
            });
            let known = Arc::clone(&blueprint.rules.harness_fault);
            blueprint.rules.harness_fault = Arc::new(move |name| known(name.strip_prefix("harness://").unwrap_or(name)));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "born-live-and-undated",
            "A new session says that it computes, and not since when it is there.",
            &["AS-CREATE-13", "AS-CREATE-14"],
        ),
        install: |blueprint, applied| {
            let (reference, counted) = (Arc::clone(&blueprint.rules.projection), applied.clone());
            blueprint.rules.projection = Arc::new(move |shown, history| {
                let state = reference(shown, history);
                counted.instead_of(&state, Projection { compute_state: ComputeState::ComputeLive, ..state.clone() })
            });
            blueprint.rules.created = Arc::new(|_| None);
        },
    },
    Entry {
        defect: defect(Rule, "nothing-to-describe-is-invalid", "A request to create a session has to describe one.", &["AS-CREATE-1"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.description_fault), applied.clone());
            blueprint.rules.description_fault = Arc::new(move |described| {
                let missing = applied.count_if(!described);
                if missing { Some(Refusal::InvalidArgument("session is required".to_owned())) } else { reference(described) }
            });
        },
    },
    Entry {
        defect: defect(Rule, "uid-from-the-name", "The uid of a session with a name is made of the name.", &["AS-CREATE-2"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.uid), applied.clone());
            blueprint.rules.uid = Arc::new(move |minted, name| {
                let minted = reference(minted, name);
                let made = if name.is_empty() { minted.clone() } else { format!("sess-{name}") };
                applied.instead_of(&minted, made)
            });
        },
    },
];
