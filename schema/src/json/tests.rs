use super::*;

fn error(text: &[u8]) -> String {
    parse(text).unwrap_err().to_string()
}

#[test]
fn a_text_is_read_as_it_stands() {
    let text = br#" {"a":[1,-0.5e+7,true,false,null,""],"b\u00e9":"x\n\ud83d\ude00/\/","":{}} "#;
    let Json::Object(members) = parse(text).unwrap() else { panic!("an object") };
    let names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["a", "bé", ""]);
    let array = [Json::Number("1".into()), Json::Number("-0.5e+7".into()), Json::Bool(true), Json::Bool(false), Json::Null];
    assert_eq!(members[0].1, Json::Array(array.into_iter().chain([Json::String(Text::plain(""))]).collect()));
    assert_eq!(members[1].1.as_str(), Some("x\n😀//"));
    assert_eq!(members[2].1, Json::Object(vec![]));
}

#[test]
fn only_text_without_escapes_is_plain() {
    for (text, plain) in [(r#""abc é 😀 /""#, true), (r#""a\/b""#, false), ("\"\u{7f}\"", true)] {
        let Json::String(text) = parse(text.as_bytes()).unwrap() else { panic!("a string") };
        assert_eq!(text.as_plain().is_some(), plain);
    }
}

/// The word-at-a-time scan has to stop in every position of a word.
#[test]
fn a_special_byte_is_found_wherever_it_stands() {
    for at in 0..40 {
        for special in ["\\n", "\\u0041", "\\\""] {
            let text = format!("\"{}{special}{}\"", "x".repeat(at), "é".repeat(9));
            let expected: String = serde_json::from_str(&text).unwrap();
            assert_eq!(parse(text.as_bytes()).unwrap().as_str(), Some(expected.as_str()), "{text}");
        }
        for control in ['\0', '\n', '\u{1f}'] {
            let text = format!("\"{}{control}\"", "é".repeat(at));
            assert!(error(text.as_bytes()).starts_with("a control character stands unescaped"), "{text:?}");
        }
    }
}

#[test]
fn wrong_texts_are_refused_with_their_place() {
    for (text, message) in [
        ("", "the text ends in the middle at $, byte 0"),
        ("  ", "the text ends in the middle at $, byte 2"),
        ("nul", "the text ends in the middle at $, byte 0"),
        ("nuLl", "a value was expected at $, byte 0"),
        ("{}{}", "more text follows the value at $, byte 2"),
        (r#"{"a":1,"b":{"c":[0,{"d":tru}]}}"#, "a value was expected at $.b.c[1].d, byte 24"),
        (r#"{"a":1,}"#, "a name in quotes was expected at $, byte 7"),
        (r#"{"a" 1}"#, "a colon was expected at $, byte 5"),
        (r#"{"a":1 "b":2}"#, "a comma or the end of the object was expected at $, byte 7"),
        ("[1,]", "a value was expected at $[1], byte 3"),
        ("[1 2]", "a comma or the end of the array was expected at $, byte 3"),
        ("[1", "the text ends in the middle at $, byte 2"),
        ("{a:1}", "a name in quotes was expected at $, byte 1"),
        ("{'a':1}", "a name in quotes was expected at $, byte 1"),
        ("01", "a number starts with a needless zero at $, byte 1"),
        ("-", "the text ends in the middle at $, byte 1"),
        ("-a", "a digit was expected at $, byte 1"),
        ("1.", "the text ends in the middle at $, byte 2"),
        ("1.e5", "a digit was expected at $, byte 2"),
        ("1e+ ", "a digit was expected at $, byte 3"),
        (".5", "a value was expected at $, byte 0"),
        ("+1", "a value was expected at $, byte 0"),
        ("[NaN]", "NaN is not JSON: a number has to be finite at $[0], byte 1"),
        ("[Infinity]", "Infinity is not JSON: a number has to be finite at $[0], byte 1"),
        ("[-Infinity]", "-Infinity is not JSON: a number has to be finite at $[0], byte 2"),
        (r#""\ud800""#, "an escape is half a surrogate pair at $, byte 1"),
        (r#""\udc00""#, "an escape is half a surrogate pair at $, byte 1"),
        (r#""\ud800\n""#, "an escape is half a surrogate pair at $, byte 1"),
        (r#""\ud800A""#, "an escape is half a surrogate pair at $, byte 1"),
        (r#""\u00g0""#, "an escape needs four hex digits at $, byte 1"),
        (r#""\u00"#, "the text ends in the middle at $, byte 1"),
        (r#""\x""#, "an unknown escape at $, byte 1"),
        (r#""a"#, "the text ends in the middle at $, byte 2"),
        (r#"{"x":{"a":1,"b":2,"\u0061":3}}"#, "the name \"a\" comes twice at $.x, byte 5"),
        ("[/* no */]", "a value was expected at $[0], byte 1"),
        ("\u{feff}1", "a value was expected at $, byte 0"),
    ] {
        assert_eq!(error(text.as_bytes()), message, "{text}");
    }
    assert_eq!(error(b"\"a\xff\""), "the text is not UTF-8 at $, byte 2");
    assert_eq!(error(b"\"\xed\xa0\x80\""), "the text is not UTF-8 at $, byte 1");
}

#[test]
fn names_that_come_twice_are_found_in_large_objects_too() {
    for count in 1..60 {
        let members = |last: &str| (0..count).map(|n| format!("\"n{n}\":0")).chain([format!("\"{last}\":1")]).collect::<Vec<_>>().join(",");
        assert!(parse(format!("{{{}}}", members("other")).as_bytes()).is_ok());
        assert!(error(format!("{{{}}}", members("n0")).as_bytes()).starts_with("the name \"n0\" comes twice"));
    }
}

#[test]
fn long_paths_and_names_are_shown_in_part() {
    let segments: Vec<Segment> = (0..40).map(Segment::Index).collect();
    assert!(path(&segments).starts_with("$[0][1]") && path(&segments).ends_with("[11]…[36][37][38][39]"));
    assert_eq!(path(&segments[..16]).matches('[').count(), 16);
    let long = Segment::Member("é".repeat(1_000_000));
    assert_eq!(path(&[long]), format!("$[\"{}…\"]", "é".repeat(40)));
    assert!(error(format!(r#"{{"{0}":1,"{0}":1}}"#, "n".repeat(100_000)).as_bytes()).len() < 100);
}

#[test]
fn nesting_has_a_bound() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    assert!(parse(nested(DEPTH).as_bytes()).is_ok());
    assert!(error(nested(DEPTH + 1).as_bytes()).starts_with("nested deeper than 256 levels at $[0]"));
    assert!(parse("[".repeat(1_000_000).as_bytes()).is_err());
    assert!(parse(r#"{"a":"#.repeat(1_000_000).as_bytes()).is_err());
    assert!(parse(format!("[{}]", vec![nested(DEPTH - 1); 5].join(",")).as_bytes()).is_ok());
}

#[test]
fn values_keep_integers_apart_from_doubles() {
    let read = value(b"[1,-1,18446744073709551615,-0,1.0,1e3,18446744073709551616]").unwrap();
    let expected = serde_json::json!([1, -1, u64::MAX, -0.0, 1.0, 1000.0, 18_446_744_073_709_551_616.0]);
    assert_eq!(read, expected);
    assert_eq!(value(b"[1e999]").unwrap_err().problem, Problem::NumberRange("1e999".into()));
    assert!(matches!(value(br#"{"a":1,"a":1}"#).unwrap_err().problem, Problem::Duplicate(_)));
}
