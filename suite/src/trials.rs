//! The suite inside a vendor's own tests: every case a trial of `libtest-mimic`, under `cargo test` and under nextest.
//!
//! ```no_run
//! // tests/conformance.rs, with `harness = false` in Cargo.toml
//! fn main() -> std::process::ExitCode {
//!     let url = "http://127.0.0.1:4310"; // or a server that this test starts
//!     proofmark::trials::Conformance::of(url).profile("proofmark.toml").main()
//! }
//! ```
//!
//! A case that this target cannot be asked is decided before the run and listed as ignored; its kind says why. A case that could not be judged
//! fails: a green trial always saw something.
//!
//! Each trial judges what was sent for its own case: its expectations, and the shapes and monitors over those exchanges. What only the
//! whole run shows (monitors over all cases, the final sweep of everything that was started) is judged after the last trial by
//! [`Conformance::main`], in the process that ran the trials. Under nextest, which gives each trial a process of its own, that part sees one
//! case only; `proofmark --target URL` judges it in full. The bound on executions at once holds per process, too.

use crate::check::{Checked, Ready, prepare};
use crate::commands::CommandError;
use crate::commands::options::filters;
use crate::commands::output::masked;
use crate::commands::run::{RunArgs, report, secrets};
use crate::plan::{Case, Decision};
use crate::runner::case;
use crate::runner::outcome::CaseResult;
use crate::runner::run::{Ran, Silent, sweep};
use crate::runner::settings::Settings;
use clap::Parser;
use libtest_mimic::{Arguments, Failed, Trial};
use proofmark_reports::model::{Level, Outcome, Report, Status, TargetReport};
use proofmark_reports::terminal;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// What is to be checked, and how. What is not said here comes from the environment (`PROOFMARK_TIMEOUT` and so on), then from the
/// defaults of the command line.
#[derive(Clone, Debug)]
#[must_use]
pub struct Conformance {
    args: Result<RunArgs, String>,
}

#[derive(Parser)]
#[command(no_binary_name = true)]
struct Environment {
    #[command(flatten)]
    run: RunArgs,
}

impl Conformance {
    /// The target at `url`, as `--target` takes it.
    pub fn of(url: impl Into<String>) -> Self {
        let args = Environment::try_parse_from(std::iter::empty::<&str>()).map(|environment| environment.run);
        Self { args: args.map_err(|error| error.to_string()) }.with(|args| args.target.targets = vec![url.into()])
    }

    fn with(mut self, change: impl FnOnce(&mut RunArgs)) -> Self {
        if let Ok(args) = &mut self.args {
            change(args);
        }
        self
    }

    /// The contract, where it is not to be found out by asking.
    pub fn contract(self, name: impl Into<String>) -> Self {
        self.with(|args| args.target.contract = Some(name.into()))
    }

    /// Stimuli and facts of this target: a TOML file, from the folder of the crate under `cargo test`.
    pub fn profile(self, path: impl Into<PathBuf>) -> Self {
        self.with(|args| args.target.profile = Some(path.into()))
    }

    /// Sent with every request; the value is shown nowhere.
    pub fn header(self, name: &str, value: &str) -> Self {
        self.with(|args| args.target.headers.push(format!("{name}: {value}")))
    }

    /// Only the cases that this path glob or requirement id selects; several add up.
    pub fn only(self, filter: impl Into<String>) -> Self {
        self.with(|args| args.filters.push(filter.into()))
    }

    /// How long to wait until the target answers at all.
    pub fn wait_ready(self, bound: Duration) -> Self {
        self.with(|args| args.target.wait_ready = bound)
    }

    /// The bound of one wait.
    pub fn timeout(self, bound: Duration) -> Self {
        self.with(|args| args.target.timeout = bound)
    }

    /// The seed of order and jitter.
    pub fn seed(self, seed: u64) -> Self {
        self.with(|args| args.pace.seed = Some(seed))
    }

    /// Asks the target what it is and plans. Not to be called from within an asynchronous runtime: it brings its own.
    pub fn prepare(self) -> Result<Suite, CommandError> {
        let args = self.args.map_err(|problem| CommandError::usage(problem, None))?;
        let loaded = args.target.load()?;
        let filters = filters(&args.filters, &loaded)?;
        let settings = args.target.settings(&args.pace)?;
        let target = args.target.targets(&loaded)?.pop().ok_or_else(|| CommandError::usage("no target is named", None))?;
        let kit = |problem: std::io::Error| CommandError::Kit(problem.to_string());
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(kit)?;
        match runtime.block_on(prepare(&loaded.catalogues, &target, &settings, &filters))? {
            Ok(ready) => Ok(Suite(Arc::new(Run { args, settings, ready, runtime, ran: Mutex::default(), started: started() }))),
            Err(unseen) => {
                let reason = unseen.report.aborted.map_or_else(|| "it cannot be judged".to_owned(), |abort| abort.reason);
                Err(CommandError::usage(format!("{}: {reason}", target.name), Some("is the server up, and this its URL?".to_owned())))
            }
        }
    }

    /// The whole `main` of a test: takes the arguments of `cargo test` or nextest, runs, and judges what only the whole run shows.
    pub fn main(self) -> ExitCode {
        let arguments = Arguments::from_args();
        let suite = match self.prepare() {
            Ok(suite) => suite,
            Err(error) => {
                tell(&error.render());
                return ExitCode::from(error.exit_code());
            }
        };
        let conclusion = libtest_mimic::run(&arguments, suite.trials());
        match suite.whole() {
            Err(text) if !arguments.list && !conclusion.has_failed() => {
                tell(&text);
                ExitCode::FAILURE
            }
            _ => conclusion.exit_code(),
        }
    }
}

/// As a test's `main` does, and nothing else here.
fn tell(text: &str) {
    // Who cannot be told still gets the exit code.
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// A target that is ready to be checked, case by case.
#[derive(Clone)]
pub struct Suite(Arc<Run>);

struct Run {
    args: RunArgs,
    settings: Settings,
    ready: Ready,
    runtime: Runtime,
    ran: Mutex<BTreeMap<Arc<str>, CaseResult>>,
    started: (jiff::Timestamp, Instant),
}

fn started() -> (jiff::Timestamp, Instant) {
    (jiff::Timestamp::now(), Instant::now())
}

impl Suite {
    /// One trial a case, in the order of the plan. Ignored: what the target declares that it lacks (`not-applicable`), what no stimulus
    /// provokes (`not-exercised`), and what must have the target for itself (`exclusive`).
    pub fn trials(&self) -> Vec<Trial> {
        let numbered = (0..).zip(self.0.ready.cases.iter().cloned());
        numbered
            .map(|(stream, case)| {
                let (name, skipped) = (case.path.to_string(), skipped(&case));
                let run = self.0.clone();
                let trial = Trial::test(name, move || run.trial(&case, stream));
                // Decided here, since nextest counts what a trial itself ignores as passed.
                match skipped {
                    None => trial,
                    Some(kind) => trial.with_kind(kind).with_ignored_flag(true),
                }
            })
            .collect()
    }

    /// Judges everything that the trials sent once more, together, after a last look at every execution that they started. `Err` holds
    /// the report when a `must` was broken that a single case does not show.
    pub fn whole(&self) -> Result<(), String> {
        let run = &self.0;
        let results = run.ran.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if results.is_empty() {
            return Ok(());
        }
        run.runtime.block_on(sweep(&run.ready.session, &Silent));
        let cases: Vec<Case> = run.ready.cases.iter().filter(|case| results.contains_key(&case.path)).cloned().collect();
        let report = run.report(&run.ready.judge(&cases, &Ran { results, aborted: None }, false), &run.args)?;
        if broken(&report.targets[0]).is_empty() { Ok(()) } else { Err(text(&report)) }
    }
}

fn skipped(case: &Case) -> Option<&'static str> {
    match case.decision {
        Decision::NotApplicable(_) => Some("not-applicable"),
        Decision::NotExercised { .. } => Some("not-exercised"),
        Decision::Run => case.scenario.exclusive.then_some("exclusive"),
    }
}

impl Run {
    fn trial(&self, case: &Case, stream: u64) -> Result<(), Failed> {
        if let Decision::NotApplicable(reason) | Decision::NotExercised { reason, .. } = &case.decision {
            return Err(Failed::from(reason));
        }
        let result = self.runtime.block_on(case::run(&self.ready.session, case, stream));
        let results = BTreeMap::from([(case.path.clone(), result)]);
        let again = RunArgs { filters: vec![case.path.to_string()], ..self.args.clone() };
        let report = self.report(&self.ready.judge_case(case, &Ran { results: results.clone(), aborted: None }), &again)?;
        self.ran.lock().unwrap_or_else(PoisonError::into_inner).extend(results);
        let target = &report.targets[0];
        if !broken(target).is_empty() {
            return Err(Failed::from(text(&report)));
        }
        let judged = target.scenarios.iter().find(|scenario| scenario.path == *case.path);
        match judged.map(|scenario| (scenario.outcome, scenario.reason.clone().unwrap_or_default())) {
            Some((Outcome::Passed | Outcome::Warned, _)) => Ok(()),
            Some((outcome, reason)) => {
                Err(Failed::from(format!("{}: {reason}\nNo rule was seen broken, and none was seen to hold.", terminal::outcome(outcome))))
            }
            None => Err(Failed::from("the kit itself failed: the case was not judged")),
        }
    }

    /// A report with every secret masked; `args` is what would do it again.
    fn report(&self, checked: &Checked, args: &RunArgs) -> Result<Report, String> {
        let checked = std::slice::from_ref(checked);
        masked(report(args, &self.settings, checked, self.started), &secrets(checked)).map_err(|error| error.to_string())
    }
}

fn broken(target: &TargetReport) -> Vec<&str> {
    let broken = target.requirements.iter().filter(|rule| rule.level == Level::Must && rule.status == Status::Broken);
    broken.map(|rule| rule.id.as_str()).collect()
}

fn text(report: &Report) -> String {
    terminal::render(report, &terminal::Options { quiet: true, ..terminal::Options::default() })
}
