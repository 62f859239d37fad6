//! Cursors that select too much, too little, or nothing at all.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::model::event;
use crate::harness_runtime::rules::replay::Reader;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "cursor-inclusive", "A read after N starts with event N.", &["HR-REPLAY-3"]),
        install: |blueprint, applied| follows(blueprint, applied, |_, after, sequence| sequence >= after),
    },
    Entry {
        defect: defect(
            Rule,
            "cursor-skips-one",
            "A read after N, N being at least 1, starts with event N + 2.",
            &["HR-REPLAY-3", "HR-REPLAY-18"],
        ),
        install: |blueprint, applied| {
            follows(blueprint, applied, |_, after, sequence| sequence > after + u64::from(after > 0));
        },
    },
    Entry {
        defect: defect(Rule, "list-ignores-cursor", "A list always shows the whole history.", &["HR-REPLAY-3"]),
        install: |blueprint, applied| {
            follows(blueprint, applied, |reader, after, sequence| reader == Reader::List || sequence > after);
        },
    },
    Entry {
        defect: defect(Rule, "stream-ignores-cursor", "A stream always starts at the first event.", &["HR-REPLAY-3"]),
        install: |blueprint, applied| {
            follows(blueprint, applied, |reader, after, sequence| reader == Reader::Stream || sequence > after);
        },
    },
    Entry {
        defect: defect(
            Rule,
            "list-ends-at-100",
            "A list has at most 100 events, and nothing says that there are more.",
            &["HR-EVENT-9", "HR-REPLAY-3"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.replay.listed, applied, |reference, applied| {
                Arc::new(move |execution, events| {
                    let mut events = reference(execution, events);
                    applied.count_if(events.len() > 100);
                    events.truncate(100);
                    events
                })
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "list-drops-old-deltas",
            "Once an execution has ended its deltas are dropped from the list, since the final text has it all.",
            &["HR-EVENT-7", "HR-EVENT-8"],
        ),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.replay.listed, applied, |reference, applied| {
                Arc::new(move |execution, events| {
                    let mut events = reference(execution, events);
                    let before = events.len();
                    events.retain(|event| !execution.state.is_terminal() || event.kind != event::DELTA);
                    applied.count_if(events.len() < before);
                    events
                })
            });
        },
    },
    Entry {
        defect: defect(Rule, "next-cursor-ahead", "nextCursor is the number of the event that comes next.", &["HR-REPLAY-6"]),
        install: |blueprint, applied| {
            wrap(&mut blueprint.rules.replay.next_cursor, applied, |reference, applied| {
                Arc::new(move |after, last| applied.instead_of(&reference(after, last), reference(after, last) + 1))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "list-without-cursor-is-news",
            "A list without a cursor leaves out the first event, which everyone knows.",
            &["HR-EVENT-7", "HR-EVENT-8", "HR-REPLAY-3", "HR-REPLAY-4"],
        ),
        install: |blueprint, applied| {
            // What stands for a cursor that is missing.
            const NONE: u64 = u64::MAX;
            wrap(&mut blueprint.rules.requests.cursor, applied, |reference, _| {
                Arc::new(move |after| if after.is_none() { Ok(NONE) } else { reference(after) })
            });
            wrap(&mut blueprint.rules.replay.follows, applied, |reference, applied| {
                Arc::new(move |reader, after, sequence| match (reader, after) {
                    (Reader::List, NONE) => !applied.count_if(sequence == 1),
                    (Reader::Stream, NONE) => true,
                    _ => reference(reader, after, sequence),
                })
            });
            wrap(&mut blueprint.rules.replay.next_cursor, applied, |reference, _| {
                Arc::new(move |after, last| reference(if after == NONE { 0 } else { after }, last))
            });
        },
    },
];

fn follows(blueprint: &mut Blueprint, applied: &Applied, follows: fn(Reader, u64, u64) -> bool) {
    wrap(&mut blueprint.rules.replay.follows, applied, |reference, applied| {
        Arc::new(move |reader, after, sequence| applied.instead_of(&reference(reader, after, sequence), follows(reader, after, sequence)))
    });
}
