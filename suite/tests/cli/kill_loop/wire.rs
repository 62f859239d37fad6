//! Requests to a server that may die under them: whatever does not come back whole was not answered.

use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Nothing here takes near as long; whatever does hangs.
const HANGS: Duration = Duration::from_mins(1);

fn send(url: &str, method: &str, path: &str, headers: &str, body: &str) -> Option<TcpStream> {
    let host = url.trim_start_matches("http://");
    let mut stream = TcpStream::connect(host).ok()?;
    stream.set_read_timeout(Some(HANGS)).ok()?;
    let head = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n{headers}content-length: {}\r\n", body.len());
    stream.write_all(format!("{head}\r\n{body}").as_bytes()).ok()?;
    Some(stream)
}

/// Status and JSON body of a whole answer.
pub(crate) fn ask(url: &str, method: &str, path: &str, body: &str) -> Option<(u16, Value)> {
    ask_with(url, method, path, "", body)
}

/// With the header that names a request.
pub(crate) fn ask_under_key(url: &str, path: &str, key: &str, body: &str) -> Option<(u16, Value)> {
    ask_with(url, "POST", path, &format!("idempotency-key: {key}\r\n"), body)
}

fn ask_with(url: &str, method: &str, path: &str, headers: &str, body: &str) -> Option<(u16, Value)> {
    let mut text = String::new();
    let headers = format!("accept: application/json\r\ncontent-type: application/json\r\n{headers}");
    send(url, method, path, &headers, body)?.read_to_string(&mut text).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
    if body.len() < length {
        return None;
    }
    Some((head.split(' ').nth(1)?.parse().ok()?, serde_json::from_str(body).ok()?))
}

/// The body of an answer that has to come.
#[track_caller]
pub(crate) fn get(url: &str, path: &str) -> Value {
    let (status, body) = ask(url, "GET", path, "").unwrap_or_else(|| panic!("GET {path} was not answered"));
    assert_eq!(status, 200, "GET {path}: {body}");
    body
}

/// Hands on each event of a stream that came whole, until the stream breaks or ends.
pub(crate) fn follow(url: &str, execution: &str, mut take: impl FnMut(Value)) -> Option<()> {
    let stream = send(url, "GET", &format!("/v1/executions/{execution}/events"), "accept: text/event-stream\r\n", "")?;
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 0 && line != "\r\n" {
        line.clear();
    }
    let mut text = Vec::new();
    loop {
        let mut size = String::new();
        reader.read_line(&mut size).ok()?;
        let size = usize::from_str_radix(size.trim_end(), 16).ok().filter(|size| *size > 0)?;
        let mut chunk = vec![0; size + 2];
        reader.read_exact(&mut chunk).ok()?;
        text.extend_from_slice(&chunk[..size]);
        while let Some(end) = text.windows(2).position(|window| window == b"\n\n") {
            let frame: Vec<u8> = text.drain(..end + 2).collect();
            let frame = String::from_utf8(frame).ok()?;
            let data = frame.lines().find_map(|line| line.strip_prefix("data: "))?;
            take(serde_json::from_str(data).ok()?);
        }
    }
}
