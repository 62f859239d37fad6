//! `proofmark selftest`: the suite against the clean server, defects, weather and null targets.

use super::CommandError;
use super::options::TargetArgs;
use crate::plan::Filter;
use crate::scenario::diagnostic::suggestion;
use crate::selftest::whole::{self, Whole};
use crate::selftest::{self, Item, Kind, Line, groups};
use clap::Args;
use proofmark_reports::exit;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

#[derive(Args, Clone, Debug)]
pub struct SelftestArgs {
    /// Path globs over contract/clean, contract/defect/NAME, contract/weather/NAME, contract/null/NAME
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// Every defect in a server of its own; without, defects that no scenario looks at together share one, and are parted where that does not
    /// show each
    #[arg(long)]
    pub alone: bool,
    /// Servers at once; by default four a core, since most of a run is waiting
    #[arg(long, value_name = "N", default_value_t = whole::jobs(), hide_default_value = true)]
    pub jobs: usize,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Fixtures from this folder instead of the embedded ones
    #[arg(long, value_name = "DIR", env = "PROOFMARK_FIXTURES")]
    pub fixtures: Option<PathBuf>,
}

pub async fn run(args: &SelftestArgs, out: &mut (dyn Write + Send)) -> Result<u8, CommandError> {
    let loaded = TargetArgs { fixtures: args.fixtures.clone(), ..TargetArgs::default() }.load()?;
    let loaded = Arc::new(loaded);
    let items = selected(args, selftest::items(&loaded))?;
    let settings = selftest::settings(args.seed);
    let started = Instant::now();
    let groups = if args.alone { groups::alone(&items) } else { groups::drawn(&items, &loaded, args.seed) };
    let Whole { lines, gaps } = whole::run(&items, groups, args.jobs, &loaded, &settings, |line| print(out, &shown(line))).await?;
    let failed = lines.iter().filter(|line| !line.problems.is_empty()).count();
    for gap in &gaps {
        print(out, &format!("\n{gap}\n"))?;
    }
    let passed = lines.len() - failed;
    print(out, &format!("\n{passed} passed, {failed} failed, in {:.1} s, seed {}\n", started.elapsed().as_secs_f64(), args.seed))?;
    Ok(if failed == 0 && gaps.is_empty() { exit::HELD } else { exit::BROKEN })
}

fn selected(args: &SelftestArgs, items: Vec<Item>) -> Result<Vec<Item>, CommandError> {
    let filters: Vec<Filter> = args.filters.iter().map(|text| Filter::new(text)).collect();
    let nothing = BTreeSet::new();
    for filter in &filters {
        if !items.iter().any(|item| filter.selects(&item.to_string(), &nothing)) {
            let known: Vec<String> = items.iter().map(ToString::to_string).collect();
            let hint = suggestion(filter.text(), known.iter().map(String::as_str));
            return Err(CommandError::usage(format!("the filter `{}` matches nothing", filter.text()), hint));
        }
    }
    let selects = |item: &Item| filters.is_empty() || filters.iter().any(|filter| filter.selects(&item.to_string(), &nothing));
    Ok(items.into_iter().filter(selects).collect())
}

fn shown(line: &Line) -> String {
    let mark = if line.problems.is_empty() { "ok    " } else { "FAILED" };
    let applied = if line.applied > 0 { format!(", applied {} times", line.applied) } else { String::new() };
    let applied = if line.tries > 1 { format!("{applied}, try {}", line.tries) } else { applied };
    let beside = if line.beside.is_empty() { String::new() } else { format!(", beside {}", line.beside.join(", ")) };
    let broken: Vec<&str> = line.broken.iter().map(String::as_str).collect();
    let broken = match (&line.item.kind, broken.is_empty()) {
        (Kind::Defect { .. }, false) => format!(" breaks {}", broken.join(", ")),
        _ => String::new(),
    };
    let mut text = format!("{mark} {}{broken} ({:.1} s{applied}{beside})\n", line.item, line.duration.as_secs_f64());
    for problem in &line.problems {
        text.push_str(&format!("       {problem}\n"));
    }
    text
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), CommandError> {
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|problem| CommandError::Write { path: "standard output".into(), problem })
}
