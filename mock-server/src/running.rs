//! Starting a reference server on a listener, and stopping it.

use crate::agentsessions;
use crate::applied::Ledger;
use crate::connections::Connections;
use crate::harness_runtime;
use crate::model_runtime;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use tokio::net::TcpListener;

/// How a reference server differs from the plainest correct one; by default not at all.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// The name of a defect of the contract.
    pub defect: Option<String>,
    /// Names of weathers of the contract, applied in this order.
    pub weather: Vec<String>,
    /// Fixes what defect and weather draw at random.
    pub seed: u64,
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("unknown contract {0:?}")]
    UnknownContract(String),
    #[error("{contract} has no defect named {name:?}")]
    UnknownDefect { contract: String, name: String },
    #[error("{contract} has no weather named {name:?}")]
    UnknownWeather { contract: String, name: String },
    #[error("the listener has no address")]
    Listener(#[source] std::io::Error),
}

/// A server that accepts connections.
pub struct Running {
    pub(crate) url: String,
    pub(crate) ledger: Ledger,
    pub(crate) connections: Connections,
    /// Ends what runs apart from connections.
    pub(crate) shut_down: BoxFuture<'static, ()>,
}

impl Running {
    /// `http://ADDRESS` (`grpc://` for gRPC), with the base path if the API is mounted under one; without a slash at the end.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// How often the defect and each weather changed something so far, by name.
    pub fn applications(&self) -> BTreeMap<String, u64> {
        self.ledger.totals()
    }

    /// Stops in bounded time: open streams end, connections that stay are cut, providers are dropped.
    pub async fn stop(self) {
        self.connections.stop().await;
        self.shut_down.await;
    }
}

/// Serves a contract on `listener`, on spawned tasks.
///
/// # Errors
/// Names that the catalogue does not have.
pub async fn start(contract: &str, listener: TcpListener, behaviour: &Behaviour) -> Result<Running, StartError> {
    match contract {
        harness_runtime::CONTRACT => harness_runtime::start(listener, behaviour),
        model_runtime::CONTRACT => model_runtime::start(listener, behaviour),
        agentsessions::CONTRACT => agentsessions::start(listener, behaviour),
        other => Err(StartError::UnknownContract(other.to_owned())),
    }
}
