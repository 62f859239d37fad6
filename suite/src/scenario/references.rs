//! Whether what the files of one contract say of each other exists: requirements and their readings, stimuli, path parameters, values.

use super::catalogue::Catalogue;
use super::diagnostic::Diagnostic;
use super::fields::Result;
use super::model::{Action, Call, Expectation, Step, Test};
use super::names;
use super::node::Place;
use super::operations::Operation;
use super::requirements::RequirementText;
use proofmark_reports::model::Level;
use serde_json::Value;
use std::collections::BTreeMap;

pub fn check(catalogue: &Catalogue) -> Result<()> {
    let checker = Checker {
        requirements: catalogue.requirements.iter().map(|r| (r.id.as_str(), r)).collect(),
        operations: &catalogue.operations.by_name,
    };
    for (id, at) in catalogue.operations.rules() {
        checker.requirement(id, at)?;
    }
    for (_, scenario) in catalogue.scenarios() {
        if let Some(need) = scenario.needs.iter().find(|need| !catalogue.stimuli.is_known(need)) {
            return Err(unknown(&scenario.at, "stimulus or fact", need, catalogue.stimuli.names()));
        }
        scenario.steps.iter().try_for_each(|step| checker.step(step))?;
        names::check(scenario, &catalogue.stimuli)?;
    }
    Ok(())
}

pub fn unknown<'a>(at: &Place, what: &str, name: &str, known: impl IntoIterator<Item = &'a str>) -> Box<Diagnostic> {
    Diagnostic::new(at.clone(), format!("there is no {what} `{name}`")).did_you_mean(name, known)
}

struct Checker<'a> {
    requirements: BTreeMap<&'a str, &'a RequirementText>,
    operations: &'a BTreeMap<String, Operation>,
}

impl<'a> Checker<'a> {
    fn requirement(&self, id: &str, at: &Place) -> Result<&'a RequirementText> {
        self.requirements.get(id).copied().ok_or_else(|| unknown(at, "requirement", id, self.requirements.keys().copied()))
    }

    fn step(&self, step: &Step) -> Result<()> {
        step.expect.iter().try_for_each(|expectation| self.expectation(expectation))?;
        match &step.action {
            Action::Call(call) | Action::Await { call, .. } => self.path(call, &step.at),
            Action::Together(branches) => branches.iter().flatten().try_for_each(|step| self.step(step)),
            Action::Preamble { steps, .. } => steps.iter().try_for_each(|step| self.step(step)),
            _ => Ok(()),
        }
    }

    /// A reading is noted under its name; a rule that is not disputed has one reading only.
    fn expectation(&self, expectation: &Expectation) -> Result<()> {
        let requirement = self.requirement(&expectation.rule, &expectation.at)?;
        let mut readings = Vec::new();
        expectation.tests.iter().flat_map(Test::patterns).for_each(|pattern| readings_of(pattern, &mut readings));
        if !readings.is_empty() && requirement.level != Level::Disputed {
            let error = Diagnostic::new(expectation.at.clone(), format!("`{}` is not disputed and has no readings", requirement.id));
            return Err(error.hint("`$any` accepts one of several patterns and notes nothing"));
        }
        match readings.iter().find(|name| !requirement.readings.contains_key(**name)) {
            Some(name) => {
                let what = format!("reading of {}", requirement.id);
                Err(unknown(&expectation.at, &what, name, requirement.readings.keys().map(String::as_str)))
            }
            None => Ok(()),
        }
    }

    /// A parameter that is left out would go out in braces, and a correct target would be accused of not finding it.
    fn path(&self, call: &Call, at: &Place) -> Result<()> {
        let Some(operation) = self.operations.get(&call.operation).filter(|_| call.url.is_none()) else { return Ok(()) };
        let params: Vec<&str> = operation.path.split('{').skip(1).filter_map(|part| part.split('}').next()).collect();
        if let Some(name) = call.path.keys().find(|name| !params.contains(&name.as_str())) {
            let error = Diagnostic::new(at.clone(), format!("the path of {} has no parameter `{name}`", call.operation));
            return Err(error.did_you_mean(name, params));
        }
        match params.iter().find(|name| !call.path.contains_key(**name)) {
            Some(name) => Err(Diagnostic::new(at.clone(), format!("{} needs `path: {{ {name}: ... }}`", call.operation))),
            None => Ok(()),
        }
    }
}

fn readings_of<'a>(pattern: &'a Value, found: &mut Vec<&'a str>) {
    match pattern {
        Value::Object(members) => {
            for (name, value) in members {
                match (name.as_str(), value) {
                    ("$readings", Value::Object(readings)) => {
                        found.extend(readings.keys().map(String::as_str));
                        readings.values().for_each(|pattern| readings_of(pattern, found));
                    }
                    ("$literal" | "$exactly", _) => {}
                    _ => readings_of(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| readings_of(item, found)),
        _ => {}
    }
}
