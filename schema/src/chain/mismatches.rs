//! Records of one session whose hash is not that of their content: one by one, or all of them hashed in another canonical form.

use super::deviant;
use super::finding::{Finding, Findings, Place, Rule, Weight};
use super::form::Form;
use super::hash::{Hash, HashText};
use super::record::Record;
use super::session::{EACH, Entry};

/// The longest canonical form that a finding shows.
const SHOWN: usize = 2048;
/// The longest line that is kept to try further forms on.
const SAMPLE: usize = 64 * 1024;

/// What may still be spent on finding out which other canonical form somebody hashed. Shared by all sessions of a journal.
#[derive(Debug)]
pub(super) struct Effort {
    searches: u32,
    /// What explained the last session that had another form.
    hint: Form,
}

impl Default for Effort {
    fn default() -> Self {
        Self { searches: 32, hint: Form::default() }
    }
}

#[derive(Debug, Default)]
pub(super) struct Mismatches {
    /// The form that explains the records counted as explained.
    form: Option<Form>,
    explained: u64,
    first_explained: Option<Finding>,
    /// The line of the first of them.
    sample: Vec<u8>,
    unexplained: u64,
    listed: Vec<Finding>,
}

/// What the session as a whole has to say about its mismatches.
#[derive(Clone, Copy)]
pub(super) struct Whole {
    /// The first record of the session.
    pub(super) first: Place,
    /// Records whose hash can be judged.
    pub(super) judged: u64,
    /// Not one hash of a record is that of its content, and yet all records follow each other.
    pub(super) coherent_without_a_hash: bool,
}

impl Mismatches {
    /// Takes a record that has another hash; true when another canonical form explains it.
    pub(super) fn record(&mut self, entry: Entry<'_>, place: Place, computed: Hash, effort: &mut Effort) -> bool {
        if self.explains(entry.text, effort) {
            self.explained += 1;
            self.first_explained.get_or_insert_with(|| Finding::new(Weight::Broken, Rule::CanonicalForm, place, ""));
            return true;
        }
        self.unexplained += 1;
        if self.listed.len() < EACH {
            let message = match entry.record.content_hash {
                HashText::Hash(_) => "The content does not give the recorded hash.",
                HashText::Empty => "The record has no content_hash.",
                HashText::Other(_) => "The content_hash is not 64 lower-case hex digits.",
            };
            let mut finding = Finding::new(Weight::Broken, Rule::ContentHash, place, message)
                .with("recorded", &entry.record.content_hash)
                .with("computed", &computed);
            // Once a session is enough to follow the computation by hand.
            if let (true, Some(hashed)) = (self.listed.is_empty(), hashed_text(entry.text)) {
                finding = finding.with("hashed", &hashed);
            }
            self.listed.push(finding);
        }
        false
    }

    /// Whether the form found so far, or one that explains the first mismatch as well, gives the hash of this line.
    fn explains(&mut self, line: &[u8], effort: &mut Effort) -> bool {
        let guess = self.form.unwrap_or(effort.hint);
        if guess != Form::default() && deviant::fits(line, &guess) {
            return self.adopt(guess, line);
        }
        if effort.searches == 0 || line.is_empty() {
            return false;
        }
        effort.searches -= 1;
        let Some(form) = deviant::explain(line, &self.form.unwrap_or_default()) else { return false };
        effort.hint = form;
        self.adopt(form, line)
    }

    /// Takes a form for the session, unless it does not give the hash of the first mismatch.
    fn adopt(&mut self, form: Form, line: &[u8]) -> bool {
        if self.form.is_some_and(|known| known != form) && !deviant::fits(&self.sample, &form) {
            return false;
        }
        if self.form.is_none() && line.len() <= SAMPLE {
            self.sample = line.to_vec();
        }
        self.form = Some(form);
        true
    }

    /// Says what is to be said once all records of the session were seen: one finding for another form, however many records
    /// have it.
    pub(super) fn close(self, whole: Whole, out: &mut Findings) {
        let Whole { first, judged, coherent_without_a_hash } = whole;
        if coherent_without_a_hash && self.explained == 0 && judged > 1 {
            let message = format!(
                "None of {judged} records gives its hash, and yet each links to the one before: another canonical form, none of those known here."
            );
            let mut finding = Finding::new(Weight::Broken, Rule::CanonicalForm, first, message);
            finding.details = self.listed.into_iter().next().map(|first| first.details).unwrap_or_default();
            return out.push(finding);
        }
        if let (Some(form), Some(mut finding)) = (self.form, self.first_explained) {
            finding.message = format!(
                "{} of {judged} records were hashed in another canonical form, here for the first time: {}.",
                self.explained,
                form.names().join("; ")
            );
            out.push(finding);
        }
        out.count(Weight::Broken, self.unexplained - self.listed.len() as u64);
        for finding in self.listed {
            out.push(finding);
        }
    }
}

/// The bytes whose hash is the computed one, unless they are too many to show.
fn hashed_text(line: &[u8]) -> Option<String> {
    let mut canonical = Vec::new();
    Record::read(line, &mut canonical).ok()?;
    String::from_utf8(canonical).ok().filter(|text| text.len() <= SHOWN)
}
