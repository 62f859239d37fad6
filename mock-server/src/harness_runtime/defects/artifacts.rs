//! Artifacts that should not be, are nowhere listed, or belong to someone else.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::machine::Change;
use crate::harness_runtime::model::{State, event};
use serde_json::json;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "duplicate-artifact-kept",
            "Nobody looks whether an artifact of that id exists.",
            &["HR-ART-9", "HR-ART-15", "HR-ART-16"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.artifacts.taken, applied, |reference, applied| {
                Arc::new(move |store, execution_id, artifact_id| applied.instead_of(&reference(store, execution_id, artifact_id), false))
            });
        },
    },
    Entry {
        defect: defect(Rule, "bad-artifact-mended", "A descriptor without mediaType gets a general one.", &["HR-ART-13", "HR-ART-14"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.artifacts.descriptor, applied, |reference, applied| {
                Arc::new(move |data| {
                    reference(data).or_else(|_| {
                        applied.count();
                        let mut mended = data.clone();
                        mended.insert("mediaType".to_owned(), json!("application/octet-stream"));
                        reference(&mended)
                    })
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "artifacts-listed-at-the-end", "The list of artifacts is empty until the execution has ended.", &["HR-ART-8"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.artifacts.listed, applied, |reference, applied| {
                Arc::new(move |store, execution| {
                    let mut listed = reference(store, execution);
                    if applied.count_if(!execution.state.is_terminal() && !listed.is_empty()) {
                        listed.clear();
                    }
                    listed
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "bad-artifact-skipped",
            "An invalid or duplicate descriptor is skipped, and the run goes on.",
            &["HR-ART-13", "HR-ART-15"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    if applied.count_if(emission.kind == event::ARTIFACT_CREATED && step.answer.is_err()) {
                        step.answer = Ok(());
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "bad-artifact-recorded",
            "An invalid or duplicate descriptor fails the run after it was announced.",
            &["HR-ART-8", "HR-ART-14", "HR-ART-16"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.emit, applied, |reference, applied| {
                Arc::new(move |situation, emission| {
                    let mut step = reference(situation, emission);
                    let data = emission.data.as_object().filter(|_| emission.kind == event::ARTIFACT_CREATED && step.answer.is_err());
                    if let Some(data) = data {
                        applied.count();
                        let mut data = data.clone();
                        let members = [
                            ("executionId", json!(emission.execution_id)),
                            ("mediaType", json!("application/octet-stream")),
                            ("metadata", json!({})),
                            ("createdAt", json!((situation.rules.views.time)(situation.now))),
                        ];
                        for (name, value) in members {
                            data.entry(name).or_insert(value);
                        }
                        step.changes.push(Change::Event(crate::harness_runtime::machine::NewEvent {
                            execution_id: emission.execution_id.clone(),
                            kind: emission.kind.clone(),
                            time: situation.now,
                            data,
                        }));
                    }
                    step
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "artifacts-by-id", "Artifacts are listed by id.", &["HR-ART-8"]),
        install: |blueprint, applied| {
            listed(blueprint, applied, |_, artifacts| artifacts.sort_by(|left, right| left.id.cmp(&right.id)));
        },
    },
    Entry {
        defect: defect(Rule, "artifacts-of-successes-only", "Of a failed execution no artifacts are listed.", &["HR-ART-8"]),
        install: |blueprint, applied| {
            listed(blueprint, applied, |state, artifacts| {
                if state == State::Failed {
                    artifacts.clear();
                }
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "artifact-not-announced",
            "An artifact without uri is listed, and nothing is said of it in the history.",
            &["HR-ART-8"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
                Arc::new(move |event| {
                    let silent = event.kind == event::ARTIFACT_CREATED && !event.data.contains_key("uri");
                    if applied.count_if(silent) { Vec::new() } else { reference(event) }
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "artifact-announced-bare", "artifact.created leaves the metadata to the list.", &["HR-ART-6"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
                Arc::new(move |mut event| {
                    applied.count_if(event.kind == event::ARTIFACT_CREATED && event.data.remove("metadata").is_some());
                    reference(event)
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "artifact-without-owner", "Artifacts do not name their execution.", &["HR-ART-3"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.views.artifact, applied, |reference, applied| {
                Arc::new(move |views, artifact| {
                    let mut document = reference(views, artifact);
                    applied.count_if(document.remove("executionId").is_some());
                    document
                })
            });
        },
    },
];

/// Changes the list of the artifacts of an execution in some state.
fn listed(blueprint: &mut Blueprint, applied: &Applied, change: fn(State, &mut Vec<crate::harness_runtime::model::Artifact>)) {
    wrap(&mut blueprint.rules.artifacts.listed, applied, |reference, applied| {
        Arc::new(move |store, execution| {
            let right = reference(store, execution);
            let mut changed = right.clone();
            change(execution.state, &mut changed);
            applied.instead_of(&right, changed)
        })
    });
}
