//! `proofmark journal`: the hash chain of a journal, and the digest of a harness spec, without a target.

mod text;

use super::CommandError;
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofmark_reports::exit;
use proofmark_schema::chain::{self, Expectations, Parent, Report, Verdict};
use proofmark_schema::journal;
use serde::Serialize;
use std::fs::File;
use std::io::{BufRead as _, BufReader, IsTerminal as _, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Args, Clone, Debug)]
pub struct JournalArgs {
    #[command(subcommand)]
    pub command: JournalCommand,
}

#[derive(Subcommand, Clone, Debug)]
pub enum JournalCommand {
    /// Check a hash chain: exit code 0 held, 1 broken, 2 not a journal, 3 not all of it can be judged
    Verify(VerifyArgs),
    /// The `spec_digest` of a `HarnessSpec`
    Digest(DigestArgs),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Text,
    Json,
}

#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// JSON Lines of `LogRecord` in proto3-JSON; `-` is standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
    /// json: an object as described by schema/json/journal-report.schema.json
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
    /// The session's `last_seq`, so that a journal cut short is found; of several sessions, in the order of the journal
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub last_seq: Vec<i64>,
    /// The journal of the session that every session in FILE was forked from
    #[arg(long, value_name = "FILE")]
    pub parent: Option<PathBuf>,
    /// Threads that parse and hash
    #[arg(long, value_name = "N")]
    pub jobs: Option<NonZeroUsize>,
}

#[derive(Args, Clone, Debug)]
pub struct DigestArgs {
    /// A `HarnessSpec` in proto3-JSON; `-` is standard input
    #[arg(value_name = "FILE|-")]
    pub file: PathBuf,
}

pub fn run(args: &JournalArgs, out: &mut dyn Write) -> Result<u8, CommandError> {
    match &args.command {
        JournalCommand::Verify(args) => verify(args, out),
        JournalCommand::Digest(args) => digest(args, out),
    }
}

fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// The path as people know it.
fn name(path: &Path) -> String {
    if is_stdin(path) { "standard input".to_owned() } else { path.display().to_string() }
}

fn unreadable(path: &Path) -> impl FnOnce(std::io::Error) -> CommandError {
    let path = PathBuf::from(name(path));
    move |problem| CommandError::Read { path, problem }
}

fn print(text: &str, out: &mut dyn Write) -> Result<(), CommandError> {
    out.write_all(text.as_bytes()).map_err(|problem| CommandError::Write { path: "standard output".into(), problem })
}

fn verify(args: &VerifyArgs, out: &mut dyn Write) -> Result<u8, CommandError> {
    let expectations = expectations(args)?;
    let threads = args.jobs.unwrap_or_else(journal::all_cores);
    let report = if is_stdin(&args.file) {
        read(std::io::stdin(), None, expectations, threads)
    } else {
        let file = File::open(&args.file).map_err(unreadable(&args.file))?;
        let size = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|data| data.len());
        read(file, size, expectations, threads)
    }
    .map_err(unreadable(&args.file))?;
    print(&rendered(args, &report)?, out)?;
    Ok(match report.verdict {
        Verdict::Held => exit::HELD,
        Verdict::Broken => exit::BROKEN,
        Verdict::NotAJournal => exit::USAGE,
        Verdict::Unverifiable => exit::UNSEEN,
    })
}

fn expectations(args: &VerifyArgs) -> Result<Expectations, CommandError> {
    if let Some(negative) = args.last_seq.iter().find(|seq| **seq < 0) {
        return Err(CommandError::usage(format!("--last-seq {negative}: a last_seq counts records and is not negative"), None));
    }
    let mut expectations = Expectations { last_seq: args.last_seq.clone(), parent: None };
    if let Some(path) = args.parent.clone() {
        // Opened once to say so now if it cannot be; then again for each session.
        File::open(&path).map_err(unreadable(&path))?;
        expectations.parent = Some(Box::new(move || parent(&path)));
    }
    Ok(expectations)
}

/// The records of a parent. What cannot be read of it is as good as missing.
fn parent(path: &Path) -> Parent {
    let lines = File::open(path).into_iter().flat_map(|file| BufReader::new(file).split(b'\n'));
    chain::parent(lines.map_while(Result::ok))
}

fn read(source: impl Read + Send, size: Option<u64>, expectations: Expectations, threads: NonZeroUsize) -> std::io::Result<Report> {
    let bar = bar(size);
    let report = journal::verify(source, expectations, threads, &mut |bytes| bar.inc(bytes));
    bar.finish_and_clear();
    report
}

/// Progress on a terminal, nothing in a pipe.
fn bar(size: Option<u64>) -> ProgressBar {
    let shown = std::io::stderr().is_terminal() && std::env::var_os("CI").is_none();
    let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
    let template =
        if size.is_some() { "{bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}" } else { "{spinner} {bytes} {bytes_per_sec}" };
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::with_draw_target(size, target).with_style(style)
}

/// The report of one journal with its name.
#[derive(Serialize)]
struct Document<'a> {
    format: &'static str,
    journal: String,
    #[serde(flatten)]
    report: &'a Report,
}

fn rendered(args: &VerifyArgs, report: &Report) -> Result<String, CommandError> {
    let journal = name(&args.file);
    match args.format {
        Format::Text => Ok(text::render(&journal, report)),
        Format::Json => {
            let document = Document { format: "proofmark.journal/1.0", journal, report };
            let text = serde_json::to_string_pretty(&document).map_err(|error| CommandError::Kit(error.to_string()))?;
            Ok(text + "\n")
        }
    }
}

fn digest(args: &DigestArgs, out: &mut dyn Write) -> Result<u8, CommandError> {
    let mut spec = Vec::new();
    let read = if is_stdin(&args.file) {
        std::io::stdin().read_to_end(&mut spec)
    } else {
        File::open(&args.file).and_then(|mut file| file.read_to_end(&mut spec))
    };
    read.map_err(unreadable(&args.file))?;
    let digest = chain::spec_digest(&spec).map_err(|error| {
        let hint = "a HarnessSpec in proto3-JSON is expected, such as {\"remote\": {\"address\": \"127.0.0.1:9000\"}}";
        CommandError::usage(format!("{} is no harness spec: {error}", name(&args.file)), Some(hint.to_owned()))
    })?;
    print(&format!("{digest}\n"), out)?;
    Ok(exit::HELD)
}
