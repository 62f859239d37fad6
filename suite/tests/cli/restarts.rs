//! The restart scenarios against a process of its own: a durable server, and servers that only say so.

use crate::kit::{Folder, proofmark, signal};
use proofmark::reference::{Defect, DefectKind, defects};
use proofmark::selftest::timing::may_break;
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const PROFILE: &str = include_str!("../../../fixtures/profiles/reference-harness-runtime.toml");

/// A server that its profile can bring down and up again.
struct Durable {
    folder: Folder,
    port: u16,
    first: Child,
}

impl Durable {
    /// With more arguments for `serve`.
    fn start(more: &str) -> Self {
        let (folder, port) = (Folder::new(), free_port());
        let (program, pid, store) = (env!("CARGO_BIN_EXE_proofmark"), folder.path("pid"), folder.path("store"));
        let serve = format!("{program} serve --listen harness-runtime=127.0.0.1:{port} --store {store} {more}");
        let control = folder.write(
            "control",
            &format!(
                "case $1 in\nstart) echo $$ > {pid}; exec {serve};;\nstop) kill -TERM $(cat {pid});;\nkill) kill -KILL $(cat {pid});;\nready) test -e {pid};;\nesac\n"
            ),
        );
        let silent =
            |name| Command::new("sh").args([control.as_str(), name]).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let server = Self { first: silent("start"), folder, port };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the server did not listen within {PATIENCE:?}");
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The profile of the reference server with a table `[restart]`, whose commands are the server's own unless `commands` says others.
    fn profile(&self, commands: Option<&str>) -> String {
        let control = self.folder.path("control");
        let command = |name: &str| format!("{name} = [\"sh\", \"{control}\", \"{name}\"]\n");
        let own = [command("start"), command("stop"), command("kill"), command("ready")].concat();
        self.folder.write("profile.toml", &format!("{PROFILE}\n[restart]\ndurable = true\n{}", commands.unwrap_or(&own)))
    }

    /// The report of the restart scenarios (or of what `filter` says).
    fn check(&self, commands: Option<&str>, filter: &str) -> (i32, Value) {
        self.check_within("20s", commands, filter)
    }

    /// With a bound for the way up and the way down.
    fn check_within(&self, wait: &str, commands: Option<&str>, filter: &str) -> (i32, Value) {
        let profile = self.profile(commands);
        let url = self.url();
        let pace = ["--timeout", "4s", "--wait-ready", wait, "--seed", "1", "--report", "json=-"];
        let args = [&["--target", &url, "--profile", &profile], &pace[..], &[filter]].concat();
        let done = proofmark(&args);
        (done.code, done.json())
    }
}

impl Drop for Durable {
    fn drop(&mut self) {
        if let Ok(pid) = std::fs::read_to_string(self.folder.path("pid")) {
            let _ = Command::new("kill").args(["-KILL", pid.trim()]).stderr(Stdio::null()).status();
        }
        let _ = self.first.wait();
    }
}

/// A port that no connection takes by chance while its server is down: below those that the system hands out.
fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let offset = u16::try_from(std::process::id() % 10_000).unwrap();
    loop {
        let port = 20_000 + (offset + 97 * NEXT.fetch_add(1, Ordering::Relaxed)) % 12_000;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

fn target(report: &Value) -> &Value {
    &report["targets"][0]
}

/// Outcome and reason of each scenario.
fn outcomes(report: &Value) -> Vec<(&str, &str, &str)> {
    let scenarios = target(report)["scenarios"].as_array().unwrap();
    scenarios
        .iter()
        .map(|s| (s["path"].as_str().unwrap(), s["outcome"].as_str().unwrap(), s["reason"].as_str().unwrap_or_default()))
        .collect()
}

/// The rules of level `must` and `should` that broke.
fn broken(report: &Value) -> BTreeSet<&str> {
    let requirements = target(report)["requirements"].as_array().unwrap();
    let binding = requirements.iter().filter(|r| r["status"] == "broken" && (r["level"] == "must" || r["level"] == "should"));
    binding.map(|r| r["id"].as_str().unwrap()).collect()
}

#[test]
fn a_durable_server_keeps_every_promise() {
    let server = Durable::start("");
    let (code, report) = server.check(None, "harness-runtime/restart");
    let all = outcomes(&report);
    let others: Vec<_> = all.iter().filter(|(path, outcome, _)| path.contains("/restart/") && *outcome != "passed").collect();
    assert!(others.is_empty() && all.len() >= 12, "{others:#?}");
    assert_eq!((code, broken(&report)), (0, BTreeSet::new()));
}

/// With everything else before it, and the sweep after it.
#[test]
fn a_whole_run_ends_with_the_restarts() {
    let server = Durable::start("");
    let (code, report) = server.check(None, "harness-runtime");
    let others: Vec<_> = outcomes(&report).into_iter().filter(|(_, outcome, _)| *outcome != "passed").collect();
    assert_eq!(others, [], "{code}");
    assert_eq!((code, broken(&report)), (0, BTreeSet::new()));
}

#[test]
fn who_does_not_call_itself_durable_is_not_asked() {
    let server = Durable::start("");
    let done = proofmark(&["list", "--target", &server.url(), "harness-runtime/restart"]);
    let lines: Vec<&str> = done.exits(0).out.lines().filter(|line| line.contains("restart/")).collect();
    assert!(lines.len() >= 12 && lines.iter().all(|line| line.contains("not-applicable") && line.contains("durable")), "{lines:#?}");
}

#[test]
fn a_durable_target_without_commands_is_told_which_to_add() {
    let server = Durable::start("");
    let profile = server.profile(Some("stop = [\"true\"]\n"));
    let done = proofmark(&["--target", &server.url(), "--profile", &profile, "--timeout", "4s", "--report", "json=-"]);
    let report = done.json();
    let restarts: Vec<_> = outcomes(&report).into_iter().filter(|(path, ..)| path.contains("/restart/")).collect();
    assert!(
        restarts.iter().all(|(_, outcome, reason)| *outcome == "not-exercised" && reason.contains("[restart] has no")),
        "{restarts:#?}"
    );
    let missing = target(&report)["missingStimuli"].as_array().unwrap();
    assert!(missing.iter().any(|stimulus| stimulus["toml"].as_str().unwrap().starts_with("[restart]\n")), "{missing:#?}");
}

#[test]
fn a_target_that_does_not_come_back_is_told_with_its_last_words() {
    let server = Durable::start("");
    let control = server.folder.path("control");
    let dies = "start = [\"sh\", \"-c\", \"echo the disk is full >&2; exit 7\"]\n";
    let (code, report) = server.check_within(
        "3s",
        Some(&format!("kill = [\"sh\", \"{control}\", \"kill\"]\n{dies}")),
        "harness-runtime/restart/conversation",
    );
    let (_, outcome, reason) = outcomes(&report)[0];
    assert_eq!(outcome, "blocked", "{code}");
    assert!(reason.contains("exit status: 7") && reason.contains("the disk is full"), "{reason}");
    assert_eq!(broken(&report), BTreeSet::new());
}

#[test]
fn a_command_that_fails_accuses_nobody() {
    let server = Durable::start("");
    let fails = "start = [\"true\"]\nkill = [\"sh\", \"-c\", \"echo no such service >&2; exit 5\"]\n";
    let (_, report) = server.check(Some(fails), "harness-runtime/restart/conversation");
    let (_, outcome, reason) = outcomes(&report)[0];
    assert!(outcome == "blocked" && reason.contains("exit status: 5; it said: no such service"), "{outcome}: {reason}");
}

/// A kill meets a cleanup by chance: what was not as stated is tried again.
const TRIES: usize = 3;

#[test]
fn every_defect_of_restarts_breaks_exactly_what_it_says() {
    let restarts = defects().iter().filter(|defect| defect.kind == DefectKind::Restart);
    let wrong: Vec<String> = restarts.filter_map(|defect| (0..TRIES).map_while(|_| wrong(defect)).nth(TRIES - 1)).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How a defect differs from what it says, if it does.
fn wrong(defect: &Defect) -> Option<String> {
    let server = Durable::start(&format!("--defect {}", defect.name));
    let (_, report) = server.check(None, "harness-runtime/restart");
    let expected: BTreeSet<&str> = defect.breaks.iter().copied().collect();
    let by_timing = may_break(defect.name);
    let always: BTreeSet<&str> = broken(&report).into_iter().filter(|id| !by_timing.contains(id)).collect();
    let others: Vec<_> = outcomes(&report).into_iter().filter(|(_, outcome, _)| *outcome != "passed").collect();
    (always != expected).then(|| format!("{} breaks {always:?}, and says {expected:?}: {others:#?}", defect.name))
}

#[test]
fn a_store_that_is_in_use_is_refused_in_words() {
    let server = Durable::start("");
    let store = server.folder.path("store");
    let done = proofmark(&["serve", "--listen", "harness-runtime=127.0.0.1:0", "--store", &store]);
    assert!(done.exits(2).err.contains("is open in another process\nhint: stop the other server"), "{}", done.err);
    // The one that has it goes on.
    signal(std::fs::read_to_string(server.folder.path("pid")).unwrap().trim().parse().unwrap(), "0");
    assert!(TcpStream::connect(("127.0.0.1", server.port)).is_ok());
}

#[test]
fn a_file_of_somebody_else_is_refused_in_words() {
    let folder = Folder::new();
    folder.write("store/harness-runtime.db", "notes of somebody");
    let done = proofmark(&["serve", "--listen", "harness-runtime=127.0.0.1:0", "--store", &folder.path("store")]);
    assert!(done.exits(2).err.contains("is not a store of this server: it is no SQLite database\nhint: "), "{}", done.err);
    assert_eq!(std::fs::read_to_string(folder.path("store/harness-runtime.db")).unwrap(), "notes of somebody");
}

#[test]
fn a_contract_without_a_store_is_refused_in_words() {
    let folder = Folder::new();
    let done = proofmark(&["serve", "--listen", "agentsessions=127.0.0.1:0", "--store", &folder.path("store")]);
    assert!(done.exits(2).err.contains("the server of agentsessions has no store"), "{}", done.err);
}
