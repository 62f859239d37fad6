//! Cursors: a whole number from 0, read as liberally as the references of the contracts do.

/// Blanks around it, a sign, hexadecimal and exponents are numbers too; blank is 0. `None` for what is no cursor.
pub(crate) fn read(text: &str) -> Option<u64> {
    const LARGEST: f64 = 9_007_199_254_740_991.0;
    let number = number(text).filter(|number| (0.0..=LARGEST).contains(number) && number.fract() == 0.0)?;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a whole number from 0 to 2^53 - 1")]
    let cursor = number as u64;
    Some(cursor)
}

fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return Some(0.0);
    }
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0O", 8), ("0b", 2), ("0B", 2)] {
        if let Some(digits) = text.strip_prefix(prefix) {
            let plain = digits.chars().all(|digit| digit.is_digit(radix));
            #[expect(clippy::cast_precision_loss, reason = "what is too large for a double is too large for a cursor")]
            return plain.then(|| u64::from_str_radix(digits, radix).ok().map(|number| number as f64)).flatten();
        }
    }
    let plain = text.chars().all(|char| char.is_ascii_digit() || matches!(char, '+' | '-' | '.' | 'e' | 'E'));
    if plain { text.parse().ok() } else { None }
}
