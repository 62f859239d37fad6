//! `agentsessions.v1`, the `Sessions` service: sections A to C of the contract page, in memory. What is not there yet says so.

pub(crate) mod defects;
mod grpc;
mod machine;
mod rules;
pub(crate) mod weather;
mod wire;

use crate::applied::Ledger;
use crate::catalogue::install;
use crate::connections::Connections;
use crate::random::Dice;
use crate::running::{Behaviour, Running, StartError};
use machine::{Machine, Seams};
use rules::Rules;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::watch;
use wire::Wire;

/// The name of the contract.
pub(crate) const CONTRACT: &str = "agentsessions";

/// Tells the time.
pub(crate) type Clock = Arc<dyn Fn() -> jiff::Timestamp + Send + Sync>;
/// Makes a uid that was not there before.
pub(crate) type Uids = Arc<dyn Fn() -> String + Send + Sync>;

/// Everything a host is built from, the reference unless something is replaced.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub(crate) rules: Rules,
    pub(crate) seams: Seams,
    pub(crate) wire: Wire,
    pub(crate) clock: Clock,
    pub(crate) uids: Uids,
    /// What replaced parts draw from.
    pub(crate) dice: Arc<Dice>,
}

impl Blueprint {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            rules: Rules::default(),
            seams: Seams::default(),
            wire: Wire::default(),
            clock: Arc::new(jiff::Timestamp::now),
            uids: Arc::new(new_uid),
            dice: Arc::new(Dice::new(seed)),
        }
    }

    fn build(self) -> axum::Router {
        let host = grpc::Host::new(Machine::new(self.rules, self.seams), self.clock, self.uids);
        wire::dress(host.router(), self.wire)
    }
}

/// `sess-` and 24 hexadecimal digits, as the published host writes it.
fn new_uid() -> String {
    let digits = uuid::Uuid::new_v4().simple().to_string();
    format!("sess-{}", &digits[..24])
}

/// The blueprint with the named changes, weather first, and their counters.
fn blueprint(behaviour: &Behaviour) -> Result<(Blueprint, Ledger), StartError> {
    let mut blueprint = Blueprint::new(behaviour.seed);
    let (weathers, defects): (Vec<_>, Vec<_>) = (weather::all().collect(), defects::all().collect());
    let ledger = install(&mut blueprint, CONTRACT, behaviour, &weathers, &defects)?;
    Ok((blueprint, ledger))
}

/// Serves the contract on `listener`: gRPC over HTTP/2 without TLS.
///
/// # Errors
/// Unknown names in `behaviour`, or a listener without an address.
pub(crate) fn start(listener: TcpListener, behaviour: &Behaviour) -> Result<Running, StartError> {
    let (blueprint, ledger) = blueprint(behaviour)?;
    let address = listener.local_addr().map_err(StartError::Listener)?;
    let (stop, _) = watch::channel(false);
    let stride = Arc::clone(&blueprint.wire.stride);
    let connections = Connections::serve(listener, blueprint.build(), stride, stop);
    Ok(Running {
        url: format!("grpc://{address}"),
        ledger,
        connections,
        shut_down: Box::pin(std::future::ready(())),
        failed: Box::pin(std::future::pending()),
    })
}

#[cfg(test)]
mod tests;
