//! Executions that begin later.

use super::{Entry, weather, wrap};
use std::sync::Arc;
use std::time::Duration;

pub(super) static WEATHERS: &[Entry] = &[Entry {
    weather: weather("slow-start", "An execution stays queued for some milliseconds before its provider begins."),
    install: |blueprint, applied| {
        let dice = Arc::clone(&blueprint.dice);
        wrap(&mut blueprint.seams.begin, applied, |_reference, applied| {
            Arc::new(move || {
                applied.count();
                Some(Duration::from_millis(5 + dice.below(20)))
            })
        });
    },
}];
