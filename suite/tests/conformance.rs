//! The suite against the reference server, its defects, its weather and the null targets: one trial a line of `proofmark selftest`, and one
//! a contract for what all its defects together leave unproven.
//!
//! Without a filter the lines run as in `selftest`: defects that no scenario looks at together share a server. A line that a filter selects
//! has a server to itself.

use libtest_mimic::{Arguments, Failed, Trial};
use proofmark::commands::options::TargetArgs;
use proofmark::runner::settings::Settings;
use proofmark::selftest::whole::{self, Whole};
use proofmark::selftest::{self, Item, Line, Loaded, groups};
use std::collections::BTreeMap;
use std::fmt::Display;
use std::process::ExitCode;
use std::sync::{Arc, Condvar, Mutex, OnceLock};
use tokio::runtime::{Builder, Runtime};

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let loaded = match TargetArgs::default().load() {
        Ok(loaded) => Arc::new(loaded),
        Err(error) => {
            eprint!("{}", error.render());
            return ExitCode::FAILURE;
        }
    };
    let jobs = arguments.test_threads.unwrap_or_else(whole::jobs);
    arguments.test_threads = Some(jobs);
    let trials = if arguments.filter.is_some() || !arguments.skip.is_empty() { alone(&loaded) } else { together(&loaded, jobs) };
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn settings() -> Settings {
    selftest::settings(1)
}

fn alone(loaded: &Arc<Loaded>) -> Vec<Trial> {
    let trial = |item: Item| {
        let loaded = loaded.clone();
        Trial::test(item.to_string(), move || {
            let runtime = runtime(2)?;
            let line = runtime.block_on(selftest::run(&item, &loaded, &settings()));
            runtime.shutdown_background();
            passed(&line.map_err(failed)?)
        })
    };
    selftest::items(loaded).into_iter().map(trial).collect()
}

fn together(loaded: &Arc<Loaded>, jobs: usize) -> Vec<Trial> {
    let board = Arc::new(Board::default());
    let told = |name: String| {
        let (board, loaded) = (board.clone(), loaded.clone());
        Trial::test(name.clone(), move || {
            board.begin(&loaded, jobs);
            board.of(&name)
        })
    };
    let lines = selftest::items(loaded).into_iter().map(|item| item.to_string());
    lines.chain(loaded.catalogues.keys().map(|contract| gaps(contract))).map(told).collect()
}

fn gaps(contract: &str) -> String {
    format!("{contract}/gaps")
}

/// What each trial came to, from the one run that all of them wait for.
#[derive(Default)]
struct Board {
    begun: OnceLock<()>,
    told: Mutex<Told>,
    news: Condvar,
}

#[derive(Default)]
struct Told {
    trials: BTreeMap<String, Result<(), Failed>>,
    /// Why nothing more will be told.
    ended: Option<String>,
}

impl Board {
    fn begin(self: &Arc<Self>, loaded: &Arc<Loaded>, jobs: usize) {
        self.begun.get_or_init(|| {
            let (board, loaded) = (self.clone(), loaded.clone());
            std::thread::spawn(move || {
                let run = std::thread::spawn({
                    let board = board.clone();
                    move || board.run(&loaded, jobs)
                });
                let ended = match run.join() {
                    Ok(Ok(())) => "it was not run".to_owned(),
                    Ok(Err(error)) => error,
                    Err(_) => "the run panicked".to_owned(),
                };
                board.told.lock().expect("no panic while holding it").ended = Some(ended);
                board.news.notify_all();
            });
        });
    }

    fn run(&self, loaded: &Arc<Loaded>, jobs: usize) -> Result<(), String> {
        let runtime = runtime(std::thread::available_parallelism().map_or(2, std::num::NonZero::get))?;
        let items = selftest::items(loaded);
        let settings = settings();
        let groups = groups::drawn(&items, loaded, settings.seed);
        let each = |line: &Line| {
            self.tell(line.item.to_string(), passed(line));
            Ok(())
        };
        let whole = runtime.block_on(whole::run(&items, groups, jobs, loaded, &settings, each));
        runtime.shutdown_background();
        let whole = whole.map_err(|error| error.to_string())?;
        for contract in loaded.catalogues.keys() {
            self.tell(gaps(contract), proven(contract, &whole));
        }
        Ok(())
    }

    fn tell(&self, trial: String, outcome: Result<(), Failed>) {
        self.told.lock().expect("no panic while holding it").trials.insert(trial, outcome);
        self.news.notify_all();
    }

    fn of(&self, trial: &str) -> Result<(), Failed> {
        let told = self.told.lock().expect("no panic while holding it");
        let waits = |told: &mut Told| told.ended.is_none() && !told.trials.contains_key(trial);
        let mut told = self.news.wait_while(told, waits).expect("no panic while holding it");
        match told.trials.remove(trial) {
            Some(outcome) => outcome,
            None => Err(failed(told.ended.clone().unwrap_or_default())),
        }
    }
}

/// A line that was looked at again, alone, has its problems here if it had none beside others.
fn proven(contract: &str, whole: &Whole) -> Result<(), Failed> {
    let lines = whole.lines.iter().filter(|line| line.item.contract == contract && !line.problems.is_empty());
    let wrong = lines.map(|line| format!("{}: {}", line.item, line.problems.join("\n")));
    let gaps = whole.gaps.iter().filter(|gap| gap.contract == contract).map(ToString::to_string);
    let all: Vec<String> = wrong.chain(gaps).collect();
    if all.is_empty() { Ok(()) } else { Err(failed(all.join("\n"))) }
}

fn runtime(threads: usize) -> Result<Runtime, String> {
    Builder::new_multi_thread().worker_threads(threads).enable_all().build().map_err(|error| error.to_string())
}

fn passed(line: &Line) -> Result<(), Failed> {
    if line.problems.is_empty() { Ok(()) } else { Err(failed(line.problems.join("\n"))) }
}

fn failed(why: impl Display) -> Failed {
    Failed::from(why.to_string())
}
