//! A connection of one's own to a target, plain or over TLS, for the drivers that write their bytes themselves.

use super::tls::Trust;
use crate::transcript::NoReply;
use rustls::pki_types::ServerName;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

/// Bytes both ways.
pub trait Wire: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Wire for T {}

/// Where to connect to, and how.
#[derive(Clone, Debug)]
pub struct Dial {
    /// `host:port`; an IPv6 host in brackets.
    pub address: String,
    /// TLS that believes so much and asks for this protocol by ALPN.
    pub tls: Option<(Trust, &'static [u8])>,
}

impl Dial {
    pub fn plain(address: impl Into<String>) -> Self {
        Self { address: address.into(), tls: None }
    }

    /// Connects until `deadline`; `bound` is what that stands for in messages.
    pub async fn connect(&self, deadline: Instant, bound: Duration) -> Result<Box<dyn Wire>, NoReply> {
        let late = || NoReply::Unreachable(format!("no connection within {bound:?}"));
        timeout_at(deadline, self.open()).await.unwrap_or_else(|_| Err(late()))
    }

    async fn open(&self) -> Result<Box<dyn Wire>, NoReply> {
        let unreachable = |why: String| NoReply::Unreachable(why);
        let stream = TcpStream::connect(&self.address).await.map_err(|error| unreachable(error.to_string()))?;
        let Some((trust, protocol)) = &self.tls else { return Ok(Box::new(stream)) };
        let config = trust.client_config(&[protocol]).map_err(|error| unreachable(error.to_string()))?;
        let name = ServerName::try_from(self.host().to_owned()).map_err(|error| unreachable(error.to_string()))?;
        let connector = TlsConnector::from(Arc::new(config));
        let stream = connector.connect(name, stream).await.map_err(|error| unreachable(format!("TLS: {error}")))?;
        Ok(Box::new(stream))
    }

    /// The host without port and brackets.
    fn host(&self) -> &str {
        let host = self.address.rsplit_once(':').map_or(&*self.address, |(host, _)| host);
        host.trim_start_matches('[').trim_end_matches(']')
    }
}

/// Whether a host name or address (IPv6 in brackets or without) is this machine: `localhost`, `127.0.0.0/8`, `::1`.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    let name = host.to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || host.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_of_this_machine() {
        for host in ["localhost", "LocalHost.", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]", "::1", "[::ffff:127.0.0.1]"] {
            assert!(is_loopback(host), "{host}");
        }
        for host in ["localhost.example", "128.0.0.1", "[::2]", "example.com", "notlocalhost"] {
            assert!(!is_loopback(host), "{host}");
        }
    }

    #[test]
    fn hosts_of_addresses() {
        assert_eq!(Dial::plain("a.example:443").host(), "a.example");
        assert_eq!(Dial::plain("[::1]:443").host(), "::1");
    }
}
