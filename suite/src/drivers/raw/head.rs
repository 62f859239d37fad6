//! Status line and header fields of an answer, and what they say about the length of its body.

use super::wire::{Stop, Wire, shown};
use bytes::BytesMut;
use tokio::io::AsyncRead;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) status: u16,
    /// Names in lower case, in the order of arrival.
    pub(super) headers: Vec<(String, String)>,
}

/// How the end of a body is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length(u64),
    Chunked,
    UntilClose,
}

/// The head of the final answer; interim ones (100 to 199, except 101) are passed over.
///
/// `limit` holds for all heads together.
pub(super) async fn read_final<R: AsyncRead + Unpin>(wire: &mut Wire<R>, limit: usize) -> Result<Head, Stop> {
    let mut left = limit;
    loop {
        let head = read(wire, &mut left).await.map_err(|stop| match stop {
            Stop::Bound(_) => Stop::Bound(format!("the head of the answer is longer than {limit} bytes")),
            other => other,
        })?;
        if !(100..200).contains(&head.status) || head.status == 101 {
            return Ok(head);
        }
    }
}

async fn read<R: AsyncRead + Unpin>(wire: &mut Wire<R>, left: &mut usize) -> Result<Head, Stop> {
    expect_http(wire).await?;
    let status = status(&line(wire, left).await?)?;
    let mut headers: Vec<(String, String)> = Vec::new();
    loop {
        let line = line(wire, left).await?;
        match (line.first(), headers.last_mut()) {
            (None, _) => return Ok(Head { status, headers }),
            // A folded line: obsolete, but readers may take it as a space.
            (Some(b' ' | b'\t'), Some((_, value))) => {
                value.push(' ');
                value.push_str(&text(&line));
            }
            _ => headers.push(field(&line)?),
        }
    }
}

/// Refuses what cannot be HTTP as soon as it differs, not only when a line of it ends.
async fn expect_http<R: AsyncRead + Unpin>(wire: &mut Wire<R>) -> Result<(), Stop> {
    const START: &[u8] = b"HTTP/1.";
    loop {
        let arrived = wire.arrived();
        let length = START.len().min(arrived.len());
        if arrived[..length] != START[..length] {
            return Err(Stop::Malformed(format!("not an HTTP/1.1 answer: it begins with {}", shown(arrived))));
        }
        if length == START.len() {
            return Ok(());
        }
        wire.more().await?;
    }
}

async fn line<R: AsyncRead + Unpin>(wire: &mut Wire<R>, left: &mut usize) -> Result<BytesMut, Stop> {
    let line = wire.line(*left, "a line of the head is").await?;
    *left = left.saturating_sub(line.len() + 2);
    Ok(line)
}

fn status(line: &[u8]) -> Result<u16, Stop> {
    let malformed = || Stop::Malformed(format!("not an HTTP/1.1 status line: {}", shown(line)));
    let rest = line.strip_prefix(b"HTTP/1.").ok_or_else(malformed)?;
    match rest {
        [b'0'..=b'9', b' ', code @ ..] if matches!(code, [_, _, _] | [_, _, _, b' ', ..]) && code[..3].iter().all(u8::is_ascii_digit) => {
            Ok(code[..3].iter().fold(0, |status, digit| status * 10 + u16::from(digit - b'0')))
        }
        _ => Err(malformed()),
    }
}

fn field(line: &[u8]) -> Result<(String, String), Stop> {
    let colon = line.iter().position(|byte| *byte == b':').filter(|at| *at > 0 && line[..*at].iter().all(|byte| is_token(*byte)));
    let colon = colon.ok_or_else(|| Stop::Malformed(format!("not a header field: {}", shown(line))))?;
    Ok((text(&line[..colon]).to_ascii_lowercase(), text(&line[colon + 1..])))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_matches([' ', '\t', '\r']).to_owned()
}

impl Head {
    /// How the body ends; `has_body` is false in answer to HEAD. The error says what is wrong with the header fields.
    pub(super) fn framing(&self, has_body: bool) -> Result<Framing, String> {
        if !has_body || matches!(self.status, 101 | 204 | 304) {
            return Ok(Framing::Length(0));
        }
        if let Some(coding) = self.values("transfer-encoding").last() {
            return Ok(if coding.eq_ignore_ascii_case("chunked") { Framing::Chunked } else { Framing::UntilClose });
        }
        let mut lengths = self.values("content-length");
        let Some(length) = lengths.next() else { return Ok(Framing::UntilClose) };
        let number = length.parse().ok().filter(|_| length.bytes().all(|byte| byte.is_ascii_digit()));
        match number {
            Some(number) if lengths.all(|other| other == length) => Ok(Framing::Length(number)),
            Some(_) => Err("content-length comes with different values".to_owned()),
            None => Err(format!("content-length is not a number: {}", shown(length.as_bytes()))),
        }
    }

    /// The members of the comma-separated lists under `name`.
    fn values<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let lists = self.headers.iter().filter(move |(other, _)| other == name);
        lists.flat_map(|(_, value)| value.split(',')).map(str::trim)
    }
}
