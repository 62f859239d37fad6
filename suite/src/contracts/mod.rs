//! What the kit knows of a contract beyond its fixtures: what can be discovered of a target, and which monitors watch it.

pub mod harness_runtime;
pub mod model_runtime;

use crate::monitors::{self, Observation, World};
use crate::plan::Known;
use crate::profile::Profile;
use crate::runner::session::Session;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::fields::Result;
use crate::scenario::references;
use crate::transcript::Exchange;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Header names whose values are credentials, whoever sends them.
const CREDENTIALS: &[&str] = &["authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"];

/// Finds out what the profile does not say. `described` is the answer by which the target was recognised.
pub async fn discover(session: &Arc<Session>, profile: &Profile, described: &Value) -> Known {
    let known = match session.catalogue.contract.as_str() {
        harness_runtime::CONTRACT => harness_runtime::discover(session, profile, described).await,
        model_runtime::CONTRACT => model_runtime::discover(session, profile, described).await,
        _ => Known { stimuli: profile.stimuli.clone(), facts: profile.facts.clone(), ..Known::default() },
    };
    Known { restart: profile.restart.clone(), ..known }
}

/// A monitor that does not exist would never accuse anybody.
pub fn check_monitors(catalogue: &Catalogue) -> Result<()> {
    let known: Vec<&str> = monitors::monitors().iter().map(|(name, _)| *name).collect();
    for requirement in &catalogue.requirements {
        if let Some(name) = requirement.monitor.as_deref().filter(|name| !known.contains(name)) {
            return Err(references::unknown(&requirement.at, "monitor", name, known));
        }
    }
    Ok(())
}

/// What the target says of itself, for the head of the report.
pub fn description(described: &Value) -> BTreeMap<String, String> {
    let members = described.as_object().into_iter().flatten();
    members.filter_map(|(name, value)| value.as_str().map(|text| (name.clone(), text.to_owned()))).collect()
}

/// Every monitor that a requirement of the contract names, by requirement.
pub fn observe(catalogue: &Catalogue, exchanges: &[Arc<Exchange>], secrets: &[String]) -> BTreeMap<String, Observation> {
    let named: Vec<_> = catalogue.requirements.iter().filter_map(|r| r.monitor.as_deref().map(|m| (r.id.clone(), m))).collect();
    if named.is_empty() {
        return BTreeMap::new();
    }
    let world = World::new(&catalogue.contract, exchanges, secrets, &catalogue.operations.problems);
    named
        .into_iter()
        .filter_map(|(id, name)| monitors::monitors().iter().find(|(known, _)| *known == name).map(|(_, check)| (id, check(&world))))
        .collect()
}

/// The values that must never come back: of `--header`, and of credential headers that scenarios sent, whole and as what they hold.
/// Short ones are left out: they stand in an answer by chance.
pub fn secrets(exchanges: &[Arc<Exchange>], configured: &[(String, String)]) -> Vec<String> {
    const SHORTEST: usize = 6;
    let sent = exchanges.iter().flat_map(|e| &e.request.headers).filter(|(name, _)| CREDENTIALS.contains(&name.as_str()));
    let mut values: Vec<String> = Vec::new();
    for (name, value) in configured.iter().chain(sent) {
        values.push(value.clone());
        values.extend(parts(name, value));
    }
    values.retain(|value| value.len() >= SHORTEST);
    values.sort();
    values.dedup();
    values
}

/// The secrets inside a credential: the token behind a scheme, the password of Basic credentials, the values of cookies.
fn parts(name: &str, value: &str) -> Vec<String> {
    if name.eq_ignore_ascii_case("cookie") {
        return value.split(';').filter_map(|pair| pair.split_once('=')).map(|(_, secret)| secret.trim().to_owned()).collect();
    }
    let Some((scheme, token)) = value.split_once(' ').filter(|_| CREDENTIALS.contains(&name.to_ascii_lowercase().as_str())) else {
        return Vec::new();
    };
    let mut parts = vec![token.trim().to_owned()];
    if scheme.eq_ignore_ascii_case("basic") {
        use base64::Engine as _;
        let plain = base64::engine::general_purpose::STANDARD.decode(token.trim()).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        parts.extend(plain.as_deref().and_then(|plain| plain.split_once(':')).map(|(_, password)| password.to_owned()));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_secret_by_its_value() {
        let configured =
            [("Cookie".to_owned(), "sessionid=s3cr3t-value; lang=en".to_owned()), ("x-api-key".to_owned(), "key-123".to_owned())];
        assert_eq!(secrets(&[], &configured), ["key-123", "s3cr3t-value", "sessionid=s3cr3t-value; lang=en"]);
    }

    #[test]
    fn a_token_is_secret_without_its_scheme_and_a_password_without_its_user() {
        let configured = |value: &str| vec![("Authorization".to_owned(), value.to_owned())];
        assert_eq!(secrets(&[], &configured("Bearer abcdef")), ["Bearer abcdef", "abcdef"]);
        let all = ["Basic YW5uOnBhc3N3b3Jk", "YW5uOnBhc3N3b3Jk", "password"];
        assert_eq!(secrets(&[], &configured("Basic YW5uOnBhc3N3b3Jk")), all);
        let other = [("x-tenant".to_owned(), "two harmless words".to_owned())];
        assert_eq!(secrets(&[], &other), ["two harmless words"]);
    }
}
