//! `raw`: bytes as written over a TCP connection of their own, one HTTP answer.

use super::super::case::{Round, filled};
use super::super::outcome::Stop;
use super::result;
use crate::drivers::raw::{self, Bounds};
use crate::recorder::About;
use crate::scenario::model::Step;
use crate::transcript::Request;
use serde_json::{Value, json};

pub async fn run(round: &mut Round<'_>, step: &Step, template: &str) -> Result<Value, Stop> {
    let session = round.session;
    let Some((address, base)) = authority(&session.base) else {
        return Err(Stop::Blocked("raw bytes need a plain http:// target".to_owned()));
    };
    round.scope.set("host", json!(address));
    round.scope.set("base", json!(base));
    let text = round.scope.fill_text(template).map_err(|e| filled(&e))?;
    let bytes = framed(&text, &session.settings.headers);
    let begun = session.recorder.begin();
    let reply = raw::send(&address, &bytes, &Bounds { time: session.settings.timeout, ..Bounds::default() }).await;
    let first = text.lines().next().unwrap_or_default();
    let mut words = first.split(' ');
    let request = Request {
        method: words.next().unwrap_or_default().to_owned(),
        url: words.next().unwrap_or_default().to_owned(),
        headers: vec![("raw".to_owned(), "bytes over TCP".to_owned())],
        body: Some(bytes.into()),
    };
    let about = About { case: round.case.clone(), step: step.label.clone(), ..About::default() };
    Ok(result::of(&session.record(&begun, about, request, reply)))
}

/// Line ends of the head become CRLF; the body behind the first empty line stays as written. Credentials are added to the head.
fn framed(text: &str, headers: &[(String, String)]) -> Vec<u8> {
    let (head, body) = text.split_once("\n\n").unwrap_or((text.trim_end_matches('\n'), ""));
    let mut out = head.replace('\n', "\r\n");
    for (name, value) in headers {
        out.push_str(&format!("\r\n{name}: {value}"));
    }
    out.push_str("\r\n\r\n");
    out.push_str(body);
    out.into_bytes()
}

/// `host:port` and base path of a plain HTTP URL.
fn authority(base: &str) -> Option<(String, String)> {
    let rest = base.strip_prefix("http://")?;
    let (host, path) = rest.split_once('/').map_or((rest, String::new()), |(host, path)| (host, format!("/{path}")));
    let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()));
    Some((if has_port { host.to_owned() } else { format!("{host}:80") }, path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_gets_crlf_and_the_body_stays() {
        let bytes = framed("POST / HTTP/1.1\nhost: x\n\n{\n}", &[("k".to_owned(), "v".to_owned())]);
        assert_eq!(bytes, b"POST / HTTP/1.1\r\nhost: x\r\nk: v\r\n\r\n{\n}");
        assert_eq!(framed("GET / HTTP/1.1\n", &[]), b"GET / HTTP/1.1\r\n\r\n");
    }

    #[test]
    fn authorities() {
        assert_eq!(authority("http://a:1/b/c"), Some(("a:1".to_owned(), "/b/c".to_owned())));
        assert_eq!(authority("http://[::1]"), Some(("[::1]:80".to_owned(), String::new())));
        assert_eq!(authority("http://[::1]:4"), Some(("[::1]:4".to_owned(), String::new())));
        assert_eq!(authority("https://a"), None);
    }
}
