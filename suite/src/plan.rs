//! The plan: which cases run, which do not, and why. Decided before anything of them is sent.

use crate::restart::Restart;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::model::{Action, Scenario, Step};
use proofmark_reports::model::MissingStimulus;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One case of one scenario: a test of its own.
#[derive(Clone, Debug)]
pub struct Case {
    /// `contract/area/scenario` or `contract/area/scenario/case`.
    pub path: Arc<str>,
    pub scenario: Arc<Scenario>,
    /// What `${case...}` names.
    pub values: Value,
    /// How many executions it may have alive at once.
    pub executions: usize,
    pub decision: Decision,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    Run,
    /// The target declares that it lacks what this is about.
    NotApplicable(String),
    /// Nothing provokes it here; which stimulus or fact is missing.
    NotExercised {
        missing: String,
        reason: String,
    },
}

/// What is known of the target when planning.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Stimuli by name, as members of a start request.
    pub stimuli: BTreeMap<String, Value>,
    pub facts: BTreeMap<String, Value>,
    /// Capability levels by provider.
    pub manifests: BTreeMap<String, BTreeMap<String, String>>,
    /// How the target is restarted, and whether it promises anything about that.
    pub restart: Restart,
}

impl Known {
    fn supports(&self, provider: &str, capability: &str) -> Option<bool> {
        self.manifests.get(provider).map(|levels| levels.get(capability).is_some_and(|level| level != "unsupported"))
    }

    fn nobody_supports(&self, capability: &str) -> bool {
        !self.manifests.is_empty() && self.manifests.keys().all(|provider| self.supports(provider, capability) == Some(false))
    }
}

/// The rules that speak of nothing the target has, with the reason.
pub fn inapplicable(catalogue: &Catalogue, known: &Known) -> BTreeMap<String, String> {
    let lacked = catalogue
        .requirements
        .iter()
        .filter(|rule| !rule.capabilities.is_empty() && rule.capabilities.iter().all(|capability| known.nobody_supports(capability)));
    lacked.map(|rule| (rule.id.clone(), format!("no provider declares support for {}", rule.capabilities.join(" or ")))).collect()
}

/// All cases of the contract that `filters` select, in the order of the fixtures.
pub fn plan(catalogue: &Catalogue, filters: &[Filter], known: &Known) -> Vec<Case> {
    let mut cases = Vec::new();
    for (area, scenario) in catalogue.scenarios() {
        let shared = Arc::new(scenario.clone());
        let rules = Catalogue::own_rules(scenario);
        for (name, values) in &scenario.cases {
            let mut path = format!("{}/{}/{}", catalogue.contract, area.name, scenario.id);
            if let Some(name) = name {
                path.push('/');
                path.push_str(name);
            }
            if filters.is_empty() || filters.iter().any(|filter| filter.selects(&path, &rules)) {
                cases.push(Case {
                    path: path.into(),
                    scenario: shared.clone(),
                    values: values.clone(),
                    executions: starts(&scenario.steps, catalogue),
                    decision: decide(scenario, catalogue, known),
                });
            }
        }
    }
    cases
}

/// What a durable target without commands lacks, among the missing stimuli.
const RESTART: &str = "restart";

fn decide(scenario: &Scenario, catalogue: &Catalogue, known: &Known) -> Decision {
    let ways = scenario.restarts();
    if !ways.is_empty() && !known.restart.durable {
        return Decision::NotApplicable("the profile does not say that the target is durable ([restart] durable = true)".to_owned());
    }
    let lacking: BTreeSet<&str> = ways.iter().flat_map(|way| known.restart.missing(*way)).collect();
    if !lacking.is_empty() {
        let lacking: Vec<&str> = lacking.into_iter().collect();
        let reason = format!("the profile does not say how to restart the target: [restart] has no {}", lacking.join(" and no "));
        return Decision::NotExercised { missing: RESTART.to_owned(), reason };
    }
    let mut missing = None;
    for need in &scenario.needs {
        let capability = catalogue.stimuli.stimuli.get(need).and_then(|s| s.capability.as_deref());
        match (known.stimuli.get(need).or_else(|| known.facts.get(need)), capability) {
            (Some(stimulus), Some(capability)) => {
                let provider = stimulus["providerId"].as_str().unwrap_or_default();
                if known.supports(provider, capability) == Some(false) {
                    return Decision::NotApplicable(format!("provider `{provider}` declares no support for {capability}"));
                }
            }
            (None, Some(capability)) if known.nobody_supports(capability) => {
                return Decision::NotApplicable(format!("no provider declares support for {capability}"));
            }
            (None, _) => missing = missing.or(Some(need)),
            (Some(_), None) => {}
        }
        if let Some(reason) = known.stimuli.get(need).and_then(|stimulus| unfit(need, stimulus, catalogue, known)) {
            return Decision::NotExercised { missing: need.clone(), reason };
        }
    }
    let provider = scenario.needs.iter().find_map(|need| known.stimuli.get(need)).and_then(|s| s["providerId"].as_str());
    for capability in &scenario.capabilities {
        match provider {
            Some(provider) if known.supports(provider, capability) == Some(false) => {
                return Decision::NotApplicable(format!("provider `{provider}` declares no support for {capability}"));
            }
            None if known.nobody_supports(capability) => {
                return Decision::NotApplicable(format!("no provider declares support for {capability}"));
            }
            _ => {}
        }
    }
    match missing {
        None => Decision::Run,
        Some(_) if let Some(reason) = undeclared(scenario, catalogue, known) => Decision::NotApplicable(reason),
        Some(need) => {
            let what = if catalogue.stimuli.facts.contains_key(need) { "fact" } else { "stimulus" };
            Decision::NotExercised { missing: need.clone(), reason: format!("no {what} `{need}` is known for this target") }
        }
    }
}

/// What a scenario needs and the descriptions of the target, which were read, have not: a level that no capability has, a second provider.
fn undeclared(scenario: &Scenario, catalogue: &Catalogue, known: &Known) -> Option<String> {
    // Most facts start from what `completes`.
    if known.manifests.is_empty() || !known.stimuli.contains_key("completes") {
        return None;
    }
    let mut missing =
        scenario.needs.iter().filter(|need| !known.stimuli.contains_key(*need) && !known.facts.contains_key(*need)).peekable();
    let first = catalogue.stimuli.facts.get(*missing.peek()?)?;
    let discovered = |need: &String| catalogue.stimuli.facts.get(need).is_some_and(|fact| fact.discovered);
    missing.all(discovered).then(|| format!("the target declares nothing like this: {}", first.about))
}

/// Why a stimulus of the profile cannot do what it is for: a slip of the profile is held against no target.
fn unfit(name: &str, stimulus: &Value, catalogue: &Catalogue, known: &Known) -> Option<String> {
    if let Some(provider) = stimulus["providerId"].as_str()
        && !provider.contains("${")
        && !known.manifests.is_empty()
        && !known.manifests.contains_key(provider)
    {
        let there: Vec<&str> = known.manifests.keys().map(String::as_str).collect();
        return Some(format!("the stimulus `{name}` names the provider `{provider}`; the target describes {}", there.join(", ")));
    }
    let counts = catalogue.stimuli.stimuli.get(name).is_some_and(|known| known.example.contains(TALLY));
    (counts && !stimulus.to_string().contains(TALLY)).then(|| format!("the stimulus `{name}` says {TALLY} nowhere: it could count nothing"))
}

/// What names the count of a case.
const TALLY: &str = "${tally}";

/// How many executions a case starts at the most; its share of the budget.
fn starts(steps: &[Step], catalogue: &Catalogue) -> usize {
    let Some(executions) = &catalogue.operations.executions else { return 0 };
    steps
        .iter()
        .map(|step| match &step.action {
            Action::Call(call) => usize::from(call.operation == executions.start),
            Action::Follow(follow) => usize::from(follow.submit.is_some()),
            Action::Together(branches) => branches.iter().map(|steps| starts(steps, catalogue)).sum(),
            Action::Preamble { steps, .. } => starts(steps, catalogue),
            _ => 0,
        })
        .sum()
}

/// The stimuli that cases wait for, with TOML to paste into a profile.
pub fn missing_stimuli(catalogue: &Catalogue, cases: &[Case]) -> Vec<MissingStimulus> {
    let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
    for case in cases {
        if let Decision::NotExercised { missing, .. } = &case.decision {
            *waiting.entry(missing).or_default() += 1;
        }
    }
    waiting
        .into_iter()
        .filter_map(|(name, cases)| {
            if name == RESTART {
                return Some(restart_commands(cases));
            }
            let stimulus = catalogue.stimuli.stimuli.get(name)?;
            let toml = format!("[stimuli.{name}]\n{}", stimulus.example.trim_end());
            Some(MissingStimulus { name: name.to_owned(), about: stimulus.about.clone(), cases, toml })
        })
        .collect()
}

fn restart_commands(cases: usize) -> MissingStimulus {
    MissingStimulus {
        name: RESTART.to_owned(),
        about: "How the target is stopped, killed and started again. Each is a program and its arguments.".to_owned(),
        cases,
        toml: r#"[restart]
durable = true
kill = ["./my-server", "kill"]
stop = ["./my-server", "stop"]
start = ["./my-server", "start"]"#
            .to_owned(),
    }
}

/// A path glob over `contract/area/scenario/case`, or a requirement id.
#[derive(Clone, Debug)]
pub struct Filter {
    text: String,
    parts: Vec<String>,
}

impl Filter {
    pub fn new(text: &str) -> Self {
        Self { text: text.to_owned(), parts: text.trim_matches('/').split('/').map(str::to_owned).collect() }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn selects(&self, path: &str, rules: &BTreeSet<&str>) -> bool {
        if rules.contains(self.text.as_str()) {
            return true;
        }
        let path: Vec<&str> = path.split('/').collect();
        let parts: Vec<&str> = self.parts.iter().map(String::as_str).collect();
        fits(&parts, &path)
    }
}

/// `**` stands for any number of parts, `*` inside a part for any characters. A filter that names the start of a path selects what is below.
fn fits(parts: &[&str], path: &[&str]) -> bool {
    match (parts.split_first(), path.split_first()) {
        (None, _) => true,
        (Some((&"**", rest)), _) => (0..=path.len()).any(|skip| fits(rest, &path[skip..])),
        (Some((part, rest)), Some((name, below))) => part_fits(part.as_bytes(), name.as_bytes()) && fits(rest, below),
        (Some(_), None) => false,
    }
}

fn part_fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skip| part_fits(rest, &name[skip..])),
        Some((b'?', rest)) => !name.is_empty() && part_fits(rest, &name[1..]),
        Some((byte, rest)) => name.first() == Some(byte) && part_fits(rest, &name[1..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_globs_over_paths_and_ids() {
        let rules = BTreeSet::from(["HR-IDEM-1"]);
        let selects = |filter: &str| Filter::new(filter).selects("harness-runtime/idempotency/other-input/order", &rules);
        for filter in [
            "harness-runtime",
            "harness-runtime/idempotency",
            "harness-runtime/idempotency/**",
            "**/other-input",
            "**/other-*/order",
            "*/idem*/*",
            "HR-IDEM-1",
            "**",
        ] {
            assert!(selects(filter), "{filter}");
        }
        for filter in ["harness", "model-runtime/**", "**/other-output", "HR-IDEM-11", "*/idempotency/*/reverse", "idempotency"] {
            assert!(!selects(filter), "{filter}");
        }
    }

    #[test]
    fn what_the_descriptions_do_not_have_does_not_apply() {
        let loaded = crate::commands::options::TargetArgs::default().load().unwrap();
        let catalogue = &loaded.catalogues["harness-runtime"];
        let completes = BTreeMap::from([("completes".to_owned(), serde_json::json!({ "providerId": "a", "input": "" }))]);
        let manifests = BTreeMap::from([("a".to_owned(), BTreeMap::new())]);
        let of = |needs: &[&str], known: &Known| {
            let case = plan(catalogue, &[], known).into_iter().find(|case| case.scenario.needs == needs);
            case.unwrap_or_else(|| panic!("nothing needs {needs:?}")).decision
        };
        let known = Known { stimuli: completes.clone(), manifests, ..Known::default() };
        let reason = "the target declares nothing like this: { provider, capability } with level degraded.";
        assert_eq!(of(&["degraded"], &known), Decision::NotApplicable(reason.to_owned()));
        // A stimulus can be given; and of a target that describes nothing, or completes nothing, it is not known what it lacks.
        assert!(matches!(of(&["fails"], &known), Decision::NotExercised { .. }));
        for known in [Known { manifests: BTreeMap::new(), ..known.clone() }, Known { stimuli: BTreeMap::new(), ..known.clone() }] {
            assert!(matches!(of(&["degraded"], &known), Decision::NotExercised { .. }));
        }
    }

    #[test]
    fn rules_of_what_no_provider_has_do_not_apply() {
        let loaded = crate::commands::options::TargetArgs::default().load().unwrap();
        let catalogue = &loaded.catalogues["harness-runtime"];
        let lacked = |providers: &[&[(&str, &str)]]| {
            let owned = |levels: &[(&str, &str)]| levels.iter().map(|(name, level)| ((*name).to_owned(), (*level).to_owned())).collect();
            let manifests = providers.iter().enumerate().map(|(number, levels)| (number.to_string(), owned(levels))).collect();
            inapplicable(catalogue, &Known { manifests, ..Known::default() })
        };
        let of = |rules: &BTreeMap<String, String>| ["HR-ACTION-16", "HR-ART-8", "HR-EXEC-2"].map(|id| rules.contains_key(id));
        let none = lacked(&[&[("action.approval", "unsupported"), ("artifact.list", "unsupported")], &[]]);
        assert_eq!(of(&none), [true, true, false]);
        assert_eq!(none["HR-ACTION-16"], "no provider declares support for action.approval or action.input");
        assert_eq!(of(&lacked(&[&[("artifact.list", "unsupported")], &[("action.input", "degraded")]])), [false, true, false]);
        // Of a target that says nothing of its providers nothing is known.
        assert!(lacked(&[]).is_empty());
    }

    #[test]
    fn a_stimulus_that_cannot_do_what_it_is_for_is_held_against_no_target() {
        let loaded = crate::commands::options::TargetArgs::default().load().unwrap();
        let catalogue = &loaded.catalogues["harness-runtime"];
        let decided = |name: &str, stimulus: Value| {
            let manifests = BTreeMap::from([("a".to_owned(), BTreeMap::new()), ("b".to_owned(), BTreeMap::new())]);
            let known = Known { stimuli: BTreeMap::from([(name.to_owned(), stimulus)]), manifests, ..Known::default() };
            let cases = plan(catalogue, &[], &known);
            let needing = cases.into_iter().filter(|case| case.scenario.needs == [name]);
            needing.map(|case| case.decision).collect::<Vec<_>>()
        };
        let good = decided("completes", serde_json::json!({ "providerId": "a", "input": "" }));
        let slip = decided("completes", serde_json::json!({ "providerId": "scirpted", "input": "" }));
        assert!(good.contains(&Decision::Run));
        for (_, decision) in good.iter().zip(slip).filter(|(good, _)| **good == Decision::Run) {
            let Decision::NotExercised { missing, reason } = decision else { panic!("{decision:?}") };
            assert_eq!(
                (missing.as_str(), reason.as_str()),
                ("completes", "the stimulus `completes` names the provider `scirpted`; the target describes a, b")
            );
        }
        let counted = catalogue.stimuli.stimuli.iter().filter(|(_, stimulus)| stimulus.example.contains(TALLY)).map(|(name, _)| name);
        assert!(counted.count() > 2);
        let cases = |config: Value| {
            let known = Known { stimuli: BTreeMap::from([("counted-run".to_owned(), config)]), ..Known::default() };
            unfit("counted-run", &known.stimuli["counted-run"], catalogue, &known)
        };
        assert!(cases(serde_json::json!({ "config": { "tally": "mine" } })).is_some_and(|reason| reason.contains("${tally}")));
        assert_eq!(cases(serde_json::json!({ "config": { "tally": "x-${tally}" } })), None);
    }
}
