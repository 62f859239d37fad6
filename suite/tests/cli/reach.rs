//! How a target is reached: TLS and whom it believes, HTTP/2 both ways, IPv6, proxies. Each over a real listener; the certificates are
//! made here, and behind every listener stands the reference server.

use crate::kit::{Done, Folder, Served, proofmark, proofmark_in};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use tokio_rustls::rustls::{ServerConfig, crypto::ring};

/// What is asked of each listener: discovery, a few requests, a stream, and bytes as written.
const SOME: [&str; 3] = ["harness-runtime/describe", "harness-runtime/streaming/backlog", "harness-runtime/malformed"];

/// A listener before the reference server, on threads of its own.
struct Front {
    address: SocketAddr,
    /// What each connection was: the protocol by ALPN, or the first words.
    seen: Arc<Mutex<Vec<String>>>,
    _server: Served,
    _runtime: Runtime,
}

impl Front {
    fn start(listen: &str, tls: Option<TlsAcceptor>, only: Option<&'static [u8]>) -> Self {
        let server = Served::start(&["--listen", "harness-runtime=127.0.0.1:0"]);
        let upstream = server.url().trim_start_matches("http://").to_owned();
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind(listen)).unwrap();
        let (address, seen) = (listener.local_addr().unwrap(), Arc::new(Mutex::new(Vec::new())));
        let note = seen.clone();
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(pass(stream, upstream.clone(), tls.clone(), only, note.clone()));
            }
        });
        Self { address, seen, _server: server, _runtime: runtime }
    }

    fn seen(&self) -> Vec<String> {
        self.seen.lock().unwrap().clone()
    }

    fn url(&self, scheme: &str, host: &str) -> String {
        format!("{scheme}://{host}:{}", self.address.port())
    }
}

/// Passes one connection on; with `only` none that begins otherwise.
async fn pass(
    mut stream: TcpStream,
    upstream: String,
    tls: Option<TlsAcceptor>,
    only: Option<&'static [u8]>,
    seen: Arc<Mutex<Vec<String>>>,
) {
    let Ok(mut server) = TcpStream::connect(upstream).await else { return };
    if let Some(tls) = tls {
        let Ok(mut stream) = tls.accept(stream).await else { return };
        let protocol = stream.get_ref().1.alpn_protocol().map(|name| String::from_utf8_lossy(name).into_owned());
        seen.lock().unwrap().push(protocol.unwrap_or_default());
        let _ = copy_bidirectional(&mut stream, &mut server).await;
        return;
    }
    let mut head = vec![0; only.map_or(0, <[u8]>::len)];
    if stream.read_exact(&mut head).await.is_err() || only.is_some_and(|only| head != only) {
        return;
    }
    seen.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
    if server.write_all(&head).await.is_ok() {
        let _ = copy_bidirectional(&mut stream, &mut server).await;
    }
}

/// A certificate for `name` from a root of its own; the root as PEM, and a server that shows the certificate.
fn certificates(name: &str, protocols: &[&str]) -> (String, TlsAcceptor) {
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&key, &root).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![leaf.der().clone()], key)
        .unwrap();
    config.alpn_protocols = protocols.iter().map(|name| name.as_bytes().to_vec()).collect();
    (root.pem(), TlsAcceptor::from(Arc::new(config)))
}

fn some(url: &str, more: &[&str]) -> Done {
    proofmark(&[&["--target", url, "--wait-ready", "1s", "--timeout", "5s"], more, &SOME[..]].concat())
}

#[track_caller]
fn all_passed(done: &Done) {
    done.exits(0);
    assert!(done.out.contains("passed") && !done.out.contains("blocked"), "{}", done.all());
}

#[test]
fn a_root_that_is_named_is_believed_and_http2_is_chosen_by_alpn() {
    let (root, tls) = certificates("localhost", &["h2", "http/1.1"]);
    let (front, folder) = (Front::start("127.0.0.1:0", Some(tls), None), Folder::new());
    let file = folder.write("root.pem", &root);
    all_passed(&some(&front.url("https", "localhost"), &["--ca-cert", &file]));
    let seen = front.seen();
    assert!(seen.iter().any(|protocol| protocol == "h2"), "requests: {seen:?}");
    assert!(seen.iter().any(|protocol| protocol == "http/1.1"), "bytes as written: {seen:?}");
}

#[test]
fn a_server_without_http2_gets_http1() {
    let (root, tls) = certificates("localhost", &["http/1.1"]);
    let (front, folder) = (Front::start("127.0.0.1:0", Some(tls), None), Folder::new());
    all_passed(&some(&front.url("https", "localhost"), &["--ca-cert", &folder.write("root.pem", &root)]));
    assert!(front.seen().iter().all(|protocol| protocol == "http/1.1"));
}

#[test]
fn an_unknown_root_is_believed_only_when_told_to() {
    let (_, tls) = certificates("localhost", &["h2", "http/1.1"]);
    let front = Front::start("127.0.0.1:0", Some(tls), None);
    let url = front.url("https", "localhost");
    let done = some(&url, &[]);
    assert!(done.exits(3).all().contains("UnknownIssuer"), "{}", done.all());
    all_passed(&some(&url, &["--insecure"]));
}

#[test]
fn a_certificate_of_another_host_is_not_believed() {
    let (root, tls) = certificates("elsewhere.example", &["h2"]);
    let (front, folder) = (Front::start("127.0.0.1:0", Some(tls), None), Folder::new());
    let file = folder.write("root.pem", &root);
    let done = some(&front.url("https", "localhost"), &["--ca-cert", &file]);
    assert!(done.exits(3).all().contains("elsewhere.example"), "{}", done.all());
}

#[test]
fn a_file_without_a_root_is_a_usage_error() {
    let folder = Folder::new();
    for (text, problem) in
        [("nothing", "it holds no certificate"), ("-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n", "not PEM")]
    {
        let file = folder.write("root.pem", text);
        let done = some("https://localhost:1", &["--ca-cert", &file]);
        assert!(done.exits(2).err.contains(problem) && done.err.contains(&file), "{}", done.all());
    }
    let missing = folder.path("missing.pem");
    assert!(some("https://localhost:1", &["--ca-cert", &missing]).exits(2).err.contains(&missing));
}

#[test]
fn a_server_that_speaks_http2_at_once_is_spoken_to_that_way() {
    let front = Front::start("127.0.0.1:0", None, Some(b"PRI * HTTP/2.0"));
    let url = front.url("http", "127.0.0.1");
    some(&url, &[]).exits(3);
    let done = proofmark(&["--target", &url, "--http2-prior-knowledge", "--timeout", "5s", SOME[0], SOME[1]]);
    all_passed(&done);
    assert!(!front.seen().is_empty());
}

#[test]
fn an_ipv6_target_is_reached() {
    let front = Front::start("[::1]:0", None, None);
    all_passed(&some(&front.url("http", "[::1]"), &[]));
    assert!(!front.seen().is_empty());
}

#[test]
fn a_proxy_of_the_environment_is_used_but_not_for_this_machine() {
    let front = Front::start("127.0.0.1:0", None, None);
    let proxy = front.url("http", "127.0.0.1");
    let environment = [("HTTP_PROXY", &*proxy), ("http_proxy", &*proxy)];
    // The name exists nowhere: what answers is the proxy.
    let far = ["--target", "http://runtime.invalid", "--wait-ready", "1s", SOME[0]];
    all_passed(&proofmark_in(&environment, &far));
    let through_it = front.seen().len();
    assert!(through_it > 0);
    let server = Served::start(&["--listen", "harness-runtime=127.0.0.1:0"]);
    let near = ["--target", server.url(), SOME[0]];
    all_passed(&proofmark_in(&environment, &near));
    assert_eq!(front.seen().len(), through_it, "a target on this machine is reached directly");
}
