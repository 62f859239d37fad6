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
const FALLBACK: &str = "fallback";
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
    known.facts = facts(&models, &known.stimuli);
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

/// What each provider supports with any of its models, in the words that the plan knows. `FALLBACK` is no capability of a manifest, but takes
/// a second model for some ability.
fn levels(models: &[Model]) -> BTreeMap<String, BTreeMap<String, String>> {
    let mut levels: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for model in models {
        let of = levels.entry(model.provider.clone()).or_default();
        let same = |other: &Model| other.provider == model.provider && other.name == model.name;
        let falls_back = models.iter().any(|other| !same(other) && !other.abilities.is_disjoint(&model.abilities));
        let declared = CAPABILITIES.iter().map(|name| (*name, model.capabilities.contains(*name)));
        for (name, supported) in declared.chain([(FALLBACK, falls_back)]) {
            let level = if supported { "native" } else { "unsupported" };
            let known = of.entry(name.to_owned()).or_insert_with(|| level.to_owned());
            if level == "native" {
                level.clone_into(known);
            }
        }
    }
    levels
}

fn facts(models: &[Model], stimuli: &BTreeMap<String, Value>) -> BTreeMap<String, Value> {
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
    facts
        .extend(abilities.iter().find_map(|ability| lacking_one_output(models, ability)).map(|fact| ("lacks-one-output".to_owned(), fact)));
    let candidates = stimuli.iter().map(|(name, request)| (name.clone(), targets(&fitting(models, request)))).collect();
    facts.insert("candidates".to_owned(), Value::Object(candidates));
    if let Some(lone) = stimuli.get("fails-over").and_then(|request| lone_provider(&fitting(models, request))) {
        facts.insert("lone-provider".to_owned(), json!(lone));
    }
    facts.insert("unknown-ability".to_owned(), json!(unknown(&abilities)));
    facts.insert("targets".to_owned(), targets(&models.iter().collect::<Vec<_>>()));
    if let Some(completes) = stimuli.get("completes") {
        let fitting = fitting(models, completes);
        if let Some(first) = fitting.first() {
            facts.insert("met".to_owned(), met(first));
        }
        facts.insert("fitting".to_owned(), targets(&fitting));
        if let Some(first) = fitting.first() {
            if let Some(other) = fitting.iter().find(|model| model.provider != first.provider) {
                facts.insert("providers".to_owned(), json!({ "first": first.provider, "other": other.provider }));
            }
            facts.extend(selective(models, completes).map(|fact| ("selective".to_owned(), fact)));
            facts.extend(selective_input(models, completes).map(|fact| ("selective-input".to_owned(), fact)));
        }
        let ability = completes["ability"].as_str().unwrap_or_default();
        let other_case = ability.to_ascii_uppercase();
        if !abilities.contains(&other_case) {
            facts.insert("other-case".to_owned(), json!(other_case));
        }
        let (shorter, longer) = (&ability[..ability.char_indices().next_back().map_or(0, |(at, _)| at)], format!("{ability}s"));
        if !shorter.is_empty() && ![shorter, &longer].iter().any(|near| abilities.iter().any(|known| known == near)) {
            facts.insert("near-ability".to_owned(), json!({ "shorter": shorter, "longer": longer }));
        }
    }
    facts
}

fn targets(models: &[&Model]) -> Value {
    models.iter().map(|model| json!({ "provider": model.provider, "model": model.name })).collect()
}

/// A provider one model of which may serve, beside those of others.
fn lone_provider<'m>(fitting: &[&'m Model]) -> Option<&'m str> {
    let of = |provider: &str| fitting.iter().filter(|model| model.provider == provider).count();
    fitting.iter().map(|model| model.provider.as_str()).find(|provider| of(provider) == 1 && fitting.len() > 1)
}

/// A capability that the first model lacks and others have, and which they are. It takes the place of what the request requires.
fn selective(models: &[Model], completes: &Value) -> Option<Value> {
    let mut request = completes.clone();
    request["requirements"] = json!({});
    let first = fitting(models, &request).into_iter().next()?;
    CAPABILITIES.iter().filter(|name| !first.capabilities.contains(**name)).find_map(|name| {
        let mut requirements = json!({});
        requirements[*name] = json!(true);
        request["requirements"] = requirements.clone();
        let with = fitting(models, &request);
        (!with.is_empty()).then(|| json!({ "requirements": requirements, "targets": targets(&with) }))
    })
}

/// A part that the first model does not take and others do, and which they are. It comes with a text in the place of the input.
fn selective_input(models: &[Model], completes: &Value) -> Option<Value> {
    let mut request = completes.clone();
    let first = fitting(models, &request).into_iter().next()?;
    MODALITIES.iter().filter(|kind| !first.inputs.contains(**kind)).find_map(|kind| {
        request["input"] = json!([part(kind), part("text")]);
        let with = fitting(models, &request);
        (!with.is_empty()).then(|| json!({ "part": part(kind), "targets": targets(&with) }))
    })
}

fn able<'m>(models: &'m [Model], ability: &str) -> Vec<&'m Model> {
    models.iter().filter(|model| model.abilities.contains(ability)).collect()
}

/// The models that a request may be routed to by its ability, the types of its parts and what it requires.
fn fitting<'m>(models: &'m [Model], request: &Value) -> Vec<&'m Model> {
    let list = |of: &'_ Value| -> Vec<Value> { of.as_array().cloned().unwrap_or_default() };
    let types: Vec<Value> = list(&request["input"]).iter().map(|part| part["type"].clone()).collect();
    let required = &request["requirements"];
    let all = |wanted: &[Value], given: &BTreeSet<String>| wanted.iter().filter_map(Value::as_str).all(|name| given.contains(name));
    let ability = request["ability"].as_str().unwrap_or_default();
    let mut fitting = able(models, ability);
    fitting.retain(|model| {
        all(&types, &model.inputs)
            && all(&list(&required["input_modalities"]), &model.inputs)
            && all(&list(&required["output_modalities"]), &model.outputs)
            && CAPABILITIES.iter().all(|name| required[*name] != json!(true) || model.capabilities.contains(*name))
    });
    fitting
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

/// An ability, an output modality that a model with it gives, and one that none of them gives.
fn lacking_one_output(models: &[Model], ability: &str) -> Option<Value> {
    let with = able(models, ability);
    let lacking = MODALITIES.iter().rev().find(|kind| !with.iter().any(|model| model.outputs.contains(**kind)))?;
    with.iter().find_map(|model| {
        let given = MODALITIES.iter().find(|kind| model.outputs.contains(**kind))?;
        Some(json!({ "ability": ability, "given": given, "missing": lacking, "fine": plain_input(&[model])? }))
    })
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
        let facts = facts(&models(&listed()), &BTreeMap::from([("completes".to_owned(), completes)]));
        assert_eq!(facts["lacks-async"]["input"], json!([part("text")]));
        assert!(!facts.contains_key("lacks-stream") && !facts.contains_key("lacks-tools"), "{facts:?}");
        assert_eq!(facts["lacks-input"]["ability"], json!("draw"));
        assert_eq!(facts["lacks-input"]["modality"], json!("file"));
        assert_eq!(facts["providers"], json!({ "first": "a", "other": "b" }));
        assert_eq!(facts["met"], json!({ "input_modalities": ["text"], "output_modalities": ["text"], "stream": true, "cancel": true }));
        assert_eq!(facts["unknown-ability"], json!("proof-of-absence"));
        assert_eq!(facts["near-ability"], json!({ "shorter": "writ", "longer": "writes" }));
        assert_eq!(facts["lacks-one-output"], json!({ "ability": "draw", "given": "text", "missing": "file", "fine": part("text") }));
        let both = json!([{ "provider": "a", "model": "m" }, { "provider": "b", "model": "n" }]);
        assert_eq!(facts["candidates"], json!({ "completes": both }));
        assert!(!facts.contains_key("lone-provider"), "{facts:?}");
    }

    #[test]
    fn a_fallback_takes_two_models_for_one_ability() {
        let levels = |listed: &Value| levels(&models(listed)).into_values().map(|of| of[FALLBACK].clone()).collect::<Vec<_>>();
        let model = |name: &str, ability: &str| json!({ "model": name, "abilities": [ability] });
        let listed = |first: Value, second: Value| json!({ "data": [{ "provider": "a", "models": [first] }, { "provider": "b", "models": [second] }] });
        assert_eq!(levels(&listed(model("m", "write"), model("m", "write"))), ["native", "native"]);
        assert_eq!(levels(&listed(model("m", "write"), model("n", "draw"))), ["unsupported", "unsupported"]);
        let alone = json!({ "data": [{ "provider": "a", "models": [model("m", "write"), model("m", "write")] }] });
        assert_eq!(levels(&alone), ["unsupported"]);
    }

    #[test]
    fn what_a_request_requires_narrows_its_candidates() {
        let mut listed = listed();
        let models = models(&listed);
        let names = |request: &Value| -> Vec<String> { fitting(&models, request).iter().map(|model| model.name.clone()).collect() };
        let mut request = json!({ "ability": "write", "input": [{ "type": "text", "text": "x" }] });
        assert_eq!(names(&request), ["m", "n"]);
        for requirements in [json!({ "tools": true }), json!({ "input_modalities": ["image"] })] {
            request["requirements"] = requirements;
            assert_eq!(names(&request), ["n"]);
        }
        request["requirements"] = json!({ "tools": false, "output_modalities": ["text"] });
        assert_eq!(names(&request), ["m", "n"]);
        request["requirements"] = json!({ "output_modalities": ["text", "json"] });
        assert_eq!(names(&request), [""; 0]);
        // Two models of one provider are none that stands alone.
        let again = listed["data"][0]["models"][0].clone();
        listed["data"][0]["models"].as_array_mut().unwrap().push(again);
        let models = super::models(&listed);
        assert_eq!(lone_provider(&fitting(&models, &json!({ "ability": "write" }))), Some("b"));
        assert_eq!(lone_provider(&fitting(&models, &json!({ "ability": "draw" }))), None);
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
        assert!(facts(&models(&json!({})), &BTreeMap::new()).is_empty());
    }
}
