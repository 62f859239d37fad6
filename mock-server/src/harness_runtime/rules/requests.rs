//! What a request may look like. Sections 1 and 2 of the contract page.
//!
//! Unknown members are ignored everywhere; a `null` where an optional member may be missing is refused.

use crate::harness_runtime::json;
use crate::harness_runtime::model::{JsonObject, Response, StartRequest};
use crate::harness_runtime::problem::Problem;
use crate::table::table;
use serde_json::Value;

table! {
    /// Rules about the shape of requests.
    Requests {
        /// HR-CONV-14, HR-START-16, HR-CANCEL-10, HR-ACTION-25: a body that is not blank, as JSON.
        parsed: fn(&str) -> Result<Value, Problem> = parsed;
        /// HR-START-31 to -34: an idempotency key has 1 to 200 characters.
        key_fits: fn(&str) -> bool = key_fits;
        /// HR-CANCEL-5 to -8: a cancellation reason has 1 to 500 characters.
        reason_fits: fn(&str) -> bool = reason_fits;
        /// HR-CONV-5 to -7, -13, -15: the metadata of a new conversation.
        conversation: fn(Option<&Value>) -> Result<JsonObject, Problem> = conversation;
        /// HR-START-12, -17 to -30, -35: the members of a start request, and its text.
        start: fn(&Requests, &Value, &str) -> Result<StartRequest, Problem> = start;
        /// HR-CANCEL-3, -4, -9, -11: the reason of a cancellation.
        cancellation: fn(&Requests, Option<&Value>) -> Result<Option<String>, Problem> = cancellation;
        /// HR-ACTION-26 to -28, -30 to -32, -36: the answer to an action.
        response: fn(&Value) -> Result<Response, Problem> = response;
        /// HR-REPLAY-4, -8 to -10, -15: the cursor `after`; `0` when it is missing.
        cursor: fn(Option<&str>) -> Result<u64, Problem> = cursor;
    }
}

pub(crate) fn parsed(text: &str) -> Result<Value, Problem> {
    serde_json::from_str(text).map_err(|_| Problem::validation("Request body is not valid JSON"))
}

pub(crate) fn key_fits(key: &str) -> bool {
    (1..=200).contains(&json::length(key))
}

pub(crate) fn reason_fits(reason: &str) -> bool {
    (1..=500).contains(&json::length(reason))
}

pub(crate) fn conversation(body: Option<&Value>) -> Result<JsonObject, Problem> {
    let invalid = || Problem::validation("Invalid conversation request");
    let Some(body) = body else { return Ok(JsonObject::new()) };
    let body = body.as_object().ok_or_else(invalid)?;
    Ok(optional(body, "metadata", as_object).ok_or_else(invalid)?.unwrap_or_default())
}

pub(crate) fn start(requests: &Requests, body: &Value, text: &str) -> Result<StartRequest, Problem> {
    read_start(requests, body, text).ok_or_else(|| Problem::validation("Invalid execution request"))
}

fn read_start(requests: &Requests, body: &Value, text: &str) -> Option<StartRequest> {
    let body = body.as_object()?;
    let idempotency_key = optional(body, "idempotencyKey", as_text)?;
    if idempotency_key.as_deref().is_some_and(|key| !(requests.key_fits)(key)) {
        return None;
    }
    Some(StartRequest {
        conversation_id: as_name(body.get("conversationId")?)?,
        provider_id: as_name(body.get("providerId")?)?,
        input: as_text(body.get("input")?)?,
        required_capabilities: optional(body, "requiredCapabilities", as_names)?.unwrap_or_default(),
        config: optional(body, "config", as_object)?,
        idempotency_key,
        text: text.to_owned(),
    })
}

pub(crate) fn cancellation(requests: &Requests, body: Option<&Value>) -> Result<Option<String>, Problem> {
    let invalid = || Problem::validation("Invalid cancellation request");
    let Some(body) = body else { return Ok(None) };
    let body = body.as_object().ok_or_else(invalid)?;
    let reason = optional(body, "reason", as_text).ok_or_else(invalid)?;
    match reason {
        Some(reason) if !(requests.reason_fits)(&reason) => Err(invalid()),
        reason => Ok(reason),
    }
}

/// One shape for both kinds of action: neither `approved` nor `value` is asked for. `value` may be any JSON value, `null` included.
pub(crate) fn response(body: &Value) -> Result<Response, Problem> {
    let read = || {
        let body = body.as_object()?;
        Some(Response {
            approved: optional(body, "approved", Value::as_bool)?,
            value: body.get("value").cloned(),
            metadata: optional(body, "metadata", as_object)?,
        })
    };
    read().ok_or_else(|| Problem::validation("Invalid action response"))
}

/// Reads a cursor as liberally as the contract's reference does: blanks around it, a sign, hexadecimal and exponents are numbers too.
pub(crate) fn cursor(after: Option<&str>) -> Result<u64, Problem> {
    after.map_or(Some(0), crate::http::cursor::read).ok_or_else(|| Problem::validation("after must be a non-negative integer"))
}

/// An optional member: `Some(None)` when it is missing, `None` when it is there and wrong.
#[expect(clippy::option_option, reason = "missing, wrong and right are three things")]
fn optional<T>(body: &JsonObject, name: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Option<T>> {
    match body.get(name) {
        None => Some(None),
        Some(value) => read(value).map(Some),
    }
}

fn as_text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn as_name(value: &Value) -> Option<String> {
    as_text(value).filter(|name| !name.is_empty())
}

fn as_names(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(as_name).collect()
}

fn as_object(value: &Value) -> Option<JsonObject> {
    value.as_object().cloned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn request(members: &Value) -> Result<StartRequest, Problem> {
        let mut body = json!({ "conversationId": "c", "providerId": "p", "input": "" });
        for (name, value) in members.as_object().expect("members") {
            body[name] = value.clone();
        }
        start(&Requests::default(), &body, "")
    }

    #[test]
    fn keys_have_1_to_200_characters() {
        assert!(request(&json!({ "idempotencyKey": "k" })).is_ok());
        assert!(request(&json!({ "idempotencyKey": "k".repeat(200) })).is_ok());
        assert!(request(&json!({ "idempotencyKey": "k".repeat(201) })).is_err());
        assert!(request(&json!({ "idempotencyKey": "" })).is_err());
    }

    #[test]
    fn every_member_has_its_type() {
        for wrong in [
            json!({ "conversationId": "" }),
            json!({ "providerId": 1 }),
            json!({ "input": null }),
            json!({ "requiredCapabilities": [""] }),
            json!({ "requiredCapabilities": null }),
            json!({ "config": [] }),
            json!({ "idempotencyKey": null }),
        ] {
            assert!(request(&wrong).is_err(), "{wrong}");
        }
        assert!(request(&json!({ "unknown": null })).is_ok());
        assert!(start(&Requests::default(), &json!([]), "").is_err());
    }

    #[test]
    fn reasons_have_1_to_500_characters() {
        let cancel = |reason: Value| cancellation(&Requests::default(), Some(&json!({ "reason": reason })));
        assert_eq!(cancel(json!("why")), Ok(Some("why".to_owned())));
        assert!(cancel(json!("r".repeat(500))).is_ok());
        assert!(cancel(json!("r".repeat(501))).is_err());
        assert!(cancel(json!("")).is_err());
        assert!(cancel(json!(42)).is_err());
        assert_eq!(cancellation(&Requests::default(), None), Ok(None));
    }

    #[test]
    fn a_response_may_be_empty_and_its_value_null() {
        assert_eq!(response(&json!({})), Ok(Response::default()));
        assert_eq!(response(&json!({ "value": null })).expect("legal").value, Some(Value::Null));
        assert!(response(&json!({ "approved": "yes" })).is_err());
        assert!(response(&json!({ "approved": null })).is_err());
        assert!(response(&Value::Null).is_err());
    }

    #[test]
    fn cursors_are_whole_numbers_from_zero() {
        for (text, expected) in [("0", 0), ("7", 7), ("", 0), (" 2 ", 2), ("+3", 3), ("03", 3), ("-0", 0), ("0x3", 3), ("1e2", 100)] {
            assert_eq!(cursor(Some(text)), Ok(expected), "{text:?}");
        }
        assert_eq!(cursor(Some("9007199254740991")), Ok(9_007_199_254_740_991));
        assert_eq!(cursor(None), Ok(0));
        for text in ["-1", "1.5", "abc", "null", "NaN", "Infinity", "inf", "true", "1,2", "9007199254740992", "1e999", "0xg"] {
            assert!(cursor(Some(text)).is_err(), "{text:?}");
        }
    }
}
