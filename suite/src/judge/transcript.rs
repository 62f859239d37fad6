//! Transcripts as a report shows them: lines of text, long bodies cut, the request as a `curl` line where one call shows it.

use crate::transcript::{Body, Exchange, Frame, NoReply, Reply, StreamEnd};
use proofmark_reports::model;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The longest body that is shown whole.
const BODY: usize = 4096;
/// The most frames of a stream that are shown.
const FRAMES: usize = 60;
/// The most exchanges of a case that are shown: its first and its last ones.
const EXCHANGES: usize = 80;

/// What stands for a credential.
pub const HIDDEN: &str = "[secret]";

pub struct Transcripts<'a> {
    hidden: Hidden,
    by_id: BTreeMap<u64, &'a Arc<Exchange>>,
    by_case: BTreeMap<&'a str, Vec<&'a Arc<Exchange>>>,
}

impl<'a> Transcripts<'a> {
    /// `hidden`: names of headers whose values are never shown.
    pub fn new(exchanges: &'a [Arc<Exchange>], hidden: impl IntoIterator<Item = &'a str>) -> Self {
        let mut by_case: BTreeMap<&str, Vec<&Arc<Exchange>>> = BTreeMap::new();
        for exchange in exchanges {
            by_case.entry(&*exchange.case).or_default().push(exchange);
        }
        let hidden = Hidden(hidden.into_iter().map(str::to_ascii_lowercase).collect());
        Self { hidden, by_id: exchanges.iter().map(|e| (e.id, e)).collect(), by_case }
    }

    pub fn of_case(&self, case: &str) -> Vec<model::Exchange> {
        let all = self.by_case.get(case).map(Vec::as_slice).unwrap_or_default();
        let start = all.first().map(|e| e.began).unwrap_or_default();
        let half = EXCHANGES / 2;
        let shown = all.iter().enumerate().filter(|(i, _)| all.len() <= EXCHANGES || *i < half || *i >= all.len() - half);
        shown.map(|(_, e)| self.render(e, start)).collect()
    }

    /// In the order of their beginning. Of too many those that are named first, so that the first finding can be followed.
    pub fn of_exchanges(&self, ids: &[u64]) -> Vec<model::Exchange> {
        let mut chosen = BTreeSet::new();
        for id in ids.iter().filter(|id| self.by_id.contains_key(id)) {
            if chosen.len() == EXCHANGES {
                break;
            }
            chosen.insert(*id);
        }
        let found: Vec<_> = chosen.iter().filter_map(|id| self.by_id.get(id)).collect();
        let start = found.first().map(|e| e.began).unwrap_or_default();
        found.into_iter().map(|e| self.render(e, start)).collect()
    }

    /// A shell line, when the finding rests on one HTTP request.
    pub fn reproduce(&self, ids: &[u64]) -> Option<String> {
        let [id] = ids else { return None };
        curl(self.by_id.get(id)?, &self.hidden)
    }

    fn render(&self, exchange: &Exchange, start: std::time::Duration) -> model::Exchange {
        model::Exchange {
            number: exchange.id,
            step: exchange.step.clone(),
            at_ms: u64::try_from(exchange.began.saturating_sub(start).as_millis()).unwrap_or(u64::MAX),
            request: request(exchange, &self.hidden),
            response: response(&exchange.reply),
        }
    }
}

/// Header names, lower case, whose values are never shown.
struct Hidden(BTreeSet<String>);

impl Hidden {
    fn header(&self, name: &str, value: &str) -> String {
        let hidden = self.0.contains(&name.to_ascii_lowercase());
        format!("{name}: {}", if hidden { HIDDEN } else { value })
    }

    /// A line of raw bytes, which may be a header.
    fn line(&self, line: String) -> String {
        match line.split_once(':') {
            Some((name, _)) if self.0.contains(&name.to_ascii_lowercase()) => format!("{name}: {HIDDEN}"),
            _ => line,
        }
    }
}

fn request(exchange: &Exchange, hidden: &Hidden) -> Vec<String> {
    let request = &exchange.request;
    let mut lines = vec![format!("{} {}", request.method, request.url)];
    lines.extend(request.headers.iter().map(|(name, value)| hidden.header(name, value)));
    if let Some(body) = &request.body {
        lines.push(String::new());
        if is_raw(exchange) {
            lines.extend(text(body).into_iter().map(|line| hidden.line(line)));
        } else {
            lines.extend(text(body));
        }
    }
    lines
}

/// Whether it was bytes over TCP, as a scenario wrote them.
fn is_raw(exchange: &Exchange) -> bool {
    exchange.operation.is_none() && exchange.request.headers.first().is_some_and(|(name, _)| name == "raw")
}

fn response(reply: &Reply) -> Vec<String> {
    match reply {
        Reply::None(none) => vec![missing(none)],
        Reply::Grpc(reply) => {
            let mut lines: Vec<String> = reply.messages.iter().map(ToString::to_string).collect();
            lines.push(format!("grpc-status: {}", reply.code.map_or("none".to_owned(), |code| code.to_string())));
            lines.push(format!("grpc-message: {}", reply.message));
            lines.extend(reply.trailers.iter().map(|(name, value)| format!("{name}: {value}")));
            lines.extend(reply.unknown.iter().map(|field| format!("[not shown, unknown here: {field}]")));
            lines.extend(reply.faults.iter().map(|fault| format!("[{fault}]")));
            lines.extend((reply.end != StreamEnd::Closed).then(|| format!("[{}]", ended(&reply.end))));
            lines
        }
        Reply::Http(reply) => {
            let mut lines = vec![format!("HTTP {}", reply.status)];
            lines.extend(reply.headers.iter().map(|(name, value)| format!("{name}: {value}")));
            lines.push(String::new());
            match &reply.body {
                Body::Whole(body) => lines.extend(text(body)),
                Body::Partial(body, why) => {
                    lines.extend(text(body));
                    lines.push(format!("[{why}]"));
                }
                Body::Stream { frames, end } => {
                    lines.extend(frames.iter().take(FRAMES).map(frame));
                    if frames.len() > FRAMES {
                        lines.push(format!("[{} more frames]", frames.len() - FRAMES));
                    }
                    lines.push(format!("[{}]", ended(end)));
                }
            }
            lines
        }
    }
}

fn frame(frame: &Frame) -> String {
    let mut parts: Vec<String> = frame.comments.iter().map(|comment| format!(":{comment}")).collect();
    parts.extend(frame.event.as_ref().map(|event| format!("event: {event}")));
    parts.extend(frame.id.as_ref().map(|id| format!("id: {id}")));
    parts.extend(frame.retry.as_ref().map(|retry| format!("retry: {retry}")));
    parts.extend(frame.data.as_ref().map(|data| format!("data: {}", cut(data, BODY))));
    parts.join(" | ")
}

fn missing(none: &NoReply) -> String {
    match none {
        NoReply::Unreachable(why) => format!("[not reached: {why}]"),
        NoReply::Closed(why) => format!("[closed without a whole answer: {why}]"),
        NoReply::Garbled(why) => format!("[not an HTTP answer: {why}]"),
        NoReply::TimedOut(bound) => format!("[no answer within {bound:?}]"),
    }
}

fn ended(end: &StreamEnd) -> String {
    match end {
        StreamEnd::Closed => "the server ended the stream".to_owned(),
        StreamEnd::HungUp => "the kit hung up".to_owned(),
        StreamEnd::Cut(why) => format!("the connection broke: {why}"),
        StreamEnd::TimedOut(after) => format!("still open after {after:?}; the kit hung up"),
        StreamEnd::Bound(bound) => format!("bound crossed: {bound}"),
    }
}

fn text(body: &[u8]) -> Vec<String> {
    cut(&String::from_utf8_lossy(body), BODY).lines().map(str::to_owned).collect()
}

fn cut(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let end = (0..=longest).rev().find(|i| text.is_char_boundary(*i)).unwrap_or_default();
    format!("{}[... {} bytes in all]", &text[..end], text.len())
}

fn curl(exchange: &Exchange, hidden: &Hidden) -> Option<String> {
    let request = &exchange.request;
    if is_raw(exchange) || !request.url.starts_with("http") {
        return None;
    }
    let mut words = vec!["curl -sS -i -N".to_owned()];
    if request.method != "GET" {
        words.push(format!("-X {}", request.method));
    }
    let headers = request.headers.iter().filter(|(name, _)| name != "user-agent");
    words.extend(headers.map(|(name, value)| format!("-H {}", quote(&hidden.header(name, value)))));
    if let Some(body) = &request.body {
        words.push(format!("--data-binary {}", quote(std::str::from_utf8(body).ok()?)));
    }
    words.push(quote(&request.url));
    Some(words.join(" "))
}

/// For a POSIX shell.
fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transcript::Request;
    use std::time::Duration;

    fn exchange(id: u64) -> Exchange {
        Exchange {
            id,
            case: "c".into(),
            step: "call x".to_owned(),
            operation: Some("x".to_owned()),
            params: BTreeMap::new(),
            query: BTreeMap::new(),
            request: Request {
                method: "POST".to_owned(),
                url: "http://a/b?c=d&e".to_owned(),
                headers: vec![("accept".to_owned(), "*/*".to_owned())],
                body: Some("it's".into()),
            },
            began: Duration::ZERO,
            ended: Duration::ZERO,
            reply: Reply::None(NoReply::Closed("eof".to_owned())),
        }
    }

    #[test]
    fn what_the_first_finding_rests_on_is_shown_however_much_there_is() {
        let exchanges: Vec<Arc<Exchange>> = (0..200).map(|id| Arc::new(exchange(id))).collect();
        let named: Vec<u64> = [150, 199].into_iter().chain(0..200).collect();
        let shown = Transcripts::new(&exchanges, []).of_exchanges(&named);
        let numbers: Vec<u64> = shown.iter().map(|exchange| exchange.number).collect();
        assert_eq!(numbers.len(), EXCHANGES);
        assert!(numbers.is_sorted() && numbers.ends_with(&[150, 199]), "{numbers:?}");
    }

    #[test]
    fn a_request_becomes_a_shell_line() {
        assert_eq!(
            curl(&exchange(1), &Hidden(BTreeSet::new())).unwrap(),
            r"curl -sS -i -N -X POST -H 'accept: */*' --data-binary 'it'\''s' 'http://a/b?c=d&e'"
        );
    }

    #[test]
    fn long_bodies_are_cut_between_characters() {
        assert_eq!(cut("ää", 3), "ä[... 4 bytes in all]");
    }
}
