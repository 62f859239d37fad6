//! Whether every `${name}` of a scenario is defined before it is used. A typo is found before anything is sent.

use super::diagnostic::Diagnostic;
use super::fields::Result;
use super::fill;
use super::model::{Action, Call, Expectation, Scenario, Step, Subject, Test, Until};
use super::node::Place;
use super::stimuli::Stimuli;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Given to every step that writes raw bytes.
const RAW: &[&str] = &["host", "base"];

pub fn check(scenario: &Scenario, stimuli: &Stimuli) -> Result<()> {
    let mut known: BTreeSet<String> = scenario.vars.keys().cloned().collect();
    known.extend(["tally", "interleaving"].map(str::to_owned));
    known.extend(stimuli.stimuli.keys().map(|name| format!("stimulus.{name}")));
    known.extend(stimuli.facts.keys().map(|name| format!("fact.{name}")));
    // A value that only some cases have is a mistake in the others.
    for (_, values) in &scenario.cases {
        let members: Vec<&String> = values.as_object().map(|o| o.keys().collect()).unwrap_or_default();
        let mut names: BTreeSet<String> = known.clone();
        names.extend(members.iter().map(|name| format!("case.{name}")));
        let mut checker = Checker { known: names };
        let at = &scenario.at;
        checker.values(scenario.vars.values().chain(std::iter::once(values)), at)?;
        checker.steps(&scenario.steps)?;
    }
    Ok(())
}

struct Checker {
    known: BTreeSet<String>,
}

impl Checker {
    fn steps(&mut self, steps: &[Step]) -> Result<()> {
        steps.iter().try_for_each(|step| self.step(step))
    }

    fn step(&mut self, step: &Step) -> Result<()> {
        match &step.action {
            Action::Call(call) => self.call(call, &step.at)?,
            Action::Await { call, until } => {
                self.call(call, &step.at)?;
                self.expectation(until)?;
            }
            Action::Grpc(call) => self.values(std::iter::once(&call.request).chain(call.metadata.values()), &step.at)?,
            Action::Raw { bytes } => {
                self.known.extend(RAW.iter().map(|name| (*name).to_owned()));
                self.value(&Value::String(bytes.clone()), &step.at)?;
            }
            Action::Follow(follow) => {
                let until = match &follow.until {
                    Until::Count(value) | Until::Event(value) => Some(value),
                    Until::Closed | Until::Terminal => None,
                };
                let values = std::iter::once(&follow.execution)
                    .chain(&follow.submit)
                    .chain(&follow.after)
                    .chain(until)
                    .chain(follow.headers.values());
                self.values(values, &step.at)?;
            }
            Action::Together(branches) => {
                // Branches do not see each other's values; what they save is visible afterwards.
                let before = self.known.clone();
                let mut after = before.clone();
                for branch in branches {
                    self.known.clone_from(&before);
                    self.steps(branch)?;
                    after.extend(self.known.iter().cloned());
                }
                self.known = after;
            }
            Action::Check | Action::Restart(_) => {}
            Action::Generate { with, .. } => self.value(with, &step.at)?,
            Action::Preamble { with, steps } => {
                self.values(with.values(), &step.at)?;
                self.known.extend(with.keys().cloned());
                self.steps(steps)?;
            }
        }
        self.known.extend(step.save.iter().map(|(name, _)| name.clone()));
        step.expect.iter().try_for_each(|expectation| self.expectation(expectation))
    }

    fn call(&self, call: &Call, at: &Place) -> Result<()> {
        let maps: [&BTreeMap<String, Value>; 3] = [&call.path, &call.query, &call.headers];
        self.values(maps.into_iter().flat_map(BTreeMap::values).chain(&call.body), at)?;
        [&call.text, &call.url].into_iter().flatten().try_for_each(|text| self.value(&Value::String(text.clone()), at))
    }

    fn expectation(&self, expectation: &Expectation) -> Result<()> {
        let at = &expectation.at;
        match &expectation.subject {
            Subject::Step => {}
            Subject::Of(value) => self.value(value, at)?,
            Subject::Each(names) => names.iter().try_for_each(|name| self.name(name, at))?,
        }
        if let Some((value, is)) = &expectation.when {
            self.values([value, is], at)?;
        }
        expectation.tests.iter().try_for_each(|test| match test {
            Test::Answered | Test::Types(_) => Ok(()),
            Test::Status(v)
            | Test::Code(v)
            | Test::Message(v)
            | Test::Body(v)
            | Test::Text(v)
            | Test::ExactlyOne(v)
            | Test::NoEvent(v)
            | Test::Some(v)
            | Test::First(v)
            | Test::Last(v)
            | Test::Every(v)
            | Test::History(v) => self.value(v, at),
            Test::Headers(map) | Test::Trailers(map) => self.values(map.values(), at),
            Test::Count { of: a, is: b } | Test::Value { value: a, is: b } => self.values([a, b], at),
            Test::Order(list) | Test::Same(list) | Test::Differ(list) => self.values(list, at),
        })
    }

    fn values<'a>(&self, values: impl IntoIterator<Item = &'a Value>, at: &Place) -> Result<()> {
        values.into_iter().try_for_each(|value| self.value(value, at))
    }

    fn value(&self, value: &Value, at: &Place) -> Result<()> {
        fill::check(value).map_err(|error| Diagnostic::new(at.clone(), error.to_string()))?;
        let mut names = Vec::new();
        fill::names(value, &mut names);
        names.iter().try_for_each(|name| self.name(name, at))
    }

    fn name(&self, name: &str, at: &Place) -> Result<()> {
        if self.known.contains(name) {
            return Ok(());
        }
        let error = Diagnostic::new(at.clone(), format!("`${{{name}}}` is not defined before this step"));
        Err(error.did_you_mean(name, self.known.iter().map(String::as_str)))
    }
}
