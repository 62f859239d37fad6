//! The test of the test: the suite against the clean reference server, against each defect, each weather and each null target.
//!
//! A defect must break exactly the requirements that its catalogue states; a weather nothing; a null target must be credited with
//! nothing. A defect or weather that was never applied proves nothing, and fails its line.

pub mod groups;
pub mod nulls;
pub mod timing;
pub mod whole;

use crate::check::{Target, check};
use crate::commands::CommandError;
pub use crate::commands::options::Loaded;
use crate::commands::run::reference_profile;
use crate::reference::{DefectKind, Server, defects, weathers};
use crate::runner::run::Silent;
use crate::runner::settings::Settings;
use crate::target::Address;
use nulls::Null;
use proofmark_reports::exit;
use proofmark_reports::model::{Level, Outcome, Status, TargetReport};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// One line of the selftest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    pub contract: String,
    pub kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    Clean,
    Defect { name: &'static str, breaks: BTreeSet<&'static str> },
    Weather(&'static str),
    Null(Null),
}

impl Item {
    fn defect(&self) -> Option<&'static str> {
        match &self.kind {
            Kind::Defect { name, .. } => Some(name),
            _ => None,
        }
    }

    /// What it must break: nothing, unless it is a defect.
    fn breaks(&self) -> impl Iterator<Item = String> {
        let breaks = match &self.kind {
            Kind::Defect { breaks, .. } => Some(breaks),
            _ => None,
        };
        breaks.into_iter().flatten().map(|id| (*id).to_owned())
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Clean => write!(f, "{}/clean", self.contract),
            Kind::Defect { name, .. } => write!(f, "{}/defect/{name}", self.contract),
            Kind::Weather(name) => write!(f, "{}/weather/{name}", self.contract),
            Kind::Null(null) => write!(f, "{}/null/{}", self.contract, null.name()),
        }
    }
}

/// What one line came to.
#[derive(Clone, Debug)]
pub struct Line {
    pub item: Item,
    /// What is wrong; nothing when the line passed.
    pub problems: Vec<String>,
    /// Requirements (`must` and `should`) that broke.
    pub broken: BTreeSet<String>,
    /// Cases that failed or warned.
    pub red: BTreeSet<String>,
    /// How often the defect or weather was applied.
    pub applied: u64,
    pub duration: Duration,
    /// How often it was run until it was as the catalogue states.
    pub tries: u64,
    /// The defects that were in the same server.
    pub beside: Vec<&'static str>,
}

/// Every line, for the contracts that the fixtures hold.
pub fn items(loaded: &Loaded) -> Vec<Item> {
    let mut items = Vec::new();
    for (contract, catalogue) in &loaded.catalogues {
        let item = |kind| Item { contract: contract.clone(), kind };
        items.push(item(Kind::Clean));
        // Without a restart those of restarts do nothing, and a server in this process cannot be killed.
        let mine = defects().iter().filter(|d| d.contract == contract && d.kind != DefectKind::Restart);
        items.extend(mine.map(|d| item(Kind::Defect { name: d.name, breaks: d.breaks.iter().copied().collect() })));
        items.extend(weathers().iter().filter(|w| w.contract == contract).map(|w| item(Kind::Weather(w.name))));
        if !catalogue.operations.grpc {
            items.extend(Null::ALL.iter().map(|null| item(Kind::Null(*null))));
        }
    }
    items
}

/// Bounds for a line: tighter than the defaults, since every server is in this process.
pub fn settings(seed: u64) -> Settings {
    Settings {
        seed,
        timeout: Duration::from_secs(5),
        wait_ready: Duration::from_secs(1),
        deadline: Duration::from_secs(120),
        ..Settings::default()
    }
}

/// How often a defect is tried before its line fails.
const TRIES: u64 = 3;

/// Runs one line. A race is met by chance: a defect whose set differs is tried again with another seed. What accuses nobody (the clean
/// server, weather, null targets) has one try only: there every failure is a fault of ours.
pub async fn run(item: &Item, loaded: &Loaded, settings: &Settings) -> Result<Line, CommandError> {
    let tries = if matches!(item.kind, Kind::Defect { .. }) { TRIES } else { 1 };
    let mut number = 1;
    loop {
        let settings = Settings { seed: settings.seed + number - 1, ..settings.clone() };
        let mut line = once(item, loaded, &settings).await?;
        line.tries = number;
        if line.problems.is_empty() || number == tries {
            return Ok(line);
        }
        number += 1;
    }
}

/// What one plan came to for lines that share a server, by their places.
pub struct Tried {
    pub shown: Vec<(usize, Line)>,
    /// To be tried in other company, or alone.
    pub unshown: Vec<usize>,
}

/// Runs lines that share a server. One plan shows all of them when what breaks is what they break alone, taken together. Those that were not
/// applied, or did not break all that they should have, were hidden by the others; when more breaks than should, nobody is shown.
pub async fn attempt(items: &[Item], loaded: &Loaded, settings: &Settings) -> Result<Tried, CommandError> {
    if let [item] = items {
        return Ok(Tried { shown: vec![(0, run(item, loaded, settings).await?)], unshown: Vec::new() });
    }
    let mut tried = Tried { shown: Vec::new(), unshown: Vec::new() };
    let Some(first) = items.first() else { return Ok(tried) };
    let started = Instant::now();
    let defects: Vec<&'static str> = items.iter().filter_map(Item::defect).collect();
    let server = against(&first.contract, &defects, &[], loaded, settings).await?;
    let mut whole = line(first, &server.report, 0);
    let expected: BTreeSet<String> = items.iter().flat_map(Item::breaks).filter(|id| whole.broken.contains(id)).collect();
    compare(&mut whole, &expected, &server.report);
    let duration = started.elapsed();
    for (place, item) in items.iter().enumerate() {
        let applied = item.defect().map_or(0, |name| server.applied(name));
        if !whole.problems.is_empty() || applied == 0 || item.breaks().any(|id| !expected.contains(&id)) {
            tried.unshown.push(place);
            continue;
        }
        let beside = defects.iter().copied().filter(|name| item.defect() != Some(name)).collect();
        let line = Line { item: item.clone(), broken: item.breaks().collect(), applied, duration, beside, ..whole.clone() };
        tried.shown.push((place, line));
    }
    Ok(tried)
}

async fn once(item: &Item, loaded: &Loaded, settings: &Settings) -> Result<Line, CommandError> {
    let started = Instant::now();
    let mut line = match &item.kind {
        Kind::Clean => single(item, loaded, settings, &[], &[]).await?,
        Kind::Defect { name, .. } => single(item, loaded, settings, &[name], &[]).await?,
        Kind::Weather(name) => single(item, loaded, settings, &[], &[name]).await?,
        Kind::Null(null) => against_null(item, *null, loaded, settings).await?,
    };
    line.duration = started.elapsed();
    Ok(line)
}

async fn single(item: &Item, loaded: &Loaded, settings: &Settings, defects: &[&str], weathers: &[&str]) -> Result<Line, CommandError> {
    let shown = against(&item.contract, defects, weathers, loaded, settings).await?;
    let applied = defects.iter().chain(weathers).map(|name| shown.applied(name)).sum();
    let mut line = line(item, &shown.report, applied);
    compare(&mut line, &item.breaks().collect(), &shown.report);
    if applied == 0 && item.kind != Kind::Clean {
        line.problems.push("it was never applied".to_owned());
    }
    Ok(line)
}

/// What a server showed, and how often what is in it was applied.
struct Shown {
    report: TargetReport,
    applications: BTreeMap<String, u64>,
}

impl Shown {
    fn applied(&self, name: &str) -> u64 {
        self.applications.get(name).copied().unwrap_or_default()
    }
}

async fn against(contract: &str, defects: &[&str], weathers: &[&str], loaded: &Loaded, settings: &Settings) -> Result<Shown, CommandError> {
    let server = Server::start(contract, defects, weathers, settings.seed).await.map_err(CommandError::Kit)?;
    let target = Target { profile: reference_profile(contract, loaded)?, ..server.target()? };
    let report = check(&loaded.catalogues, &target, settings, &[], false, &Silent).await?.report;
    let applications = server.applications();
    server.stop().await;
    Ok(Shown { report, applications })
}

fn line(item: &Item, report: &TargetReport, applied: u64) -> Line {
    let binding = |level| matches!(level, Level::Must | Level::Should);
    let broken = report.requirements.iter().filter(|r| r.status == Status::Broken && binding(r.level)).map(|r| r.id.clone()).collect();
    let red = report.scenarios.iter().filter(|s| matches!(s.outcome, Outcome::Failed | Outcome::Warned)).map(|s| s.path.clone()).collect();
    Line { item: item.clone(), problems: Vec::new(), broken, red, applied, duration: Duration::ZERO, tries: 1, beside: Vec::new() }
}

fn compare(line: &mut Line, expected: &BTreeSet<String>, report: &TargetReport) {
    for id in expected.difference(&line.broken) {
        line.problems.push(format!("{id} should have broken and did not"));
    }
    let by_timing: &[&str] = match &line.item.kind {
        Kind::Defect { name, .. } => timing::may_break(name),
        _ => &[],
    };
    for id in line.broken.difference(expected).filter(|id| !by_timing.contains(&id.as_str())) {
        let finding = report.requirements.iter().find(|r| r.id == *id).and_then(|r| r.findings.first());
        let seen = finding.map(|f| {
            let mismatch = f.mismatches.first().map(|m| format!("{} expected {}, got {}", m.path, m.expected, m.actual));
            format!(" in {} ({}): {}", f.scenario, f.at.clone().unwrap_or_default(), mismatch.unwrap_or_default())
        });
        line.problems.push(format!("{id} broke and should not have{}", seen.unwrap_or_default()));
    }
    if let Some(abort) = &report.aborted {
        line.problems.push(format!("the run ended early: {}", abort.reason));
    }
    let clean = !matches!(line.item.kind, Kind::Defect { .. });
    for scenario in &report.scenarios {
        let bad = scenario.outcome == Outcome::Errored || clean && scenario.outcome == Outcome::Blocked;
        if bad {
            let reason = scenario.reason.clone().unwrap_or_default();
            line.problems.push(format!("{} {:?}: {reason}", scenario.path, scenario.outcome).to_lowercase());
        }
    }
}

async fn against_null(item: &Item, null: Null, loaded: &Loaded, settings: &Settings) -> Result<Line, CommandError> {
    let kit = |error: std::io::Error| CommandError::Kit(error.to_string());
    let good = Server::start(&item.contract, &[], &[], settings.seed).await.map_err(CommandError::Kit)?;
    let good_address: Option<SocketAddr> = good.url().strip_prefix("http://").and_then(|address| address.parse().ok());
    let null_target = nulls::start(null, good_address).await.map_err(kit)?;
    let address = Address::parse(&format!("http://{}", null_target.address))?;
    let target = Target {
        address,
        name: null.name().to_owned(),
        contract: Some(item.contract.clone()),
        profile: reference_profile(&item.contract, loaded)?,
    };
    let settings = Settings { timeout: Duration::from_secs(1), deadline: Duration::from_secs(60), ..settings.clone() };
    let report = check(&loaded.catalogues, &target, &settings, &[], false, &Silent).await?.report;
    good.stop().await;
    let mut line = line(item, &report, 1);
    // Habits are left out: whoever answers 200 to everything does answer 200 to HEAD.
    let held = report.requirements.iter().filter(|r| r.status == Status::Held && r.level != Level::Observed);
    // What alternates does show real answers, half of the time.
    if null != Null::Alternating {
        line.problems.extend(held.map(|r| format!("{} held, and the target never showed it", r.id)));
    }
    line.problems.extend(errored(&report));
    let code = exit::exit(&[report], false).code;
    if ![exit::BROKEN, exit::UNSEEN].contains(&code) {
        line.problems.push(format!("exit code {code}"));
    }
    Ok(line)
}

fn errored(report: &TargetReport) -> Vec<String> {
    let errored = report.scenarios.iter().filter(|s| s.outcome == Outcome::Errored);
    errored.map(|s| format!("{} errored: {}", s.path, s.reason.clone().unwrap_or_default())).collect()
}

#[cfg(test)]
mod tests;
