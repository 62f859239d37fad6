//! Where in a document something is, and what is wrong with it as JSON.

/// One step of a path into a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    Member(String),
    Index(usize),
}

/// A path the way scenarios write it: `$.event.message.parts[0]`, and `$["a b"]` for names that are no identifiers.
pub fn path(segments: &[Segment]) -> String {
    let step = |segment: &Segment| match segment {
        Segment::Index(index) => format!("[{index}]"),
        Segment::Member(name) if is_identifier(name) => format!(".{}", shortened(name)),
        Segment::Member(name) => format!("[{:?}]", shortened(name)),
    };
    let (start, end) = if segments.len() > STEPS { (&segments[..STEPS - 4], &segments[segments.len() - 4..]) } else { (segments, &[][..]) };
    let left_out = if end.is_empty() { "" } else { "…" };
    format!("${}{left_out}{}", start.iter().map(step).collect::<String>(), end.iter().map(step).collect::<String>())
}

/// Paths longer than this many steps are shown with their middle left out.
const STEPS: usize = 16;

fn shortened(name: &str) -> String {
    const LONGEST: usize = 40;
    match name.char_indices().nth(LONGEST) {
        None => name.to_owned(),
        Some((end, _)) => format!("{}…", &name[..end]),
    }
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Why a text is not strict JSON.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("{0}")]
    Syntax(&'static str),
    #[error("the text ends in the middle")]
    Cut,
    #[error("more text follows the value")]
    Trailing,
    #[error("the name {:?} comes twice", shortened(.0))]
    Duplicate(String),
    #[error("{0} is not JSON: a number has to be finite")]
    NotFinite(&'static str),
    #[error("the number {0} is out of the range of a double")]
    NumberRange(String),
    #[error("an escape is half a surrogate pair")]
    LoneSurrogate,
    #[error("a control character stands unescaped in a string")]
    Control,
    #[error("nested deeper than {0} levels")]
    TooDeep(usize),
}

/// A text that is not strict JSON, with its place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{problem} at {}, byte {offset}", path(&self.segments()))]
pub struct JsonError {
    pub problem: Problem,
    /// From the start of the text, in bytes, from 0.
    pub offset: usize,
    /// From the inside out: the reader adds a step each time it leaves a container.
    outward: Vec<Segment>,
}

impl JsonError {
    pub(super) fn new(problem: Problem, offset: usize) -> Self {
        Self { problem, offset, outward: Vec::new() }
    }

    /// Records that the place is inside this step.
    pub(super) fn leave(&mut self, segment: Segment) {
        self.outward.push(segment);
    }

    /// The path from the root to the place.
    pub fn segments(&self) -> Vec<Segment> {
        self.outward.iter().rev().cloned().collect()
    }
}
