//! What a TLS connection to a target trusts, and what it offers to speak.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::sync::Arc;

/// What the other side of an HTTP or gRPC connection may be asked to speak.
pub const HTTP1: &[u8] = b"http/1.1";
pub const HTTP2: &[u8] = b"h2";

/// Whose certificates are believed.
#[derive(Clone, Debug, Default)]
pub enum Trust {
    /// The roots that browsers believe.
    #[default]
    WebPki,
    /// Those, and the ones a user names.
    Also(Vec<CertificateDer<'static>>),
    /// Anyone's, expired ones and those of another host included.
    Anyone,
}

/// Certificates that a user names and that cannot be believed.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    #[error("it holds no certificate")]
    Empty,
    #[error("it is not PEM: {0}")]
    Pem(String),
    #[error("certificate {0} in it cannot be a root: {1}")]
    Root(usize, String),
}

impl Trust {
    /// Reads roots from PEM text; each is checked here, so that a wrong file is found before anything is sent.
    pub fn from_pem(pem: &[u8]) -> Result<Self, TrustError> {
        let mut roots = Vec::new();
        for (i, certificate) in CertificateDer::pem_slice_iter(pem).enumerate() {
            let certificate = certificate.map_err(|error| TrustError::Pem(error.to_string()))?;
            RootCertStore::empty().add(certificate.clone()).map_err(|error| TrustError::Root(i + 1, error.to_string()))?;
            roots.push(certificate);
        }
        if roots.is_empty() { Err(TrustError::Empty) } else { Ok(Self::Also(roots)) }
    }

    /// A configuration that offers `protocols`, the preferred one first.
    pub fn client_config(&self, protocols: &[&[u8]]) -> Result<ClientConfig, Error> {
        let provider = Arc::new(ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider.clone()).with_safe_default_protocol_versions()?;
        let mut config = if let Self::Anyone = self {
            builder.dangerous().with_custom_certificate_verifier(Arc::new(Believer(provider))).with_no_client_auth()
        } else {
            builder.with_root_certificates(self.roots()?).with_no_client_auth()
        };
        config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
        Ok(config)
    }

    fn roots(&self) -> Result<RootCertStore, Error> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        if let Self::Also(more) = self {
            for certificate in more {
                roots.add(certificate.clone())?;
            }
        }
        Ok(roots)
    }
}

/// Takes any certificate, as `--insecure` asks; the handshake itself must still be sound.
#[derive(Debug)]
struct Believer(Arc<CryptoProvider>);

impl ServerCertVerifier for Believer {
    fn verify_server_cert(
        &self,
        _end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.0.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_holds_no_root_is_refused_with_the_reason() {
        assert!(matches!(Trust::from_pem(b""), Err(TrustError::Empty)));
        assert!(matches!(Trust::from_pem(b"no certificate here\n"), Err(TrustError::Empty)));
        let torn = b"-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n";
        assert!(matches!(Trust::from_pem(torn), Err(TrustError::Pem(_))));
        let other = b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
        assert!(matches!(Trust::from_pem(other), Err(TrustError::Root(1, _))));
    }
}
