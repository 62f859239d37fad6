//! The failures that the contract documents, as far as the transcript holds them. Owns no judgement.

use super::World;
use super::dialect::Dialect;
use crate::transcript::{Exchange, HttpReply};

/// Longer ids and bodies may be refused by anything between the kit and the routes.
const LONGEST_ID: usize = 512;
const LONGEST_BODY: usize = 32 * 1024;

/// Answers to known operations with a status that documented failures have. Other statuses, and routes that document no failure, are
/// nobody's business here; neither is a 404 to a creation, which says that the route is not there.
pub(super) fn failures<'w>(world: &'w World<'_>) -> impl Iterator<Item = (&'w Exchange, &'w HttpReply)> {
    let mut ordered: Vec<&Exchange> = world.exchanges.iter().map(AsRef::as_ref).collect();
    ordered.sort_by_key(|exchange| exchange.id);
    ordered.into_iter().filter(|exchange| reaches_route(exchange, world.dialect)).filter_map(|exchange| {
        let reply = exchange.http()?;
        let absent = reply.status == 404 && exchange.operation.as_deref() == Some(world.dialect.creation);
        (world.dialect.statuses.contains(&reply.status) && !absent).then_some((exchange, reply))
    })
}

/// A plain request for a known route. Another method, an id that changes the path, or a body that is said to be something else than JSON
/// may be refused in words of the server's own, before the runtime has a say.
fn reaches_route(exchange: &Exchange, dialect: &Dialect) -> bool {
    let request = &exchange.request;
    let known = |operation: &str| dialect.failing.contains(&(operation, request.method.as_str()));
    exchange.operation.as_deref().is_some_and(known)
        && exchange.params.values().all(|id| is_plain(id))
        && request.body.as_ref().is_none_or(|body| body.len() <= LONGEST_BODY)
        && request.headers.iter().all(|(name, value)| is_ordinary(&name.to_ascii_lowercase(), &value.to_ascii_lowercase()))
}

fn is_ordinary(name: &str, value: &str) -> bool {
    match name {
        "content-type" => value.trim_start().starts_with("application/json"),
        "accept" => ["json", "*/*", "text/event-stream"].iter().any(|accepted| value.contains(accepted)),
        "content-encoding" | "expect" => false,
        _ => true,
    }
}

fn is_plain(id: &str) -> bool {
    let plain = |b: u8| b.is_ascii_graphic() && !matches!(b, b'/' | b'\\' | b'%' | b'?' | b'#' | b';');
    !matches!(id, "" | "." | "..") && id.len() <= LONGEST_ID && id.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::testing::Ask;
    use serde_json::json;
    use std::collections::BTreeMap;
    use std::sync::Arc;

    fn counts(ask: Ask) -> bool {
        let (exchanges, problems) = ([Arc::new(ask.finish(1))], BTreeMap::new());
        failures(&World::new("", &exchanges, &[], &problems)).count() == 1
    }

    #[test]
    fn only_documented_statuses_count() {
        for (status, expected) in
            [(400, true), (404, true), (409, true), (422, true), (200, false), (429, false), (500, false), (503, false)]
        {
            assert_eq!(counts(Ask::json("startExecution", "", status, &json!({})).method("POST")), expected, "{status}");
        }
    }

    #[test]
    fn only_known_routes_count() {
        let unknown = || Ask::json("getExecution", "e", 404, &json!({}));
        assert!(counts(unknown()));
        assert!(!counts(unknown().method("HEAD")));
        assert!(!counts(unknown().method("DELETE")));
        assert!(!counts(Ask::json("describeRuntime", "", 404, &json!({}))));
        assert!(!counts(Ask::json("createConversation", "", 404, &json!({})).method("POST")));
        for id in ["", ".", "..", "a/b", "a%2Fb", "ü", "a b"] {
            assert!(!counts(unknown().param("id", id)), "{id}");
        }
        assert!(counts(unknown().header("Content-Type", "application/json; charset=utf-8").header("Accept", "text/event-stream")));
        for (name, value) in [("Content-Type", "text/plain"), ("Accept", "text/html"), ("Content-Encoding", "br")] {
            assert!(!counts(unknown().header(name, value)), "{name}");
        }
        let mut long = unknown().finish(1);
        long.request.body = Some(vec![b' '; LONGEST_BODY + 1].into());
        let (exchanges, problems) = ([Arc::new(long)], BTreeMap::new());
        assert_eq!(failures(&World::new("", &exchanges, &[], &problems)).count(), 0);
        let mut raw = unknown().finish(1);
        raw.operation = None;
        let (exchanges, problems) = ([Arc::new(raw)], BTreeMap::new());
        assert_eq!(failures(&World::new("", &exchanges, &[], &problems)).count(), 0);
    }
}
