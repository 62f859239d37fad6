//! Text that came from somewhere else, made fit for people: neutralised, wrapped, shown where it differs. Widths are counted in characters.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every character that could steer a terminal, hide or reorder text, or break XML written as an escape (`\n`, `\u{1b}`).
/// What it returns is one line, and it returns its own output unchanged.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if steers(c) => write!(out, "\\u{{{:x}}}", u32::from(c)).expect("writing to a string cannot fail"),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Controls (C0, DEL, C1), direction marks and overrides, zero-width characters, line separators, tags, and what XML 1.0 excludes.
pub(crate) fn steers(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}')
}

/// Breaks `text` between words into lines of at most `width` characters. A word longer than that keeps a line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut room = 0;
    for word in text.split_whitespace().map(safe) {
        let length = word.chars().count();
        match lines.last_mut() {
            Some(line) if length < room => {
                line.push(' ');
                line.push_str(&word);
                room -= length + 1;
            }
            _ => {
                lines.push(word.into_owned());
                room = width.saturating_sub(length);
            }
        }
    }
    lines
}

/// Both values, begun late enough that `room` characters show where they part, when they are long and begin alike.
pub(crate) fn where_they_part(left: &str, right: &str, room: usize) -> (String, String) {
    let (left, right) = (safe(left), safe(right));
    let alike = left.chars().zip(right.chars()).take_while(|(a, b)| a == b).count();
    let longest = left.chars().count().max(right.chars().count());
    if longest <= room || alike <= room / 2 {
        return (left.into_owned(), right.into_owned());
    }
    let skip = alike - room / 4;
    let late = |text: &str| std::iter::once('…').chain(text.chars().skip(skip)).collect::<String>();
    (late(&left), late(&right))
}

/// The milliseconds as a person says them: `340 ms`, `2.4 s`, `3 min 07 s`.
pub(crate) fn duration(ms: u64) -> String {
    match ms {
        0..1_000 => format!("{ms} ms"),
        1_000..60_000 => format!("{}.{} s", ms / 1_000, ms % 1_000 / 100),
        _ => format!("{} min {:02} s", ms / 60_000, ms % 60_000 / 1_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_steers_survives() {
        assert_eq!(safe("plain é 漢字 \\n"), "plain é 漢字 \\n");
        assert_eq!(safe("a\r\n\tb"), "a\\r\\n\\tb");
        assert_eq!(safe("\u{1b}[2J\u{7}\u{9b}31m\0\u{7f}"), "\\u{1b}[2J\\u{7}\\u{9b}31m\\u{0}\\u{7f}");
        assert_eq!(safe("\u{202e}evil\u{200b}\u{2028}\u{feff}\u{ffff}"), "\\u{202e}evil\\u{200b}\\u{2028}\\u{feff}\\u{ffff}");
        for c in ('\0'..=char::MAX).filter(|c| steers(*c)) {
            let once = safe(c.encode_utf8(&mut [0; 4])).into_owned();
            assert!(once.is_ascii() && safe(&once) == once, "{once}");
        }
    }

    #[test]
    fn words_wrap_at_the_width_exactly() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrap("  immeasurable a\nb ", 3), ["immeasurable", "a b"]);
        assert_eq!(wrap("", 10), Vec::<String>::new());
    }

    #[test]
    fn long_values_begin_near_the_first_difference() {
        let (left, right) = (format!("{}1{}", "x".repeat(50), "y".repeat(50)), format!("{}2", "x".repeat(50)));
        assert_eq!(where_they_part(&left, &right, 20), (format!("…xxxxx1{}", "y".repeat(50)), "…xxxxx2".to_owned()));
        assert_eq!(where_they_part("xxxx1", "xxxx2", 20), ("xxxx1".to_owned(), "xxxx2".to_owned()));
        assert_eq!(where_they_part(&left, "no", 20).1, "no");
    }

    #[test]
    fn durations_read_as_said() {
        assert_eq!([999, 1_000, 59_999, 187_040].map(duration), ["999 ms", "1.0 s", "59.9 s", "3 min 07 s"]);
    }
}
