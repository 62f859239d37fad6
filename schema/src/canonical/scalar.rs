//! The scalar spellings of proto3-JSON: integers, bytes and timestamps, each read in every legal form and written in the one
//! that the canonical form prints.

use std::borrow::Cow;

/// The integer that a JSON number stands for, if it is one and fits: `7`, `7.0`, `0.7e1` and `70E-1` are all seven.
pub(crate) fn integer(text: &str) -> Option<i64> {
    if let Ok(value) = text.parse::<i64>()
        && !text.starts_with('+')
    {
        return is_json_number(text).then_some(value);
    }
    if !is_json_number(text) {
        return None;
    }
    let (negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    if significant.trim_start_matches('0').is_empty() {
        return Some(0);
    }
    // Digits after the point once the exponent is applied; below zero, zeros to append.
    let exponent = i128::from(exponent.parse::<i64>().ok()?);
    let scale = i128::try_from(significant.len()).ok()? - i128::try_from(whole.len()).ok()? - exponent;
    let zeros = usize::try_from(-scale).ok().filter(|zeros| *zeros <= 19)?;
    let mut magnitude: i128 = significant.trim_start_matches('0').parse().ok()?;
    for _ in 0..zeros {
        magnitude = magnitude.checked_mul(10)?;
    }
    i64::try_from(if negative { -magnitude } else { magnitude }).ok()
}

/// Whether a text is a number in the grammar of RFC 8259: what a quoted integer has to be as well.
fn is_json_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let text = text.strip_prefix('-').unwrap_or(text);
    let (mantissa, exponent) = text.split_once(['e', 'E']).map_or((text, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}

/// Standard padded base64 of the same bytes as `text`, which may use the URL alphabet (one alphabet throughout) and may leave
/// out the padding (all of it). Bits that belong to no byte have to be zero.
pub(crate) fn base64(text: &str) -> Option<Cow<'_, str>> {
    let body = text.trim_end_matches('=');
    let padding = text.len() - body.len();
    let needed = (4 - body.len() % 4) % 4;
    let padded = padding == needed;
    if body.len() % 4 == 1 || (padding > 0 && !padded) {
        return None;
    }
    let mut alphabets = (false, false);
    for byte in body.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' => {}
            b'+' | b'/' => alphabets.0 = true,
            b'-' | b'_' => alphabets.1 = true,
            _ => return None,
        }
    }
    let unused_bits = [0, 0, 0b1111, 0b11][body.len() % 4];
    if alphabets == (true, true) || body.bytes().last().is_some_and(|last| sextet(last) & unused_bits != 0) {
        return None;
    }
    if padded && !alphabets.1 {
        return Some(Cow::Borrowed(text));
    }
    let mut standard: String = body
        .chars()
        .map(|c| {
            if c == '-' {
                '+'
            } else if c == '_' {
                '/'
            } else {
                c
            }
        })
        .collect();
    standard.extend(std::iter::repeat_n('=', needed));
    Some(Cow::Owned(standard))
}

fn sextet(letter: u8) -> u8 {
    match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' | b'-' => 62,
        _ => 63,
    }
}

/// A point in time as protobuf has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instant {
    /// Since 1970-01-01T00:00:00Z.
    pub(crate) seconds: i64,
    /// 0 to 999,999,999, forward in time.
    pub(crate) nanos: u32,
}

const DAY: i64 = 86_400;
/// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const RANGE: std::ops::RangeInclusive<i64> = -62_135_596_800..=253_402_300_799;

/// Reads an RFC 3339 time: capital `T` and `Z`, any offset, up to nine fraction digits, years 1 to 9999 in UTC.
pub(crate) fn instant(text: &str) -> Option<Instant> {
    let bytes = text.as_bytes();
    let separators = [(4, b'-'), (7, b'-'), (10, b'T'), (13, b':'), (16, b':')];
    if bytes.len() < 20 || separators.iter().any(|(at, separator)| bytes[*at] != *separator) {
        return None;
    }
    let number = |range: std::ops::Range<usize>| number(&bytes[range]);
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    let fraction = bytes[19..].strip_prefix(b".").map_or(0, |rest| rest.iter().take_while(|b| b.is_ascii_digit()).count());
    let zone = if bytes[19] == b'.' { 20 + fraction } else { 19 };
    if bytes[19] == b'.' && !(1..=9).contains(&fraction) {
        return None;
    }
    let nanos = if fraction == 0 { 0 } else { number(20..20 + fraction)? * 10_i64.pow(9 - u32::try_from(fraction).ok()?) };
    let seconds = days_since_epoch(year, month, day) * DAY + hour * 3600 + minute * 60 + second - offset(&bytes[zone..])?;
    RANGE.contains(&seconds).then_some(Instant { seconds, nanos: u32::try_from(nanos).ok()? })
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |value, digit| digit.is_ascii_digit().then(|| value * 10 + i64::from(digit - b'0')))
}

/// Seconds east of UTC.
fn offset(text: &[u8]) -> Option<i64> {
    match text {
        b"Z" => Some(0),
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => {
            let (hours, minutes) = (number(&[*h1, *h2])?, number(&[*m1, *m2])?);
            let seconds = hours * 3600 + minutes * 60;
            (hours <= 23 && minutes <= 59).then_some(if *sign == b'-' { -seconds } else { seconds })
        }
        _ => None,
    }
}

fn days_in(year: i64, month: i64) -> i64 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 => 28 + i64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01, counted in years that begin in March so that the leap day comes last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

/// The inverse of [`days_since_epoch`].
fn date(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let (month, day) = (if shifted < 10 { shifted + 3 } else { shifted - 9 }, day_of_year - (153 * shifted + 2) / 5 + 1);
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

impl Instant {
    /// The one spelling of the canonical form: UTC, `Z`, and 0, 3, 6 or 9 fraction digits, the fewest that are exact.
    ///
    /// `None` outside the years 1 to 9999, or when `nanos` is no fraction of a second.
    pub(crate) fn canonical(self) -> Option<String> {
        if !RANGE.contains(&self.seconds) || self.nanos > 999_999_999 {
            return None;
        }
        let (year, month, day) = date(self.seconds.div_euclid(DAY));
        let second = self.seconds.rem_euclid(DAY);
        let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
        let fraction = match self.nanos {
            0 => String::new(),
            nanos if nanos % 1_000_000 == 0 => format!(".{:03}", nanos / 1_000_000),
            nanos if nanos % 1000 == 0 => format!(".{:06}", nanos / 1000),
            nanos => format!(".{nanos:09}"),
        };
        Some(format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{fraction}Z"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_legal_spelling() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("0.0", 0),
            ("-0e5", 0),
            ("7", 7),
            ("7.0", 7),
            ("0.7e1", 7),
            ("70E-1", 7),
            ("700e-2", 7),
            ("1e3", 1000),
            ("1.5e+3", 1500),
            ("-1.20e2", -120),
            ("9223372036854775807", i64::MAX),
            ("-9223372036854775808", i64::MIN),
            ("9.223372036854775807e18", i64::MAX),
            ("9007199254740993", 9_007_199_254_740_993),
        ] {
            assert_eq!(integer(text), Some(value), "{text}");
        }
        for text in [
            "",
            "-",
            "+1",
            "01",
            "-01",
            "1.",
            ".5",
            "1e",
            "0.5",
            "1e-1",
            "1.05e1",
            "9223372036854775808",
            "1e19",
            "1e400",
            "1e-9223372036854775808",
            " 1",
            "1 ",
            "0x1",
            "NaN",
            "１",
        ] {
            assert_eq!(integer(text), None, "{text}");
        }
    }

    #[test]
    fn base64_in_every_legal_spelling() {
        for (text, standard) in [
            ("", ""),
            ("cg==", "cg=="),
            ("cg", "cg=="),
            ("+//+AA==", "+//+AA=="),
            ("-__-AA", "+//+AA=="),
            ("-__-AA==", "+//+AA=="),
            ("AAAA", "AAAA"),
            ("AAA", "AAA="),
        ] {
            assert_eq!(base64(text).as_deref(), Some(standard), "{text}");
        }
        for text in ["c", "cg=", "cg===", "=", "====", "c=g=", "ch==", "AAB", "+-AA", "c g=", "cg\n", "c*==", "é"] {
            assert_eq!(base64(text), None, "{text}");
        }
    }

    #[test]
    fn times_in_every_legal_spelling() {
        for (text, canonical) in [
            ("2023-11-14T22:13:20Z", "2023-11-14T22:13:20Z"),
            ("2023-11-14T22:13:20.120Z", "2023-11-14T22:13:20.120Z"),
            ("2023-11-14T22:13:20.12Z", "2023-11-14T22:13:20.120Z"),
            ("2023-11-14T22:13:20.120000000Z", "2023-11-14T22:13:20.120Z"),
            ("2023-11-14T22:13:20.000000001Z", "2023-11-14T22:13:20.000000001Z"),
            ("2023-11-14T23:13:20+01:00", "2023-11-14T22:13:20Z"),
            ("2023-11-14T00:13:20-22:00", "2023-11-14T22:13:20Z"),
            ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"),
            ("2000-02-29T12:00:00-00:00", "2000-02-29T12:00:00Z"),
            ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
            ("0001-01-01T01:00:00+01:00", "0001-01-01T00:00:00Z"),
            ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
            ("1969-12-31T23:59:59.500Z", "1969-12-31T23:59:59.500Z"),
        ] {
            assert_eq!(instant(text).and_then(Instant::canonical).as_deref(), Some(canonical), "{text}");
        }
        for text in [
            "",
            "2023-11-14",
            "2023-11-14T22:13:20",
            "2023-11-14t22:13:20Z",
            "2023-11-14T22:13:20z",
            "2023-11-14 22:13:20Z",
            "2023-11-14T22:13:20.Z",
            "2023-11-14T22:13:20.1234567890Z",
            "2023-11-14T22:13:60Z",
            "2023-11-14T24:00:00Z",
            "2023-11-31T00:00:00Z",
            "2023-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2023-00-14T22:13:20Z",
            "2023-11-14T22:13:20+24:00",
            "2023-11-14T22:13:20+0100",
            "2023-11-14T22:13:20+01:60",
            "0000-12-31T23:59:59Z",
            "0001-01-01T00:00:00+00:01",
            "9999-12-31T23:59:59-00:01",
            "12023-11-14T22:13:20Z",
            "2023-11-14T22:13:20ZZ",
            "20-3-11-14T22:13:20Z",
        ] {
            assert_eq!(instant(text), None, "{text}");
        }
    }

    #[test]
    fn every_day_of_the_calendar_is_its_own_inverse() {
        let mut expected = (1, 1, 1);
        for day in RANGE.start() / DAY..=RANGE.end() / DAY {
            assert_eq!(date(day), expected);
            assert_eq!(days_since_epoch(expected.0, expected.1, expected.2), day);
            let (year, month, day_of_month) = expected;
            expected = if day_of_month < days_in(year, month) {
                (year, month, day_of_month + 1)
            } else if month < 12 {
                (year, month + 1, 1)
            } else {
                (year + 1, 1, 1)
            };
        }
    }
}
