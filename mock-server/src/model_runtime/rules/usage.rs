//! Usage facts. Section 7 of the contract page.

use crate::table::table;
use serde_json::Value;

/// The units that everyone knows.
const KNOWN: [&str; 12] = [
    "input_token",
    "output_token",
    "cache_write_token",
    "cache_read_token",
    "reasoning_token",
    "embedding_input_token",
    "image_count",
    "video_second",
    "audio_input_second",
    "audio_output_second",
    "tool_request",
    "request",
];

table! {
    /// Rules about usage facts.
    Usage {
        /// MR-USAGE-1, -4, -15: whether a unit may be used.
        unit: fn(&str) -> bool = unit;
        /// MR-USAGE-2, -12: whether a quantity may be reported.
        quantity: fn(&Value) -> bool = quantity;
        /// MR-USAGE-3: whether it is said who knows.
        source: fn(Option<&Value>) -> bool = source;
        /// MR-USAGE-10, -13: whether a fact may be published.
        fact: fn(&Usage, &Value) -> bool = fact;
    }
}

/// A known one, or one with a namespace: a name before a `.`, `:` or `/`.
pub(crate) fn unit(unit: &str) -> bool {
    KNOWN.contains(&unit) || unit.split_once(['.', ':', '/']).is_some_and(|(space, name)| !space.is_empty() && !name.is_empty())
}

/// A finite number that is not negative.
pub(crate) fn quantity(quantity: &Value) -> bool {
    quantity.as_f64().is_some_and(|quantity| quantity.is_finite() && quantity >= 0.0)
}

/// The provider reported it, or the runtime derived it.
pub(crate) fn source(source: Option<&Value>) -> bool {
    matches!(source.and_then(Value::as_str), Some("provider" | "runtime"))
}

pub(crate) fn fact(usage: &Usage, fact: &Value) -> bool {
    fact.get("unit").and_then(Value::as_str).is_some_and(|unit| (usage.unit)(unit))
        && fact.get("quantity").is_some_and(|quantity| (usage.quantity)(quantity))
        && (usage.source)(fact.get("source"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn facts_have_a_unit_a_quantity_and_a_source() {
        let usage = Usage::default();
        for good in [
            json!({ "unit": "input_token", "quantity": 0, "source": "runtime" }),
            json!({ "unit": "acme:credit", "quantity": 0.5, "source": "provider", "complete": false, "more": 1 }),
        ] {
            assert!(fact(&usage, &good), "{good}");
        }
        for bad in [
            json!({ "unit": "", "quantity": 1, "source": "runtime" }),
            json!({ "unit": 7, "quantity": 1, "source": "runtime" }),
            json!({ "unit": "credit", "quantity": 1, "source": "runtime" }),
            json!({ "unit": ":credit", "quantity": 1, "source": "runtime" }),
            json!({ "unit": "request", "quantity": -0.5, "source": "runtime" }),
            json!({ "unit": "request", "quantity": "Infinity", "source": "runtime" }),
            json!({ "unit": "request", "quantity": null, "source": "runtime" }),
            json!({ "unit": "request", "quantity": 1, "source": "guess" }),
            json!({ "unit": "request", "quantity": 1 }),
            json!(null),
        ] {
            assert!(!fact(&usage, &bad), "{bad}");
        }
    }
}
