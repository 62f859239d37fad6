//! Documents that say the same in other words: more members, other ids, times, messages, another order.

use super::{Entry, weather, wrap};
use crate::harness_runtime::machine::IdKind;
use crate::harness_runtime::model::event;
use crate::harness_runtime::wire::Document;
use crate::random::mix;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::sync::Arc;

pub(super) static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("extra-members", "Every body and every event has members that the contract does not know."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.document, applied, |reference, applied| {
                Arc::new(move |kind, document| {
                    applied.count();
                    let mut document = reference(kind, document);
                    extend(kind, &mut document);
                    document
                })
            });
        },
    },
    Entry {
        weather: weather("other-ids", "Ids have other forms, with `-`, `.` and `~` in them, and events have ids of their own."),
        install: |blueprint, applied| {
            let applied = applied.clone();
            blueprint.ids = Arc::new(move |kind| {
                applied.count();
                let id = uuid::Uuid::new_v4();
                match kind {
                    IdKind::Conversation => id.to_string(),
                    IdKind::Execution => format!("01{}~.-_", id.simple().to_string().to_uppercase()),
                    IdKind::Action => format!("q.{}", id.as_u128() % 1_000_000_000_000),
                }
            });
            blueprint.rules.events.id = Arc::new(|execution_id, sequence| {
                let seed = execution_id.bytes().fold(sequence, |seed, byte| mix(seed ^ u64::from(byte)));
                format!("{seed:016x}")
            });
        },
    },
    Entry {
        weather: weather("other-times", "Times have no fraction, or a short one, or one of nanoseconds."),
        install: |blueprint, applied| {
            let clock = Arc::clone(&blueprint.clock);
            blueprint.clock = Arc::new(move || coarse(clock()));
            wrap(&mut blueprint.rules.views.time, applied, |_reference, applied| {
                Arc::new(move |instant| {
                    applied.count();
                    spelled(instant)
                })
            });
        },
    },
    Entry {
        weather: weather("other-messages", "Problems are told in other words."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.wire.problem, applied, |reference, applied| {
                Arc::new(move |problem| {
                    applied.count();
                    let (status, mut body) = reference(problem);
                    body["message"] = json!("Das geht so nicht \u{2013} \u{8ACB}\u{518D}\u{8A66}\u{4E00}\u{6B21}.");
                    (status, body)
                })
            });
        },
    },
];

/// Adds members to a document and to the documents in it. What a caller or a provider gave stays as it was given.
fn extend(kind: Document, document: &mut Value) {
    add(document);
    match kind {
        Document::Description | Document::Capabilities => each(document, "providers", add),
        Document::ArtifactList => each(document, "artifacts", add),
        Document::EventList => each(document, "events", |event| {
            add(event);
            extend_data(event);
        }),
        Document::Event => extend_data(document),
        Document::Execution => document.get_mut("error").into_iter().for_each(add),
        Document::Problem => document.get_mut("details").into_iter().for_each(add),
        Document::Health | Document::Conversation => {}
    }
}

fn extend_data(event: &mut Value) {
    if event["type"] != event::PROVIDER_EVENT {
        add(&mut event["data"]);
    }
}

fn each(document: &mut Value, list: &str, change: impl FnMut(&mut Value)) {
    document.get_mut(list).and_then(Value::as_array_mut).into_iter().flatten().for_each(change);
}

fn add(document: &mut Value) {
    if let Some(members) = document.as_object_mut() {
        members.insert("x-vendor".to_owned(), json!({ "note": "na\u{EF}ve \u{2603} \u{1F600}", "list": [1.5, true, "\r\n"] }));
        members.insert("Sequence".to_owned(), json!(-1));
    }
}

/// Quarters of a second, so that fractions come in several lengths.
fn coarse(instant: Timestamp) -> Timestamp {
    let millisecond = instant.as_millisecond();
    Timestamp::from_millisecond(millisecond - millisecond.rem_euclid(250)).unwrap_or(instant)
}

/// One spelling for one instant, however often it is told.
fn spelled(instant: Timestamp) -> String {
    let seconds = instant.strftime("%Y-%m-%dT%H:%M:%S");
    match (instant.subsec_millisecond(), instant.as_second() % 2) {
        (0, 0) => format!("{seconds}Z"),
        (millisecond, 1) => format!("{seconds}.{millisecond:03}000000Z"),
        (millisecond, _) => format!("{seconds}.{}Z", format!("{millisecond:03}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_spelled_in_several_ways() {
        let spell = |millisecond| spelled(coarse(Timestamp::from_millisecond(millisecond).expect("an instant")));
        assert_eq!(spell(100), "1970-01-01T00:00:00Z");
        assert_eq!(spell(260), "1970-01-01T00:00:00.25Z");
        assert_eq!(spell(1500), "1970-01-01T00:00:01.500000000Z");
        assert_eq!(spell(1000), "1970-01-01T00:00:01.000000000Z");
    }
}
