//! SHA-256 values as the journal writes them.

use std::fmt;

use sha2::{Digest as _, Sha256};

/// A SHA-256 value. Prints as 64 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// The hash of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Reads exactly 64 lower-case hex digits.
    pub fn parse(text: &str) -> Option<Self> {
        let digits: &[u8; 64] = text.as_bytes().try_into().ok()?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Some(Self(bytes))
    }

    /// The first half: enough to find a hash again among those of one file.
    pub(super) fn short(&self) -> u128 {
        let (first, _) = self.0.split_at(16);
        u128::from_be_bytes(first.try_into().expect("sixteen bytes"))
    }
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What stands in a record where a hash belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HashText {
    /// Nothing, which is right in `prev_hash` of a first record only.
    Empty,
    Hash(Hash),
    /// Anything else.
    Other(String),
}

impl HashText {
    pub(super) fn read(text: &str) -> Self {
        match Hash::parse(text) {
            Some(hash) => Self::Hash(hash),
            None if text.is_empty() => Self::Empty,
            None => Self::Other(text.to_owned()),
        }
    }

    /// What stands in the record.
    pub(super) fn raw(&self) -> String {
        match self {
            Self::Empty => String::new(),
            Self::Hash(hash) => hash.to_string(),
            Self::Other(text) => text.clone(),
        }
    }

    pub fn hash(&self) -> Option<Hash> {
        match self {
            Self::Hash(hash) => Some(*hash),
            _ => None,
        }
    }
}

impl fmt::Display for HashText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("(empty)"),
            Self::Hash(hash) => hash.fmt(f),
            Self::Other(text) => write!(f, "{:?}", text.chars().take(80).collect::<String>()),
        }
    }
}
