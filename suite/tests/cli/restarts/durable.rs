//! Servers in processes of their own that the kit can bring down and up again.

use crate::kit::{Folder, proofmark};
use serde_json::Value;
use std::collections::BTreeSet;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// A contract whose reference server has a store.
#[derive(Clone, Copy)]
pub(super) struct Contract {
    pub(super) name: &'static str,
    /// Of the reference server.
    profile: &'static str,
}

pub(super) const HARNESS: Contract =
    Contract { name: "harness-runtime", profile: include_str!("../../../../fixtures/profiles/reference-harness-runtime.toml") };
pub(super) const MODEL: Contract =
    Contract { name: "model-runtime", profile: include_str!("../../../../fixtures/profiles/reference-model-runtime.toml") };

/// A server that its profile can bring down and up again.
pub(super) struct Durable {
    contract: Contract,
    pub(super) folder: Folder,
    pub(super) port: u16,
    first: Child,
}

impl Durable {
    /// With more arguments for `serve`.
    pub(super) fn start(contract: Contract, more: &str) -> Self {
        let (folder, port, name) = (Folder::new(), free_port(), contract.name);
        let (program, pid, store) = (env!("CARGO_BIN_EXE_proofmark"), folder.path("pid"), folder.path("store"));
        let serve = format!("{program} serve --listen {name}=127.0.0.1:{port} --store {store} {more}");
        let control = folder.write(
            "control",
            &format!(
                "case $1 in\nstart) echo $$ > {pid}; exec {serve};;\nstop) kill -TERM $(cat {pid});;\nkill) kill -KILL $(cat {pid});;\nready) test -e {pid};;\nesac\n"
            ),
        );
        let silent =
            |name| Command::new("sh").args([control.as_str(), name]).stdout(Stdio::null()).stderr(Stdio::inherit()).spawn().unwrap();
        let server = Self { first: silent("start"), contract, folder, port };
        let deadline = Instant::now() + PATIENCE;
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(Instant::now() < deadline, "the server did not listen within {PATIENCE:?}");
            thread::sleep(Duration::from_millis(10));
        }
        server
    }

    pub(super) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The profile of the reference server with a table `[restart]`, whose commands are the server's own unless `commands` says others.
    pub(super) fn profile(&self, commands: Option<&str>) -> String {
        let control = self.folder.path("control");
        let command = |name: &str| format!("{name} = [\"sh\", \"{control}\", \"{name}\"]\n");
        let own = [command("start"), command("stop"), command("kill"), command("ready")].concat();
        let profile = self.contract.profile;
        self.folder.write("profile.toml", &format!("{profile}\n[restart]\ndurable = true\n{}", commands.unwrap_or(&own)))
    }

    /// The report of what `filter` says.
    pub(super) fn check(&self, commands: Option<&str>, filter: &str) -> (i32, Value) {
        self.check_within("20s", commands, filter)
    }

    /// The report of the restart scenarios.
    pub(super) fn restarts(&self) -> (i32, Value) {
        self.check(None, &format!("{}/restart", self.contract.name))
    }

    /// With a bound for the way up and the way down.
    pub(super) fn check_within(&self, wait: &str, commands: Option<&str>, filter: &str) -> (i32, Value) {
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

pub(super) fn target(report: &Value) -> &Value {
    &report["targets"][0]
}

/// Outcome and reason of each scenario.
pub(super) fn outcomes(report: &Value) -> Vec<(&str, &str, &str)> {
    let scenarios = target(report)["scenarios"].as_array().unwrap();
    scenarios
        .iter()
        .map(|s| (s["path"].as_str().unwrap(), s["outcome"].as_str().unwrap(), s["reason"].as_str().unwrap_or_default()))
        .collect()
}

/// The rules of level `must` and `should` that broke.
pub(super) fn broken(report: &Value) -> BTreeSet<&str> {
    let requirements = target(report)["requirements"].as_array().unwrap();
    let binding = requirements.iter().filter(|r| r["status"] == "broken" && (r["level"] == "must" || r["level"] == "should"));
    binding.map(|r| r["id"].as_str().unwrap()).collect()
}
