//! Ends that come apart: state and event, or two ends of one run.

use super::{
    DefectKind::{Race, Rule},
    Entry, defect, hold, milliseconds, wrap,
};
use crate::harness_runtime::json::object;
use crate::harness_runtime::machine::{Change, Step};
use crate::harness_runtime::model::event;
use crate::harness_runtime::seams::Moment;
use serde_json::json;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Race,
            "state-before-event",
            "The state of a run that failed can be read before run.failed is recorded.",
            &["HR-EVENT-9"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.seams.step, applied, |reference, applied| {
                Arc::new(move |moment, changes| {
                    let event = changes.iter().position(|change| matches!(change, Change::Event(event) if event.kind == event::FAILED));
                    match event {
                        Some(before) if moment == Moment::End => {
                            applied.count();
                            vec![hold(before, milliseconds(40))]
                        }
                        _ => reference(moment, changes),
                    }
                })
            });
        },
    },
    Entry {
        defect: defect(
            Race,
            "end-decided-then-written",
            "Between the decision that a run has succeeded and its record a cancellation can come through.",
            &["HR-EVENT-9", "HR-EXEC-18"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.seams.step, applied, |reference, applied| {
                Arc::new(move |moment, changes| {
                    if moment != Moment::End || changes.is_empty() {
                        return reference(moment, changes);
                    }
                    applied.count();
                    vec![hold(0, milliseconds(25))]
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "failure-while-waiting-missed",
            "A provider that fails while an action is pending leaves its execution waiting.",
            &["HR-EXEC-22"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.decisions.end, applied, |reference, applied| {
                Arc::new(move |situation, ending| {
                    let waits = situation.store.execution(&ending.execution_id).is_some_and(|execution| execution.state.is_awaiting());
                    if applied.count_if(waits && ending.result.is_err()) { Step::unchanged(()) } else { reference(situation, ending) }
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "final-text-of-cancelled", "A cancelled run is closed with output.text.done.", &["HR-EVENT-24"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.outcome.cancelled, applied, |reference, applied| {
                Arc::new(move |reason, cleanup_error| {
                    applied.count();
                    let mut occurrences = vec![(event::DONE, object([("text", json!(""))]))];
                    occurrences.extend(reference(reason, cleanup_error));
                    occurrences
                })
            });
        },
    },
];
