//! Bounds that are off, on either side.

use super::{Entry, rule, wrap};
use crate::applied::Applied;
use crate::json::JsonObject;
use crate::model_runtime::Blueprint;
use crate::model_runtime::rules::bounds::Bound;
use crate::model_runtime::rules::requests::Mistake;
use serde_json::Value;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A day, in milliseconds.
const DAY: u64 = 86_400_000;

pub(super) static DEFECTS: &[Entry] = &[
    rule("ability-up-to-255", "An ability may have at most 255 characters.", &["MR-VAL-5"], |b, a| moved(b, a, Bound::Ability, 1..=255)),
    rule("ability-up-to-257", "An ability may have 257 characters.", &["MR-VAL-6"], |b, a| moved(b, a, Bound::Ability, 1..=257)),
    rule("ability-may-be-empty", "An ability may be empty.", &["MR-VAL-3"], |b, a| moved(b, a, Bound::Ability, 0..=256)),
    rule("ability-from-2", "An ability needs two characters.", &["MR-VAL-4"], |b, a| moved(b, a, Bound::Ability, 2..=256)),
    rule("input-up-to-1023", "An input may have at most 1023 parts.", &["MR-VAL-11"], |b, a| moved(b, a, Bound::Parts, 1..=1023)),
    rule("input-up-to-1025", "An input may have 1025 parts.", &["MR-VAL-12"], |b, a| moved(b, a, Bound::Parts, 1..=1025)),
    rule("input-may-be-empty", "An input may have no parts.", &["MR-VAL-10"], |b, a| moved(b, a, Bound::Parts, 0..=1024)),
    rule("uri-up-to-8191", "A uri may have at most 8191 characters.", &["MR-VAL-29"], |b, a| moved(b, a, Bound::Uri, 1..=8191)),
    rule("uri-up-to-8193", "A uri may have 8193 characters.", &["MR-VAL-30"], |b, a| moved(b, a, Bound::Uri, 1..=8193)),
    rule("uri-may-be-empty", "A uri may be empty.", &["MR-VAL-27"], |b, a| moved(b, a, Bound::Uri, 0..=8192)),
    rule("uri-from-2", "A uri needs two characters.", &["MR-VAL-28"], |b, a| moved(b, a, Bound::Uri, 2..=8192)),
    rule("media-type-up-to-255", "A media type may have at most 255 characters.", &["MR-VAL-32"], |b, a| {
        moved(b, a, Bound::MediaType, 0..=255);
    }),
    rule("media-type-up-to-257", "A media type may have 257 characters.", &["MR-VAL-33"], |b, a| moved(b, a, Bound::MediaType, 0..=257)),
    rule("media-type-not-empty", "A media type may not be empty.", &["MR-VAL-34"], |b, a| moved(b, a, Bound::MediaType, 1..=256)),
    rule("attempts-up-to-31", "At most 31 attempts may be asked for.", &["MR-VAL-60"], |b, a| moved(b, a, Bound::Attempts, 1..=31)),
    rule("attempts-up-to-33", "33 attempts may be asked for.", &["MR-VAL-62"], |b, a| moved(b, a, Bound::Attempts, 1..=33)),
    rule("attempts-from-0", "No attempts at all may be asked for.", &["MR-VAL-61"], |b, a| moved(b, a, Bound::Attempts, 0..=32)),
    rule("attempts-from-2", "Two attempts are the least that can be asked for.", &["MR-START-1", "MR-VAL-59"], |b, a| {
        moved(b, a, Bound::Attempts, 2..=32);
    }),
    rule("budget-under-a-day", "A retry budget must be less than a day.", &["MR-VAL-66"], |b, a| {
        moved(b, a, Bound::RetryBudget, 1..=DAY - 1);
    }),
    rule("budget-over-a-day", "A retry budget may be more than a day.", &["MR-VAL-68"], |b, a| {
        moved(b, a, Bound::RetryBudget, 1..=DAY + 1);
    }),
    rule("budget-may-be-0", "A retry budget may be 0.", &["MR-VAL-67"], |b, a| moved(b, a, Bound::RetryBudget, 0..=DAY)),
    rule("budget-from-2", "A retry budget needs two milliseconds.", &["MR-VAL-65"], |b, a| moved(b, a, Bound::RetryBudget, 2..=DAY)),
    rule("deadline-under-a-day", "A deadline must be less than a day.", &["MR-START-1", "MR-VAL-72"], |b, a| {
        moved(b, a, Bound::Deadline, 1..=DAY - 1);
    }),
    rule("deadline-over-a-day", "A deadline may be more than a day.", &["MR-VAL-74"], |b, a| moved(b, a, Bound::Deadline, 1..=DAY + 1)),
    rule("deadline-may-be-0", "A deadline may be 0.", &["MR-VAL-73"], |b, a| {
        moved(b, a, Bound::Deadline, 0..=DAY);
    }),
    rule("deadline-from-2", "A deadline needs two milliseconds.", &["MR-VAL-71"], |b, a| moved(b, a, Bound::Deadline, 2..=DAY)),
    rule("metadata-up-to-63", "Metadata may have at most 63 keys.", &["MR-VAL-80"], |b, a| moved(b, a, Bound::Metadata, 0..=63)),
    rule("metadata-up-to-65", "Metadata may have 65 keys.", &["MR-VAL-81"], |b, a| moved(b, a, Bound::Metadata, 0..=65)),
    rule("metadata-not-empty", "Metadata may not be empty.", &["MR-VAL-78"], |b, a| may_not_be_empty(b, a, "metadata")),
    rule("extensions-up-to-63", "Extensions may have at most 63 keys.", &["MR-VAL-87"], |b, a| moved(b, a, Bound::Extensions, 0..=63)),
    rule("extensions-up-to-65", "Extensions may have 65 keys.", &["MR-VAL-88"], |b, a| moved(b, a, Bound::Extensions, 0..=65)),
    rule("extensions-not-empty", "Extensions may not be empty.", &["MR-VAL-85"], |b, a| may_not_be_empty(b, a, "extensions")),
    rule("key-up-to-255", "A key may have at most 255 characters.", &["MR-IDEM-28", "MR-START-1"], |b, a| moved(b, a, Bound::Key, 1..=255)),
    rule("key-up-to-257", "A key may have 257 characters.", &["MR-IDEM-29"], |b, a| moved(b, a, Bound::Key, 1..=257)),
    rule("key-may-be-empty", "An empty key counts as a key.", &["MR-IDEM-30"], |b, a| moved(b, a, Bound::Key, 0..=256)),
    rule("key-from-2", "A key needs two characters.", &["MR-IDEM-27"], |b, a| moved(b, a, Bound::Key, 2..=256)),
    rule("body-of-any-length", "A body may be as long as it likes.", &["MR-VAL-97"], |b, a| moved(b, a, Bound::Body, 0..=1 << 30)),
];

/// Puts other bounds in the place of those of the contract.
fn moved(blueprint: &mut Blueprint, applied: &Applied, moved: Bound, to: RangeInclusive<u64>) {
    wrap(&mut blueprint.rules.requests.bounds, applied, |reference, applied| {
        Arc::new(move |bound| {
            if bound != moved {
                return reference(bound);
            }
            applied.count();
            to.clone()
        })
    });
}

fn may_not_be_empty(blueprint: &mut Blueprint, applied: &Applied, member: &'static str) {
    wrap(&mut blueprint.rules.requests.request, applied, |reference, applied| {
        Arc::new(move |requests, body, text| {
            let read = reference(requests, body, text)?;
            let empty = body.get(member).and_then(Value::as_object).is_some_and(JsonObject::is_empty);
            if applied.count_if(empty) {
                return Err(Mistake { place: member.to_owned() });
            }
            Ok(read)
        })
    });
}
