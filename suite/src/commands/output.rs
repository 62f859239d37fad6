//! Where reports go: a file, standard output, the terminal. Secrets are masked here, in everything.

use super::CommandError;
use crate::judge::transcript::HIDDEN;
use proofmark_reports::model::Report;
use proofmark_reports::{json, junit};
use serde_json::Value;
use std::io::Write;
use std::path::PathBuf;
use std::str::FromStr;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Json,
    Junit,
}

/// `KIND=PATH`; `-` is standard output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Destination {
    pub kind: Kind,
    pub path: PathBuf,
}

impl FromStr for Destination {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, path) = text.split_once('=').ok_or("KIND=PATH is expected, such as junit=report.xml")?;
        let kind = match kind {
            "json" => Kind::Json,
            "junit" => Kind::Junit,
            other => return Err(format!("there is no report kind `{other}`; known: json, junit")),
        };
        if path.is_empty() { Err("the path is missing; `-` is standard output".to_owned()) } else { Ok(Self { kind, path: path.into() }) }
    }
}

impl Destination {
    pub fn is_stdout(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    /// A path that cannot be written is found before anything is sent.
    pub fn probe(&self) -> Result<(), CommandError> {
        if self.is_stdout() {
            return Ok(());
        }
        let opened = std::fs::OpenOptions::new().create(true).append(true).open(&self.path);
        opened.map(drop).map_err(|problem| CommandError::Write { path: self.path.clone(), problem })
    }

    pub fn write(&self, report: &Report, out: &mut dyn Write) -> Result<(), CommandError> {
        let text = match self.kind {
            Kind::Json => json::render(report),
            Kind::Junit => junit::render(report),
        };
        let written = if self.is_stdout() { out.write_all(text.as_bytes()) } else { std::fs::write(&self.path, text) };
        written.map_err(|problem| CommandError::Write { path: self.path.clone(), problem })
    }
}

/// Replaces every secret in every text of the report.
pub fn masked(report: Report, secrets: &[String]) -> Result<Report, CommandError> {
    let mut secrets: Vec<String> = secrets.iter().filter(|secret| !secret.is_empty()).flat_map(|secret| spellings(secret)).collect();
    // The longest first: one secret may be part of another.
    secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
    if secrets.is_empty() {
        return Ok(report);
    }
    let mut value = serde_json::to_value(&report).map_err(|error| CommandError::Kit(error.to_string()))?;
    mask(&mut value, &secrets);
    serde_json::from_value(value).map_err(|error| CommandError::Kit(error.to_string()))
}

/// As it was sent, and as it reads inside JSON.
fn spellings(secret: &str) -> Vec<String> {
    let escaped = Value::from(secret).to_string();
    let escaped = &escaped[1..escaped.len() - 1];
    let mut all = vec![secret.to_owned(), escaped.to_owned(), escaped.replace('/', "\\/")];
    all.dedup();
    all
}

/// What stands where a long text was cut.
const CUTS: &[&str] = &["... (", "[... "];
/// A shorter beginning of a secret gives nothing away.
const STUMP: usize = 4;

/// Of a text that was cut inside a secret, the beginning of the secret is left. Where it starts, and where the cut is.
fn stump(text: &str, secret: &str) -> Option<(usize, usize)> {
    let mut cuts = CUTS.iter().flat_map(|cut| text.match_indices(cut)).map(|(at, _)| at).filter(|at| !text[..*at].ends_with(HIDDEN));
    let beginnings = || (STUMP..secret.len()).rev().filter_map(|end| secret.get(..end));
    cuts.find_map(|cut| beginnings().find(|begun| text[..cut].ends_with(begun)).map(|begun| (cut - begun.len(), cut)))
}

fn mask(value: &mut Value, secrets: &[String]) {
    match value {
        Value::String(text) => {
            for secret in secrets {
                if text.contains(secret.as_str()) {
                    *text = text.replace(secret.as_str(), HIDDEN);
                }
                while let Some((start, end)) = stump(text, secret) {
                    text.replace_range(start..end, HIDDEN);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| mask(item, secrets)),
        Value::Object(members) => members.values_mut().for_each(|member| mask(member, secrets)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn destinations() {
        assert_eq!("junit=a=b.xml".parse(), Ok(Destination { kind: Kind::Junit, path: "a=b.xml".into() }));
        assert!("json=-".parse::<Destination>().unwrap().is_stdout());
        assert!("html=x".parse::<Destination>().unwrap_err().contains("known: json, junit"));
        assert!("json".parse::<Destination>().is_err());
        assert!("json=".parse::<Destination>().is_err());
    }

    #[test]
    fn secrets_are_masked_wherever_they_stand() {
        let mut value = json!({"a": ["x token-123 y"], "b": {"c": "token-1"}, "n": 1});
        mask(&mut value, &["token-123".to_owned(), "token-1".to_owned()]);
        assert_eq!(value, json!({"a": ["x [secret] y"], "b": {"c": "[secret]"}, "n": 1}));
    }

    #[test]
    fn a_secret_in_escapes_and_one_that_was_cut() {
        assert_eq!(spellings("a\"/b"), ["a\"/b", "a\\\"/b", "a\\\"\\/b"]);
        let mut value =
            json!(["xtoken-... (12 bytes)", "xtok... (12 bytes)", "token-[... 12 bytes in all], token-... (9 bytes)", "token-"]);
        mask(&mut value, &["token-123".to_owned()]);
        assert_eq!(
            value,
            json!(["x[secret]... (12 bytes)", "xtok... (12 bytes)", "[secret][... 12 bytes in all], [secret]... (9 bytes)", "token-"])
        );
    }
}
