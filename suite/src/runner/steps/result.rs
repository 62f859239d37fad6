//! From an exchange to the result that expectations look into.

use crate::drivers::grpc::code_name;
use crate::drivers::http::OWN_BOUND;
use crate::scenario::operations::Executions;
use crate::scenario::pattern;
use crate::transcript::{Body, Exchange, Frame, GrpcReply, HttpReply, NoReply, Reply, StreamEnd};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The result of a whole exchange.
pub fn of(exchange: &Exchange) -> Value {
    let mut result = match &exchange.reply {
        Reply::Http(reply) => http(reply),
        Reply::Grpc(reply) => grpc(reply),
        Reply::None(none) => missing(none),
    };
    result["exchanges"] = json!([exchange.id]);
    result
}

fn http(reply: &HttpReply) -> Value {
    let mut result = json!({ "answered": true, "status": reply.status, "headers": headers(&reply.headers) });
    match &reply.body {
        Body::Whole(bytes) => {
            let body: Value = serde_json::from_slice(bytes).unwrap_or(Value::Null);
            if let Some(events) = body.get("events").filter(|events| events.is_array()) {
                result["events"] = events.clone();
                result["complete"] = json!(true);
            }
            result["text"] = json!(String::from_utf8_lossy(bytes));
            result["body"] = body;
        }
        Body::Partial(_, reason) => {
            let why = if reason.contains("within") || reason.ends_with(OWN_BOUND) { "reason" } else { "finding" };
            result["answered"] = json!(false);
            result["reason"] = json!(reason);
            result[why] = json!(reason);
        }
        Body::Stream { frames, .. } => {
            result["frames"] = Value::Array(frames.iter().map(frame).collect());
        }
    }
    result
}

fn grpc(reply: &GrpcReply) -> Value {
    // Of an answer that was not read to its end nothing is judged but that.
    let torn = match &reply.end {
        StreamEnd::Closed => {
            return json!({
                "answered": true,
                "code": reply.code.map_or("none", |code| code_name(code).unwrap_or("unknown code")),
                "message": reply.message,
                "body": reply.messages.last().cloned().unwrap_or(Value::Null),
                "messages": reply.messages,
                "headers": headers(&reply.headers),
                "trailers": headers(&reply.trailers),
            });
        }
        StreamEnd::TimedOut(bound) => {
            return json!({ "answered": false, "reason": format!("no whole answer within {bound:?} (--timeout)") });
        }
        StreamEnd::HungUp => return json!({ "answered": false, "reason": "the kit hung up" }),
        StreamEnd::Cut(why) => format!("the answer broke off: {why}"),
        StreamEnd::Bound(bound) => format!("a bound was crossed: {bound}"),
    };
    json!({ "answered": false, "reason": torn, "finding": torn })
}

fn missing(none: &NoReply) -> Value {
    // Silence and an unreachable address are held against nobody; an answer that broke off or is not HTTP is a finding.
    match none {
        NoReply::Unreachable(why) => json!({ "answered": false, "reason": format!("the target could not be reached: {why}") }),
        NoReply::TimedOut(bound) => json!({ "answered": false, "reason": format!("no answer within {bound:?} (--timeout)") }),
        NoReply::Closed(why) => {
            let text = format!("the connection was closed without a whole answer: {why}");
            json!({ "answered": false, "reason": text, "finding": text })
        }
        NoReply::Garbled(why) => {
            let text = format!("what came is not an HTTP answer: {why}");
            json!({ "answered": false, "reason": text, "finding": text })
        }
    }
}

fn headers(headers: &[(String, String)]) -> Value {
    let mut map = Map::new();
    for (name, value) in headers {
        match map.get_mut(name) {
            Some(Value::String(earlier)) => earlier.push_str(&format!(", {value}")),
            _ => {
                map.insert(name.clone(), json!(value));
            }
        }
    }
    Value::Object(map)
}

pub fn frame(frame: &Frame) -> Value {
    json!({ "event": frame.event, "id": frame.id, "data": frame.data, "retry": frame.retry, "comments": frame.comments })
}

/// The events of frames, exact duplicates of one sequence dropped (delivery is at least once).
pub fn events(frames: &[Frame], executions: Option<&Executions>) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    let mut places: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for frame in frames {
        let Some(event) = frame.data.as_deref().and_then(|data| serde_json::from_str::<Value>(data).ok()) else { continue };
        if let Some(sequence) = executions.and_then(|e| e.sequence_of(&event)) {
            let seen = places.entry(sequence).or_default();
            if seen.iter().any(|place| pattern::equal(&events[*place], &event)) {
                continue;
            }
            seen.push(events.len());
        }
        events.push(event);
    }
    events
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn silence_is_no_finding_and_a_torn_answer_is() {
        assert!(missing(&NoReply::TimedOut(Duration::from_secs(1))).get("finding").is_none());
        assert!(missing(&NoReply::Unreachable("refused".to_owned())).get("finding").is_none());
        assert!(missing(&NoReply::Closed("eof".to_owned())).get("finding").is_some());
        assert!(missing(&NoReply::Garbled("nonsense".to_owned())).get("finding").is_some());
    }

    #[test]
    fn a_bound_that_http_does_not_have_is_no_finding() {
        let torn = |reason: &str| {
            let body = Body::Partial(bytes::Bytes::new(), reason.to_owned());
            http(&HttpReply { status: 200, headers: Vec::new(), body })
        };
        let own = torn(&format!("chunk extensions over limit, {OWN_BOUND}"));
        assert_eq!((&own["answered"], own.get("finding")), (&json!(false), None));
        assert!(torn("connection reset").get("finding").is_some());
    }

    #[test]
    fn a_grpc_answer_without_its_end_has_no_status_to_judge() {
        let ended = |end| {
            let [headers, trailers] = [Vec::new(), Vec::new()];
            let [unknown, faults] = [Vec::new(), Vec::new()];
            grpc(&GrpcReply {
                http_status: 200,
                messages: Vec::new(),
                code: None,
                message: String::new(),
                headers,
                trailers,
                end,
                unknown,
                faults,
            })
        };
        assert_eq!(ended(StreamEnd::Closed)["code"], json!("none"));
        let late = ended(StreamEnd::TimedOut(Duration::from_secs(1)));
        assert_eq!((&late["answered"], late.get("finding"), late.get("code")), (&json!(false), None, None));
        assert!(ended(StreamEnd::Cut("reset".to_owned())).get("finding").is_some());
        assert!(ended(StreamEnd::Bound("more than 5 messages".to_owned())).get("finding").is_some());
    }

    #[test]
    fn repeated_headers_are_joined() {
        let list = [("vary".to_owned(), "a".to_owned()), ("vary".to_owned(), "b".to_owned())];
        assert_eq!(headers(&list), json!({ "vary": "a, b" }));
    }
}
