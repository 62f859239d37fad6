//! Requests with one key that are compared wrongly.

use super::{DefectKind::Rule, Entry, defect, wrap};
use crate::applied::Applied;
use crate::harness_runtime::Blueprint;
use crate::harness_runtime::json;
use crate::harness_runtime::model::{JsonObject, StartRequest};
use crate::member_order::member_order;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

pub(super) static DEFECTS: &[Entry] = &[
    Entry {
        defect: defect(Rule, "key-ignores-input", "The input is left out when requests with one key are compared.", &["HR-IDEM-4"]),
        install: |blueprint, applied| {
            compare_without(blueprint, applied, |known, again| again.input.clone_from(&known.input));
        },
    },
    Entry {
        defect: defect(Rule, "key-ignores-provider", "The provider is left out when requests with one key are compared.", &["HR-IDEM-5"]),
        install: |blueprint, applied| {
            compare_without(blueprint, applied, |known, again| again.provider_id.clone_from(&known.provider_id));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "key-ignores-capabilities",
            "Required capabilities are left out when requests with one key are compared.",
            &["HR-IDEM-6"],
        ),
        install: |blueprint, applied| {
            compare_without(blueprint, applied, |known, again| again.required_capabilities.clone_from(&known.required_capabilities));
        },
    },
    Entry {
        defect: defect(Rule, "key-ignores-config", "The config is left out when requests with one key are compared.", &["HR-IDEM-7"]),
        install: |blueprint, applied| compare_without(blueprint, applied, |known, again| again.config.clone_from(&known.config)),
    },
    Entry {
        defect: defect(
            Rule,
            "key-ignores-conversation",
            "The conversation is left out when requests with one key are compared.",
            &["HR-IDEM-41"],
        ),
        install: |blueprint, applied| {
            compare_without(blueprint, applied, |known, again| again.conversation_id.clone_from(&known.conversation_id));
        },
    },
    Entry {
        defect: defect(
            Rule,
            "key-compares-loosely",
            "Input and config are compared without case and blanks around them; true is 1, and what is empty or null is nothing.",
            &["HR-IDEM-4", "HR-IDEM-7"],
        ),
        install: |blueprint, applied| {
            compare_also(blueprint, applied, |known, again| {
                let alike = StartRequest { input: known.input.clone(), ..again.clone() };
                let folded = |request: &StartRequest| request.input.trim().to_lowercase();
                folded(known) == folded(again)
                    && same_but_config(known, &alike)
                    && json::same(&loosely(&config(known)), &loosely(&config(again)))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "key-compares-config-shallowly",
            "Of nested values in config only the kind is compared.",
            &["HR-IDEM-8", "HR-IDEM-9"],
        ),
        install: |blueprint, applied| {
            compare_also(blueprint, applied, |known, again| same_but_config(known, again) && same_shallowly(known, again));
        },
    },
    Entry {
        defect: defect(Rule, "key-ignores-array-order", "Arrays in config are compared as sets.", &["HR-IDEM-9"]),
        install: |blueprint, applied| {
            compare_also(blueprint, applied, |known, again| {
                same_but_config(known, again) && json::same(&sorted(&config(known)), &sorted(&config(again)))
            });
        },
    },
    Entry {
        defect: defect(
            Rule,
            "key-counts-capability-order",
            "Required capabilities in another order make another request.",
            &["HR-IDEM-11"],
        ),
        install: |blueprint, applied| {
            compare_stricter(blueprint, applied, |known, again| once(&known.required_capabilities) == once(&again.required_capabilities));
        },
    },
    Entry {
        defect: defect(Rule, "key-counts-repetitions", "A required capability that is named twice makes another request.", &["HR-IDEM-12"]),
        install: |blueprint, applied| {
            compare_stricter(blueprint, applied, |known, again| known.required_capabilities.len() == again.required_capabilities.len());
        },
    },
    Entry {
        defect: defect(
            Rule,
            "key-counts-empty-config",
            "A config that is missing and one that is empty make two requests.",
            &["HR-IDEM-14"],
        ),
        install: |blueprint, applied| {
            compare_stricter(blueprint, applied, |known, again| known.config.is_some() == again.config.is_some());
        },
    },
    Entry {
        defect: defect(
            Rule,
            "key-counts-member-order",
            "Config is compared by its text after parsing, in which members keep their order.",
            &["HR-IDEM-15"],
        ),
        install: |blueprint, applied| {
            compare_stricter(blueprint, applied, |known, again| config_members(&known.text) == config_members(&again.text));
        },
    },
    Entry {
        defect: defect(Rule, "key-counts-number-spelling", "The numbers 1 and 1.0 in config make two requests.", &["HR-IDEM-16"]),
        install: |blueprint, applied| compare_stricter(blueprint, applied, |known, again| config(known) == config(again)),
    },
    Entry {
        defect: defect(
            Rule,
            "key-hashes-the-body",
            "Requests are compared by a hash of the body as it was written.",
            &["HR-IDEM-11", "HR-IDEM-12", "HR-IDEM-13", "HR-IDEM-14", "HR-IDEM-15", "HR-IDEM-16", "HR-IDEM-17"],
        ),
        install: |blueprint, applied| compare_stricter(blueprint, applied, |known, again| known.text == again.text),
    },
];

/// Compares after `forget` has made a member of the second request equal to that of the first.
fn compare_without(blueprint: &mut Blueprint, applied: &Applied, forget: fn(&StartRequest, &mut StartRequest)) {
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, applied| {
        Arc::new(move |known, again| {
            let mut forgotten = again.clone();
            forget(known, &mut forgotten);
            applied.instead_of(&reference(known, again), reference(known, &forgotten))
        })
    });
}

/// Takes requests as equivalent that the reference does not.
fn compare_also(blueprint: &mut Blueprint, applied: &Applied, same: fn(&StartRequest, &StartRequest) -> bool) {
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, applied| {
        Arc::new(move |known, again| {
            let right = reference(known, again);
            applied.instead_of(&right, right || same(known, again))
        })
    });
}

/// Takes requests as different that the reference does not.
fn compare_stricter(blueprint: &mut Blueprint, applied: &Applied, same: fn(&StartRequest, &StartRequest) -> bool) {
    wrap(&mut blueprint.rules.idempotency.equivalent, applied, |reference, applied| {
        Arc::new(move |known, again| {
            let right = reference(known, again);
            applied.instead_of(&right, right && same(known, again))
        })
    });
}

fn config(request: &StartRequest) -> Value {
    Value::Object(request.effective_config())
}

fn same_but_config(known: &StartRequest, again: &StartRequest) -> bool {
    let again = StartRequest { config: known.config.clone(), ..again.clone() };
    crate::harness_runtime::rules::idempotency::equivalent(known, &again)
}

fn same_shallowly(known: &StartRequest, again: &StartRequest) -> bool {
    let shallow = |request: &StartRequest| -> JsonObject {
        let flat = |value: Value| match value {
            Value::Array(_) => Value::String("[]".to_owned()),
            Value::Object(_) => Value::String("{}".to_owned()),
            plain => plain,
        };
        request.effective_config().into_iter().map(|(name, value)| (name, flat(value))).collect()
    };
    json::same_object(&shallow(known), &shallow(again))
}

/// Null stands for everything that is empty, and for members that are left out.
fn loosely(value: &Value) -> Value {
    match value {
        Value::Bool(flag) => Value::from(u8::from(*flag)),
        Value::String(text) if !text.is_empty() => Value::String(text.to_lowercase()),
        Value::Array(items) if !items.is_empty() => Value::Array(items.iter().map(loosely).collect()),
        Value::Object(members) => {
            let members: JsonObject =
                members.iter().map(|(name, value)| (name.clone(), loosely(value))).filter(|(_, value)| !value.is_null()).collect();
            if members.is_empty() { Value::Null } else { Value::Object(members) }
        }
        Value::Number(_) => value.clone(),
        _ => Value::Null,
    }
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.iter().map(sorted).collect();
            items.sort_by_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => Value::Object(members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect()),
        plain => plain.clone(),
    }
}

/// Names without repetitions, in the order of their first mention.
fn once(names: &[String]) -> Vec<&String> {
    let mut seen = BTreeSet::new();
    names.iter().filter(|name| seen.insert(*name)).collect()
}

/// The paths of all members of config, in the order in which they are written.
fn config_members(text: &str) -> Vec<String> {
    member_order(text).into_iter().filter(|path| path.starts_with("config/")).collect()
}
