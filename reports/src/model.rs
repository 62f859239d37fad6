//! The report model: what one run saw and what follows from it. The suite fills it, renderers read it.
//!
//! Everything a renderer prints is in here; a renderer computes no verdict. The JSON rendering of [`Report`] is the published
//! report format (`schema/json/report.schema.json`); [`FORMAT`] names its version.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Name and version of the JSON report format. The minor part rises when members are added, the major when any change meaning.
pub const FORMAT: &str = "proofmark.report/1.0";

/// One run of the kit, against one or more targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    pub format: String,
    pub kit: Kit,
    pub run: RunInfo,
    pub targets: Vec<TargetReport>,
    /// The exit code of the run and why, in one sentence.
    pub exit: Exit,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Kit {
    pub name: String,
    pub version: String,
}

/// What is needed to run the same again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunInfo {
    /// RFC 3339, UTC.
    pub started_at: String,
    pub duration_ms: u64,
    pub seed: u64,
    /// Makes keys and names of this run unique; outside the seed.
    pub nonce: String,
    /// The command line that repeats this run, secrets left out.
    pub reproduce: String,
    pub filters: Vec<String>,
    pub jobs: usize,
    pub in_flight: usize,
    pub timeout_ms: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exit {
    pub code: u8,
    pub reason: String,
}

/// One target and one contract.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetReport {
    /// The URL without credentials, or `reference server`.
    pub url: String,
    pub contract: String,
    /// What the target says of itself (name, version, protocol version), as far as it was seen.
    pub description: BTreeMap<String, String>,
    /// Set when the run on this target ended early.
    pub aborted: Option<Abort>,
    pub features: Vec<Feature>,
    pub requirements: Vec<Requirement>,
    pub scenarios: Vec<Scenario>,
    pub missing_stimuli: Vec<MissingStimulus>,
}

/// Why a run ended before everything planned was seen. The report holds what was seen until then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Abort {
    pub kind: AbortKind,
    /// What was seen, in one sentence: the address, the bound, the last answer.
    pub reason: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AbortKind {
    /// No connection, or nothing answered within the bound.
    Unreachable,
    /// Something answered, and it speaks none of the contracts.
    NotRecognised,
    /// It answered at first, and then no more.
    StoppedAnswering,
    /// The bound of the whole run came first; the target may be well.
    Deadline,
}

/// One line of the verdict table: the requirements of one area.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Feature {
    /// The area, as in the path of its scenarios.
    pub area: String,
    pub verdict: FeatureVerdict,
    /// Requirements by status, `must` only.
    pub must: Tally,
    /// Requirements by status, `should` only.
    pub should: Tally,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    pub held: usize,
    pub broken: usize,
    pub not_exercised: usize,
    pub not_applicable: usize,
    /// Cannot be seen from outside at all; says nothing about the target.
    pub unobservable: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FeatureVerdict {
    /// At least one `must` held, none broken, none left unexercised.
    Conforms,
    /// At least one `must` held and none broken, but some were not exercised.
    Partly,
    /// A `must` was broken.
    Violates,
    /// No `must` was exercised.
    Unseen,
    /// The target declares that it lacks the feature.
    NotApplicable,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    Must,
    Should,
    Observed,
    Disputed,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Source {
    pub document: String,
    pub section: String,
    /// Whether a text in `spec/` says it (and not only a page about it).
    pub normative_text: bool,
}

/// A rule of the contract and what this run says of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    pub id: String,
    pub area: String,
    pub level: Level,
    pub source: Source,
    pub text: String,
    pub status: Status,
    /// Why it was not exercised, does not apply or cannot be seen.
    pub reason: Option<String>,
    /// How often it was checked and held.
    pub held: u64,
    /// What broke it. For `should`: warnings; for `observed` and `disputed`: differences, never counted.
    pub findings: Vec<Finding>,
    /// Disputed rules: which reading was seen how often.
    pub readings: BTreeMap<String, u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Held,
    /// Only `must` and `should`.
    Broken,
    /// Only `observed` and `disputed`: something else was seen than the habit or any published reading. Never counted against a target.
    Differs,
    NotExercised,
    NotApplicable,
    Unobservable,
}

/// One case of one scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scenario {
    /// `contract/area/scenario` or `contract/area/scenario/case`. Run-wide monitors: `contract/monitors/REQUIREMENT`.
    pub path: String,
    pub title: String,
    pub outcome: Outcome,
    /// For outcomes other than `passed`: the first reason, in one sentence.
    pub reason: Option<String>,
    pub duration_ms: u64,
    /// Requirement ids that this case named and evaluated.
    pub exercised: Vec<String>,
    pub findings: Vec<Finding>,
    /// Differences and readings seen: told, never counted.
    pub notes: Vec<Note>,
    /// What went over the wire. Empty for passing cases unless asked for.
    pub transcript: Vec<Exchange>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    Passed,
    Failed,
    Warned,
    Blocked,
    NotApplicable,
    NotExercised,
    Errored,
}

/// One broken expectation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    pub requirement: String,
    pub level: Level,
    /// The case it was seen in.
    pub scenario: String,
    /// Where the expectation stands: `file:line:column`. Monitors have none.
    pub at: Option<String>,
    pub mismatches: Vec<Mismatch>,
    /// A shell line that shows it, where one call does.
    pub reproduce: Option<String>,
    /// Numbers of the exchanges in the scenario's transcript that it rests on.
    pub exchanges: Vec<u64>,
}

/// One difference between what must be and what was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Mismatch {
    /// Place in the answer: `status`, `header content-type`, `$.code`, `events[2].sequence`.
    pub path: String,
    pub expected: String,
    pub actual: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Note {
    pub requirement: Option<String>,
    pub text: String,
}

/// One request and what came back, credentials masked, long bodies cut (the cut says so).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// Number in the scenario's transcript, from 1.
    pub number: u64,
    /// The step that caused it: `given conversation`, `call cancelExecution`, `follow`.
    pub step: String,
    /// Milliseconds from the start of the scenario.
    pub at_ms: u64,
    pub request: Vec<String>,
    pub response: Vec<String>,
}

/// A stimulus that the plan asked for and nothing provides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MissingStimulus {
    pub name: String,
    pub about: String,
    /// How many cases wait for it.
    pub cases: usize,
    /// TOML to paste into a profile.
    pub toml: String,
}
