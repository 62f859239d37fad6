//! `model-runtime`, protocol 0.1.0: HTTP and server-sent events, in memory or on disk.

pub(crate) mod defects;
mod http;
mod machine;
mod model;
mod problem;
mod providers;
mod records;
mod rules;
mod runtime;
mod script;
mod seams;
pub(crate) mod weather;
mod wire;

use crate::applied::Ledger;
use crate::catalogue::install;
use crate::connections::Connections;
use crate::durable::{Keeping, StoreError};
use crate::random::Dice;
use crate::running::{Behaviour, Running, StartError};
use crate::tally::Tally;
use machine::{Decisions, Store};
use providers::Tallies;
use records::Record;
use rules::Rules;
use runtime::{Clock, Ids, Journal, Parts, Runtime};
use seams::Seams;
use std::collections::BTreeMap;
use std::path::Path;
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
    pub(crate) keeping: Keeping<Record>,
    pub(crate) wire: Wire,
    pub(crate) clock: Clock,
    pub(crate) ids: Ids,
    /// What replaced parts draw from.
    pub(crate) dice: Arc<Dice>,
}

impl Blueprint {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rules: Rules::default(),
            decisions: Decisions::default(),
            seams: Seams::default(),
            keeping: Keeping::default(),
            wire: wire::plain(),
            clock: Arc::new(jiff::Timestamp::now),
            ids: Arc::new(|| uuid::Uuid::new_v4().to_string()),
            dice: Arc::new(Dice::new(seed)),
        }
    }

    /// In memory.
    #[cfg(test)]
    fn build(self) -> (Arc<Runtime>, Arc<Wire>) {
        self.assemble(Store::default(), &Tallies::default(), Journal::default())
    }

    /// On what the store in `folder` holds, or in memory.
    fn build_in(self, folder: Option<&Path>) -> Result<(Arc<Runtime>, Arc<Wire>), StoreError> {
        let Some(folder) = folder else {
            return Ok(self.assemble(Store::default(), &Tallies::default(), Journal::default()));
        };
        let kept = records::open(folder)?;
        let unusable = |error: std::io::Error| StoreError::Unusable { path: folder.to_owned(), problem: error.to_string() };
        let journal = Journal::start(kept.connection, self.keeping.clone()).map_err(unusable)?;
        Ok(self.assemble(kept.store, &kept_tallies(kept.tallies, journal.clone()), journal))
    }

    fn assemble(self, store: Store, tallies: &Tallies, journal: Journal) -> (Arc<Runtime>, Arc<Wire>) {
        let Self { rules, decisions, seams, wire, clock, ids, keeping: _, dice: _ } = self;
        let providers = providers::all(tallies);
        (Runtime::new(Parts { rules, decisions, seams, clock, ids, providers, store, journal }), Arc::new(wire))
    }
}

/// The blueprint with the named changes, weather first, and their counters.
fn blueprint(behaviour: &Behaviour) -> Result<(Blueprint, Ledger), StartError> {
    let mut blueprint = Blueprint::new(behaviour.seed);
    let (weathers, defects): (Vec<_>, Vec<_>) = (weather::all().collect(), defects::all().collect());
    let ledger = install(&mut blueprint, CONTRACT, behaviour, &weathers, &defects)?;
    Ok((blueprint, ledger))
}

/// Serves the contract on `listener`.
///
/// # Errors
/// Unknown names in `behaviour`, a store that cannot be used, or a listener without an address.
pub(crate) async fn start(listener: TcpListener, behaviour: &Behaviour) -> Result<Running, StartError> {
    let (blueprint, ledger) = blueprint(behaviour)?;
    let address = listener.local_addr().map_err(StartError::Listener)?;
    let (runtime, wire) = blueprint.build_in(behaviour.store.as_deref())?;
    runtime.recover().await;
    let url = format!("http://{address}{}", (wire.mount)());
    let (stop, stopping) = watch::channel(false);
    let stride = Arc::clone(&wire.stride);
    let router = http::router(http::Context { runtime: Arc::clone(&runtime), wire, stopping });
    let connections = Connections::serve(listener, router, stride, stop);
    let failed = Arc::clone(&runtime);
    let failed = Box::pin(async move { failed.failed().await });
    let shut_down = Box::pin(async move { runtime.shut_down().await });
    Ok(Running { url, ledger, connections, shut_down, failed })
}

#[cfg(test)]
mod tests;

/// Tallies that go on from what was kept, and are kept.
fn kept_tallies(counted: BTreeMap<String, Tally>, journal: Journal) -> Tallies {
    let keep = move |name: &str, tally| journal.submit(vec![Record::Tally { name: name.to_owned(), tally }]);
    Tallies::new(counted, Arc::new(keep))
}
