//! The grammar, case by case. `tests/sse_properties.rs` compares whole generated streams with two other readers.

use super::*;

fn event(name: &str, id: &str, data: &str) -> Frame {
    Frame { event: Some(name.into()), id: Some(id.into()), ..data_only(data) }
}

fn data_only(data: &str) -> Frame {
    Frame { data: Some(data.into()), ..Frame::default() }
}

fn comment(text: &str) -> Frame {
    Frame { comments: vec![text.into()], ..Frame::default() }
}

/// Reads `bytes` in one piece.
fn read(bytes: &[u8]) -> (Vec<Frame>, Option<Torn>) {
    let (mut reader, mut frames) = (Reader::default(), Vec::new());
    reader.push(bytes, Duration::ZERO, &mut frames).expect("within the limits");
    (frames, reader.finish())
}

/// Reads `bytes` cut at every place, and in single bytes; all readings must agree with the reading in one piece.
fn read_every_way(bytes: &[u8]) -> (Vec<Frame>, Option<Torn>) {
    let whole = read(bytes);
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    let halves = (0..=bytes.len()).map(|at| vec![&bytes[..at], &bytes[at..]]);
    for pieces in halves.chain([single]) {
        let (mut reader, mut frames) = (Reader::default(), Vec::new());
        for piece in &pieces {
            reader.push(piece, Duration::ZERO, &mut frames).expect("within the limits");
        }
        assert_eq!((frames, reader.finish()), whole, "cut as {pieces:?}");
    }
    whole
}

#[test]
fn whole_blocks() {
    let cases: &[(&str, &[u8], Vec<Frame>)] = &[
        ("nothing", b"", vec![]),
        ("blank lines only", b"\n\r\n\r\r\n\n", vec![]),
        ("lf", b"event: a\nid: 1\ndata: x\n\n", vec![event("a", "1", "x")]),
        ("crlf", b"event: a\r\nid: 1\r\ndata: x\r\n\r\n", vec![event("a", "1", "x")]),
        ("cr", b"event: a\rid: 1\rdata: x\r\r", vec![event("a", "1", "x")]),
        ("mixed ends", b"event: a\rid: 1\r\ndata: x\n\r", vec![event("a", "1", "x")]),
        ("order of fields", b"data: x\nid: 1\nevent: a\n\n", vec![event("a", "1", "x")]),
        ("two blocks", b"data: x\n\ndata: y\n\n", vec![data_only("x"), data_only("y")]),
        ("several data lines", b"data: {\ndata:  \"a\": 1\ndata: }\n\n", vec![data_only("{\n \"a\": 1\n}")]),
        ("empty data lines", b"data\ndata:\ndata: \n\n", vec![data_only("\n\n")]),
        ("one empty data line", b"data\n\n", vec![data_only("")]),
        ("only one space goes", b"data:  x \n\n", vec![data_only(" x ")]),
        ("no space", b"data:x\n\n", vec![data_only("x")]),
        ("a tab stays", b"data:\tx\n\n", vec![data_only("\tx")]),
        ("colons in the value", b"data: a: b:c\n\n", vec![data_only("a: b:c")]),
        ("names are exact", b"Data: x\n data: y\ndata : z\n\n", vec![Frame::default()]),
        ("unknown fields", b"foo: 1\ndata: x\nbar\n\n", vec![data_only("x")]),
        ("last one wins", b"event: a\nevent: b\nid: 1\nid: 2\ndata: x\n\n", vec![event("b", "2", "x")]),
        ("empty event and id", b"event\nid\ndata: x\n\n", vec![event("", "", "x")]),
        ("id with nul", b"id: 1\nid: 2\0\nevent: a\ndata: x\n\n", vec![event("a", "1", "x")]),
        ("nul elsewhere", b"data: a\0b\n\n", vec![data_only("a\0b")]),
        ("mark", b"\xef\xbb\xbfdata: x\n\n", vec![data_only("x")]),
        ("mark before a blank line", b"\xef\xbb\xbf\ndata: x\n\n", vec![data_only("x")]),
        ("mark twice", b"\xef\xbb\xbf\xef\xbb\xbfdata: x\n\n", vec![Frame::default()]),
        ("mark on the second line", b"\n\xef\xbb\xbfdata: x\n\n", vec![Frame::default()]),
        ("several bytes a character", "data: é€😀\n\n".as_bytes(), vec![data_only("é€😀")]),
        ("invalid bytes", b"data: a\xff\xc3\n\n", vec![data_only("a\u{fffd}\u{fffd}")]),
        ("cut character", b"data: \xf0\x9f\x98\n\n", vec![data_only("\u{fffd}")]),
        ("other separators are text", "data: a\u{2028}b\u{85}c\u{b}d\n\n".as_bytes(), vec![data_only("a\u{2028}b\u{85}c\u{b}d")]),
    ];
    for (name, bytes, expected) in cases {
        assert_eq!(read_every_way(bytes), (expected.clone(), None), "{name}");
    }
}

#[test]
fn blocks_without_data_are_reported() {
    assert_eq!(read_every_way(b"retry: 10\n\n").0, [Frame { retry: Some("10".into()), ..Frame::default() }]);
    assert_eq!(read_every_way(b"retry: soon\n\n").0, [Frame { retry: Some("soon".into()), ..Frame::default() }]);
    assert_eq!(read_every_way(b"id: 7\n\n").0, [Frame { id: Some("7".into()), ..Frame::default() }]);
    assert_eq!(read_every_way(b"event: a\n\n").0, [Frame { event: Some("a".into()), ..Frame::default() }]);
}

#[test]
fn comments_before_a_block_stand_alone_and_others_belong_to_it() {
    assert_eq!(read_every_way(b": ping\n\n").0, [comment(" ping")]);
    assert_eq!(read_every_way(b":\n:a\n"), (vec![comment(""), comment("a")], None), "no blank line is needed");
    let within = Frame { comments: vec!["b".into(), "c".into()], ..data_only("x") };
    assert_eq!(read_every_way(b":a\ndata: x\n:b\n:c\n\n").0, [comment("a"), within]);
}

#[test]
fn a_torn_end_is_reported_and_not_dispatched() {
    let torn = |frame, line: &str| Some(Torn { frame, line: line.into() });
    assert_eq!(read_every_way(b"data: x\n\ndata: y\n"), (vec![data_only("x")], torn(data_only("y"), "")));
    assert_eq!(read_every_way(b"data: x\r\n"), (vec![], torn(data_only("x"), "")), "the LF belongs to the CR before it");
    assert_eq!(read_every_way(b"data: x\ndat"), (vec![], torn(data_only("x"), "dat")));
    assert_eq!(read_every_way(b"data: \xf0\x9f"), (vec![], torn(Frame::default(), "data: \u{fffd}")));
    assert_eq!(read_every_way(b": pi"), (vec![], torn(Frame::default(), ": pi")));
    assert_eq!(read_every_way(b"\xef\xbb\xbf"), (vec![], None), "a mark alone is an empty stream");
    assert_eq!(read_every_way(b"\xef\xbb").1, torn(Frame::default(), "\u{fffd}"));
}

#[test]
fn frames_carry_the_time_of_the_piece_that_completed_them() {
    let (mut reader, mut frames) = (Reader::default(), Vec::new());
    let pieces: [&[u8]; 3] = [b"data: x\n", b"\ndata: y\r\n\r", b"\n:z\n"];
    for (piece, at) in pieces.iter().zip(1..) {
        reader.push(piece, Duration::from_millis(at), &mut frames).expect("within the limits");
    }
    let times: Vec<u128> = frames.iter().map(|frame| frame.at.as_millis()).collect();
    assert_eq!(times, [2, 2, 3]);
}

/// Pushes single bytes until the reader refuses; returns what it had read until then.
fn push_bytes(limits: Limits, bytes: &[u8]) -> (Vec<Frame>, Option<Bound>) {
    let (mut reader, mut frames) = (Reader::new(limits), Vec::new());
    let crossed = bytes.chunks(1).find_map(|piece| reader.push(piece, Duration::ZERO, &mut frames).err());
    (frames, crossed)
}

#[test]
fn limits_hold_on_both_sides() {
    let limits = Limits { line: 7, frame: 16 };
    for (bytes, expected) in [
        (&b"data: x\n\n"[..], None),
        (b"data: xx\n\n", Some(Bound::Line(7))),
        (b"data: x\ndata: y\n\n", None),
        (b"data: x\ndata: y\n:\n\n", Some(Bound::Frame(16))),
        (b":123456\n:123456\n:123456\n:123456\n", None),
    ] {
        let (frames, crossed) = push_bytes(limits, bytes);
        assert_eq!(crossed, expected, "{bytes:?}");
        let mut reader = Reader::new(limits);
        let mut at_once = Vec::new();
        assert_eq!(reader.push(bytes, Duration::ZERO, &mut at_once).err(), expected, "{bytes:?} at once");
        assert_eq!(at_once, frames);
    }
}

#[test]
fn frames_before_a_crossed_limit_are_kept_and_the_reader_stays_shut() {
    let (mut reader, mut frames) = (Reader::new(Limits { line: 8, frame: 8 }), Vec::new());
    assert_eq!(reader.push(b"data: x\n\ndata: too long", Duration::ZERO, &mut frames), Err(Bound::Line(8)));
    assert_eq!(frames, [data_only("x")]);
    assert_eq!(reader.push(b"\n\ndata: z\n\n", Duration::ZERO, &mut frames), Err(Bound::Line(8)));
    assert_eq!(frames, [data_only("x")]);
}
