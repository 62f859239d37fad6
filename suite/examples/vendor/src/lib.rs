//! A runtime, as its vendor might write it. Only `start` matters here: a server in this process, on a free port.

use proofmark_mock_server::{Behaviour, Running, StartError};
use std::io;
use tokio::net::TcpListener;
use tokio::runtime::Runtime;

/// A server that serves until it is dropped.
pub struct Server {
    running: Running,
    _runtime: Runtime,
}

#[derive(Debug)]
pub enum Error {
    /// No free port, or no thread.
    System(io::Error),
    Start(StartError),
}

impl Server {
    /// Starts on a free port of the loopback interface, with a defect if one is named.
    pub fn start(defect: Option<&str>) -> Result<Self, Error> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().map_err(Error::System)?;
        let behaviour = Behaviour { defects: defect.map(str::to_owned).into_iter().collect(), ..Behaviour::default() };
        let running = runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.map_err(Error::System)?;
            proofmark_mock_server::start("harness-runtime", listener, &behaviour).await.map_err(Error::Start)
        })?;
        Ok(Self { running, _runtime: runtime })
    }

    pub fn url(&self) -> String {
        self.running.url()
    }
}
