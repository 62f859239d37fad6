//! Envelopes that a provider can write on.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "provider-sets-sequence",
        "A sequence that a provider sets reaches the envelope.",
        &["MR-EVENT-7", "MR-EVENT-35", "MR-EVENT-41"],
        |b, a| {
            let_through(b, a, "sequence");
        },
    ),
    rule("provider-sets-time", "A time that a provider sets reaches the envelope.", &["MR-EVENT-42"], |b, a| {
        let_through(b, a, "time");
    }),
    rule("provider-sets-id", "An execution_id that a provider sets reaches the envelope.", &["MR-EVENT-40", "MR-EVENT-6"], |b, a| {
        let_through(b, a, "execution_id");
    }),
    rule(
        "provider-sets-status",
        "A status that a provider sets reaches the envelope.",
        &["MR-EVENT-13", "MR-EVENT-52", "MR-EXEC-18"],
        |b, a| {
            let_through(b, a, "status");
        },
    ),
    rule("event-without-time", "Events have no time.", &["MR-EVENT-4"], |b, a| without(b, a, "time")),
    rule("event-without-owner", "Events do not say whose they are.", &["MR-EVENT-2"], |b, a| {
        without(b, a, "execution_id");
    }),
    rule("time-with-offset", "Times are those of a place, an hour ahead of UTC.", &["MR-EVENT-4", "MR-EXEC-4", "MR-START-4"], |b, a| {
        wrap(&mut b.rules.views.time, a, |reference, applied| {
            Arc::new(move |instant| {
                applied.count();
                reference(instant + jiff::SignedDuration::from_hours(1)).replace('Z', "+01:00")
            })
        });
    }),
];

fn let_through(blueprint: &mut Blueprint, applied: &Applied, member: &'static str) {
    wrap(&mut blueprint.rules.views.event, applied, |reference, applied| {
        Arc::new(move |views, event| {
            let mut document = reference(views, event);
            if let Some(set) = event.data.get(member) {
                applied.count();
                document[member] = set.clone();
            }
            document
        })
    });
}

fn without(blueprint: &mut Blueprint, applied: &Applied, member: &'static str) {
    wrap(&mut blueprint.rules.views.event, applied, |reference, applied| {
        Arc::new(move |views, event| {
            let mut document = reference(views, event);
            applied.count_if(super::remove(&mut document, member));
            document
        })
    });
}
