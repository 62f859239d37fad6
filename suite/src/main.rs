//! The program `proofmark`: reads the command line, calls the library, maps what comes back to exit codes.

use anstream::AutoStream;
use clap::{Parser, Subcommand};
use proofmark::commands::run::Look;
use proofmark::commands::{CommandError, explain, journal, list, run};
use proofmark_reports::exit;
use std::io::{IsTerminal, Write};
use std::process::ExitCode;

/// A run is a great many small values that live shortly: this one saves a sixth of its processor time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Conformance test kit and reference server for agent runtimes.
///
/// Without a command: check the targets (or the built-in reference server) and report.
#[derive(Parser, Debug)]
#[command(name = "proofmark", version, args_conflicts_with_subcommands = true)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    run: run::RunArgs,
    /// No colour, whatever the terminal
    #[arg(long, global = true)]
    no_color: bool,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Check and report (the default)
    Run(Box<run::RunArgs>),
    /// What would run, and what would not and why
    List(Box<list::ListArgs>),
    /// A requirement or a scenario: wording, source, level, how it is checked, what breaks it
    Explain(explain::ExplainArgs),
    /// The hash chain of a journal, and the digest of a harness spec, without a target
    Journal(journal::JournalArgs),
    /// The reference mock server
    #[cfg(feature = "reference-server")]
    Serve(proofmark::commands::serve::ServeArgs),
    /// The suite against defects, weather and null targets
    #[cfg(feature = "reference-server")]
    Selftest(proofmark::commands::selftest::SelftestArgs),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let _ = error.print();
            return ExitCode::from(if error.use_stderr() { exit::USAGE } else { exit::HELD });
        }
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("error: failed to start: {error}");
            return ExitCode::from(exit::KIT);
        }
    };
    let mut out = AutoStream::auto(std::io::stdout());
    let result = runtime.block_on(dispatch(cli, &mut out));
    let _ = out.flush();
    // What a silent target left waiting must not hold up the exit.
    runtime.shutdown_background();
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            let _ = write!(std::io::stderr(), "{}", error.render());
            ExitCode::from(error.exit_code())
        }
    }
}

async fn dispatch(cli: Cli, out: &mut (dyn Write + Send)) -> Result<u8, CommandError> {
    let terminal = std::io::stdout().is_terminal();
    let colour = terminal && !cli.no_color && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    let look = Look { colour, width: if terminal { 120 } else { 0 } };
    match cli.command {
        None => run::run(&cli.run, look, out).await,
        Some(Command::Run(args)) => run::run(&args, look, out).await,
        Some(Command::List(args)) => list::run(&args, out, &mut std::io::stderr()).await,
        Some(Command::Explain(args)) => explain::run(&args, out),
        Some(Command::Journal(args)) => journal::run(&args, out),
        #[cfg(feature = "reference-server")]
        Some(Command::Serve(args)) => proofmark::commands::serve::run(&args, stopped(), out).await,
        #[cfg(feature = "reference-server")]
        Some(Command::Selftest(args)) => proofmark::commands::selftest::run(&args, out).await,
    }
}

/// Resolves on SIGINT or SIGTERM.
#[cfg(feature = "reference-server")]
async fn stopped() {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) else {
            let _ = interrupt.await;
            return;
        };
        tokio::select! { _ = interrupt => {}, _ = terminate.recv() => {} }
    }
    #[cfg(not(unix))]
    let _ = interrupt.await;
}
