//! The reader: one pass over the bytes, no recovery, no tolerance.

use std::borrow::Cow;

use super::{Json, JsonError, Problem, Segment, Text};

/// How deep arrays and objects may nest. Far more than any record needs, and little enough for a thread's stack.
pub const DEPTH: usize = 256;

/// Up to this many members are compared pair by pair; more are sorted first.
const FEW: usize = 12;

type Result<T> = std::result::Result<T, Box<JsonError>>;

/// Reads exactly one JSON value, white space around it allowed.
pub fn parse(text: &[u8]) -> std::result::Result<Json<'_>, JsonError> {
    let text = std::str::from_utf8(text).map_err(|error| JsonError::new(Problem::NotUtf8, error.valid_up_to()))?;
    let mut reader = Reader { text, bytes: text.as_bytes(), at: 0, depth: 0 };
    reader.document().map_err(|error| *error)
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn document(&mut self) -> Result<Json<'a>> {
        let value = self.value()?;
        self.space();
        if self.at < self.bytes.len() { self.fail(Problem::Trailing) } else { Ok(value) }
    }

    fn fail<T>(&self, problem: Problem) -> Result<T> {
        Err(Box::new(JsonError::new(problem, self.at)))
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn value(&mut self) -> Result<Json<'a>> {
        self.space();
        match self.peek() {
            Some(b'"') => self.string().map(Json::String),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(b'N') if self.rest().starts_with(b"NaN") => self.fail(Problem::NotFinite("NaN")),
            Some(b'I') if self.rest().starts_with(b"Infinity") => self.fail(Problem::NotFinite("Infinity")),
            Some(_) => self.fail(Problem::Syntax("a value was expected")),
            None => self.fail(Problem::Cut),
        }
    }

    /// A value inside a container.
    fn value_in(&mut self, place: impl FnOnce() -> Segment) -> Result<Json<'a>> {
        self.value().map_err(|mut error| {
            error.leave(place());
            error
        })
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    fn word(&mut self, word: &'static str, value: Json<'a>) -> Result<Json<'a>> {
        if self.rest().starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        self.fail(if word.as_bytes().starts_with(self.rest()) { Problem::Cut } else { Problem::Syntax("a value was expected") })
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json<'a>>) -> Result<Json<'a>> {
        if self.depth == DEPTH {
            return self.fail(Problem::TooDeep(DEPTH));
        }
        self.depth += 1;
        self.at += 1;
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// After a value in a container: true when another one follows.
    fn more(&mut self, close: u8, expected: &'static str) -> Result<bool> {
        self.space();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == close => {
                self.at += 1;
                Ok(false)
            }
            Some(_) => self.fail(Problem::Syntax(expected)),
            None => self.fail(Problem::Cut),
        }
    }

    fn array(&mut self) -> Result<Json<'a>> {
        let mut items = Vec::new();
        self.space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            let item = self.value_in(|| Segment::Index(items.len()))?;
            items.push(item);
            if !self.more(b']', "a comma or the end of the array was expected")? {
                return Ok(Json::Array(items));
            }
        }
    }

    fn object(&mut self) -> Result<Json<'a>> {
        let start = self.at - 1;
        let mut members = Vec::with_capacity(4);
        self.space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(Json::Object(members));
        }
        loop {
            let name = self.name()?;
            let value = self.value_in(|| Segment::Member(name.to_string()))?;
            members.push((name, value));
            if !self.more(b'}', "a comma or the end of the object was expected")? {
                break;
            }
        }
        match duplicate(&members) {
            None => Ok(Json::Object(members)),
            Some(name) => Err(Box::new(JsonError::new(Problem::Duplicate(name.to_owned()), start))),
        }
    }

    fn name(&mut self) -> Result<Text<'a>> {
        self.space();
        match self.peek() {
            Some(b'"') => {}
            Some(_) => return self.fail(Problem::Syntax("a name in quotes was expected")),
            None => return self.fail(Problem::Cut),
        }
        let name = self.string()?;
        self.space();
        match self.peek() {
            Some(b':') => self.at += 1,
            Some(_) => return self.fail(Problem::Syntax("a colon was expected")),
            None => return self.fail(Problem::Cut),
        }
        Ok(name)
    }

    fn number(&mut self) -> Result<Json<'a>> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
            if self.rest().starts_with(b"Infinity") {
                return self.fail(Problem::NotFinite("-Infinity"));
            }
        }
        match self.peek() {
            Some(b'0') => {
                self.at += 1;
                if let Some(b'0'..=b'9') = self.peek() {
                    return self.fail(Problem::Syntax("a number starts with a needless zero"));
                }
            }
            _ => self.digits()?,
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(Json::Number(Cow::Borrowed(&self.text[start..self.at])))
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        match self.peek() {
            _ if self.at > start => Ok(()),
            Some(_) => self.fail(Problem::Syntax("a digit was expected")),
            None => self.fail(Problem::Cut),
        }
    }

    fn string(&mut self) -> Result<Text<'a>> {
        self.at += 1;
        let start = self.at;
        self.at += plain_len(self.rest());
        if self.peek() == Some(b'"') {
            let text = &self.text[start..self.at];
            self.at += 1;
            return Ok(Text::plain(text));
        }
        let mut decoded = String::with_capacity(self.at - start + 16);
        decoded.push_str(&self.text[start..self.at]);
        self.decode(&mut decoded)?;
        Ok(Text::from(decoded))
    }

    /// The rest of a string from its first byte that is not plain, up to and over the closing quote.
    fn decode(&mut self, decoded: &mut String) -> Result<()> {
        loop {
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(());
                }
                Some(b'\\') => decoded.push(self.escape()?),
                Some(_) => return self.fail(Problem::Control),
                None => return self.fail(Problem::Cut),
            }
            let start = self.at;
            self.at += plain_len(self.rest());
            decoded.push_str(&self.text[start..self.at]);
        }
    }

    fn escape(&mut self) -> Result<char> {
        let Some(&letter) = self.bytes.get(self.at + 1) else { return self.fail(Problem::Cut) };
        let simple = match letter {
            b'"' => '"',
            b'\\' => '\\',
            b'/' => '/',
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(),
            _ => return self.fail(Problem::Syntax("an unknown escape")),
        };
        self.at += 2;
        Ok(simple)
    }

    fn code_point(&mut self) -> Result<char> {
        let first = self.unit(self.at)?;
        let (code, length) = match first {
            0xD800..=0xDBFF if self.bytes[self.at + 6..].starts_with(b"\\u") => match self.unit(self.at + 6)? {
                second @ 0xDC00..=0xDFFF => (0x10000 + ((first - 0xD800) << 10) + (second - 0xDC00), 12),
                _ => return self.fail(Problem::LoneSurrogate),
            },
            code => (code, 6),
        };
        let Some(decoded) = char::from_u32(code) else { return self.fail(Problem::LoneSurrogate) };
        self.at += length;
        Ok(decoded)
    }

    /// The four hex digits of the `\u` escape that starts at `at`.
    fn unit(&self, at: usize) -> Result<u32> {
        let mut code = 0;
        for offset in at + 2..at + 6 {
            let Some(&byte) = self.bytes.get(offset) else { return self.fail(Problem::Cut) };
            let Some(digit) = char::from(byte).to_digit(16) else { return self.fail(Problem::Syntax("an escape needs four hex digits")) };
            code = code * 16 + digit;
        }
        Ok(code)
    }
}

/// How many bytes at the start need no decoding: no quote, no backslash, no control character.
fn plain_len(bytes: &[u8]) -> usize {
    let mut len = 0;
    let mut words = bytes.chunks_exact(8);
    for word in &mut words {
        if has_special(u64::from_le_bytes(word.try_into().expect("chunks of eight"))) {
            break;
        }
        len += 8;
    }
    len + bytes[len..].iter().take_while(|&&byte| byte >= 0x20 && byte != b'"' && byte != b'\\').count()
}

/// Whether any of eight bytes is a quote, a backslash or below 0x20; may say yes for a word that has none, never the other way.
fn has_special(word: u64) -> bool {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    let equals = |byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    below(word, 0x20) | equals(b'"') | equals(b'\\') != 0
}

fn duplicate<'t>(members: &'t [(Text<'_>, Json<'_>)]) -> Option<&'t str> {
    if members.len() <= FEW {
        return members
            .iter()
            .enumerate()
            .find(|(i, (name, _))| members[..*i].iter().any(|(other, _)| **other == **name))
            .map(|(_, (name, _))| &**name);
    }
    let mut names: Vec<&str> = members.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}
