//! `proofmark [run]`: check one or more targets and report.

use super::CommandError;
use super::options::{Loaded, PaceArgs, TargetArgs, filters, read_profile};
use super::output::{Destination, masked};
use super::progress::Bar;
use crate::check::{Checked, Target, check};
use crate::plan::Filter;
use crate::runner::settings::Settings;
use clap::Args;
use proofmark_reports::model::{FORMAT, Kit, Report, RunInfo};
use proofmark_reports::{exit, terminal};
use std::collections::BTreeSet;
use std::io::Write;
use std::time::{Duration, Instant};

#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub target: TargetArgs,
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Path globs over contract/area/scenario/case, or requirement ids
    #[arg(value_name = "FILTER")]
    pub filters: Vec<String>,
    /// json=PATH or junit=PATH; `-` is standard output; repeatable
    #[arg(long = "report", value_name = "KIND=PATH")]
    pub reports: Vec<Destination>,
    /// A `must` that was not exercised fails the run too
    #[arg(long, env = "PROOFMARK_STRICT")]
    pub strict: bool,
    /// Transcripts of passing scenarios as well
    #[arg(long)]
    pub show_wire: bool,
    /// Summary and failures only
    #[arg(long, short)]
    pub quiet: bool,
}

/// How the terminal report is to look.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub colour: bool,
    pub width: usize,
}

/// Runs, writes the reports, prints the terminal report to `out` (unless another report goes there), and gives the exit code.
pub async fn run(args: &RunArgs, look: Look, out: &mut dyn Write) -> Result<u8, CommandError> {
    let loaded = args.target.load()?;
    let filters = filters(&args.filters, &loaded)?;
    let settings = args.target.settings(&args.pace)?;
    check_destinations(&args.reports)?;
    let targets = args.target.targets(&loaded)?;
    args.reports.iter().try_for_each(Destination::probe)?;
    let started = (jiff::Timestamp::now(), Instant::now());
    let checked = if targets.is_empty() {
        check_reference(args, &loaded, &settings, &filters).await?
    } else {
        check_targets(args, &loaded, &targets, &settings, &filters).await?
    };
    let report = masked(report(args, &settings, &checked, started), &secrets(&checked))?;
    for destination in &args.reports {
        destination.write(&report, out)?;
    }
    let options = terminal::Options { colour: look.colour, show_wire: args.show_wire, quiet: args.quiet, width: look.width };
    let text = terminal::render(&report, &options);
    let taken = args.reports.iter().any(Destination::is_stdout);
    let written = if taken { Ok(()) } else { out.write_all(text.as_bytes()) };
    written.map_err(|problem| CommandError::Write { path: "standard output".into(), problem })?;
    Ok(report.exit.code)
}

/// Two reports in one place would be one.
fn check_destinations(reports: &[Destination]) -> Result<(), CommandError> {
    let mut paths = BTreeSet::new();
    match reports.iter().find(|report| !paths.insert(&report.path)) {
        None => Ok(()),
        Some(report) if report.is_stdout() => Err(CommandError::usage("only one report can go to standard output", None)),
        Some(report) => Err(CommandError::usage(format!("only one report can go to {}", report.path.display()), None)),
    }
}

pub(crate) fn secrets(checked: &[Checked]) -> Vec<String> {
    checked.iter().flat_map(|checked| checked.secrets.iter().cloned()).collect()
}

async fn check_targets(
    args: &RunArgs,
    loaded: &Loaded,
    targets: &[Target],
    settings: &Settings,
    filters: &[Filter],
) -> Result<Vec<Checked>, CommandError> {
    let mut checked = Vec::new();
    for target in targets {
        let bar = Bar::new(&target.name, args.quiet);
        checked.push(check(&loaded.catalogues, target, settings, filters, args.show_wire, &bar).await?);
        bar.finish();
    }
    Ok(checked)
}

/// The built-in reference server of every contract that the filters leave something of, in process.
#[cfg(feature = "reference-server")]
async fn check_reference(args: &RunArgs, loaded: &Loaded, settings: &Settings, filters: &[Filter]) -> Result<Vec<Checked>, CommandError> {
    use crate::plan::{Known, plan};
    let mut checked = Vec::new();
    let wanted = |name: &str| args.target.contract.as_deref().is_none_or(|contract| contract == name);
    for (contract, catalogue) in loaded.catalogues.iter().filter(|(name, _)| wanted(name)) {
        if plan(catalogue, filters, &Known::default()).is_empty() {
            continue;
        }
        let server = reference_server(contract, settings.seed).await?;
        let mut target = server.target()?;
        target.profile = reference_profile(contract, loaded)?;
        checked.extend(check_targets(args, loaded, &[target], settings, filters).await?);
        server.stop().await;
    }
    if checked.is_empty() {
        return Err(CommandError::usage("nothing is left to check", None));
    }
    Ok(checked)
}

/// The built-in reference server of `contract`, started.
#[cfg(feature = "reference-server")]
pub async fn reference_server(contract: &str, seed: u64) -> Result<crate::reference::Server, CommandError> {
    if !crate::reference::contracts().contains(contract) {
        let hint = Some("--target http://127.0.0.1:4310 names a server to check".to_owned());
        return Err(CommandError::usage(format!("there is no built-in server for `{contract}`"), hint));
    }
    crate::reference::Server::start(contract, &[], &[], seed).await.map_err(CommandError::Kit)
}

/// The profile of the built-in reference server.
#[cfg(feature = "reference-server")]
pub fn reference_profile(contract: &str, loaded: &Loaded) -> Result<Option<crate::profile::Profile>, CommandError> {
    let name = format!("profiles/reference-{contract}.toml");
    loaded.fixtures.get(&name).map(|text| read_profile(text, &name, loaded, Some(contract))).transpose()
}

#[cfg(not(feature = "reference-server"))]
async fn check_reference(_: &RunArgs, _: &Loaded, _: &Settings, _: &[Filter]) -> Result<Vec<Checked>, CommandError> {
    let hint = Some("--target http://127.0.0.1:4310".to_owned());
    Err(CommandError::usage("this build holds no reference server; name a target", hint))
}

pub(crate) fn report(args: &RunArgs, settings: &Settings, checked: &[Checked], started: (jiff::Timestamp, Instant)) -> Report {
    let targets: Vec<_> = checked.iter().map(|checked| checked.report.clone()).collect();
    let exit = exit::exit(&targets, args.strict);
    let millis = |d: Duration| u64::try_from(d.as_millis()).unwrap_or(u64::MAX);
    Report {
        format: FORMAT.to_owned(),
        kit: Kit { name: "proofmark".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        run: RunInfo {
            started_at: started.0.to_string(),
            duration_ms: millis(started.1.elapsed()),
            seed: settings.seed,
            nonce: settings.nonce.clone(),
            reproduce: reproduce(args, settings),
            filters: args.filters.clone(),
            jobs: settings.jobs,
            in_flight: settings.in_flight,
            timeout_ms: millis(settings.timeout),
        },
        targets,
        exit,
    }
}

/// Bounds and concurrency, where they are not the usual ones: they decide what is seen.
fn pace(settings: &Settings) -> Vec<String> {
    let usual = Settings::default();
    let numbers = [("--jobs", settings.jobs, usual.jobs), ("--in-flight", settings.in_flight, usual.in_flight)];
    let durations = [
        ("--timeout", settings.timeout, usual.timeout),
        ("--deadline", settings.deadline, usual.deadline),
        ("--wait-ready", settings.wait_ready, usual.wait_ready),
    ];
    let numbers = numbers.into_iter().filter(|(_, is, usual)| is != usual).map(|(name, is, _)| format!("{name} {is}"));
    let durations = durations.into_iter().filter(|(_, is, usual)| is != usual).map(|(name, is, _)| format!("{name} {}ms", is.as_millis()));
    numbers.chain(durations).collect()
}

/// The command line that does this again; header values are left to the user.
fn reproduce(args: &RunArgs, settings: &Settings) -> String {
    let quote = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let mut line = "proofmark".to_owned();
    let mut add = |text: String| {
        line.push(' ');
        line.push_str(&text);
    };
    for target in &args.target.targets {
        let shown = crate::target::Address::parse(target).map_or_else(|_| target.clone(), |address| address.base);
        add(format!("--target {shown}"));
    }
    args.target.contract.iter().for_each(|name| add(format!("--contract {name}")));
    args.target.profile.iter().for_each(|path| add(format!("--profile {}", quote(&path.display().to_string()))));
    args.target.fixtures.iter().for_each(|path| add(format!("--fixtures {}", quote(&path.display().to_string()))));
    args.target.ca_cert.iter().for_each(|path| add(format!("--ca-cert {}", quote(&path.display().to_string()))));
    for (flag, is_set) in [("--insecure", args.target.insecure), ("--http2-prior-knowledge", args.target.http2_prior_knowledge)] {
        if is_set {
            add(flag.to_owned());
        }
    }
    for text in &args.target.headers {
        add(format!("--header {}", quote(&format!("{}: ...", text.split(':').next().unwrap_or_default()))));
    }
    args.target.header_envs.iter().for_each(|text| add(format!("--header-env {text}")));
    pace(settings).into_iter().for_each(&mut add);
    args.strict.then(|| add("--strict".to_owned()));
    add(format!("--seed {}", settings.seed));
    args.filters.iter().for_each(|filter| add(quote(filter)));
    line
}
