//! The reference server as a target. The only module of the suite that knows `proofmark_mock_server`: the judge never borrows from
//! the oracle (a test enforces it).

use crate::check::Target;
use crate::target::{Address, AddressError};
use proofmark_mock_server::Running;
use std::collections::{BTreeMap, BTreeSet};
use tokio::net::TcpListener;

pub use proofmark_mock_server::{Behaviour, Defect, DefectKind, StartError, Weather, defects, weathers};

/// The contracts that there is a reference server for.
pub fn contracts() -> BTreeSet<&'static str> {
    defects().iter().map(|defect| defect.contract).chain(weathers().iter().map(|weather| weather.contract)).collect()
}

/// A reference server in this process.
pub struct Server {
    contract: String,
    running: Running,
}

impl Server {
    /// Starts the server of `contract` on a free port of the loopback interface.
    pub async fn start(contract: &str, defects: &[&str], weather: &[&str], seed: u64) -> Result<Self, String> {
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| format!("no free port on 127.0.0.1: {error}"))?;
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let behaviour = Behaviour { defects: owned(defects), weather: owned(weather), seed, ..Behaviour::default() };
        Self::listen(contract, listener, &behaviour).await.map_err(|error| error.to_string())
    }

    pub async fn listen(contract: &str, listener: TcpListener, behaviour: &Behaviour) -> Result<Self, StartError> {
        let running = proofmark_mock_server::start(contract, listener, behaviour).await?;
        Ok(Self { contract: contract.to_owned(), running })
    }

    pub fn url(&self) -> String {
        self.running.url()
    }

    /// How often each defect and each weather was applied.
    pub fn applications(&self) -> BTreeMap<String, u64> {
        self.running.applications()
    }

    pub fn target(&self) -> Result<Target, AddressError> {
        let address = Address::parse(&self.url())?;
        Ok(Target { address, name: "reference server".to_owned(), contract: Some(self.contract.clone()), profile: None })
    }

    /// Waits until its store can no longer be written, and says why.
    pub async fn failed(&mut self) -> String {
        self.running.failed().await
    }

    pub async fn stop(self) {
        self.running.stop().await;
    }
}
