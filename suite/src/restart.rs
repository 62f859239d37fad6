//! How a target is restarted: the commands of its profile, each run within a bound, and what they leave behind told when they fail.
//!
//! A command is a program and its arguments; no shell looks at it. What `start` starts may stay in the foreground: it outlives the kit,
//! so that the target runs after the check as it did before.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// So much of what a command wrote to its standard error is shown.
const SHOWN_LINES: usize = 5;
const SHOWN_BYTES: u64 = 4096;

/// The `[restart]` table of a profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restart {
    /// The target promises that what it has answered survives.
    pub durable: bool,
    pub start: Option<Vec<String>>,
    pub stop: Option<Vec<String>>,
    pub kill: Option<Vec<String>>,
    /// Succeeds once the target can be used; without it the target is asked until it answers.
    pub ready: Option<Vec<String>>,
}

/// How a target is brought down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    /// Asked to end.
    Stop,
    /// Without a chance to put things in order.
    Kill,
}

impl Way {
    pub const ALL: [Self; 2] = [Self::Kill, Self::Stop];

    pub fn name(self) -> &'static str {
        match self {
            Self::Stop => "stop",
            Self::Kill => "kill",
        }
    }
}

impl Restart {
    /// What brings the target down that way.
    pub fn down(&self, way: Way) -> Option<&[String]> {
        match way {
            Way::Stop => self.stop.as_deref(),
            Way::Kill => self.kill.as_deref(),
        }
    }

    /// The names of the commands that a restart needs and that are not given.
    pub fn missing(&self, way: Way) -> Vec<&'static str> {
        let down = self.down(way).is_none().then_some(way.name());
        down.into_iter().chain(self.start.is_none().then_some("start")).collect()
    }
}

/// What a command that did not do its work left behind, in words.
#[derive(Debug, thiserror::Error)]
pub enum CommandProblem {
    #[error("`{command}` could not be started: {problem}")]
    NotStarted { command: String, problem: std::io::Error },
    #[error("`{command}` ended with {status}{said}")]
    Failed { command: String, status: ExitStatus, said: String },
    #[error("`{command}` did not end within {bound:?}, and was killed{said}")]
    TooLong { command: String, bound: Duration, said: String },
}

/// Runs `command` to its end.
pub async fn run(command: &[String], bound: Duration) -> Result<(), CommandProblem> {
    let mut started = Started::new(command)?;
    if let Ok(ended) = timeout(bound, started.child.wait()).await {
        return started.judge(ended);
    }
    // It may have ended in this moment; then there is nothing to kill.
    let _ = started.child.kill().await;
    Err(CommandProblem::TooLong { command: shown(command), bound, said: started.said() })
}

/// A command that was started, and what it says on its standard error.
pub struct Started {
    command: String,
    child: Child,
    words: File,
}

impl Started {
    pub fn new(command: &[String]) -> Result<Self, CommandProblem> {
        let problem = |problem| CommandProblem::NotStarted { command: shown(command), problem };
        let (program, arguments) = command.split_first().ok_or_else(|| problem(std::io::ErrorKind::InvalidInput.into()))?;
        let words = words().map_err(problem)?;
        let stderr = words.try_clone().map_err(problem)?;
        let mut process = Command::new(program);
        process.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::from(stderr));
        let child = process.spawn().map_err(problem)?;
        Ok(Self { command: shown(command), child, words })
    }

    fn said(&mut self) -> String {
        said(&mut self.words)
    }

    fn judge(&mut self, ended: std::io::Result<ExitStatus>) -> Result<(), CommandProblem> {
        let command = self.command.clone();
        match ended {
            Ok(status) if status.success() => Ok(()),
            Ok(status) => Err(CommandProblem::Failed { command, status, said: self.said() }),
            Err(problem) => Err(CommandProblem::NotStarted { command, problem }),
        }
    }
}

/// The last lines of a standard error, ready to be put behind a sentence.
fn said(words: &mut File) -> String {
    let read = |words: &mut File| {
        let length = words.seek(SeekFrom::End(0))?;
        words.seek(SeekFrom::Start(length.saturating_sub(SHOWN_BYTES)))?;
        let mut bytes = Vec::new();
        words.take(SHOWN_BYTES).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).into_owned())
    };
    let text = read(words).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(SHOWN_LINES)..];
    if last.is_empty() { ", and said nothing on its standard error".to_owned() } else { format!("; it said: {}", last.join(" / ")) }
}

/// A file that nobody else sees: what a process writes there it can write for as long as it likes, after the kit has gone too.
fn words() -> std::io::Result<File> {
    let path = std::env::temp_dir().join(format!("proofmark-{}.stderr", uuid::Uuid::new_v4().simple()));
    let file = OpenOptions::new().read(true).append(true).create_new(true).open(&path)?;
    // Where an open file cannot be removed it stays, and does no harm.
    let _ = std::fs::remove_file(&path);
    Ok(file)
}

fn shown(command: &[String]) -> String {
    command.join(" ")
}

/// The process that the last `start` left in the foreground, waited for all the time: whoever brings it down finds it gone and no zombie.
#[derive(Default)]
pub struct Foreground(Mutex<Option<Watched>>);

struct Watched {
    command: String,
    words: File,
    ended: Arc<OnceLock<ExitStatus>>,
}

impl Foreground {
    pub fn set(&self, started: Started) {
        let Started { command, mut child, words } = started;
        let ended = Arc::new(OnceLock::new());
        let told = Arc::clone(&ended);
        tokio::spawn(async move {
            if let Ok(status) = child.wait().await {
                told.get_or_init(|| status);
            }
        });
        *self.lock() = Some(Watched { command, words, ended });
    }

    /// How it ended, if it did and not well.
    pub fn look(&self) -> Result<(), CommandProblem> {
        let mut watched = self.lock();
        let Some(watched) = watched.as_mut() else { return Ok(()) };
        match watched.ended.get() {
            Some(status) if !status.success() => {
                Err(CommandProblem::Failed { command: watched.command.clone(), status: *status, said: said(&mut watched.words) })
            }
            _ => Ok(()),
        }
    }

    pub fn said(&self) -> String {
        self.lock().as_mut().map(|watched| said(&mut watched.words)).unwrap_or_default()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Watched>> {
        self.0.lock().expect("no panic while holding it")
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn command(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    const BOUND: Duration = Duration::from_mins(1);

    #[tokio::test]
    async fn a_failure_is_told_with_its_last_words() {
        let script = "for i in 1 2 3 4 5 6 7; do echo line $i >&2; done; exit 3";
        let problem = run(&command(script), BOUND).await.unwrap_err().to_string();
        assert!(problem.contains("exit status: 3; it said: line 3 / line 4 / line 5 / line 6 / line 7"), "{problem}");
        let problem = run(&["no-such-program".to_owned()], BOUND).await.unwrap_err().to_string();
        assert!(problem.starts_with("`no-such-program` could not be started: "), "{problem}");
        assert!(run(&command("exit 0"), BOUND).await.is_ok());
    }

    #[tokio::test]
    async fn what_hangs_is_killed_and_the_bound_is_named() {
        let problem = run(&command("echo hm >&2; exec sleep 600"), Duration::from_millis(300)).await.unwrap_err().to_string();
        assert!(problem.contains("did not end within 300ms, and was killed; it said: hm"), "{problem}");
    }

    #[test]
    fn a_restart_needs_a_way_down_and_a_way_up() {
        let kill = Restart { durable: true, kill: Some(Vec::new()), ..Restart::default() };
        assert_eq!(kill.missing(Way::Kill), ["start"]);
        assert_eq!(kill.missing(Way::Stop), ["stop", "start"]);
    }
}
