//! `raw`: bytes as written over a connection of their own (TCP, or TLS where the target has it), one HTTP/1.1 answer.

use super::super::case::{Round, filled};
use super::super::outcome::Stop;
use super::result;
use crate::drivers::raw::{self, Bounds};
use crate::drivers::tls;
use crate::recorder::About;
use crate::scenario::model::Step;
use crate::target::Parts;
use crate::transcript::Request;
use serde_json::{Value, json};

pub async fn run(round: &mut Round<'_>, step: &Step, template: &str) -> Result<Value, Stop> {
    let session = round.session;
    if session.settings.reach.prior_knowledge {
        return Err(Stop::Blocked("raw bytes are HTTP/1.1, and the target was said to speak HTTP/2 at once".to_owned()));
    }
    let dial = session.dial(tls::HTTP1);
    round.scope.set("host", json!(dial.address));
    round.scope.set("base", json!(Parts::of(&session.base).path));
    let text = round.scope.fill_text(template).map_err(|e| filled(&e))?;
    let bytes = framed(&text, &session.settings.headers);
    let begun = session.recorder.begin();
    let reply = raw::send(&dial, &bytes, &Bounds { time: session.settings.timeout, ..Bounds::default() }).await;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_head_gets_crlf_and_the_body_stays() {
        let bytes = framed("POST / HTTP/1.1\nhost: x\n\n{\n}", &[("k".to_owned(), "v".to_owned())]);
        assert_eq!(bytes, b"POST / HTTP/1.1\r\nhost: x\r\nk: v\r\n\r\n{\n}");
        assert_eq!(framed("GET / HTTP/1.1\n", &[]), b"GET / HTTP/1.1\r\n\r\n");
    }
}
