//! A mistake in something a person wrote (scenario, requirement, profile): where, what, and how to mend it.

use super::node::Place;
use miette::{LabeledSpan, NamedSource, SourceCode};
use std::fmt;
use std::sync::Arc;

#[derive(Clone, Debug)]
pub struct Diagnostic {
    pub place: Place,
    pub message: String,
    pub hint: Option<String>,
    source: Option<NamedSource<Arc<str>>>,
}

impl Diagnostic {
    pub fn new(place: Place, message: impl Into<String>) -> Box<Self> {
        Box::new(Self { place, message: message.into(), hint: None, source: None })
    }

    #[must_use]
    pub fn hint(mut self: Box<Self>, hint: impl Into<String>) -> Box<Self> {
        self.hint = Some(hint.into());
        self
    }

    /// Adds the nearest of `known` as the hint, or lists them when none is near.
    #[must_use]
    pub fn did_you_mean<'a>(self: Box<Self>, wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Box<Self> {
        let hint = suggestion(wrong, known);
        match hint {
            Some(hint) => self.hint(hint),
            None => self,
        }
    }

    #[must_use]
    pub fn with_source(mut self: Box<Self>, text: &str) -> Box<Self> {
        self.source = Some(NamedSource::new(&*self.place.file, Arc::from(text)));
        self
    }

    fn offset(&self) -> Option<usize> {
        let text = self.source.as_ref()?.inner();
        let line_start = if self.place.line <= 1 {
            0
        } else {
            text.match_indices('\n').nth(usize::try_from(self.place.line).ok()?.checked_sub(2)?)?.0 + 1
        };
        let line = &text[line_start..];
        let column = usize::try_from(self.place.column).ok()?.saturating_sub(1);
        Some(line_start + line.char_indices().nth(column).map_or(0, |(i, _)| i))
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for Diagnostic {}

impl miette::Diagnostic for Diagnostic {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.hint.as_ref().map(|hint| Box::new(hint) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let offset = self.offset()?;
        Some(Box::new(std::iter::once(LabeledSpan::at_offset(offset, "here"))))
    }
}

/// The most names that are listed when none is near.
const FEW: usize = 24;

/// `did you mean ...?` for the nearest name, else the list of a few known ones.
pub fn suggestion<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let known: Vec<&str> = known.into_iter().collect();
    let nearest = known.iter().map(|name| (distance(wrong, name), *name)).min()?;
    if nearest.0 <= wrong.chars().count().max(3) / 3 {
        return Some(format!("did you mean `{}`?", nearest.1));
    }
    (known.len() <= FEW).then(|| format!("known here: {}", known.join(", ")))
}

/// Edits (insertions, deletions, replacements, swaps of neighbours) between two names.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                let swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
                if swapped { best.min(rows[i - 2][j - 2] + 1) } else { best }
            };
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_suggested_and_far_ones_listed() {
        assert_eq!(suggestion("expct", ["expect", "save"]).unwrap(), "did you mean `expect`?");
        assert_eq!(suggestion("asks-aproval", ["asks-input", "asks-approval"]).unwrap(), "did you mean `asks-approval`?");
        assert_eq!(suggestion("zzz", ["expect", "save"]).unwrap(), "known here: expect, save");
    }

    #[test]
    fn swapped_neighbours_are_one_edit() {
        assert_eq!(distance("staus", "status"), 1);
        assert_eq!(distance("sattus", "status"), 1);
        assert_eq!(distance("", "abc"), 3);
    }
}
