//! `problem-body`: a documented failure has a JSON body with code and message, both non-empty strings; where the contract says so, inside
//! a member of it.
//!
//! Further members and codes that nobody documents are legal, and the content type is another rule. A body that broke off is not judged.

use super::World;
use super::dialect::Dialect;
use super::finding::{Observation, mismatch};
use super::problem::failures;
use super::same::shown;
use crate::transcript::{Body, HttpReply};
use proofmark_reports::model::Mismatch;
use serde_json::Value;

/// Holds once for each documented failure with code and message.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for (exchange, reply) in failures(world) {
        let Some(mismatches) = judge(reply, world.dialect) else { continue };
        if mismatches.is_empty() {
            seen.hold();
        }
        seen.accuse(&exchange.case, [exchange.id], mismatches);
    }
    seen
}

fn judge(reply: &HttpReply, dialect: &Dialect) -> Option<Vec<Mismatch>> {
    const EXPECTED: &str = "a JSON object with code and message";
    let text = match &reply.body {
        Body::Whole(bytes) => String::from_utf8_lossy(bytes),
        Body::Partial(..) => return None,
        Body::Stream { .. } => return Some(vec![mismatch("body", EXPECTED, "an event stream")]),
    };
    let whole = reply.json();
    let body = if dialect.error.is_empty() { whole } else { whole.map(|body| body[dialect.error].clone()) };
    let Some(Value::Object(body)) = body else {
        let actual = if text.trim().is_empty() { "nothing".into() } else { shown(&Value::from(text)) };
        return Some(vec![mismatch("body", EXPECTED, actual)]);
    };
    let place = if dialect.error.is_empty() { "$".to_owned() } else { format!("$.{}", dialect.error) };
    let filled = |value: Option<&Value>| value.and_then(Value::as_str).is_some_and(|text| !text.is_empty());
    let lacking = ["code", "message"].into_iter().filter(|member| !filled(body.get(*member)));
    let found =
        lacking.map(|member| mismatch(format!("{place}.{member}"), "a non-empty string", shown(body.get(member).unwrap_or(&Value::Null))));
    Some(found.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::testing::{Ask, accusers, held};
    use crate::transcript::{Frame, StreamEnd};
    use serde_json::json;

    fn refused(body: &Value) -> Ask {
        Ask::json("startExecution", "", 404, body).method("POST")
    }

    #[test]
    fn code_and_message_hold_whatever_the_code() {
        let run = [
            refused(&json!({"code": "PROVIDER_NOT_FOUND", "message": "no", "details": {}})),
            refused(&json!({"message": "no", "code": "VENDOR_CODE", "extra": 1})),
        ];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("problem-body", run), 2);
    }

    #[test]
    fn anything_else_is_found() {
        let bodies = [
            json!({}),
            json!({"code": "NOT_FOUND"}),
            json!({"code": "NOT_FOUND", "message": ""}),
            json!({"code": "", "message": "x"}),
            json!({"code": 404, "message": "x"}),
            json!({"error": {"code": "NOT_FOUND", "message": "x"}}),
            json!(["NOT_FOUND"]),
            json!("NOT_FOUND"),
        ];
        for body in bodies {
            assert_eq!(accusers([refused(&body)]), ["problem-body"], "{body}");
        }
        for text in ["", "Not Found", "<html>"] {
            assert_eq!(accusers([refused(&json!({})).body(Body::Whole(text.into()))]), ["problem-body"], "{text}");
        }
    }

    #[test]
    fn a_stream_is_no_problem_body_and_a_torn_body_is_nobodys() {
        let stream = Body::Stream { frames: vec![Frame::default()], end: StreamEnd::Closed };
        assert_eq!(accusers([refused(&json!({})).body(stream)]), ["problem-body"]);
        assert_eq!(accusers([refused(&json!({})).body(Body::Partial("{".into(), "cut".into()))]), [""; 0]);
    }

    #[test]
    fn busy_or_broken_servers_are_not_judged_here() {
        for status in [429, 500, 503] {
            assert_eq!(accusers([Ask::json("getExecution", "e", status, &json!({}))]), [""; 0]);
        }
    }
}
