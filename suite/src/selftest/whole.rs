//! Many lines at once, each told in its turn, and what all defects of a contract together leave unproven.

use super::groups::{self, Group, Leftovers};
use super::{Item, Kind, Line, Loaded, attempt, items as all_items};
use crate::commands::CommandError;
use crate::reference::{DefectKind, defects};
use crate::runner::settings::Settings;
use crate::scenario::catalogue::Catalogue;
use crate::scenario::model::Scenario;
use proofmark_reports::model::Level;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use tokio::task::JoinSet;

/// Servers at once: four a core, since most of a run is waiting for what takes its time.
pub fn jobs() -> usize {
    4 * std::thread::available_parallelism().map_or(2, std::num::NonZero::get)
}

/// What a selftest came to.
pub struct Whole {
    pub lines: Vec<Line>,
    pub gaps: Vec<Gap>,
}

/// Rules that no defect breaks and scenarios that no defect turns red, and that do not say why: what the selftest does not prove. Only all
/// defects of a contract together show it.
pub struct Gap {
    pub contract: String,
    pub rules: Vec<String>,
    pub scenarios: Vec<String>,
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { contract, rules, scenarios } = self;
        if !rules.is_empty() {
            write!(f, "{contract}: {} rules that no defect breaks: {}", rules.len(), rules.join(", "))?;
        }
        if !rules.is_empty() && !scenarios.is_empty() {
            f.write_str("\n\n")?;
        }
        if !scenarios.is_empty() {
            write!(f, "{contract}: {} scenarios that no defect turns red:\n  {}", scenarios.len(), scenarios.join("\n  "))?;
        }
        Ok(())
    }
}

/// Runs `items` in `groups`, `jobs` of them at once. Each line is handed to `each` in its turn; those that shared a server and may have kept
/// each other from turning a scenario red are run once more, alone, and told again where that shows a problem.
pub async fn run(
    items: &[Item],
    groups: Vec<Group>,
    jobs: usize,
    loaded: &Arc<Loaded>,
    settings: &Settings,
    mut each: impl FnMut(&Line) -> Result<(), CommandError>,
) -> Result<Whole, CommandError> {
    let mut lines = together(items, groups, jobs, loaded, settings, &mut each).await?;
    let all = all_items(loaded);
    let catalogues = loaded.catalogues.values().map(AsRef::as_ref);
    let whole: Vec<&Catalogue> = catalogues.filter(|catalogue| defects_of(catalogue, items).eq(defects_of(catalogue, &all))).collect();
    let again: Vec<usize> = whole.iter().flat_map(|catalogue| hidden(catalogue, &lines)).collect();
    let parted: Vec<Item> = again.iter().map(|place| items[*place].clone()).collect();
    let alone = together(&parted, groups::alone(&parted), jobs, loaded, settings, &mut |_| Ok(())).await?;
    for (place, line) in again.into_iter().zip(alone) {
        if !line.problems.is_empty() {
            each(&line)?;
        }
        lines[place] = line;
    }
    let gaps = whole.iter().filter_map(|catalogue| gap(catalogue, &lines)).collect();
    Ok(Whole { lines, gaps })
}

async fn together(
    items: &[Item],
    groups: Vec<Group>,
    jobs: usize,
    loaded: &Arc<Loaded>,
    settings: &Settings,
    each: &mut impl FnMut(&Line) -> Result<(), CommandError>,
) -> Result<Vec<Line>, CommandError> {
    let mut waiting = VecDeque::from(groups);
    let mut left = Leftovers::default();
    // Each group is a task of its own: futures of one task would share one core.
    let mut running = JoinSet::new();
    // What ends out of turn waits to be told, and holds nothing up.
    let mut ended = BTreeMap::new();
    let mut lines = Vec::new();
    loop {
        while running.len() < jobs.max(1)
            && let Some(places) = waiting.pop_front().or_else(|| left.draw(items, loaded))
        {
            let group: Vec<Item> = places.iter().map(|place| items[*place].clone()).collect();
            let (loaded, settings) = (loaded.clone(), settings.clone());
            running.spawn(async move { (places, attempt(&group, &loaded, &settings).await) });
        }
        let Some(task) = running.join_next().await else { return Ok(lines) };
        let (places, tried) = task.map_err(|crash| CommandError::Kit(crash.to_string()))?;
        let tried = tried?;
        ended.extend(tried.shown.into_iter().map(|(place, line)| (places[place], line)));
        left.put(&tried.unshown.iter().map(|place| places[*place]).collect::<Group>());
        while let Some(line) = ended.remove(&lines.len()) {
            each(&line)?;
            lines.push(line);
        }
    }
}

/// The defect lines of a contract: only all of them together show what none of them breaks.
fn defects_of<'a>(catalogue: &Catalogue, items: &'a [Item]) -> impl Iterator<Item = &'a Item> {
    items.iter().filter(|item| item.contract == catalogue.contract && matches!(item.kind, Kind::Defect { .. }))
}

fn gap(catalogue: &Catalogue, lines: &[Line]) -> Option<Gap> {
    let mine = || lines.iter().filter(|line| line.item.contract == catalogue.contract && matches!(line.item.kind, Kind::Defect { .. }));
    let broken: BTreeSet<&str> = mine().flat_map(|line| line.broken.iter().map(String::as_str)).collect();
    // Servers in this process are not restarted: what restarts show is proven by tests with processes.
    let elsewhere = defects().iter().filter(|defect| defect.contract == catalogue.contract && defect.kind == DefectKind::Restart);
    let broken: BTreeSet<&str> = broken.into_iter().chain(elsewhere.flat_map(|defect| defect.breaks.iter().copied())).collect();
    let unproven = catalogue.requirements.iter().filter(|r| {
        matches!(r.level, Level::Must | Level::Should)
            && r.unobservable.is_none()
            && r.no_defect.is_none()
            && !broken.contains(r.id.as_str())
    });
    let rules: Vec<String> = unproven.map(|r| r.id.clone()).collect();
    let scenarios: Vec<String> = idle(catalogue, lines).into_iter().map(|(path, _)| path).collect();
    let gap = Gap { contract: catalogue.contract.clone(), rules, scenarios };
    (!gap.rules.is_empty() || !gap.scenarios.is_empty()).then_some(gap)
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
