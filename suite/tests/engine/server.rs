//! A recording HTTP server: every request is remembered, and answered by a function of the test.

use serde_json::Value;
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// A request that arrived whole.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// With the query.
    pub(crate) path: String,
    pub(crate) body: Value,
}

impl Seen {
    pub(crate) fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path == path
    }

    /// `/runs/3/events` as 3.
    pub(crate) fn run(&self) -> Option<usize> {
        self.path.strip_prefix("/runs/")?.split(['/', '?']).next()?.parse().ok()
    }
}

pub(crate) enum Answer {
    Json(u16, Value),
    /// These bytes, and the end of the connection.
    Bytes(Vec<u8>),
    /// These bytes, then the piece over and over, for ever.
    Endless(String, String),
    /// These bytes, and then nothing: the connection stays open.
    Open(String),
    /// The end of the connection, and nothing before it.
    Close,
    Silence,
}

/// The head of an event stream.
pub(crate) const STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

pub(crate) fn json(status: u16, body: &Value) -> Answer {
    Answer::Json(status, body.clone())
}

pub(crate) fn stream(events: &[Value]) -> Answer {
    Answer::Bytes(format!("{STREAM}{}", frames(events)).into_bytes())
}

pub(crate) fn frames(events: &[Value]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        write!(text, "data: {event}\n\n").unwrap();
        text
    })
}

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;
type Handler = dyn Fn(Seen) -> Answering + Send + Sync;

/// Runs until it is dropped.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    open: Arc<Gauge>,
    task: JoinHandle<()>,
}

/// How many there are, and how many there were at the most.
#[derive(Default)]
pub(crate) struct Gauge {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Gauge {
    pub(crate) fn up(&self) -> usize {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        now
    }

    pub(crate) fn down(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }

    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }
}

impl Server {
    pub(crate) async fn start<F>(handler: impl Fn(Seen) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Answer> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (seen, open): (Arc<Mutex<Vec<Seen>>>, Arc<Gauge>) = Default::default();
        let handler: Arc<Handler> = Arc::new(move |seen| Box::pin(handler(seen)));
        let (log, gauge) = (seen.clone(), open.clone());
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (log, gauge, handler) = (log.clone(), gauge.clone(), handler.clone());
                tokio::spawn(async move {
                    // A kit that hangs up is no concern of the server.
                    drop(serve(stream, &log, &gauge, &*handler).await);
                });
            }
        });
        Self { url, seen, open, task }
    }

    /// Every request so far, in the order of arrival.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().unwrap().clone()
    }

    pub(crate) fn count(&self, method: &str, path: &str) -> usize {
        self.seen().iter().filter(|seen| seen.is(method, path)).count()
    }

    /// How many requests were without an answer at the same time, at the most.
    pub(crate) fn most_at_once(&self) -> usize {
        self.open.most()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, log: &Mutex<Vec<Seen>>, gauge: &Gauge, handler: &Handler) -> std::io::Result<()> {
    let Some(request) = read(&mut stream).await? else { return Ok(()) };
    log.lock().unwrap().push(request.clone());
    gauge.up();
    let answer = handler(request).await;
    gauge.down();
    match answer {
        Answer::Json(status, body) => {
            let body = body.to_string();
            let head = format!(
                "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
                body.len()
            );
            stream.write_all(format!("{head}{body}").as_bytes()).await?;
        }
        Answer::Bytes(bytes) => stream.write_all(&bytes).await?,
        Answer::Endless(start, piece) => {
            stream.write_all(start.as_bytes()).await?;
            loop {
                stream.write_all(piece.as_bytes()).await?;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        }
        Answer::Open(bytes) => {
            stream.write_all(bytes.as_bytes()).await?;
            std::future::pending::<()>().await;
        }
        Answer::Close => {}
        Answer::Silence => std::future::pending().await,
    }
    stream.shutdown().await
}

/// One request with all of its body; nothing when the client hung up before.
async fn read(stream: &mut TcpStream) -> std::io::Result<Option<Seen>> {
    let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
            let field = |name: &str| {
                let found = head.lines().skip(1).filter_map(|line| line.split_once(": ")).find(|(key, _)| key.eq_ignore_ascii_case(name));
                found.map(|(_, value)| value.to_owned()).unwrap_or_default()
            };
            let length: usize = field("content-length").parse().unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                let mut words = head.split(' ').map(str::to_owned);
                let body = serde_json::from_slice(&bytes[end + 4..]).unwrap_or(Value::Null);
                let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
                return Ok(Some(Seen { method, path, body }));
            }
        }
        match stream.read(&mut buffer).await? {
            0 => return Ok(None),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}
