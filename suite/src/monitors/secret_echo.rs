//! `secret-echo`: the value of a credential header never comes back, in no header, body or frame.
//!
//! Searches for the whole value, for the token behind a scheme, and for the password of Basic credentials. Short ones are left out: they
//! may stand in an answer by chance. The finding never shows the value.

use super::World;
use super::finding::{Observation, mismatch};
use crate::transcript::{Body, Exchange, Frame, GrpcReply, HttpReply, NoReply, Reply};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use std::collections::BTreeSet;

/// Shortest value worth a search, in bytes.
const SHORTEST: usize = 8;

/// Holds once for each answer to a request that carried a credential.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    let needles = needles(world.secrets);
    if needles.is_empty() {
        return seen;
    }
    let mut ordered: Vec<&Exchange> = world.exchanges.iter().map(AsRef::as_ref).collect();
    ordered.sort_by_key(|exchange| exchange.id);
    for exchange in ordered {
        let sent = exchange.request.headers.iter().any(|(_, value)| holds(value, &needles));
        let answered = speaks(&exchange.reply);
        let places: Vec<String> = texts(exchange).into_iter().filter(|(_, text)| echoes(text, &needles)).map(|(place, _)| place).collect();
        if places.is_empty() && sent && answered {
            seen.hold();
        }
        let mismatches = places.into_iter().map(|place| mismatch(place, "no credential", "the value of a credential header (not shown)"));
        seen.accuse(&exchange.case, [exchange.id], mismatches.collect());
    }
    seen
}

/// Whether the answer is one of the runtime: a resource, an event, or a failure with a code. Whoever answers anything else kept nothing back.
fn speaks(reply: &Reply) -> bool {
    match reply {
        Reply::Http(http) => {
            let events = http.frames().is_some_and(|(frames, _)| frames.iter().any(|frame| frame.data.is_some()));
            let said = |body: Value| ["id", "code", "events", "execution_id", "error", "data"].iter().any(|name| body.get(name).is_some());
            events || http.json().is_some_and(said)
        }
        Reply::Grpc(_) => true,
        Reply::None(_) => false,
    }
}

fn needles(secrets: &[String]) -> BTreeSet<String> {
    let mut needles = BTreeSet::new();
    for secret in secrets {
        let token = secret.split_once(' ').map_or(secret.as_str(), |(_, token)| token.trim());
        let plain = STANDARD.decode(token).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let password = plain.as_deref().filter(|_| secret.to_ascii_lowercase().starts_with("basic ")).and_then(|p| p.split_once(':'));
        needles.extend([Some(secret.as_str()), Some(token), password.map(|(_, p)| p)].into_iter().flatten().map(str::to_owned));
    }
    needles.retain(|needle| needle.len() >= SHORTEST);
    needles
}

fn holds(text: &str, needles: &BTreeSet<String>) -> bool {
    needles.iter().any(|needle| text.contains(needle.as_str()))
}

/// As it stands, and, when it is JSON with escapes, as it reads.
fn echoes(text: &str, needles: &BTreeSet<String>) -> bool {
    holds(text, needles) || (text.contains('\\') && serde_json::from_str(text).is_ok_and(|value| value_holds(&value, needles)))
}

fn value_holds(value: &Value, needles: &BTreeSet<String>) -> bool {
    match value {
        Value::String(text) => holds(text, needles),
        Value::Array(elements) => elements.iter().any(|element| value_holds(element, needles)),
        Value::Object(members) => members.iter().any(|(name, value)| holds(name, needles) || value_holds(value, needles)),
        _ => false,
    }
}

/// Every text in an answer, with its place.
fn texts(exchange: &Exchange) -> Vec<(String, String)> {
    match &exchange.reply {
        Reply::Http(reply) => http_texts(reply),
        Reply::Grpc(reply) => grpc_texts(reply),
        Reply::None(NoReply::Garbled(text)) => vec![("answer".into(), text.clone())],
        Reply::None(_) => Vec::new(),
    }
}

fn http_texts(reply: &HttpReply) -> Vec<(String, String)> {
    let mut texts = header_texts("header", &reply.headers);
    match &reply.body {
        Body::Whole(bytes) | Body::Partial(bytes, _) => texts.push(("body".into(), String::from_utf8_lossy(bytes).into_owned())),
        Body::Stream { frames, .. } => texts.extend(frames.iter().enumerate().flat_map(|(place, frame)| frame_texts(place, frame))),
    }
    texts
}

fn header_texts(what: &str, headers: &[(String, String)]) -> Vec<(String, String)> {
    headers.iter().map(|(name, value)| (format!("{what} {name}"), value.clone())).collect()
}

fn frame_texts(place: usize, frame: &Frame) -> impl Iterator<Item = (String, String)> {
    let fields = [&frame.event, &frame.id, &frame.data, &frame.retry].into_iter().flatten();
    fields.chain(&frame.comments).map(move |text| (format!("frames[{place}]"), text.clone()))
}

fn grpc_texts(reply: &GrpcReply) -> Vec<(String, String)> {
    let mut texts = header_texts("metadata", &reply.headers);
    texts.extend(header_texts("trailer", &reply.trailers));
    texts.push(("status message".into(), reply.message.clone()));
    texts.extend(reply.messages.iter().enumerate().map(|(place, message)| (format!("messages[{place}]"), message.to_string())));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::testing::{Ask, events, secretly};
    use crate::transcript::StreamEnd;
    use serde_json::json;

    const SECRET: &str = "Bearer s3cr3t/\"token\"";

    fn ask() -> Ask {
        Ask::state("e", "running").header("authorization", SECRET)
    }

    fn with_body(body: &str) -> Ask {
        ask().body(Body::Whole(body.to_owned().into()))
    }

    #[test]
    fn each_answer_to_a_credential_holds() {
        assert_eq!(secretly(SECRET, [ask(), ask(), Ask::state("e", "running")]).held, 2);
        assert_eq!(secretly(SECRET, [ask().no_reply()]).held, 0);
        assert_eq!(secretly(SECRET, [with_body("{}"), with_body("<h1>404</h1>")]).held, 0);
    }

    #[test]
    fn without_credentials_or_with_short_ones_nothing_is_said() {
        assert_eq!(secretly("abc", [Ask::state("e", "running").header("x-key", "abc"), with_body("abc")]), Observation::default());
    }

    #[test]
    fn an_echo_is_found_anywhere_and_not_shown() {
        let mut frames = vec![Frame::default(), Frame { comments: vec![SECRET.into()], ..Frame::default() }];
        frames[0].data = Some("{}".into());
        let runs = [
            ask().reply_header("x-echo", SECRET),
            with_body(r#"say s3cr3t/"token" again"#),
            with_body(r#"{"headers":{"authorization":"Bearer s3cr3t\/\u0022token\u0022"}}"#),
            with_body(r#"{"s3cr3t/\"token\"":1}"#),
            ask().body(Body::Partial(SECRET.into(), "cut".into())),
            ask().body(Body::Stream { frames, end: StreamEnd::HungUp }),
        ];
        for ask in runs {
            let seen = secretly(SECRET, [ask]);
            assert_eq!((seen.held, seen.findings.len()), (0, 1));
            assert!(!format!("{seen:?}").contains("s3cr3t"));
        }
    }

    #[test]
    fn an_echo_to_another_request_counts_as_well() {
        let seen = secretly(SECRET, [ask(), Ask::json("getExecution", "e", 200, &json!({"last": SECRET}))]);
        assert_eq!((seen.held, seen.findings.len()), (1, 1));
    }

    #[test]
    fn the_password_of_basic_credentials_is_a_secret() {
        let secret = format!("Basic {}", STANDARD.encode("user:longpassword"));
        let ask = |body: &str| Ask::list("e", &events("queued")).header("authorization", &secret).body(Body::Whole(body.to_owned().into()));
        assert_eq!(secretly(&secret, [ask("user:longpassword")]).findings.len(), 1);
        assert_eq!(secretly(&secret, [ask(r#"{"id":"user"}"#)]).held, 1);
    }
}
