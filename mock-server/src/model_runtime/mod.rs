//! `model-runtime`, protocol 0.1.0: HTTP and server-sent events, in memory.

pub(crate) mod defects;
mod http;
mod machine;
mod model;
mod problem;
mod providers;
mod rules;
mod runtime;
mod script;
mod seams;
pub(crate) mod weather;
mod wire;

use crate::applied::Ledger;
use crate::connections::Connections;
use crate::random::Dice;
use crate::running::{Behaviour, Running, StartError};
use machine::Decisions;
use providers::Provider;
use rules::Rules;
use runtime::{Clock, Ids, Parts, Runtime};
use seams::Seams;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use wire::Wire;

/// The name of the contract.
pub(crate) const CONTRACT: &str = "model-runtime";

/// Everything a server of this contract is built from, the reference unless something is replaced.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub(crate) rules: Rules,
    pub(crate) decisions: Decisions,
    pub(crate) seams: Seams,
    pub(crate) wire: Wire,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    pub(crate) providers: Vec<Arc<dyn Provider>>,
    /// What replaced parts draw from.
    pub(crate) dice: Arc<Dice>,
}

impl Blueprint {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rules: Rules::default(),
            decisions: Decisions::default(),
            seams: Seams::default(),
            wire: wire::plain(),
            clock: Arc::new(jiff::Timestamp::now),
            ids: Arc::new(|| uuid::Uuid::new_v4().to_string()),
            providers: providers::all(),
            dice: Arc::new(Dice::new(seed)),
        }
    }

    fn build(self) -> (Arc<Runtime>, Arc<Wire>) {
        let Self { rules, decisions, seams, wire, clock, ids, providers, dice: _ } = self;
        (Runtime::new(Parts { rules, decisions, seams, clock, ids, providers }), Arc::new(wire))
    }
}

/// The blueprint with the named changes, weather first, and their counters.
fn blueprint(behaviour: &Behaviour) -> Result<(Blueprint, Ledger), StartError> {
    let mut blueprint = Blueprint::new(behaviour.seed);
    let mut ledger = Ledger::default();
    for name in &behaviour.weather {
        let unknown = || StartError::UnknownWeather { contract: CONTRACT.to_owned(), name: name.clone() };
        let entry = weather::all().find(|entry| entry.weather.name == name).ok_or_else(unknown)?;
        (entry.install)(&mut blueprint, &ledger.open(name));
    }
    if let Some(name) = &behaviour.defect {
        let unknown = || StartError::UnknownDefect { contract: CONTRACT.to_owned(), name: name.clone() };
        let entry = defects::all().find(|entry| entry.defect.name == name).ok_or_else(unknown)?;
        (entry.install)(&mut blueprint, &ledger.open(name));
    }
    Ok((blueprint, ledger))
}

/// Serves the contract on `listener`.
///
/// # Errors
/// Unknown names in `behaviour`, or a listener without an address.
pub(crate) fn start(listener: TcpListener, behaviour: &Behaviour) -> Result<Running, StartError> {
    let (blueprint, ledger) = blueprint(behaviour)?;
    let address = listener.local_addr().map_err(StartError::Listener)?;
    let (runtime, wire) = blueprint.build();
    let url = format!("http://{address}{}", (wire.mount)());
    let (stop, stopping) = watch::channel(false);
    let stride = Arc::clone(&wire.stride);
    let router = http::router(http::Context { runtime: Arc::clone(&runtime), wire, stopping });
    let connections = Connections::serve(listener, router, stride, stop);
    let shut_down = Box::pin(async move { runtime.shut_down().await });
    Ok(Running { url, ledger, connections, shut_down, failed: Box::pin(std::future::pending()) })
}

#[cfg(test)]
mod tests;
