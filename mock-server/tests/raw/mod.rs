//! A small client over raw TCP: it sees status, headers and the bytes of the body as they are.

use proofmark_mock_server::{Behaviour, Running, start};
use serde_json::Value;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// No wait in these tests needs longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server with ways to ask it.
pub(crate) struct Server {
    pub(crate) running: Running,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    /// The body came to its end.
    pub(crate) complete: bool,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(header, _)| header == name).map(|(_, value)| value.as_str())
    }

    /// The envelopes of a stream whose lines end in LF.
    pub(crate) fn events(&self) -> Vec<Value> {
        let text = self.text();
        text.lines().filter_map(|line| line.strip_prefix("data: ")).map(|data| serde_json::from_str(data).expect("JSON data")).collect()
    }
}

impl Server {
    pub(crate) async fn of(contract: &str, behaviour: &Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Self { running: start(contract, listener, behaviour).await.expect("a server") }
    }

    /// Opens a connection and sends a request that asks to close it afterwards.
    pub(crate) async fn open(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Exchange {
        let url = self.running.url();
        let rest = url.strip_prefix("http://").expect("http");
        let (host, base) = rest.split_once('/').map_or((rest, String::new()), |(host, base)| (host, format!("/{base}")));
        let mut lines = vec![format!("{method} {base}{path} HTTP/1.1"), format!("host: {host}"), "connection: close".to_owned()];
        lines.extend(headers.iter().map(|(name, value)| format!("{name}: {value}")));
        lines.extend(body.map(|body| format!("content-length: {}", body.len())));
        let request = format!("{}\r\n\r\n{}", lines.join("\r\n"), body.unwrap_or_default());
        let mut stream = TcpStream::connect(host).await.expect("a connection");
        stream.write_all(request.as_bytes()).await.expect("sent");
        Exchange { stream, raw: Vec::new(), ended: false }
    }

    pub(crate) async fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&str>) -> Answer {
        self.open(method, path, headers, body).await.finish().await
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], None).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Answer {
        self.send("POST", path, &[("content-type", "application/json")], Some(&body.to_string())).await
    }
}

/// A request that was sent, while its answer comes in.
pub(crate) struct Exchange {
    stream: TcpStream,
    raw: Vec<u8>,
    ended: bool,
}

impl Exchange {
    /// Reads to the end.
    pub(crate) async fn finish(mut self) -> Answer {
        while self.more().await {}
        parse(&self.raw).expect("an answer")
    }

    /// Reads until the body holds `text`, with the frame around it.
    pub(crate) async fn read_until(&mut self, text: &str) -> Answer {
        loop {
            if let Some(answer) = parse(&self.raw) {
                let body = answer.text();
                if body.split_once(text).is_some_and(|(_, rest)| rest.contains("\n\n")) {
                    return answer;
                }
            }
            assert!(self.more().await, "ended without {text}: {}", String::from_utf8_lossy(&self.raw));
        }
    }

    async fn more(&mut self) -> bool {
        if !self.ended {
            let read = tokio::time::timeout(PATIENCE, self.stream.read_buf(&mut self.raw)).await.expect("an answer in time");
            self.ended = !matches!(read, Ok(1..));
        }
        !self.ended
    }
}

fn parse(raw: &[u8]) -> Option<Answer> {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&raw[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
    let headers: Vec<(String, String)> =
        lines.filter_map(|line| line.split_once(": ")).map(|(name, value)| (name.to_lowercase(), value.to_owned())).collect();
    let body = &raw[end + 4..];
    let chunked = headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
    let (body, complete) = if chunked { unchunk(body) } else { (body.to_vec(), true) };
    Some(Answer { status, headers, body, complete })
}

fn unchunk(mut raw: &[u8]) -> (Vec<u8>, bool) {
    let mut body = Vec::new();
    while let Some(end) = raw.windows(2).position(|window| window == b"\r\n") {
        let size = std::str::from_utf8(&raw[..end]).ok().and_then(|size| usize::from_str_radix(size, 16).ok()).expect("a chunk size");
        if size == 0 {
            return (body, true);
        }
        let Some(chunk) = raw.get(end + 2..end + 2 + size) else { break };
        body.extend_from_slice(chunk);
        raw = raw.get(end + 4 + size..).unwrap_or_default();
    }
    (body, false)
}

/// Adds the members of `more`; a `null` removes.
pub(crate) fn merge(body: &mut Value, more: Value) {
    let Value::Object(more) = more else { panic!("not an object") };
    for (name, value) in more {
        if value.is_null() {
            body.as_object_mut().expect("an object").remove(&name);
        } else {
            body[name] = value;
        }
    }
}

/// The types of events, in order.
pub(crate) fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap_or_default()).collect()
}
