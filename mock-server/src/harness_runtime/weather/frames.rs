//! Event streams that are spelled in other legal ways.

use super::{Entry, weather, wrap};
use crate::weather::lines;
use std::sync::Arc;

pub(super) static WEATHERS: &[Entry] = &[
    Entry {
        weather: weather("no-event-field", "A frame has data and nothing else."),
        install: |blueprint, applied| {
            lines(blueprint, applied, |line| {
                let other = line.starts_with("event:") || line.starts_with("id:");
                if other { Vec::new() } else { vec![line.to_owned()] }
            });
        },
    },
    Entry {
        weather: weather("duplicate-at-seam", "The last event of the backlog comes once more when a stream goes live."),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.streaming.live_from, applied, |reference, applied| {
                Arc::new(move |progress| {
                    let position = reference(progress);
                    let sequence = position.checked_sub(1).and(u64::try_from(position).ok());
                    let repeats = applied.count_if(sequence.is_some_and(|sequence| sequence > progress.after));
                    position - usize::from(repeats)
                })
            });
        },
    },
];
