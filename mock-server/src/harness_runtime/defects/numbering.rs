//! Events with wrong numbers, names or owners.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::model::{Event, event};
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(
            Rule,
            "numbers-from-zero",
            "Sequences start at 0, and a cursor is the number of events that were seen.",
            &["HR-EVENT-3", "HR-EVENT-7"],
        ),
        install: |blueprint, applied| {
            number(blueprint, applied, |of_execution, _| of_execution);
            blueprint.rules.replay.follows = Arc::new(|_, after, sequence| sequence >= after);
            blueprint.rules.replay.next_cursor = Arc::new(|after, last| last.map_or(after, |last| last + 1));
        },
    },
    Entry {
        defect: defect(Rule, "numbers-with-gaps", "Every other number is left out.", &["HR-EVENT-7"]),
        install: |blueprint, applied| number(blueprint, applied, |of_execution, _| of_execution * 2 + 1),
    },
    Entry {
        defect: defect(Rule, "numbers-of-all", "Events are numbered over all executions.", &["HR-EVENT-7"]),
        install: |blueprint, applied| number(blueprint, applied, |_, of_all| of_all + 1),
    },
    Entry {
        defect: defect(Rule, "owner-is-the-event", "The executionId of an event is the id of the event.", &["HR-EVENT-2"]),
        install: |blueprint, applied| {
            envelope(blueprint, applied, |event, document| {
                document["executionId"] = json!(event.id);
                true
            });
        },
    },
    Entry {
        defect: defect(Rule, "event-without-id", "Events have no id.", &["HR-EVENT-1"]),
        install: |blueprint, applied| {
            envelope(blueprint, applied, |_, document| document.as_object_mut().is_some_and(|members| members.remove("id").is_some()));
        },
    },
    Entry {
        defect: defect(Rule, "failure-with-own-code", "run.failed carries a code of the provider's own.", &["HR-EVENT-18"]),
        install: |blueprint, applied| data(blueprint, applied, event::FAILED, |data| data["code"] = json!("SCRIPT_FAILED")),
    },
    Entry {
        defect: defect(
            Rule,
            "provider-by-its-name",
            "run.queued and run.started carry a display name instead of the provider's id.",
            &["HR-EVENT-29"],
        ),
        install: |blueprint, applied| {
            for kind in [event::QUEUED, event::STARTED] {
                data(blueprint, applied, kind, |data| data["providerId"] = json!("Provider"));
            }
        },
    },
];

fn number(blueprint: &mut Blueprint, applied: &Applied, number: fn(u64, u64) -> u64) {
    wrap(&mut blueprint.rules.events.sequence, applied, |reference, applied| {
        Arc::new(move |of_execution, of_all| applied.instead_of(&reference(of_execution, of_all), number(of_execution, of_all)))
    });
}

/// Changes the envelopes of events; `change` says whether it did.
fn envelope(blueprint: &mut Blueprint, applied: &Applied, change: fn(&Event, &mut Value) -> bool) {
    wrap(&mut blueprint.rules.views.event, applied, |reference, applied| {
        Arc::new(move |views, event| {
            let mut document = reference(views, event);
            applied.count_if(change(event, &mut document));
            document
        })
    });
}

/// Changes the data with which events of one type are recorded.
fn data(blueprint: &mut Blueprint, applied: &Applied, kind: &'static str, change: fn(&mut Value)) {
    wrap(&mut blueprint.rules.events.appended, applied, |reference, applied| {
        Arc::new(move |mut event| {
            if event.kind == kind {
                let mut data = Value::Object(std::mem::take(&mut event.data));
                change(&mut data);
                event.data = data.as_object().cloned().unwrap_or_default();
                applied.count();
            }
            reference(event)
        })
    });
}
