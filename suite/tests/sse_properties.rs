//! The event-stream reader against two others: `sse-stream`, which sees dispatched events and is strict about UTF-8, and a
//! model that decodes and splits the whole stream at once, which sees everything.

use bytes::Bytes;
use futures_util::{FutureExt, StreamExt};
use proofmark::drivers::sse::{Reader, Torn};
use proofmark::transcript::Frame;
use proptest::collection::vec;
use proptest::prelude::*;
use std::convert::Infallible;
use std::time::Duration;

/// The stream `bytes` in pieces whose lengths are taken from `cuts`, over and over.
fn pieces<'a>(mut bytes: &'a [u8], cuts: &[usize]) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    for cut in cuts.iter().cycle() {
        if bytes.is_empty() {
            break;
        }
        let (piece, rest) = bytes.split_at((*cut).min(bytes.len()));
        pieces.push(piece);
        bytes = rest;
    }
    pieces
}

fn ours(bytes: &[u8], cuts: &[usize]) -> (Vec<Frame>, Option<Torn>) {
    let (mut reader, mut frames) = (Reader::default(), Vec::new());
    for piece in pieces(bytes, cuts) {
        reader.push(piece, Duration::ZERO, &mut frames).expect("within the limits");
    }
    (frames, reader.finish())
}

type Dispatched = (Option<String>, Option<String>, Option<String>, Option<u64>);

fn oracle(bytes: &[u8], cuts: &[usize]) -> Vec<Dispatched> {
    let pieces = pieces(bytes, cuts).into_iter().map(|piece| Ok::<_, Infallible>(Bytes::copy_from_slice(piece)));
    let mut stream = sse_stream::SseByteStream::new(futures_util::stream::iter(pieces.collect::<Vec<_>>()));
    let mut events = Vec::new();
    while let Some(event) = stream.next().now_or_never().expect("all input is there") {
        let event = event.expect("the generated stream is UTF-8");
        events.push((event.event, event.id, event.data, event.retry));
    }
    events
}

/// What the oracle would show of our frames: those with a field it keeps.
fn dispatched(frames: Vec<Frame>) -> Vec<Dispatched> {
    let shown = frames.into_iter().map(|frame| (frame.event, frame.id, frame.data, frame.retry.and_then(|retry| retry.parse().ok())));
    shown.filter(|event| *event != (None, None, None, None)).collect()
}

/// The standard read literally, over the whole text: decode, drop the mark, split into lines, walk them.
fn model(bytes: &[u8]) -> (Vec<Frame>, Option<Torn>) {
    let text = String::from_utf8_lossy(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    let unfinished = lines.pop().unwrap_or_default();
    let (mut frames, mut block) = (Vec::new(), Vec::new());
    for line in lines {
        match line.strip_prefix(':') {
            Some(text) if block.is_empty() => frames.push(Frame { comments: vec![text.into()], ..Frame::default() }),
            None if line.is_empty() => frames.extend((!block.is_empty()).then(|| model_block(&std::mem::take(&mut block)))),
            _ => block.push(line),
        }
    }
    let torn = (!block.is_empty() || !unfinished.is_empty()).then(|| Torn { frame: model_block(&block), line: unfinished.into() });
    (frames, torn)
}

fn model_block(lines: &[&str]) -> Frame {
    let field = |name: &str| {
        let values = lines.iter().filter_map(|line| if *line == name { Some("") } else { line.strip_prefix(name)?.strip_prefix(':') });
        values.map(|value| value.strip_prefix(' ').unwrap_or(value).to_owned()).collect::<Vec<_>>()
    };
    let data = field("data");
    Frame {
        at: Duration::ZERO,
        event: field("event").pop(),
        id: field("id").into_iter().rfind(|id| !id.contains('\0')),
        data: (!data.is_empty()).then(|| data.join("\n")),
        retry: field("retry").pop(),
        comments: lines.iter().filter_map(|line| line.strip_prefix(':')).map(str::to_owned).collect(),
    }
}

/// Lines that look like event streams, more often than not.
fn line() -> impl Strategy<Value = String> {
    let name = prop_oneof![4 => Just("data"), 2 => Just("event"), 2 => Just("id"), 1 => Just(""), 1 => Just("Data"), 1 => Just(" id"), 1 => Just("dat")];
    let value = prop_oneof![Just(String::new()), "[ -~]{0,8}", "[ :\0\t\u{feff}aé€😀\u{2028}]{0,6}"];
    let field = (name, prop_oneof![Just(""), Just(":"), Just(": "), Just(":  ")], value);
    prop_oneof![
        6 => field.prop_map(|(name, colon, value)| if colon.is_empty() { name.to_owned() } else { format!("{name}{colon}{value}") }),
        1 => (0..20_000_u32).prop_map(|retry| format!("retry: {retry}")),
        1 => "[ -~é]{0,10}".prop_filter("a retry that is no number is left to the model", |line| !line.starts_with("retry")),
        4 => Just(String::new()),
    ]
}

/// A stream of such lines with any line ends, a mark now and then, and an end anywhere (never within a character).
fn stream() -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![Just("\n"), Just("\r"), Just("\r\n")];
    (any::<bool>(), vec((line(), end), 0..24), 0..6_usize).prop_map(|(mark, lines, torn)| {
        let mut text = String::from(if mark { "\u{feff}" } else { "" });
        for (line, end) in lines {
            text.push_str(&line);
            text.push_str(end);
        }
        for _ in 0..torn {
            text.pop();
        }
        text.into_bytes()
    })
}

/// Bytes of which most mean something to the grammar, valid UTF-8 or not.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let words: [&[u8]; 10] = [b"data", b"id:", b"event: ", b"retry:", b":", b"\n", b"\r", b"\r\n\r\n", b"\xef\xbb\xbf", b"\xf0\x9f"];
    let word = prop_oneof![4 => proptest::sample::select(words.to_vec()).prop_map(<[u8]>::to_vec), 1 => vec(any::<u8>(), 0..5)];
    vec(word, 0..40).prop_map(|words| words.concat())
}

fn cuts() -> impl Strategy<Value = Vec<usize>> {
    vec(1..9_usize, 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_sse_stream(bytes in stream(), cuts in cuts(), other_cuts in cuts()) {
        prop_assert_eq!(dispatched(ours(&bytes, &cuts).0), oracle(&bytes, &other_cuts));
    }

    #[test]
    fn agrees_with_the_model_on_streams(bytes in stream(), cuts in cuts()) {
        prop_assert_eq!(ours(&bytes, &cuts), model(&bytes));
    }

    #[test]
    fn agrees_with_the_model_on_noise(bytes in noise(), cuts in cuts()) {
        prop_assert_eq!(ours(&bytes, &cuts), model(&bytes));
    }

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in vec(any::<u8>(), 0..400), cuts in cuts()) {
        prop_assert_eq!(ours(&bytes, &cuts), model(&bytes));
    }
}
