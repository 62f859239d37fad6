//! `proofmark list`: what would run, and what would not and why.

use super::CommandError;
use super::options::{Loaded, PaceArgs, TargetArgs, filters};
use crate::check::planned;
use crate::plan::{Case, Decision, Filter, plan};
use crate::scenario::catalogue::Catalogue;
use clap::{Args, ValueEnum};
use proofmark_reports::exit;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Arc;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Args, Clone, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Path globs over contract/area/scenario/case, or requirement ids
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// json: an array, one object a case
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

pub async fn run(args: &ListArgs, out: &mut dyn Write, err: &mut dyn Write) -> Result<u8, CommandError> {
    let loaded = args.target.load()?;
    let filters = filters(&args.filters, &loaded)?;
    let mut rows: Vec<(Arc<Catalogue>, Case)> = Vec::new();
    let mut code = exit::HELD;
    let targets = args.target.targets(&loaded)?;
    if targets.is_empty() {
        rows = reference_rows(args, &loaded, &filters).await?;
    }
    let settings = args.target.settings(&args.pace)?;
    for target in targets {
        match planned(&loaded.catalogues, &target, &settings, &filters).await? {
            Ok((catalogue, cases)) => rows.extend(cases.into_iter().map(|case| (catalogue.clone(), case))),
            Err(abort) => {
                let _ = writeln!(err, "error: {}: {}", target.name, abort.reason);
                code = exit::UNSEEN;
            }
        }
    }
    let text = match args.format {
        Format::Text => text(&rows),
        Format::Json => {
            let all = Value::Array(rows.iter().map(|(catalogue, case)| object(catalogue, case)).collect());
            format!("{}\n", serde_json::to_string_pretty(&all).map_err(|error| CommandError::Kit(error.to_string()))?)
        }
    };
    out.write_all(text.as_bytes()).map_err(|problem| CommandError::Write { path: "standard output".into(), problem })?;
    Ok(code)
}

/// Without a target: the plan for the reference server, which knows every stimulus of its profile.
#[cfg(feature = "reference-server")]
async fn reference_rows(args: &ListArgs, loaded: &Loaded, filters: &[Filter]) -> Result<Vec<(Arc<Catalogue>, Case)>, CommandError> {
    let mut rows = Vec::new();
    let settings = args.target.settings(&args.pace)?;
    for (contract, catalogue) in &loaded.catalogues {
        let wanted = args.target.contract.as_deref().is_none_or(|name| name == contract);
        if !wanted || plan(catalogue, filters, &crate::plan::Known::default()).is_empty() {
            continue;
        }
        let server = super::run::reference_server(contract, 1).await?;
        let mut target = server.target()?;
        target.profile = super::run::reference_profile(contract, loaded)?;
        let planned = planned(&loaded.catalogues, &target, &settings, filters).await?;
        let (catalogue, cases) = planned.map_err(|abort| CommandError::Kit(abort.reason))?;
        rows.extend(cases.into_iter().map(|case| (catalogue.clone(), case)));
        server.stop().await;
    }
    Ok(rows)
}

#[cfg(not(feature = "reference-server"))]
async fn reference_rows(_: &ListArgs, loaded: &Loaded, filters: &[Filter]) -> Result<Vec<(Arc<Catalogue>, Case)>, CommandError> {
    let known = crate::plan::Known::default();
    let cases = |catalogue: &Arc<Catalogue>| plan(catalogue, filters, &known).into_iter().map(|case| (catalogue.clone(), case)).collect();
    Ok(loaded.catalogues.values().flat_map(|catalogue| -> Vec<_> { cases(catalogue) }).collect())
}

fn text(rows: &[(Arc<Catalogue>, Case)]) -> String {
    let mut text = String::new();
    for (_, case) in rows {
        let (mark, why) = match &case.decision {
            Decision::Run => ("run", String::new()),
            Decision::NotApplicable(reason) => ("not-applicable", format!("  ({reason})")),
            Decision::NotExercised { reason, .. } => ("not-exercised", format!("  ({reason})")),
        };
        text.push_str(&format!("{mark:<15} {}{why}\n", case.path));
    }
    text
}

fn object(catalogue: &Catalogue, case: &Case) -> Value {
    let (decision, reason) = match &case.decision {
        Decision::Run => ("run", None),
        Decision::NotApplicable(reason) => ("not-applicable", Some(reason)),
        Decision::NotExercised { reason, .. } => ("not-exercised", Some(reason)),
    };
    json!({
        "path": &*case.path,
        "contract": catalogue.contract,
        "title": case.scenario.title,
        "requirements": Catalogue::own_rules(&case.scenario),
        "needs": case.scenario.needs,
        "rounds": case.scenario.rounds,
        "exclusive": case.scenario.exclusive,
        "decision": decision,
        "reason": reason,
    })
}
