//! Load on a server of the Harness Runtime API: executions followed to their end, and whether anything was lost or doubled.
//!
//! ```text
//! cargo run --release --example load -- --target http://127.0.0.1:4310 --executions 2000 --at-once 64
//! ```
//!
//! Every execution is followed over SSE by `--readers` readers from its first event to its end, and read once more as a list afterwards. Printed for each
//! target: executions a second, the time from the start request to the last event (p50, p99), and, where the process is known, its
//! resident memory before, at the most, and after. Several `--target`s take turns, round by round, so that they can be compared in one run. Exit code 1
//! when a history was torn: an event lost, doubled or out of order, no terminal event, or readers that disagree.

mod follow;
mod memory;

use clap::Parser;
use follow::{Followed, Server};
use memory::Memory;
use serde_json::Value;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// A run that says a few words.
const START: &str =
    r#"{"providerId":"scripted","input":"load","config":{"script":[{"repeat":[{"delta":"word "}],"times":20},{"return":"done"}]}}"#;

#[derive(Parser)]
struct Options {
    /// The server; several are compared
    #[arg(long = "target", value_name = "URL", required = true)]
    targets: Vec<String>,
    /// The process of each target, for its memory; in the order of the targets
    #[arg(long = "pid", value_name = "PID")]
    pids: Vec<u32>,
    /// Executions a round
    #[arg(long, default_value_t = 1000)]
    executions: usize,
    /// Executions alive at once
    #[arg(long, default_value_t = 64)]
    at_once: usize,
    /// Readers of each execution
    #[arg(long, default_value_t = 1)]
    readers: usize,
    /// Rounds; the targets take turns
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Members of the start request but for the conversation
    #[arg(long, value_name = "JSON", default_value = START)]
    start: String,
    /// The bound of one execution, from its start to its last event
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    bound: u64,
}

#[derive(Default)]
struct Figures {
    followed: Vec<Followed>,
    torn: Vec<String>,
    took: Duration,
    most_alive: usize,
    memory: Vec<Memory>,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let start: Value = match serde_json::from_str(&options.start) {
        Ok(Value::Object(members)) => Value::Object(members),
        _ => return usage("--start is not a JSON object"),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return usage(&error.to_string()),
    };
    let mut all: Vec<Figures> = options.targets.iter().map(|_| Figures::default()).collect();
    for round in 1..=options.rounds {
        for (i, url) in options.targets.iter().enumerate() {
            let pid = options.pids.get(i).copied();
            if let Err(problem) = runtime.block_on(one_round(&options, url, pid, &start, &mut all[i])) {
                eprintln!("{url}, round {round}: {problem}");
                return ExitCode::FAILURE;
            }
        }
    }
    for (url, figures) in options.targets.iter().zip(&mut all) {
        print(&options, url, figures);
    }
    if all.iter().all(|figures| figures.torn.is_empty()) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn usage(problem: &str) -> ExitCode {
    eprintln!("error: {problem}");
    ExitCode::from(2)
}

async fn one_round(options: &Options, url: &str, pid: Option<u32>, start: &Value, figures: &mut Figures) -> Result<(), String> {
    let server = Arc::new(Server::new(url, Duration::from_secs(options.bound))?);
    let conversation = server.conversation().await?;
    let watch = pid.map(memory::watch);
    let (permits, alive, most) = (Arc::new(Semaphore::new(options.at_once)), Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let began = Instant::now();
    let runs = (0..options.executions).map(|_| {
        let (server, permits, alive, most) = (server.clone(), permits.clone(), alive.clone(), most.clone());
        let (start, conversation, readers) = (start.clone(), conversation.clone(), options.readers);
        tokio::spawn(async move {
            let _permit = permits.acquire_owned().await;
            most.fetch_max(alive.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            let followed = server.follow(&conversation, start, readers).await;
            alive.fetch_sub(1, Ordering::Relaxed);
            followed
        })
    });
    for run in runs.collect::<Vec<_>>() {
        match run.await.map_err(|error| error.to_string())? {
            Ok(followed) => figures.followed.push(followed),
            Err(problem) => figures.torn.push(problem),
        }
    }
    figures.took += began.elapsed();
    figures.most_alive = figures.most_alive.max(most.load(Ordering::Relaxed));
    if let Some(watch) = watch {
        figures.memory.push(watch.stop().await);
    }
    Ok(())
}

fn print(options: &Options, url: &str, figures: &mut Figures) {
    let runs = figures.followed.len();
    println!(
        "{url}: {} rounds of {} executions, {} readers each, {} alive at the most",
        options.rounds, options.executions, options.readers, figures.most_alive
    );
    #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
    let rate = runs as f64 / figures.took.as_secs_f64();
    let events: usize = figures.followed.iter().map(|followed| followed.events).sum();
    println!("  {rate:.0} executions/s followed to their end, {events} events read by each reader in all");
    figures.followed.sort_by_key(|followed| followed.took);
    if let (Some(half), Some(most)) = (figures.followed.get(runs / 2), figures.followed.get(runs * 99 / 100)) {
        println!("  start to last event: p50 {:.1} ms, p99 {:.1} ms", millis(half.took), millis(most.took));
    }
    for (round, memory) in figures.memory.iter().enumerate() {
        println!("  resident, round {}: {memory}", round + 1);
    }
    println!("  lost, doubled or torn: {}", figures.torn.len());
    figures.torn.iter().take(10).for_each(|problem| println!("    {problem}"));
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
