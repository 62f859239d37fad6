//! Starting a reference server on a listener, and stopping it.

use crate::agentsessions;
use crate::applied::Ledger;
use crate::connections::Connections;
use crate::durable::StoreError;
use crate::harness_runtime;
use crate::model_runtime;
use futures_util::future::BoxFuture;
use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::PathBuf;
use tokio::net::TcpListener;

/// How a reference server differs from the plainest correct one; by default not at all.
#[derive(Clone, Debug, Default)]
pub struct Behaviour {
    /// Names of defects of the contract, put in in this order. Two that replace the same part may hide each other.
    pub defects: Vec<String>,
    /// Names of weathers of the contract, applied in this order.
    pub weather: Vec<String>,
    /// Fixes what defect and weather draw at random.
    pub seed: u64,
    /// The folder in which what was promised survives the process; in memory without. Made when it is not there, and one server's alone.
    pub store: Option<PathBuf>,
    /// How many ended executions are kept, the newest ones; the others are forgotten with all that belongs to them, keys included, as soon as
    /// nobody reads them. All without.
    pub retain: Option<NonZero<usize>>,
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
    /// A contract whose server keeps nothing.
    #[error("the server of {0} has no store")]
    NoStore(String),
    /// A contract whose server keeps all it ever knew.
    #[error("the server of {0} forgets nothing")]
    NoRetention(String),
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// A server that accepts connections.
pub struct Running {
    pub(crate) url: String,
    pub(crate) ledger: Ledger,
    pub(crate) connections: Connections,
    /// Ends what runs apart from connections.
    pub(crate) shut_down: BoxFuture<'static, ()>,
    /// Resolves when the store cannot be written any more.
    pub(crate) failed: BoxFuture<'static, String>,
}

impl Running {
    /// `http://ADDRESS` (`grpc://` for gRPC), with the base path if the API is mounted under one; without a slash at the end.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// How often each defect and each weather changed something so far, by name.
    pub fn applications(&self) -> BTreeMap<String, u64> {
        self.ledger.totals()
    }

    /// Waits until the store can no longer be written, and says why; for ever if that does not happen. Nothing that is not durable is
    /// ever answered, so a server with a failed store is silent, and the only thing left is to stop it.
    pub async fn failed(&mut self) -> String {
        (&mut self.failed).await
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
/// Names that the catalogue does not have; a store that cannot be used.
pub async fn start(contract: &str, listener: TcpListener, behaviour: &Behaviour) -> Result<Running, StartError> {
    match contract {
        harness_runtime::CONTRACT => harness_runtime::start(listener, behaviour).await,
        agentsessions::CONTRACT if behaviour.store.is_some() => Err(StartError::NoStore(contract.to_owned())),
        agentsessions::CONTRACT | model_runtime::CONTRACT if behaviour.retain.is_some() => {
            Err(StartError::NoRetention(contract.to_owned()))
        }
        model_runtime::CONTRACT => model_runtime::start(listener, behaviour).await,
        agentsessions::CONTRACT => agentsessions::start(listener, behaviour),
        other => Err(StartError::UnknownContract(other.to_owned())),
    }
}
