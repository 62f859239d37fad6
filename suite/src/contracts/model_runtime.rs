//! Discovery for `model-runtime`: facts from the manifests, and a request that completes by itself.

use crate::plan::Known;
use crate::profile::Profile;
use crate::recorder::About;
use crate::runner::session::Session;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tokio::time::Instant;

pub const CONTRACT: &str = "model-runtime";

const MODALITIES: &[&str] = &["text", "json", "image", "audio", "video", "file"];
const CAPABILITIES: &[&str] = &["stream", "tools", "structured_output", "async", "cancel"];
/// Abilities that are tried for a run that completes.
const TRIED: usize = 6;

/// One model as its manifest declares it.
#[derive(Clone, Debug, Default)]
struct Model {
    provider: String,
    name: String,
    abilities: BTreeSet<String>,
    inputs: BTreeSet<String>,
    outputs: BTreeSet<String>,
    capabilities: BTreeSet<String>,
}

pub async fn discover(session: &Arc<Session>, profile: &Profile, _described: &Value) -> Known {
    let listed = ask(session, "listProviders", None, None).await.unwrap_or_default();
    let models = models(&listed);
    let mut known = Known { stimuli: profile.stimuli.clone(), facts: BTreeMap::new(), manifests: levels(&models), ..Known::default() };
    if !known.stimuli.contains_key("completes")
        && let Some(found) = completes(session, &models).await
    {
        known.stimuli.insert("completes".to_owned(), found);
    }
    known.facts = facts(&models, known.stimuli.get("completes"));
    known.facts.extend(profile.facts.clone());
    known
}

fn models(listed: &Value) -> Vec<Model> {
    let mut models = Vec::new();
    for manifest in listed["data"].as_array().into_iter().flatten() {
        for model in manifest["models"].as_array().into_iter().flatten() {
            let texts = |member: &str| -> BTreeSet<String> {
                model[member].as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
            };
            models.push(Model {
                provider: manifest["provider"].as_str().unwrap_or_default().to_owned(),
                name: model["model"].as_str().unwrap_or_default().to_owned(),
                abilities: texts("abilities"),
                inputs: texts("input_modalities"),
                outputs: texts("output_modalities"),
                capabilities: CAPABILITIES.iter().filter(|name| model[**name] == json!(true)).map(|name| (*name).to_owned()).collect(),
            });
        }
    }
    // A target that cannot be named is none that a rule could be about.
    models.retain(|model| !model.provider.is_empty() && !model.name.is_empty());
    models
}

/// What each provider supports with any of its models, in the words that the plan knows.
fn levels(models: &[Model]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut levels: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for model in models {
        let of = levels.entry(model.provider.clone()).or_default();
        for name in CAPABILITIES {
            let level = if model.capabilities.contains(*name) { "native" } else { "unsupported" };
            let known = of.entry((*name).to_owned()).or_insert_with(|| level.to_owned());
            if level == "native" {
                level.clone_into(known);
            }
        }
    }
    levels
}

fn facts(models: &[Model], completes: Option<&Value>) -> BTreeMap<String, Value> {
    let mut facts = BTreeMap::new();
    let abilities: BTreeSet<&String> = models.iter().flat_map(|model| &model.abilities).collect();
    if models.is_empty() {
        return facts;
    }
    for name in CAPABILITIES {
        let lacking = abilities.iter().find_map(|ability| {
            let with = able(models, ability);
            (!with.iter().any(|model| model.capabilities.contains(*name))).then(|| request(ability, &plain_input(&with)?)).flatten()
        });
        facts.extend(lacking.map(|request| (format!("lacks-{}", name.replace('_', "-")), request)));
    }
    facts.extend(abilities.iter().find_map(|ability| lacking_input(models, ability)).map(|fact| ("lacks-input".to_owned(), fact)));
    facts.extend(abilities.iter().find_map(|ability| lacking_output(models, ability)).map(|fact| ("lacks-output".to_owned(), fact)));
    facts.extend(abilities.iter().find_map(|ability| lacking_together(models, ability)).map(|fact| ("lacks-together".to_owned(), fact)));
    facts.insert("unknown-ability".to_owned(), json!(unknown(&abilities)));
    facts.insert("targets".to_owned(), targets(&models.iter().collect::<Vec<_>>()));
    if let Some(completes) = completes {
        let fitting = fitting(models, completes);
        if let Some(first) = fitting.first() {
            facts.insert("met".to_owned(), met(first));
        }
        facts.insert("fitting".to_owned(), targets(&fitting));
        if let Some(first) = fitting.first() {
            if let Some(other) = fitting.iter().find(|model| model.provider != first.provider) {
                facts.insert("providers".to_owned(), json!({ "first": first.provider, "other": other.provider }));
            }
            facts.extend(selective(first, &fitting).map(|fact| ("selective".to_owned(), fact)));
            facts.extend(selective_input(models, completes).map(|fact| ("selective-input".to_owned(), fact)));
        }
        let ability = completes["ability"].as_str().unwrap_or_default().to_ascii_uppercase();
        if !abilities.contains(&ability) {
            facts.insert("other-case".to_owned(), json!(ability));
        }
    }
    facts
}

fn targets(models: &[&Model]) -> Value {
    models.iter().map(|model| json!({ "provider": model.provider, "model": model.name })).collect()
}

/// A capability that the first model lacks and others have, and which they are.
fn selective(first: &Model, fitting: &[&Model]) -> Option<Value> {
    CAPABILITIES.iter().filter(|name| !first.capabilities.contains(**name)).find_map(|name| {
        let with: Vec<&Model> = fitting.iter().copied().filter(|model| model.capabilities.contains(*name)).collect();
        let mut requirements = json!({});
        requirements[*name] = json!(true);
        (!with.is_empty()).then(|| json!({ "requirements": requirements, "targets": targets(&with) }))
    })
}

/// A part that the first model with the ability does not take and others do, and which they are.
fn selective_input(models: &[Model], completes: &Value) -> Option<Value> {
    let fitting = fitting(models, completes);
    let first = fitting.first()?;
    MODALITIES.iter().filter(|kind| !first.inputs.contains(**kind)).find_map(|kind| {
        let with: Vec<&Model> = fitting.iter().copied().filter(|model| model.inputs.contains(*kind)).collect();
        (!with.is_empty()).then(|| json!({ "part": part(kind), "targets": targets(&with) }))
    })
}

fn able<'m>(models: &'m [Model], ability: &str) -> Vec<&'m Model> {
    models.iter().filter(|model| model.abilities.contains(ability)).collect()
}

/// The models that a request may be routed to by its ability and the types of its parts.
fn fitting<'m>(models: &'m [Model], request: &Value) -> Vec<&'m Model> {
    let types = request["input"].as_array().into_iter().flatten().filter_map(|part| part["type"].as_str());
    let types: Vec<&str> = types.collect();
    let ability = request["ability"].as_str().unwrap_or_default();
    able(models, ability).into_iter().filter(|model| types.iter().all(|kind| model.inputs.contains(*kind))).collect()
}

/// A part of a modality that one of the models takes, text first.
fn plain_input(models: &[&Model]) -> Option<Value> {
    MODALITIES.iter().find(|kind| models.iter().any(|model| model.inputs.contains(**kind))).map(|kind| part(kind))
}

fn request(ability: &str, part: &Value) -> Option<Value> {
    part.is_object().then(|| json!({ "ability": ability, "input": [part] }))
}

fn part(kind: &str) -> Value {
    match kind {
        "text" => json!({ "type": "text", "text": "hello" }),
        "json" => json!({ "type": "json", "value": { "greeting": "hello" } }),
        kind => json!({ "type": kind, "uri": format!("https://files.example/{kind}") }),
    }
}

/// An ability, a part that some model with it takes, and a modality that none of them takes.
fn lacking_input(models: &[Model], ability: &str) -> Option<Value> {
    let with = able(models, ability);
    let lacking = MODALITIES.iter().rev().find(|kind| !with.iter().any(|model| model.inputs.contains(**kind)))?;
    let fine = plain_input(&with)?;
    Some(json!({ "ability": ability, "modality": lacking, "part": part(lacking), "fine": fine }))
}

fn lacking_output(models: &[Model], ability: &str) -> Option<Value> {
    let with = able(models, ability);
    let lacking = MODALITIES.iter().rev().find(|kind| !with.iter().any(|model| model.outputs.contains(**kind)))?;
    Some(json!({ "ability": ability, "modality": lacking, "fine": plain_input(&with)? }))
}

/// Two requirements that some models with the ability meet, and none meets both.
fn lacking_together(models: &[Model], ability: &str) -> Option<Value> {
    let with = able(models, ability);
    let met: Vec<(&str, &str)> = ways().filter(|way| with.iter().any(|model| model.meets(*way))).collect();
    let pairs = met.iter().enumerate().flat_map(|(at, left)| met[at + 1..].iter().map(move |right| (*left, *right)));
    let (left, right) = pairs.into_iter().find(|(left, right)| !with.iter().any(|model| model.meets(*left) && model.meets(*right)))?;
    let mut requirements = json!({});
    for (member, name) in [left, right] {
        match member {
            "" => requirements[name] = json!(true),
            member if requirements[member].is_array() => requirements[member] = json!([requirements[member][0], name]),
            member => requirements[member] = json!([name]),
        }
    }
    let input = with.iter().find(|model| model.meets(left)).and_then(|model| plain_input(&[model]))?;
    Some(json!({ "ability": ability, "input": [input], "requirements": requirements }))
}

/// Everything that can be required: the member of the requirements (none for a capability) and the name.
fn ways() -> impl Iterator<Item = (&'static str, &'static str)> {
    let of = |member: &'static str, names: &'static [&'static str]| names.iter().map(move |name| (member, *name));
    of("input_modalities", MODALITIES).chain(of("output_modalities", MODALITIES)).chain(of("", CAPABILITIES))
}

impl Model {
    fn meets(&self, (member, name): (&str, &str)) -> bool {
        let of = match member {
            "input_modalities" => &self.inputs,
            "output_modalities" => &self.outputs,
            _ => &self.capabilities,
        };
        of.contains(name)
    }
}

fn unknown(abilities: &BTreeSet<&String>) -> String {
    let names = ["proof-of-absence".to_owned()].into_iter().chain((1..).map(|n| format!("proof-of-absence-{n}")));
    names.into_iter().find(|name| !abilities.contains(name)).unwrap_or_default()
}

/// Requirements that a model meets, all of them at once.
fn met(model: &Model) -> Value {
    let mut requirements = json!({ "input_modalities": model.inputs, "output_modalities": model.outputs });
    for name in &model.capabilities {
        requirements[name] = json!(true);
    }
    requirements
}

/// Tries abilities with a plain text until one run succeeds by itself and brings a delta.
async fn completes(session: &Arc<Session>, models: &[Model]) -> Option<Value> {
    let texts = models.iter().filter(|model| model.inputs.contains("text"));
    let mut abilities: Vec<&String> = texts.flat_map(|model| &model.abilities).collect();
    abilities.dedup();
    for ability in abilities.into_iter().take(TRIED) {
        let stimulus = request(ability, &part("text"))?;
        if try_run(session, &stimulus).await.is_some() {
            return Some(stimulus);
        }
    }
    None
}

async fn try_run(session: &Arc<Session>, stimulus: &Value) -> Option<()> {
    let submitted = ask(session, "startExecution", None, Some(stimulus.clone())).await?;
    let id = submitted["execution_id"].as_str()?;
    let deadline = Instant::now() + session.settings.timeout / 2;
    let ended = loop {
        let read = ask(session, "getExecution", Some(id), None).await?;
        let live = matches!(read["status"].as_str(), Some("accepted" | "routing" | "running"));
        if !live || Instant::now() >= deadline {
            break read;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    };
    if ended["status"] != "succeeded" {
        ask(session, "cancelExecution", Some(id), None).await;
        return None;
    }
    ended["result"]["outputs"].as_array().is_some_and(|outputs| !outputs.is_empty()).then_some(())
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
    let exchange = session.send(&ask, &about, None, false).await;
    exchange.http().filter(|reply| (200..300).contains(&reply.status))?.json()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listed() -> Value {
        json!({ "data": [
            { "provider": "a", "models": [
                { "model": "m", "abilities": ["write"], "input_modalities": ["text"], "output_modalities": ["text"],
                  "stream": true, "tools": false, "structured_output": false, "async": false, "cancel": true },
            ] },
            { "provider": "b", "models": [
                { "model": "n", "abilities": ["write", "draw"], "input_modalities": ["text", "image"], "output_modalities": ["text"],
                  "stream": true, "tools": true, "structured_output": false, "async": false, "cancel": true },
            ] },
        ] })
    }

    #[test]
    fn facts_come_from_the_manifests() {
        let completes = json!({ "ability": "write", "input": [{ "type": "text", "text": "x" }] });
        let facts = facts(&models(&listed()), Some(&completes));
        assert_eq!(facts["lacks-async"]["input"], json!([part("text")]));
        assert!(!facts.contains_key("lacks-stream") && !facts.contains_key("lacks-tools"), "{facts:?}");
        assert_eq!(facts["lacks-input"]["ability"], json!("draw"));
        assert_eq!(facts["lacks-input"]["modality"], json!("file"));
        assert_eq!(facts["providers"], json!({ "first": "a", "other": "b" }));
        assert_eq!(facts["met"], json!({ "input_modalities": ["text"], "output_modalities": ["text"], "stream": true, "cancel": true }));
        assert_eq!(facts["unknown-ability"], json!("proof-of-absence"));
    }

    #[test]
    fn what_models_only_meet_together_is_found() {
        let mut listed = listed();
        listed["data"][0]["models"][0]["input_modalities"] = json!(["text", "audio"]);
        let found = lacking_together(&models(&listed), "write").unwrap();
        assert_eq!(found["requirements"], json!({ "input_modalities": ["image", "audio"] }));
        assert!(lacking_together(&models(&listed), "draw").is_none());
    }

    #[test]
    fn a_provider_supports_what_one_of_its_models_does() {
        let levels = levels(&models(&listed()));
        assert_eq!(levels["b"]["tools"], "native");
        assert_eq!(levels["a"]["tools"], "unsupported");
    }

    #[test]
    fn nothing_is_made_up_for_a_target_that_says_nothing() {
        assert!(facts(&models(&json!({})), None).is_empty());
    }
}
