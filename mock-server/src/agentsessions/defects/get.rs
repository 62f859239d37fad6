//! What a read shows, and when.

use super::DefectKind::{Race, Rule};
use super::{Entry, defect};
use crate::agentsessions::rules::{Projection, Refusal, Shown};
use proofmark_schema::agentsessions::v1::{ExecState, Session};
use std::sync::Arc;
use std::time::Duration;

/// Longer than any client waits between a reply and its next call.
const FLUSH: Duration = Duration::from_mins(1);

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Race, "stored-after-the-reply", "A new session is answered first and stored with the next flush.", &["AS-GET-1"]),
        install: |blueprint, applied| {
            let applied = applied.clone();
            blueprint.seams.stored_late_by = Arc::new(move || {
                applied.count();
                FLUSH
            });
        },
    },
    Entry {
        defect: defect(Rule, "empty-uid-is-looked-up", "An empty uid is looked up like any other and not found.", &["AS-GET-2"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.uid_fault), applied.clone());
            blueprint.rules.uid_fault = Arc::new(move |uid| applied.instead_of(&reference(uid), None));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "unknown-uid-is-an-empty-session",
            "A uid that was never given out is answered with an empty session.",
            &["AS-GET-3"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.unknown_session), applied.clone());
            blueprint.rules.unknown_session = Arc::new(move |uid| applied.instead_of(&reference(uid), Ok(Session::default())));
        },
    },
    Entry {
        defect: defect(Rule, "unknown-uid-is-invalid", "A uid that was never given out is called a malformed one.", &["AS-GET-3"]),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.unknown_session), applied.clone());
            blueprint.rules.unknown_session =
                Arc::new(move |uid| applied.instead_of(&reference(uid), Err(Refusal::InvalidArgument("malformed uid".to_owned()))));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "fresh-session-is-completed",
            "A session without events reports the state that other histories fall back to.",
            &["AS-STATE-1"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.projection), applied.clone());
            blueprint.rules.projection = Arc::new(move |shown, history| {
                let state = reference(shown, history);
                applied.instead_of(&state, Projection { exec_state: ExecState::ExecCompleted, ..state.clone() })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "no-approval-is-an-empty-one",
            "Where no approval is pending an empty reference is shown instead of none.",
            &["AS-STATE-2"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.projection), applied.clone());
            blueprint.rules.projection = Arc::new(move |shown, history| {
                let state = reference(shown, history);
                let pending_approval = Some(state.pending_approval.clone().unwrap_or_default());
                applied.instead_of(&state, Projection { pending_approval, ..state.clone() })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "reads-count-the-creation",
            "A read counts the creation as an event, and the reply to the creation does not.",
            &["AS-STATE-1"],
        ),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.rules.projection), applied.clone());
            blueprint.rules.projection = Arc::new(move |shown, history| {
                let state = reference(shown, history);
                let last_seq = state.last_seq + i64::from(shown == Shown::Read);
                applied.instead_of(&state, Projection { last_seq, ..state.clone() })
            });
        },
    },
];
