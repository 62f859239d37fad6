//! The target: its address, whether it is there, which contract it speaks, what it says of itself.

use crate::drivers::dial::is_loopback;
use crate::drivers::grpc::{Bounds, Client};
use crate::drivers::tls;
use crate::recorder::About;
use crate::runner::session::Session;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::pattern;
use crate::transcript::{NoReply, Reply};
use proofmark_reports::model::{Abort, AbortKind};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// How a target is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    Http,
    Grpc,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Without a slash at the end, without credentials.
    pub base: String,
    pub wire: Wire,
    /// `authorization` from user and password in the URL.
    pub credentials: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no target: {problem}")]
pub struct AddressError {
    pub text: String,
    pub problem: String,
}

impl Address {
    pub fn parse(text: &str) -> Result<Self, AddressError> {
        let error = |problem: &str| AddressError { text: hide_credentials(text), problem: problem.to_owned() };
        let Some((scheme, rest)) = text.split_once("://") else {
            let problem = if text.starts_with("unix:") {
                "unix sockets are not supported yet"
            } else {
                "it needs a scheme: http://HOST:PORT, https://HOST, grpc://HOST:PORT or grpcs://HOST:PORT"
            };
            return Err(error(problem));
        };
        let wire = match scheme {
            "http" | "https" => Wire::Http,
            "grpc" | "grpcs" => Wire::Grpc,
            _ => return Err(error("the scheme must be http, https, grpc or grpcs")),
        };
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let (user, host) = authority.rsplit_once('@').map_or((None, authority), |(user, host)| (Some(user), host));
        if host.is_empty() || host.starts_with(':') {
            return Err(error("the host is missing"));
        }
        if path.contains(['?', '#']) || host.contains(['?', '#']) {
            return Err(error("a base URL has no query and no fragment"));
        }
        let port = host.rsplit_once(':').filter(|(before, _)| !before.contains('[') || before.ends_with(']')).map(|(_, port)| port);
        if port.is_some_and(|port| port.parse::<u16>().is_err()) {
            return Err(error("the port must be a number up to 65535"));
        }
        if wire == Wire::Grpc && port.is_none() {
            return Err(error("a gRPC target needs a port"));
        }
        let credentials = user.map(|user| {
            use base64::Engine as _;
            format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(user))
        });
        Ok(Self { base: format!("{scheme}://{host}{}", path.trim_end_matches('/')), wire, credentials })
    }
}

/// A base URL in its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts<'a> {
    pub tls: bool,
    /// An IPv6 address in brackets.
    pub host: &'a str,
    /// That of the scheme when none is written.
    pub port: u16,
    /// Empty, or with a slash at its start and none at its end.
    pub path: &'a str,
}

impl Parts<'_> {
    /// The parts of the base of an [`Address`].
    pub fn of(base: &str) -> Parts<'_> {
        let (scheme, rest) = base.split_once("://").unwrap_or(("http", base));
        let (authority, path) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let tls = matches!(scheme, "https" | "grpcs");
        let numbered = authority.rsplit_once(':').filter(|(host, _)| !host.contains('[') || host.ends_with(']'));
        let written = numbered.and_then(|(host, port)| port.parse().ok().map(|port| (host, port)));
        let (host, port) = written.unwrap_or((authority, if tls { 443 } else { 80 }));
        Parts { tls, host, port, path }
    }

    /// `host:port`.
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(self.host)
    }
}

fn hide_credentials(text: &str) -> String {
    match (text.find("://"), text.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}://...{}", &text[..scheme], &text[at..]),
        _ => text.to_owned(),
    }
}

/// What the target answered when it was asked which contract it speaks.
#[derive(Clone, Debug)]
pub enum Recognised {
    /// With the body of the answer.
    Yes(Value),
    /// Something answered, and it is not this contract; what was seen.
    No(String),
    /// Nothing answered within the bound.
    Silent(String),
}

const PAUSE: Duration = Duration::from_millis(50);

/// Looks once.
pub async fn look(session: &Session) -> Recognised {
    if session.catalogue.operations.grpc { ask_grpc(session).await } else { ask_http(session).await }
}

/// Waits until the target answers, and looks whether it speaks the contract of `session`.
pub async fn recognise(session: &Session) -> Recognised {
    let deadline = Instant::now() + session.settings.wait_ready;
    loop {
        match look(session).await {
            Recognised::Silent(reason) if Instant::now() + PAUSE >= deadline => return Recognised::Silent(reason),
            Recognised::Silent(_) => tokio::time::sleep(PAUSE).await,
            other => return other,
        }
    }
}

async fn ask_http(session: &Session) -> Recognised {
    let Some((name, pattern)) = &session.catalogue.operations.detect else {
        return Recognised::No("the fixtures say nothing of how to recognise the contract".to_owned());
    };
    let Some(operation) = session.catalogue.operations.by_name.get(name) else {
        return Recognised::No(format!("the fixtures have no operation {name}"));
    };
    let ask = session.ask(name, operation, &BTreeMap::new(), &BTreeMap::new());
    let request = session.request(&ask);
    let begun = session.recorder.begin();
    let bound = session.settings.timeout.min(session.settings.wait_ready);
    let reply = session.http.send(&request, bound, None).await;
    let about = About {
        case: format!("{}/discovery", session.catalogue.contract).into(),
        step: "which contract?".to_owned(),
        operation: Some(name.clone()),
        ..About::default()
    };
    let what = format!("{} {}", request.method, request.url);
    let exchange = session.record(&begun, about, request, reply);
    match &exchange.reply {
        Reply::None(NoReply::Unreachable(why)) => Recognised::Silent(format!("no connection: {why}")),
        Reply::None(NoReply::TimedOut(bound)) => Recognised::Silent(format!("{what} got no answer within {bound:?}")),
        Reply::None(NoReply::Closed(why)) => Recognised::Silent(format!("{what} was closed without an answer: {why}")),
        Reply::None(NoReply::Garbled(why)) => Recognised::No(format!("{what} got something that is not HTTP: {why}")),
        Reply::Grpc(_) => Recognised::No("a gRPC answer to an HTTP request".to_owned()),
        // Still starting, or behind a proxy whose server is.
        Reply::Http(reply) if matches!(reply.status, 429 | 502..=504) => Recognised::Silent(format!("{what} answered {}", reply.status)),
        Reply::Http(reply) => match reply.json() {
            Some(body) if pattern::fits(pattern, Some(&body)) => Recognised::Yes(body),
            Some(body) => Recognised::No(format!("{what} answered {} with {}", reply.status, pattern::show(Some(&body)))),
            None => Recognised::No(format!("{what} answered {} and no JSON", reply.status)),
        },
    }
}

const UNIMPLEMENTED: u32 = 12;

/// A host is recognised by any answer of its Sessions service but `UNIMPLEMENTED`.
async fn ask_grpc(session: &Session) -> Recognised {
    let bounds = Bounds { time: session.settings.timeout.min(session.settings.wait_ready), ..Bounds::default() };
    let pool = proofmark_schema::agentsessions::descriptors();
    let client = Client::new(session.dial(tls::HTTP2), "agentsessions.v1", pool, bounds);
    match client.call("Sessions/GetSession", &json!({ "uid": "" }), &session.settings.headers).await {
        Err(error) => Recognised::No(error.to_string()),
        Ok(Reply::Grpc(reply)) => match reply.code {
            None => Recognised::No("Sessions/GetSession got an answer without a gRPC status; is this an HTTP server?".to_owned()),
            Some(UNIMPLEMENTED) => Recognised::No(format!("Sessions/GetSession answered UNIMPLEMENTED: {}", reply.message)),
            Some(_) => Recognised::Yes(Value::Null),
        },
        Ok(Reply::None(NoReply::Unreachable(why))) => Recognised::Silent(format!("no connection: {why}")),
        Ok(Reply::None(NoReply::TimedOut(bound))) => Recognised::Silent(format!("no answer within {bound:?}")),
        Ok(other) => Recognised::No(format!("not a gRPC answer: {other:?}")),
    }
}

/// The abort that a target which cannot be judged ends with.
pub fn abort(seen: &Recognised, contract: Option<&Catalogue>) -> Option<Abort> {
    match seen {
        Recognised::Yes(_) => None,
        Recognised::Silent(reason) => Some(Abort { kind: AbortKind::Unreachable, reason: reason.clone() }),
        Recognised::No(reason) => {
            let what = contract.map_or("a known contract".to_owned(), |c| c.contract.clone());
            Some(Abort { kind: AbortKind::NotRecognised, reason: format!("it does not speak {what}: {reason}") })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_once() {
        let parse = |text: &str| Address::parse(text).map(|a| (a.base, a.wire));
        assert_eq!(parse("http://a:1/b/"), Ok(("http://a:1/b".to_owned(), Wire::Http)));
        assert_eq!(parse("https://a"), Ok(("https://a".to_owned(), Wire::Http)));
        assert_eq!(parse("http://[::1]:80"), Ok(("http://[::1]:80".to_owned(), Wire::Http)));
        assert_eq!(parse("grpc://a:1"), Ok(("grpc://a:1".to_owned(), Wire::Grpc)));
        assert_eq!(parse("grpcs://a:1"), Ok(("grpcs://a:1".to_owned(), Wire::Grpc)));
        for wrong in
            ["a:1", "ftp://a", "http://", "http://:1", "http://a:x", "http://a:99999", "grpc://a", "http://a?b=c", "unix:/x", "grpcs://a"]
        {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn bases_fall_into_their_parts() {
        let parts = |base: &'static str| {
            let Parts { tls, path, .. } = Parts::of(base);
            (tls, Parts::of(base).address(), path)
        };
        assert_eq!(parts("http://a:1/b/c"), (false, "a:1".to_owned(), "/b/c"));
        assert_eq!(parts("http://[::1]"), (false, "[::1]:80".to_owned(), ""));
        assert_eq!(parts("https://[::1]:4"), (true, "[::1]:4".to_owned(), ""));
        assert_eq!(parts("https://a/b"), (true, "a:443".to_owned(), "/b"));
        assert_eq!(parts("grpcs://a:5"), (true, "a:5".to_owned(), ""));
    }

    #[test]
    fn credentials_in_the_url_become_a_header_and_are_shown_nowhere() {
        let address = Address::parse("http://user:secret@a:1").unwrap();
        assert_eq!((address.base.as_str(), address.credentials.as_deref()), ("http://a:1", Some("Basic dXNlcjpzZWNyZXQ=")));
        assert!(!Address::parse("ftp://user:secret@a").unwrap_err().to_string().contains("secret"));
    }
}
