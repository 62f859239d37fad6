//! What the program offers: one file a command. A command reads its arguments, calls the library and writes to the given output;
//! it hands back an exit code of `proofmark_reports::exit`.

pub mod explain;
pub mod journal;
pub mod list;
pub mod options;
pub mod output;
pub mod progress;
pub mod run;
#[cfg(feature = "reference-server")]
pub mod selftest;
#[cfg(feature = "reference-server")]
pub mod serve;

use crate::drivers::http::SetupError;
use crate::fixtures::FixturesError;
use crate::scenario::diagnostic::Diagnostic;
use crate::target::AddressError;
use miette::GraphicalReportHandler;
use proofmark_reports::exit;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Why a command could not do its work. Each has an exit code and one message that says where, what and how to mend it.
#[derive(Debug, thiserror::Error)]
pub enum CommandError {
    #[error(transparent)]
    Fixture(#[from] Box<Diagnostic>),
    #[error(transparent)]
    Fixtures(#[from] FixturesError),
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The command line asks for something that does not exist or does not fit together.
    #[error("{message}")]
    Usage { message: String, hint: Option<String> },
    #[error("{} cannot be read: {problem}", path.display())]
    Read { path: PathBuf, problem: std::io::Error },
    #[error("{} cannot be written: {problem}", path.display())]
    Write { path: PathBuf, problem: std::io::Error },
    #[error(transparent)]
    Setup(#[from] SetupError),
    /// A bug of ours.
    #[error("{0}")]
    Kit(String),
}

impl CommandError {
    pub fn usage(message: impl Into<String>, hint: Option<String>) -> Self {
        Self::Usage { message: message.into(), hint }
    }

    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Setup(_) | Self::Kit(_) => exit::KIT,
            _ => exit::USAGE,
        }
    }

    /// The message as it is printed, with the place in the file where there is one.
    pub fn render(&self) -> String {
        let mut text = format!("error: {self}\n");
        match self {
            Self::Fixture(diagnostic) => {
                let mut shown = String::new();
                let theme = miette::GraphicalTheme::unicode_nocolor();
                if GraphicalReportHandler::new_themed(theme).with_width(120).render_report(&mut shown, &**diagnostic).is_ok() {
                    // Its first line repeats the message; the snippet and the hint are what is wanted.
                    let rest: Vec<&str> = shown.lines().skip_while(|line| !line.contains("╭─")).collect();
                    if rest.is_empty() {
                        diagnostic.hint.iter().for_each(|hint| writeln!(text, "hint: {hint}").expect("writing to a string"));
                    } else {
                        text.push_str(&rest.join("\n"));
                        text.push('\n');
                    }
                }
            }
            Self::Usage { hint: Some(hint), .. } => writeln!(text, "hint: {hint}").expect("writing to a string"),
            Self::Address(_) => text.push_str("hint: for example --target http://127.0.0.1:4310\n"),
            _ => {}
        }
        text
    }
}
