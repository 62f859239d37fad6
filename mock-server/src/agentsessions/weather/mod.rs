//! Weather: what a correct host may do, and a client has to stand.

mod metadata;

use super::Blueprint;
use crate::catalogue::Weather;
use std::sync::Arc;

/// A weather and how it gets into a blueprint.
pub(crate) type Entry = crate::weather::Entry<Blueprint>;

/// Every weather of the contract.
pub(crate) fn all() -> impl Iterator<Item = &'static Entry> {
    [WEATHERS, metadata::WEATHERS].into_iter().flatten()
}

const fn weather(name: &'static str, about: &'static str) -> Weather {
    Weather { contract: super::CONTRACT, name, about }
}

static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("other-uids", "Session uids have another form."),
        install: |blueprint, applied| {
            let applied = applied.clone();
            blueprint.uids = Arc::new(move || {
                applied.count();
                format!("urn:uuid:{}~\u{e9}", uuid::Uuid::new_v4().hyphenated())
            });
        },
    },
    Entry {
        weather: weather("other-defaults", "The host's project and harness have other names."),
        install: |blueprint, applied| {
            const NAME: &str = "H\u{e4}uschen/2";
            let (reference, counted) = (Arc::clone(&blueprint.rules.project), applied.clone());
            blueprint.rules.project =
                Arc::new(move |asked| if counted.count_if(asked.is_empty()) { NAME.to_owned() } else { reference(asked) });
            let (reference, counted) = (Arc::clone(&blueprint.rules.harness), applied.clone());
            blueprint.rules.harness =
                Arc::new(move |asked| if counted.count_if(asked.is_empty()) { NAME.to_owned() } else { reference(asked) });
            let reference = Arc::clone(&blueprint.rules.harness_fault);
            blueprint.rules.harness_fault = Arc::new(move |name| if name == NAME { None } else { reference(name) });
        },
    },
    Entry {
        weather: weather("whole-seconds", "The host's clock has seconds and nothing finer."),
        install: |blueprint, applied| {
            let (reference, applied) = (Arc::clone(&blueprint.clock), applied.clone());
            blueprint.clock = Arc::new(move || {
                applied.count();
                jiff::Timestamp::from_second(reference().as_second()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
            });
        },
    },
    Entry {
        weather: weather("split-writes", "The bytes of the connection come in pieces of a few."),
        install: |blueprint, applied| {
            let (dice, applied) = (Arc::clone(&blueprint.dice), applied.clone());
            blueprint.wire.stride = Arc::new(move || {
                applied.count();
                usize::try_from(1 + dice.below(7)).ok()
            });
        },
    },
];
