//! Cursors that are read or applied wrongly.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::model_runtime::Blueprint;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    rule(
        "cursor-inclusive",
        "A stream after a cursor begins with the event of that number.",
        &["MR-CURSOR-1", "MR-CURSOR-2", "MR-CURSOR-3", "MR-CURSOR-4", "MR-CURSOR-6", "MR-CURSOR-15"],
        |b, a| {
            wrap(&mut b.rules.replay.follows, a, |reference, applied| {
                Arc::new(move |after, sequence| applied.instead_of(&reference(after, sequence), sequence >= after))
            });
        },
    ),
    rule(
        "cursor-skips-one",
        "A stream after a cursor leaves out the first event.",
        &["MR-CURSOR-1", "MR-CURSOR-2", "MR-CURSOR-3", "MR-CURSOR-4", "MR-STREAM-7", "MR-STREAM-23"],
        |b, a| {
            wrap(&mut b.rules.replay.follows, a, |reference, applied| {
                Arc::new(move |after, sequence| applied.instead_of(&reference(after, sequence), sequence > after + u64::from(after > 0)))
            });
        },
    ),
    rule(
        "last-event-id-ignored",
        "Last-Event-ID is not looked at.",
        &["MR-CURSOR-1", "MR-CURSOR-3", "MR-CURSOR-4", "MR-CURSOR-6", "MR-CURSOR-12", "MR-CURSOR-13", "MR-CURSOR-14"],
        |b, a| cursor(b, a, |after, _| (after, None)),
    ),
    rule(
        "after-ignored",
        "The query parameter after is not looked at.",
        &[
            "MR-CURSOR-1",
            "MR-CURSOR-2",
            "MR-CURSOR-4",
            "MR-CURSOR-6",
            "MR-CURSOR-7",
            "MR-CURSOR-8",
            "MR-CURSOR-9",
            "MR-CURSOR-10",
            "MR-CURSOR-11",
            "MR-CURSOR-15",
        ],
        |b, a| cursor(b, a, |_, header| (None, header)),
    ),
    rule("header-wins", "When both cursors are given, Last-Event-ID counts.", &["MR-CURSOR-8"], |b, a| {
        cursor(b, a, |after, header| if header.is_some() { (header, None) } else { (after, None) });
    }),
    rule(
        "bad-cursor-is-zero",
        "A cursor that cannot be read counts as none.",
        &["MR-CURSOR-9", "MR-CURSOR-10", "MR-CURSOR-11", "MR-CURSOR-12", "MR-CURSOR-13", "MR-CURSOR-14"],
        |b, a| {
            wrap(&mut b.rules.requests.cursor, a, |reference, applied| {
                Arc::new(move |after, header| {
                    reference(after, header).or_else(|_| {
                        applied.count();
                        Ok(0)
                    })
                })
            });
        },
    ),
    rule("cursor-rounded-down", "A cursor with a fraction is rounded down.", &["MR-CURSOR-10", "MR-CURSOR-13"], |b, a| {
        cursor(b, a, |after, header| (after.map(whole), header.map(whole)));
    }),
    rule("cursor-sign-ignored", "The sign of a cursor is not looked at.", &["MR-CURSOR-9", "MR-CURSOR-12"], |b, a| {
        cursor(b, a, |after, header| (after.map(unsigned), header.map(unsigned)));
    }),
    rule("cursor-of-zero-is-one", "A cursor of 0 is taken as 1.", &["MR-CURSOR-1", "MR-CURSOR-4", "MR-CURSOR-5"], |b, a| {
        cursor(b, a, |after, header| (after.map(counted), header.map(counted)));
    }),
];

type Cursors<'a> = (Option<&'a str>, Option<&'a str>);

/// Reads other cursors than were given.
fn cursor(blueprint: &mut Blueprint, applied: &Applied, change: for<'a> fn(Option<&'a str>, Option<&'a str>) -> Cursors<'a>) {
    wrap(&mut blueprint.rules.requests.cursor, applied, |reference, applied| {
        Arc::new(move |after, header| {
            let right = reference(after, header);
            let (other_after, other_header) = change(after, header);
            applied.instead_of(&right, reference(other_after, other_header))
        })
    });
}

fn whole(text: &str) -> &str {
    text.split_once('.').map_or(text, |(whole, _)| whole)
}

fn unsigned(text: &str) -> &str {
    text.strip_prefix('-').unwrap_or(text)
}

fn counted(text: &str) -> &str {
    if text == "0" { "1" } else { text }
}
