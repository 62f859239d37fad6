//! Targets that are no implementation at all. The kit must end on each of them in bounded time and credit it with nothing.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Null {
    DeadPort,
    SilentTcp,
    EmptyObject,
    NotFound,
    ServerError,
    Echo,
    HtmlPage,
    EndlessStream,
    EndlessBody,
    Garbage,
    Alternating,
}

impl Null {
    pub const ALL: &[Null] = &[
        Null::DeadPort,
        Null::SilentTcp,
        Null::EmptyObject,
        Null::NotFound,
        Null::ServerError,
        Null::Echo,
        Null::HtmlPage,
        Null::EndlessStream,
        Null::EndlessBody,
        Null::Garbage,
        Null::Alternating,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Null::DeadPort => "dead-port",
            Null::SilentTcp => "silent-tcp",
            Null::EmptyObject => "empty-object",
            Null::NotFound => "not-found",
            Null::ServerError => "server-error",
            Null::Echo => "echo",
            Null::HtmlPage => "html-page",
            Null::EndlessStream => "endless-stream",
            Null::EndlessBody => "endless-body",
            Null::Garbage => "garbage",
            Null::Alternating => "alternating",
        }
    }

    pub fn about(self) -> &'static str {
        match self {
            Null::DeadPort => "nobody listens",
            Null::SilentTcp => "accepts connections and never says a word",
            Null::EmptyObject => "answers 200 and {} to everything",
            Null::NotFound => "answers 404 to everything",
            Null::ServerError => "answers 500 to everything",
            Null::Echo => "answers 200 with the body of the request",
            Null::HtmlPage => "answers 200 with an HTML page",
            Null::EndlessStream => "answers everything with an event stream that never ends",
            Null::EndlessBody => "answers everything with a JSON body that never ends",
            Null::Garbage => "answers everything with bytes that are not HTTP",
            Null::Alternating => "forwards every second request to a correct server and answers the others with 200 and {}",
        }
    }
}

/// A null target that accepts connections until it is dropped.
pub struct NullTarget {
    pub address: SocketAddr,
    task: Option<JoinHandle<()>>,
}

impl Drop for NullTarget {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

/// Starts `null`; `good` is the address of a correct server, for the one that alternates.
pub async fn start(null: Null, good: Option<SocketAddr>) -> std::io::Result<NullTarget> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    if null == Null::DeadPort {
        return Ok(NullTarget { address, task: None });
    }
    let count = Arc::new(AtomicU64::new(0));
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let number = count.fetch_add(1, Ordering::Relaxed);
            // A client that goes away is no concern of a null target.
            tokio::spawn(async move { drop(answer(null, stream, good, number).await) });
        }
    });
    Ok(NullTarget { address, task: Some(task) })
}

async fn answer(null: Null, mut stream: TcpStream, good: Option<SocketAddr>, number: u64) -> std::io::Result<()> {
    match null {
        Null::DeadPort => Ok(()),
        Null::SilentTcp => std::future::pending().await,
        Null::Alternating if number.is_multiple_of(2) => match good {
            Some(good) => {
                let mut server = TcpStream::connect(good).await?;
                copy_bidirectional(&mut stream, &mut server).await.map(drop)
            }
            None => Ok(()),
        },
        _ => {
            let body = request_body(&mut stream).await?;
            respond(null, &mut stream, &body).await
        }
    }
}

async fn respond(null: Null, stream: &mut TcpStream, body: &[u8]) -> std::io::Result<()> {
    match null {
        Null::EmptyObject | Null::Alternating => whole(stream, "200 OK", "application/json", b"{}").await,
        Null::NotFound => whole(stream, "404 Not Found", "text/plain", b"404 Not Found").await,
        Null::ServerError => whole(stream, "500 Internal Server Error", "text/plain", b"oops").await,
        Null::Echo => whole(stream, "200 OK", "application/json", if body.is_empty() { b"{}" } else { body }).await,
        Null::HtmlPage => whole(stream, "200 OK", "text/html", b"<!doctype html><title>Welcome</title><h1>It works</h1>").await,
        Null::EndlessStream => endless(stream, "text/event-stream", b"event: ping\ndata: {}\n\n").await,
        Null::EndlessBody => endless(stream, "application/json", b"[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],").await,
        Null::Garbage => stream.write_all(b"\x00\xff\xfe no protocol of yours\r\n\r\n").await,
        Null::DeadPort | Null::SilentTcp => Ok(()),
    }
}

async fn whole(stream: &mut TcpStream, status: &str, kind: &str, body: &[u8]) -> std::io::Result<()> {
    let head = format!("HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(body).await?;
    stream.shutdown().await
}

async fn endless(stream: &mut TcpStream, kind: &str, piece: &[u8]) -> std::io::Result<()> {
    stream.write_all(format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nconnection: close\r\n\r\n").as_bytes()).await?;
    loop {
        stream.write_all(piece).await?;
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Reads a request to its end by its content-length; good enough for what the kit sends.
async fn request_body(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok()).unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                return Ok(bytes[end + 4..].to_vec());
            }
        }
        match stream.read(&mut buffer).await? {
            0 => return Ok(Vec::new()),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}
