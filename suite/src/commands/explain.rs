//! `proofmark explain`: a requirement or a scenario: wording, source, level, how it is checked, what breaks it.

use super::CommandError;
use super::options::{Loaded, TargetArgs};
use crate::scenario::catalogue::Catalogue;
use crate::scenario::diagnostic::suggestion;
use crate::scenario::model::Scenario;
use crate::scenario::operations::ShapeLine;
use crate::scenario::requirements::RequirementText;
use clap::Args;
use proofmark_reports::exit;
use proofmark_reports::model::Level;
use std::fmt::Write as _;
use std::io::Write;

#[derive(Args, Clone, Debug)]
pub struct ExplainArgs {
    /// A requirement id (HR-IDEM-1) or the path of a scenario (harness-runtime/idempotency/other-input)
    #[arg(value_name = "ID")]
    pub id: String,
    /// Fixtures from this folder instead of the embedded ones
    #[arg(long, value_name = "DIR", env = "PROOFMARK_FIXTURES")]
    pub fixtures: Option<std::path::PathBuf>,
}

pub fn run(args: &ExplainArgs, out: &mut dyn Write) -> Result<u8, CommandError> {
    let loaded = TargetArgs { fixtures: args.fixtures.clone(), ..TargetArgs::default() }.load()?;
    let text = explain(&loaded, &args.id).ok_or_else(|| unknown(&loaded, &args.id))?;
    out.write_all(text.as_bytes()).map_err(|problem| CommandError::Write { path: "standard output".into(), problem })?;
    Ok(exit::HELD)
}

fn unknown(loaded: &Loaded, id: &str) -> CommandError {
    let mut known: Vec<String> = Vec::new();
    for catalogue in loaded.catalogues.values() {
        known.extend(catalogue.requirements.iter().map(|r| r.id.clone()));
        known.extend(catalogue.scenarios().map(|(area, s)| path(catalogue, &area.name, s)));
    }
    CommandError::usage(format!("there is no requirement and no scenario `{id}`"), suggestion(id, known.iter().map(String::as_str)))
}

fn explain(loaded: &Loaded, id: &str) -> Option<String> {
    loaded.catalogues.values().find_map(|catalogue| {
        let requirement = catalogue.requirement(id).map(|text| requirement(catalogue, text));
        requirement.or_else(|| {
            // A case is explained by its scenario.
            let found = catalogue.scenarios().find(|(area, s)| {
                let path = path(catalogue, &area.name, s);
                id == path || id.strip_prefix(&path).is_some_and(|rest| rest.starts_with('/'))
            });
            found.map(|(area, s)| scenario(catalogue, &area.name, s))
        })
    })
}

fn path(catalogue: &Catalogue, area: &str, scenario: &Scenario) -> String {
    format!("{}/{area}/{}", catalogue.contract, scenario.id)
}

fn requirement(catalogue: &Catalogue, text: &RequirementText) -> String {
    let mut out = format!("{}  {}  ({}, {})\n\n  {}\n\n", text.id, level(text.level), catalogue.contract, text.area, text.text);
    let said = if text.source.normative_text { "a sentence of the text" } else { "a page about the text" };
    put(&mut out, "source", &format!("{}, {} ({said})", text.source.document, text.source.section));
    for (name, reading) in &text.readings {
        put(&mut out, "reading", &format!("{name}: {reading}"));
    }
    if let Some(monitor) = &text.monitor {
        put(&mut out, "checked by", &format!("the monitor `{monitor}`, over everything a run sees"));
    }
    for (shape, lines) in &catalogue.operations.shapes {
        for line in lines {
            if let ShapeLine::Rule { rule, schema, when, .. } = line
                && *rule == text.id
            {
                let when = when.as_ref().map(|when| format!(" when {when}")).unwrap_or_default();
                put(&mut out, "checked by", &format!("the shape `{shape}` ({schema}){when}, on every such body"));
            }
        }
    }
    for (area, scenario) in catalogue.scenarios().filter(|(_, s)| Catalogue::own_rules(s).contains(text.id.as_str())) {
        put(&mut out, "checked by", &format!("{}: {}", path(catalogue, &area.name, scenario), scenario.title));
    }
    if let Some(reason) = &text.unobservable {
        put(&mut out, "not visible", reason);
    }
    breakers(&mut out, &catalogue.contract, &text.id);
    if let Some(reason) = &text.no_defect {
        put(&mut out, "no defect", reason);
    }
    out
}

#[cfg(feature = "reference-server")]
fn breakers(out: &mut String, contract: &str, id: &str) {
    for defect in crate::reference::defects().iter().filter(|d| d.contract == contract && d.breaks.contains(&id)) {
        put(out, "broken by", &format!("--defect {}: {}", defect.name, defect.about));
    }
}

#[cfg(not(feature = "reference-server"))]
fn breakers(_: &mut String, _: &str, _: &str) {}

fn scenario(catalogue: &Catalogue, area: &str, scenario: &Scenario) -> String {
    let mut out = format!("{}\n\n  {}\n\n", path(catalogue, area, scenario), scenario.title);
    put(&mut out, "written in", &scenario.at.to_string());
    for (name, _) in &scenario.cases {
        name.iter().for_each(|name| put(&mut out, "case", name));
    }
    for need in &scenario.needs {
        let stimuli = &catalogue.stimuli;
        let about = stimuli.stimuli.get(need).map(|s| &s.about).or_else(|| stimuli.facts.get(need).map(|f| &f.about));
        put(&mut out, "needs", &format!("{need}: {}", about.map_or("", String::as_str)));
    }
    if scenario.rounds > 1 {
        put(&mut out, "rounds", &scenario.rounds.to_string());
    }
    for id in Catalogue::own_rules(scenario) {
        if let Some(text) = catalogue.requirement(id) {
            put(&mut out, "checks", &format!("{id} ({}): {}", level(text.level), text.text));
        }
    }
    for step in &scenario.steps {
        put(&mut out, "step", &step.label);
    }
    out
}

fn put(out: &mut String, name: &str, text: &str) {
    writeln!(out, "  {name:<12} {text}").expect("writing to a string");
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Must => "must",
        Level::Should => "should",
        Level::Observed => "observed",
        Level::Disputed => "disputed",
    }
}
