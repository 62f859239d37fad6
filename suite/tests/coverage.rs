//! Whether the catalogue is whole: no rule without somebody who looks at it, nothing that is prepared and never used.

use proofmark::check::{Target, catalogues, planned};
use proofmark::commands::options::{Loaded, TargetArgs};
use proofmark::commands::run::reference_profile;
use proofmark::monitors::monitors;
use proofmark::plan::{Case, Decision};
use proofmark::reference::{Server, contracts, defects, weathers};
use proofmark::runner::settings::Settings;
use proofmark::scenario::catalogue::Catalogue;
use proofmark::scenario::model::{Action, Scenario, Step, Test};
use proofmark::scenario::requirements::RequirementText;
use proofmark_reports::model::Level;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

static LOADED: LazyLock<Loaded> = LazyLock::new(|| TargetArgs::default().load().unwrap_or_else(|error| panic!("{}", error.render())));

/// Rules that a scenario checks by an expectation of its own.
fn in_scenarios(catalogue: &Catalogue) -> BTreeSet<&str> {
    catalogue.scenarios().flat_map(|(_, scenario)| Catalogue::own_rules(scenario)).collect()
}

/// Rules that every body or event of a shape is checked by.
fn in_shapes(catalogue: &Catalogue) -> BTreeSet<&str> {
    use proofmark::scenario::operations::ShapeLine;
    let lines = catalogue.operations.shapes.values().flatten();
    let rules = lines.filter_map(|line| match line {
        ShapeLine::Rule { rule, .. } => Some(rule.as_str()),
        ShapeLine::Each { .. } => None,
    });
    rules.collect()
}

/// Rules of operations that some scenario uses to get somewhere: they must succeed.
fn in_successes(catalogue: &Catalogue) -> BTreeSet<&str> {
    let mut rules = BTreeSet::new();
    for step in catalogue.scenarios().flat_map(|(_, scenario)| steps(scenario)) {
        let name = match &step.action {
            Action::Call(call) => &call.operation,
            Action::Grpc(call) => &call.method,
            _ => continue,
        };
        if step.given && step.expect.is_empty() {
            rules.extend(catalogue.operations.by_name.get(name).map(|operation| operation.success.rule.as_str()));
        }
    }
    rules
}

/// The steps of a scenario, those of preambles and branches too.
fn steps(scenario: &Scenario) -> Vec<&Step> {
    let mut all: Vec<&Step> = Vec::new();
    let mut rest: Vec<&Step> = scenario.steps.iter().collect();
    while let Some(step) = rest.pop() {
        match &step.action {
            Action::Together(branches) => rest.extend(branches.iter().flatten()),
            Action::Preamble { steps, .. } => rest.extend(steps),
            _ => {}
        }
        all.push(step);
    }
    all
}

#[test]
fn every_requirement_is_checked_by_something_or_says_why_it_cannot_be() {
    for (contract, catalogue) in LOADED.catalogues.iter().rev() {
        let (scenarios, shapes, successes) = (in_scenarios(catalogue), in_shapes(catalogue), in_successes(catalogue));
        let known: BTreeSet<&str> = monitors().iter().map(|(name, _)| *name).collect();
        let is_checked = |id: &str, monitor: Option<&str>| {
            scenarios.contains(id)
                || shapes.contains(id)
                || successes.contains(id)
                || monitor.is_some_and(|monitor| known.contains(monitor))
        };
        let (visible, invisible): (Vec<_>, Vec<_>) = catalogue.requirements.iter().partition(|r| r.unobservable.is_none());
        let checked = |r: &&&RequirementText| is_checked(&r.id, r.monitor.as_deref());
        let unchecked: Vec<&str> = visible.iter().filter(|r| !checked(r)).map(|r| r.id.as_str()).collect();
        assert_eq!(unchecked, [""; 0], "{contract}: rules that nothing checks");
        let checked: Vec<&str> = invisible.iter().filter(checked).map(|r| r.id.as_str()).collect();
        assert_eq!(checked, [""; 0], "{contract}: rules that are said to be invisible, and are checked");
    }
}

#[test]
fn every_monitor_is_named_by_exactly_one_requirement() {
    for (name, _) in monitors() {
        let naming = |catalogue: &Catalogue| -> Vec<String> {
            catalogue.requirements.iter().filter(|r| r.monitor.as_deref() == Some(name)).map(|r| r.id.clone()).collect()
        };
        let named: Vec<Vec<String>> = LOADED.catalogues.values().map(|catalogue| naming(catalogue)).filter(|ids| !ids.is_empty()).collect();
        assert!(!named.is_empty(), "the monitor {name} is named by no requirement");
        assert!(named.iter().all(|ids| ids.len() == 1), "the monitor {name} is named by {named:?}");
    }
}

#[test]
fn every_stimulus_is_needed_and_given_by_the_reference_profile() {
    for (contract, catalogue) in &LOADED.catalogues {
        let needed: BTreeSet<&str> = catalogue.scenarios().flat_map(|(_, s)| s.needs.iter().map(String::as_str)).collect();
        let names = |names: &mut dyn Iterator<Item = &String>| -> BTreeSet<String> { names.cloned().collect() };
        let stimuli = names(&mut catalogue.stimuli.stimuli.keys());
        let idle: Vec<&str> = catalogue.stimuli.names().filter(|name| !needed.contains(name)).collect();
        assert_eq!(idle, [""; 0], "{contract}: stimuli and facts that no scenario needs");
        let profile = reference_profile(contract, &LOADED).unwrap_or_else(|error| panic!("{}", error.render()));
        let given = profile.map(|profile| names(&mut profile.stimuli.keys())).unwrap_or_default();
        assert_eq!(given, stimuli, "{contract}: what the profile of the reference server gives");
    }
}

/// All but those that restart it: they are run against a process of its own. A misspelt capability would make its scenarios not applicable, for ever and without a word.
#[tokio::test]
async fn every_case_runs_against_the_reference_server() {
    for contract in LOADED.catalogues.keys() {
        let server = Server::start(contract, &[], &[], 1).await.unwrap();
        let profile = reference_profile(contract, &LOADED).unwrap_or_else(|error| panic!("{}", error.render()));
        let target = Target { profile, ..server.target().unwrap() };
        let (_, cases) = planned(&LOADED.catalogues, &target, &Settings::default(), &[]).await.unwrap().unwrap();
        let stays = |case: &&Case| case.scenario.restarts().is_empty();
        let idle: Vec<_> =
            cases.iter().filter(stays).filter(|case| case.decision != Decision::Run).map(|case| (&case.path, &case.decision)).collect();
        assert_eq!(idle, [], "{contract}");
        assert!(!cases.is_empty(), "{contract} has no cases");
        server.stop().await;
    }
}

#[test]
fn every_contract_has_a_reference_server() {
    assert_eq!(LOADED.catalogues.keys().map(String::as_str).collect::<BTreeSet<_>>(), contracts());
}

#[test]
fn every_defect_breaks_rules_that_exist_and_bind() {
    let mut problems: Vec<String> = Vec::new();
    for defect in defects() {
        let catalogue = &LOADED.catalogues[defect.contract];
        let ids: BTreeSet<&&str> = defect.breaks.iter().collect();
        problems.extend((ids.is_empty() || ids.len() < defect.breaks.len()).then(|| format!("{} breaks {:?}", defect.name, defect.breaks)));
        for id in ids {
            let problem = match catalogue.requirement(id) {
                None => "does not exist",
                Some(r) if !matches!(r.level, Level::Must | Level::Should) => "binds nobody",
                Some(r) if r.unobservable.is_some() => "can be seen by nobody",
                Some(_) => continue,
            };
            problems.push(format!("{} breaks {id}, which {problem}", defect.name));
        }
    }
    assert_eq!(problems, [""; 0]);
    for weather in weathers() {
        assert!(LOADED.catalogues.contains_key(weather.contract), "{} is of no contract", weather.name);
    }
}

/// A reading that no expectation accepts would be told as a difference.
#[test]
fn every_reading_of_a_disputed_rule_is_accepted_somewhere() {
    for (contract, catalogue) in &LOADED.catalogues {
        let mut accepted: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        catalogue.scenarios().for_each(|(_, scenario)| readings(scenario, &mut accepted));
        for requirement in catalogue.requirements.iter().filter(|r| r.level == Level::Disputed && r.unobservable.is_none()) {
            let declared: BTreeSet<&str> = requirement.readings.keys().map(String::as_str).collect();
            assert_eq!(accepted.get(requirement.id.as_str()), Some(&declared), "{contract}: {}", requirement.id);
        }
    }
}

fn readings<'a>(scenario: &'a Scenario, accepted: &mut BTreeMap<&'a str, BTreeSet<&'a str>>) {
    for expectation in steps(scenario).into_iter().flat_map(|step| &step.expect) {
        for pattern in expectation.tests.iter().flat_map(Test::patterns) {
            collect(pattern, accepted.entry(&expectation.rule).or_default());
        }
    }
}

fn collect<'a>(pattern: &'a Value, names: &mut BTreeSet<&'a str>) {
    match pattern {
        Value::Object(members) => {
            if let Some(Value::Object(readings)) = members.get("$readings") {
                names.extend(readings.keys().map(String::as_str));
            }
            members.values().for_each(|value| collect(value, names));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, names)),
        _ => {}
    }
}

/// The embedded fixtures are those of the folder.
#[test]
fn the_embedded_fixtures_are_the_ones_of_the_folder() {
    use proofmark::fixtures::Fixtures;
    let folder = Fixtures::from_dir(&std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")).unwrap();
    let embedded = Fixtures::embedded();
    assert_eq!(folder.contracts(), embedded.contracts());
    for contract in folder.contracts() {
        assert_eq!(folder.of_contract(contract).collect::<Vec<_>>(), embedded.of_contract(contract).collect::<Vec<_>>(), "{contract}");
    }
    assert!(catalogues(&folder).is_ok());
}

#[test]
fn every_rule_is_broken_by_a_defect_or_says_why_by_none() {
    for (contract, catalogue) in &LOADED.catalogues {
        let broken: BTreeSet<&str> = defects().iter().filter(|d| d.contract == contract).flat_map(|d| d.breaks.iter().copied()).collect();
        let counted = |r: &&RequirementText| matches!(r.level, Level::Must | Level::Should) && r.unobservable.is_none();
        let ids = |odd: &dyn Fn(&&RequirementText) -> bool| -> Vec<&str> {
            catalogue.requirements.iter().filter(counted).filter(odd).map(|r| r.id.as_str()).collect()
        };
        assert_eq!(
            ids(&|r| r.no_defect.is_none() && !broken.contains(r.id.as_str())),
            [""; 0],
            "{contract}: rules that nobody has seen broken"
        );
        assert_eq!(ids(&|r| r.no_defect.is_some() && broken.contains(r.id.as_str())), [""; 0], "{contract}: broken all the same");
    }
}
