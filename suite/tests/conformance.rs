//! The suite against the reference server, its defects, its weather and the null targets: one trial a line of `proofmark selftest`.

use libtest_mimic::{Arguments, Failed, Trial};
use proofmark::commands::options::TargetArgs;
use proofmark::selftest::{self, Item, Line};
use std::process::ExitCode;
use std::sync::Arc;

/// As in the program.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    // More than half of a run is waiting for what takes its time.
    let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
    arguments.test_threads = arguments.test_threads.or(Some(2 * cores));
    let loaded = match TargetArgs::default().load() {
        Ok(loaded) => Arc::new(loaded),
        Err(error) => {
            eprint!("{}", error.render());
            return ExitCode::FAILURE;
        }
    };
    let trials = selftest::items(&loaded).into_iter().map(|item| {
        let loaded = loaded.clone();
        Trial::test(item.to_string(), move || passed(&run(&item, &loaded)?))
    });
    libtest_mimic::run(&arguments, trials.collect()).exit_code()
}

fn run(item: &Item, loaded: &selftest::Loaded) -> Result<Line, Failed> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(|error| error.to_string())?;
    let line = runtime.block_on(selftest::run(item, loaded, &selftest::settings(1)));
    runtime.shutdown_background();
    line.map_err(|error| Failed::from(error.to_string()))
}

fn passed(line: &Line) -> Result<(), Failed> {
    if line.problems.is_empty() { Ok(()) } else { Err(Failed::from(line.problems.join("\n"))) }
}
