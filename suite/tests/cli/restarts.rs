//! The restart scenarios against a process of its own: a durable server, and servers that only say so.

mod durable;

use crate::kit::{Folder, Served, proofmark, signal};
use durable::{Contract, Durable, HARNESS, MODEL, broken, outcomes, target};
use proofmark::reference::{Defect, DefectKind, defects};
use proofmark::selftest::timing::may_break;
use std::collections::BTreeSet;
use std::net::TcpStream;
use std::sync::Mutex;
use std::thread;

fn keeps_every_promise(contract: Contract) {
    let (code, report) = Durable::start(contract, "").restarts();
    let all = outcomes(&report);
    let others: Vec<_> = all.iter().filter(|(path, outcome, _)| path.contains("/restart/") && *outcome != "passed").collect();
    assert!(others.is_empty() && all.len() >= 12, "{others:#?}");
    assert_eq!((code, broken(&report)), (0, BTreeSet::new()));
}

#[test]
fn a_durable_harness_runtime_keeps_every_promise() {
    keeps_every_promise(HARNESS);
}

#[test]
fn a_durable_model_runtime_keeps_every_promise() {
    keeps_every_promise(MODEL);
}

/// With everything else before it, and the sweep after it.
fn ends_with_the_restarts(contract: Contract) {
    let server = Durable::start(contract, "");
    let (code, report) = server.check(None, contract.name);
    let others: Vec<_> = outcomes(&report).into_iter().filter(|(_, outcome, _)| *outcome != "passed").collect();
    assert_eq!(others, [], "{code}");
    assert_eq!((code, broken(&report)), (0, BTreeSet::new()));
}

#[test]
fn a_whole_run_of_harness_runtime_ends_with_the_restarts() {
    ends_with_the_restarts(HARNESS);
}

#[test]
fn a_whole_run_of_model_runtime_ends_with_the_restarts() {
    ends_with_the_restarts(MODEL);
}

#[test]
fn who_does_not_call_itself_durable_is_not_asked() {
    let server = Durable::start(HARNESS, "");
    let done = proofmark(&["list", "--target", &server.url(), "harness-runtime/restart"]);
    let lines: Vec<&str> = done.exits(0).out.lines().filter(|line| line.contains("restart/")).collect();
    assert!(lines.len() >= 12 && lines.iter().all(|line| line.contains("not-applicable") && line.contains("durable")), "{lines:#?}");
}

#[test]
fn a_durable_target_without_commands_is_told_which_to_add() {
    let server = Durable::start(HARNESS, "");
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
    let server = Durable::start(HARNESS, "");
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
    let server = Durable::start(HARNESS, "");
    let fails = "start = [\"true\"]\nkill = [\"sh\", \"-c\", \"echo no such service >&2; exit 5\"]\n";
    let (_, report) = server.check(Some(fails), "harness-runtime/restart/conversation");
    let (_, outcome, reason) = outcomes(&report)[0];
    assert!(outcome == "blocked" && reason.contains("exit status: 5; it said: no such service"), "{outcome}: {reason}");
}

/// A kill meets a cleanup by chance: what was not as stated is tried again.
const TRIES: usize = 3;
/// Servers at once: most of their time they are waited for.
const AT_ONCE: usize = 3;

fn breaks_exactly_what_it_says(contract: Contract) {
    let queue: Vec<&Defect> = defects().iter().filter(|d| d.contract == contract.name && d.kind == DefectKind::Restart).collect();
    assert!(queue.len() >= 8);
    let (queue, failures) = (Mutex::new(queue), Mutex::new(Vec::new()));
    let next = || queue.lock().unwrap().pop();
    thread::scope(|scope| {
        for _worker in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(defect) = next() {
                    let failure = (0..TRIES).map_while(|_| wrong(contract, defect)).nth(TRIES - 1);
                    failures.lock().unwrap().extend(failure);
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_defect_of_restarts_of_harness_runtime_breaks_exactly_what_it_says() {
    breaks_exactly_what_it_says(HARNESS);
}

#[test]
fn every_defect_of_restarts_of_model_runtime_breaks_exactly_what_it_says() {
    breaks_exactly_what_it_says(MODEL);
}

/// How a defect differs from what it says, if it does.
fn wrong(contract: Contract, defect: &Defect) -> Option<String> {
    let server = Durable::start(contract, &format!("--defect {}", defect.name));
    let (_, report) = server.restarts();
    let expected: BTreeSet<&str> = defect.breaks.iter().copied().collect();
    let by_timing = may_break(defect.name);
    let always: BTreeSet<&str> = broken(&report).into_iter().filter(|id| !by_timing.contains(id)).collect();
    let others: Vec<_> = outcomes(&report).into_iter().filter(|(_, outcome, _)| *outcome != "passed").collect();
    (always != expected).then(|| format!("{} breaks {always:?}, and says {expected:?}: {others:#?}", defect.name))
}

/// One store for both contracts, a file for each.
#[test]
fn two_contracts_share_a_folder() {
    let folder = Folder::new();
    let store = folder.path("store");
    let arguments = ["--listen", "harness-runtime=127.0.0.1:0", "--listen", "model-runtime=127.0.0.1:0", "--store", &store];
    drop(Served::start(&arguments));
    for name in ["harness-runtime.db", "model-runtime.db"] {
        assert!(std::fs::metadata(folder.path(&format!("store/{name}"))).is_ok_and(|file| file.len() > 0), "{name}");
    }
    drop(Served::start(&arguments));
}

#[test]
fn a_store_that_is_in_use_is_refused_in_words() {
    let server = Durable::start(HARNESS, "");
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
