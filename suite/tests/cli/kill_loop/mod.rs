//! What a durable server has answered survives `kill -9` at any moment: a process under load is killed again and again, and every other
//! time once more while it starts.
//!
//! `PROOFMARK_KILL_ROUNDS` sets the number of rounds, `PROOFMARK_KILL_SEED` what is drawn; `scripts/kill-loop` does both.

mod client;
mod harness_runtime;
mod model_runtime;
mod wire;

use crate::kit::{self, Folder, Served, signal};
use client::{Load, Turn};
use std::collections::BTreeMap;
use std::ops::AddAssign;
use std::thread;
use std::time::Duration;

/// Small and repeatable (`splitmix64`).
#[derive(Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}

/// How often each kind of promise was looked at.
#[derive(Default)]
pub(crate) struct Figures(BTreeMap<&'static str, u64>);

impl Figures {
    pub(crate) fn count(&mut self, what: &'static str) {
        self.add(what, 1);
    }

    pub(crate) fn add(&mut self, what: &'static str, count: usize) {
        self.0.entry(what).or_default().add_assign(count as u64);
    }

    fn all(&self) -> u64 {
        self.0.values().sum()
    }
}

fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is a number")))
}

/// A server that is killed while it opens its store and ends what ran.
fn stillborn(arguments: &[&str], dice: &mut Dice) {
    let mut child = kit::serve(arguments);
    thread::sleep(Duration::from_millis(dice.below(80)));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Panics at the first promise that is not kept. Gives how many executions the kill has interrupted.
type Check<P> = fn(&str, &P, &mut Figures) -> usize;

fn nothing_is_lost<P: Clone + Default + Send + 'static>(contract: &str, turn: Turn<P>, check: Check<P>) {
    let (rounds, seed) = (number("PROOFMARK_KILL_ROUNDS", 8), number("PROOFMARK_KILL_SEED", 1));
    let (folder, mut dice, mut figures) = (Folder::new(), Dice(seed), Figures::default());
    let (store, listen) = (folder.path("store"), format!("{contract}=127.0.0.1:0"));
    let arguments = ["--listen", &listen, "--store", &store];
    let serve = || Served::start(&arguments);
    let mut old: Vec<P> = Vec::new();
    stillborn(&arguments, &mut dice);
    let (mut server, mut alive) = (serve(), 0);
    for round in 0..rounds {
        let load = Load::start(server.url(), round, turn, &mut dice);
        thread::sleep(Duration::from_millis(20 + dice.below(350)));
        signal(server.id(), "KILL");
        let promises = load.end();
        server.ends();
        if round % 2 == 0 {
            stillborn(&arguments, &mut dice);
        }
        server = serve();
        alive += check(server.url(), &promises, &mut figures);
        old.push(promises);
    }
    // What was promised in the first round is there after the last one.
    for promises in &old {
        check(server.url(), promises, &mut Figures::default());
    }
    let shown: Vec<String> = figures.0.iter().map(|(what, count)| format!("{count} {what}")).collect();
    println!("{contract}: {rounds} rounds (seed {seed}), {} promises checked: {}", figures.all(), shown.join(", "));
    println!("{alive} executions were interrupted; lost 0, ended twice 0, run twice 0; all of them looked at again after the last round");
    assert!(figures.all() > rounds * 10, "there was next to no load");
    assert!(alive > 0, "no execution was ever interrupted");
}

#[test]
fn nothing_that_harness_runtime_answered_is_lost_by_a_kill() {
    nothing_is_lost("harness-runtime", harness_runtime::turn, harness_runtime::check);
}

#[test]
fn nothing_that_model_runtime_answered_is_lost_by_a_kill() {
    nothing_is_lost("model-runtime", model_runtime::turn, model_runtime::check);
}
