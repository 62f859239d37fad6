//! Documents that say the same in other words: more members, other ids, times, messages.

use super::{Entry, weather, wrap};
use crate::model_runtime::wire::Document;
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
        weather: weather("other-ids", "Ids have other forms, with `-`, `.` and `~` in them."),
        install: |blueprint, applied| {
            let applied = applied.clone();
            blueprint.ids = Arc::new(move || {
                applied.count();
                format!("01{}~.-_", uuid::Uuid::new_v4().simple().to_string().to_uppercase())
            });
        },
    },
    Entry {
        weather: weather("other-times", "Times have a fraction of another length, or none, or end in an offset of zero."),
        install: |blueprint, applied| {
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
                    body["error"]["message"] = json!("Das geht so nicht \u{2013} \u{8ACB}\u{518D}\u{8A66}\u{4E00}\u{6B21}.");
                    (status, body)
                })
            });
        },
    },
];

/// Adds members to a document and to the documents in it. What a provider gave stays as it was given.
fn extend(kind: Document, document: &mut Value) {
    add(document);
    match kind {
        Document::Providers => {
            for manifest in document["data"].as_array_mut().into_iter().flatten() {
                add(manifest);
                manifest["models"].as_array_mut().into_iter().flatten().for_each(add);
            }
        }
        Document::Snapshot | Document::Result | Document::NoResult | Document::Event | Document::Problem => {
            document.get_mut("error").into_iter().for_each(add);
            document.get_mut("target").into_iter().for_each(add);
        }
        Document::Runtime => document.get_mut("features").into_iter().for_each(add),
        Document::Submission | Document::Cancellation => {}
    }
}

fn add(document: &mut Value) {
    if let Some(members) = document.as_object_mut() {
        members.insert("x-vendor".to_owned(), json!({ "note": "na\u{EF}ve \u{2603} \u{1F600}", "list": [1.5, true, "\r\n"] }));
        members.insert("Sequence".to_owned(), json!(-1));
    }
}

/// One spelling for one instant, however often it is told.
fn spelled(instant: Timestamp) -> String {
    let seconds = instant.strftime("%Y-%m-%dT%H:%M:%S");
    match (instant.subsec_millisecond(), instant.as_second() % 2) {
        (0, 0) => format!("{seconds}Z"),
        (millisecond, 1) => format!("{seconds}.{millisecond:03}000+00:00"),
        (millisecond, _) => format!("{seconds}.{}Z", format!("{millisecond:03}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_are_spelled_in_several_ways() {
        let spell = |millisecond| spelled(Timestamp::from_millisecond(millisecond).expect("an instant"));
        assert_eq!(spell(0), "1970-01-01T00:00:00Z");
        assert_eq!(spell(250), "1970-01-01T00:00:00.25Z");
        assert_eq!(spell(1500), "1970-01-01T00:00:01.500000+00:00");
    }
}
