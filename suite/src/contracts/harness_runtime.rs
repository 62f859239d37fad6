//! Discovery for `harness-runtime`: facts from the manifests, and a run that completes by itself.

use crate::plan::Known;
use crate::profile::Profile;
use crate::recorder::About;
use crate::runner::session::Session;
use crate::transcript::Exchange;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::time::Instant;

pub const CONTRACT: &str = "harness-runtime";

const PASSING: &[&str] = &["native", "emulated", "degraded"];
/// Providers that are tried for a run that completes.
const TRIED: usize = 6;

pub async fn discover(session: &Arc<Session>, profile: &Profile, described: &Value) -> Known {
    let manifests = manifests(described);
    let mut known = Known { stimuli: profile.stimuli.clone(), manifests, ..Known::default() };
    if !known.stimuli.contains_key("completes")
        && let Some(found) = completes(session, &known.manifests).await
    {
        known.stimuli.insert("completes".to_owned(), found);
    }
    facts(&mut known);
    known.facts.extend(profile.facts.clone());
    known
}

fn manifests(described: &Value) -> BTreeMap<String, BTreeMap<String, String>> {
    let providers = described["providers"].as_array().into_iter().flatten();
    providers
        .filter_map(|manifest| {
            let levels = manifest["capabilities"].as_object().into_iter().flatten();
            let levels = levels.filter_map(|(name, level)| level.as_str().map(|level| (name.clone(), level.to_owned())));
            Some((manifest["id"].as_str()?.to_owned(), levels.collect()))
        })
        .collect()
}

fn facts(known: &mut Known) {
    let provider = known.stimuli.get("completes").and_then(|s| s["providerId"].as_str()).map(str::to_owned);
    let Some(provider) = provider.or_else(|| known.manifests.keys().next().cloned()) else { return };
    let mut facts: BTreeMap<&str, Value> = BTreeMap::new();
    if known.stimuli.contains_key("completes") {
        facts.insert("provider", json!(provider));
    }
    if let Some(other) = known.manifests.keys().find(|id| **id != provider) {
        facts.insert("other-provider", json!(other));
    }
    let supported: Vec<&String> = known
        .manifests
        .get(&provider)
        .into_iter()
        .flatten()
        .filter(|(_, level)| PASSING.contains(&level.as_str()))
        .map(|(n, _)| n)
        .collect();
    if supported.len() >= 2 {
        facts.insert("capabilities", json!(supported));
    }
    for level in ["native", "emulated", "degraded", "unsupported"] {
        // The provider that completes comes first, then the others in their order.
        let all = known.manifests.get_key_value(&provider).into_iter().chain(known.manifests.iter());
        let found = all.flat_map(|(id, levels)| levels.iter().map(move |(name, l)| (id, name, l))).find(|(_, _, l)| l.as_str() == level);
        if let Some((id, name, _)) = found {
            facts.insert(level, json!({ "provider": id, "capability": name }));
        }
    }
    known.facts.extend(facts.into_iter().map(|(name, value)| (name.to_owned(), value)));
}

/// Tries each provider with a plain input until one run succeeds by itself and brings some text.
async fn completes(session: &Arc<Session>, manifests: &BTreeMap<String, BTreeMap<String, String>>) -> Option<Value> {
    for provider in manifests.keys().take(TRIED) {
        let stimulus = json!({ "providerId": provider, "input": "hello" });
        if try_run(session, &stimulus).await.is_some() {
            return Some(stimulus);
        }
    }
    None
}

async fn try_run(session: &Arc<Session>, stimulus: &Value) -> Option<()> {
    let conversation = ask(session, "createConversation", None, Some(json!({}))).await?;
    let mut request = stimulus.clone();
    request["conversationId"] = conversation["id"].clone();
    let execution = ask(session, "startExecution", None, Some(request)).await?;
    let id = execution["id"].as_str()?;
    let deadline = Instant::now() + session.settings.timeout / 2;
    let state = loop {
        let read = ask(session, "getExecution", Some(id), None).await?;
        let state = read["state"].as_str().unwrap_or_default().to_owned();
        if !matches!(state.as_str(), "queued" | "starting" | "running") || Instant::now() >= deadline {
            break state;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    if state != "succeeded" {
        ask(session, "cancelExecution", Some(id), Some(json!({}))).await;
        return None;
    }
    let listed = ask(session, "listEvents", Some(id), None).await?;
    let brought_text = listed["events"].as_array()?.iter().any(|event| event["type"] == "output.text.delta");
    brought_text.then_some(())
}

async fn ask(session: &Arc<Session>, name: &str, id: Option<&str>, body: Option<Value>) -> Option<Value> {
    let operation = session.catalogue.operations.by_name.get(name)?;
    let params: BTreeMap<String, String> = id.map(|id| ("id".to_owned(), id.to_owned())).into_iter().collect();
    let mut ask = session.ask(name, operation, &params, &BTreeMap::new());
    ask.body = body.map(|body| body.to_string().into());
    let about = About {
        case: format!("{CONTRACT}/discovery").into(),
        step: format!("discovery {name}"),
        operation: Some(name.to_owned()),
        params,
        ..About::default()
    };
    let exchange: Arc<Exchange> = session.send(&ask, &about, None, false).await;
    let reply = exchange.http().filter(|reply| (200..300).contains(&reply.status))?;
    reply.json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_come_from_the_manifests() {
        let described = json!({ "providers": [
            { "id": "a", "capabilities": { "x": "unsupported", "y": "native", "z": "degraded" } },
            { "id": "b", "capabilities": { "x": "emulated" } },
        ] });
        let mut known = Known { manifests: manifests(&described), ..Known::default() };
        known.stimuli.insert("completes".to_owned(), json!({ "providerId": "a", "input": "" }));
        facts(&mut known);
        assert_eq!(known.facts["provider"], json!("a"));
        assert_eq!(known.facts["other-provider"], json!("b"));
        assert_eq!(known.facts["capabilities"], json!(["y", "z"]));
        assert_eq!(known.facts["native"], json!({ "provider": "a", "capability": "y" }));
        assert_eq!(known.facts["emulated"], json!({ "provider": "b", "capability": "x" }));
        assert_eq!(known.facts["unsupported"], json!({ "provider": "a", "capability": "x" }));
    }

    #[test]
    fn nothing_is_made_up_for_a_target_that_says_nothing() {
        let mut known = Known { manifests: manifests(&json!({})), ..Known::default() };
        facts(&mut known);
        assert!(known.facts.is_empty());
    }
}
