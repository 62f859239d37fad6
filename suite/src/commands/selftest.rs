//! `proofmark selftest`: the suite against the clean server, defects, weather and null targets.

use super::CommandError;
use super::options::TargetArgs;
use crate::plan::Filter;
use crate::reference::{DefectKind, defects};
use crate::runner::settings::Settings;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::diagnostic::suggestion;
use crate::scenario::model::Scenario;
use crate::selftest::{self, Item, Kind, Line, Loaded, groups};
use clap::Args;
use futures_util::stream::{self, StreamExt as _};
use proofmark_reports::exit;
use proofmark_reports::model::Level;
use std::collections::{BTreeMap, BTreeSet};
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
    #[arg(long, value_name = "N", default_value_t = jobs(), hide_default_value = true)]
    pub jobs: usize,
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Fixtures from this folder instead of the embedded ones
    #[arg(long, value_name = "DIR", env = "PROOFMARK_FIXTURES")]
    pub fixtures: Option<PathBuf>,
}

fn jobs() -> usize {
    4 * std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

pub async fn run(args: &SelftestArgs, out: &mut (dyn Write + Send)) -> Result<u8, CommandError> {
    let loaded = TargetArgs { fixtures: args.fixtures.clone(), ..TargetArgs::default() }.load()?;
    let loaded = Arc::new(loaded);
    let all = selftest::items(&loaded);
    let items = selected(args, all.clone())?;
    let settings = selftest::settings(args.seed);
    let started = Instant::now();
    let groups = if args.alone { groups::alone(&items) } else { groups::drawn(&items, &loaded, args.seed) };
    let each = |line: &Line| print(out, &shown(line));
    let mut lines = together(&items, groups, args.jobs, &loaded, &settings, each).await?;
    let catalogues = loaded.catalogues.values().map(AsRef::as_ref);
    let whole: Vec<&Catalogue> = catalogues.filter(|catalogue| defects_of(catalogue, &items).eq(defects_of(catalogue, &all))).collect();
    let again: Vec<usize> = whole.iter().flat_map(|catalogue| hidden(catalogue, &lines)).collect();
    let parted: Vec<Item> = again.iter().map(|place| items[*place].clone()).collect();
    for (place, line) in again.iter().zip(together(&parted, groups::alone(&parted), args.jobs, &loaded, &settings, |_| Ok(())).await?) {
        if !line.problems.is_empty() {
            print(out, &shown(&line))?;
        }
        lines[*place] = line;
    }
    let failed = lines.iter().filter(|line| !line.problems.is_empty()).count();
    let gaps: String = whole.iter().map(|catalogue| gaps(catalogue, &lines)).collect();
    print(out, &gaps)?;
    let passed = lines.len() - failed;
    print(out, &format!("\n{passed} passed, {failed} failed, in {:.1} s, seed {}\n", started.elapsed().as_secs_f64(), args.seed))?;
    Ok(if failed == 0 && gaps.is_empty() { exit::HELD } else { exit::BROKEN })
}

/// The lines of `items`, each handed to `each` in its turn.
async fn together(
    items: &[Item],
    groups: Vec<Vec<usize>>,
    jobs: usize,
    loaded: &Arc<Loaded>,
    settings: &Settings,
    mut each: impl FnMut(&Line) -> Result<(), CommandError>,
) -> Result<Vec<Line>, CommandError> {
    // Each group is a task of its own: futures of one task would share one core.
    let tasks = groups.into_iter().map(|places| {
        let group: Vec<Item> = places.iter().map(|place| items[*place].clone()).collect();
        let (loaded, settings) = (loaded.clone(), settings.clone());
        async move { (places, tokio::spawn(async move { selftest::run_group(&group, &loaded, &settings).await }).await) }
    });
    // What ends out of turn waits to be told, and holds nothing up.
    let mut running = stream::iter(tasks).buffer_unordered(jobs.max(1));
    let mut ended = BTreeMap::new();
    let mut lines = Vec::new();
    while let Some((places, group)) = running.next().await {
        ended.extend(places.into_iter().zip(group.map_err(|crash| CommandError::Kit(crash.to_string()))??));
        while let Some(line) = ended.remove(&lines.len()) {
            each(&line)?;
            lines.push(line);
        }
    }
    Ok(lines)
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

/// The defect lines of a contract: only all of them together show what none of them breaks.
fn defects_of<'a>(catalogue: &Catalogue, items: &'a [Item]) -> impl Iterator<Item = &'a Item> {
    items.iter().filter(|item| item.contract == catalogue.contract && matches!(item.kind, Kind::Defect { .. }))
}

/// Rules that no defect breaks and scenarios that no defect turns red, and that do not say why: what the selftest does not prove.
fn gaps(catalogue: &Catalogue, lines: &[Line]) -> String {
    let mine = || lines.iter().filter(|line| line.item.contract == catalogue.contract && matches!(line.item.kind, Kind::Defect { .. }));
    let broken: BTreeSet<&str> = mine().flat_map(|line| line.broken.iter().map(String::as_str)).collect();
    // Servers in this process are not restarted: what restarts show is proven by tests with processes.
    let elsewhere = defects().iter().filter(|defect| defect.contract == catalogue.contract && defect.kind == DefectKind::Restart);
    let broken: BTreeSet<&str> = broken.into_iter().chain(elsewhere.flat_map(|defect| defect.breaks.iter().copied())).collect();
    let rules: Vec<&str> = catalogue
        .requirements
        .iter()
        .filter(|r| {
            matches!(r.level, Level::Must | Level::Should)
                && r.unobservable.is_none()
                && r.no_defect.is_none()
                && !broken.contains(r.id.as_str())
        })
        .map(|r| r.id.as_str())
        .collect();
    let idle: Vec<String> = idle(catalogue, lines).into_iter().map(|(path, _)| path).collect();
    let mut text = String::new();
    if !rules.is_empty() {
        text.push_str(&format!("\n{}: {} rules that no defect breaks: {}\n", catalogue.contract, rules.len(), rules.join(", ")));
    }
    if !idle.is_empty() {
        text.push_str(&format!("\n{}: {} scenarios that no defect turns red:\n  {}\n", catalogue.contract, idle.len(), idle.join("\n  ")));
    }
    text
}

/// The scenarios that no defect turned red and that do not say why, with their paths.
fn idle<'a>(catalogue: &'a Catalogue, lines: &[Line]) -> Vec<(String, &'a Scenario)> {
    let mine = lines.iter().filter(|line| line.item.contract == catalogue.contract && matches!(line.item.kind, Kind::Defect { .. }));
    let red: BTreeSet<&str> = mine.flat_map(|line| line.red.iter().map(String::as_str)).collect();
    catalogue
        .scenarios()
        .filter(|(_, scenario)| scenario.no_defect.is_none() && scenario.restarts().is_empty() && can_be_red(catalogue, scenario))
        .map(|(area, scenario)| (format!("{}/{}/{}", catalogue.contract, area.name, scenario.id), scenario))
        .filter(|(path, _)| !red.iter().any(|red| red == path || red.strip_prefix(path.as_str()).is_some_and(|rest| rest.starts_with('/'))))
        .collect()
}

/// The lines that shared a server and break a rule of an idle scenario: one of the others may have kept the scenario from coming that far.
fn hidden(catalogue: &Catalogue, lines: &[Line]) -> Vec<usize> {
    let idle = idle(catalogue, lines);
    let rules: BTreeSet<&str> = idle.iter().flat_map(|(_, scenario)| Catalogue::own_rules(scenario)).collect();
    let shared = |line: &Line| !line.beside.is_empty() && line.item.contract == catalogue.contract;
    let breaks = |line: &Line| line.broken.iter().any(|id| rules.contains(id.as_str()));
    lines.iter().enumerate().filter(|(_, line)| shared(line) && breaks(line)).map(|(place, _)| place).collect()
}

/// Whether a scenario looks at more than habits and open questions: a difference in these is noted, and nothing is red.
fn can_be_red(catalogue: &Catalogue, scenario: &Scenario) -> bool {
    let binds = |id: &str| catalogue.requirement(id).is_some_and(|rule| matches!(rule.level, Level::Must | Level::Should));
    Catalogue::own_rules(scenario).into_iter().any(binds)
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), CommandError> {
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|problem| CommandError::Write { path: "standard output".into(), problem })
}
