//! Folding: from evaluations to the outcome of each case and the status of each requirement.

use super::evaluate::Verdict;
use super::transcript::Transcripts;
use crate::monitors::Observation;
use crate::plan::{Case, Decision};
use crate::runner::outcome::{CaseResult, Evaluation};
use crate::scenario::catalogue::Catalogue;
use crate::scenario::requirements::RequirementText;
use proofmark_reports::model::{Finding, Level, Note, Outcome, Requirement, Scenario};
use proofmark_reports::summary::{self, Silence};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Everything that was seen of one target.
pub struct Seen<'a> {
    pub catalogue: &'a Catalogue,
    pub cases: &'a [Case],
    /// Rules that speak of nothing the target has, with the reason.
    pub inapplicable: &'a BTreeMap<String, String>,
    pub results: &'a BTreeMap<Arc<str>, CaseResult>,
    /// Findings of shapes, by case (or sweep, or discovery).
    pub shapes: &'a BTreeMap<Arc<str>, Vec<Evaluation>>,
    /// Observations of monitors, by requirement.
    pub monitors: &'a BTreeMap<String, Observation>,
    pub transcripts: &'a Transcripts<'a>,
    pub show_wire: bool,
}

pub struct Folded {
    pub scenarios: Vec<Scenario>,
    pub requirements: Vec<Requirement>,
}

#[derive(Default)]
struct Evidence {
    held: u64,
    findings: Vec<Finding>,
    readings: BTreeMap<String, u64>,
    silences: Vec<Silence>,
}

pub fn fold(seen: &Seen) -> Folded {
    let mut evidence: BTreeMap<&str, Evidence> = BTreeMap::new();
    let mut scenarios: Vec<Scenario> = seen.cases.iter().map(|case| scenario(seen, case, &mut evidence)).collect();
    for (case, evaluations) in seen.shapes {
        for evaluation in evaluations {
            count(seen, case, evaluation, &mut evidence);
        }
    }
    for text in &seen.catalogue.requirements {
        if let Some(reason) = seen.inapplicable.get(&text.id) {
            evidence.entry(&text.id).or_default().silences = vec![Silence::NotApplicable(reason.clone())];
        }
    }
    scenarios.extend(monitors(seen, &mut evidence));
    let requirements = seen.catalogue.requirements.iter().map(|text| requirement(text, evidence.remove(text.id.as_str()))).collect();
    Folded { scenarios, requirements }
}

/// Adds one evaluation to the evidence of its rule; the finding, if it broke.
fn count<'a>(seen: &Seen<'a>, case: &str, evaluation: &'a Evaluation, evidence: &mut BTreeMap<&'a str, Evidence>) -> Option<Finding> {
    let entry = evidence.entry(&evaluation.rule).or_default();
    match &evaluation.verdict {
        Verdict::Held { readings } => {
            entry.held += 1;
            readings.iter().for_each(|reading| *entry.readings.entry(reading.clone()).or_default() += 1);
            None
        }
        Verdict::Unseen(reason) => {
            entry.silences.push(Silence::NotExercised(format!("{case}: {reason}")));
            None
        }
        Verdict::Broken(mismatches) => {
            let level = seen.catalogue.requirement(&evaluation.rule).map_or(Level::Observed, |r| r.level);
            let finding = Finding {
                requirement: evaluation.rule.clone(),
                level,
                scenario: case.to_owned(),
                at: evaluation.at.as_ref().map(ToString::to_string),
                mismatches: mismatches.clone(),
                reproduce: seen.transcripts.reproduce(&evaluation.exchanges),
                exchanges: evaluation.exchanges.clone(),
            };
            // The same difference in every round or every event is told once a case.
            let known =
                entry.findings.iter().any(|f| f.scenario == finding.scenario && f.at == finding.at && f.mismatches == finding.mismatches);
            if !known {
                entry.findings.push(finding.clone());
            }
            Some(finding)
        }
    }
}

fn scenario<'a>(seen: &Seen<'a>, case: &Case, evidence: &mut BTreeMap<&'a str, Evidence>) -> Scenario {
    let mut scenario = Scenario {
        path: case.path.to_string(),
        title: case.scenario.title.clone(),
        outcome: Outcome::NotExercised,
        reason: None,
        duration_ms: 0,
        exercised: Vec::new(),
        findings: Vec::new(),
        notes: Vec::new(),
        transcript: Vec::new(),
    };
    let Some(result) = seen.results.get(&case.path) else {
        let (outcome, reason) = match &case.decision {
            Decision::NotApplicable(reason) => (Outcome::NotApplicable, reason.clone()),
            Decision::NotExercised { reason, .. } => (Outcome::NotExercised, reason.clone()),
            Decision::Run => (Outcome::NotExercised, "the run ended before this case".to_owned()),
        };
        silence(case, outcome, &reason, seen.catalogue, evidence);
        return Scenario { outcome, reason: Some(reason), ..scenario };
    };
    scenario.duration_ms = u64::try_from(result.duration.as_millis()).unwrap_or(u64::MAX);
    let mut exercised = BTreeSet::new();
    let mut unseen = None;
    for evaluation in &result.evaluations {
        let finding = count(seen, &case.path, evaluation, evidence);
        if !evaluation.given {
            match &evaluation.verdict {
                Verdict::Unseen(reason) => unseen = unseen.or(Some(reason.clone())),
                _ => drop(exercised.insert(evaluation.rule.clone())),
            }
            let text = evaluation.verdict.readings().join(", ");
            if !text.is_empty() {
                scenario.notes.push(Note { requirement: Some(evaluation.rule.clone()), text: format!("read as: {text}") });
            }
        }
        scenario.findings.extend(finding.filter(|f| !scenario.findings.contains(f)));
    }
    scenario.notes.extend(result.notes.iter().map(|text| Note { requirement: None, text: text.clone() }));
    scenario.notes.sort_by(|a, b| (&a.requirement, &a.text).cmp(&(&b.requirement, &b.text)));
    scenario.notes.dedup();
    scenario.exercised = exercised.into_iter().collect();
    (scenario.outcome, scenario.reason) = outcome(result, &scenario, unseen);
    if scenario.outcome == Outcome::Blocked || scenario.outcome == Outcome::NotExercised {
        let reason = scenario.reason.clone().unwrap_or_default();
        silence(case, Outcome::NotExercised, &reason, seen.catalogue, evidence);
    }
    let shape_broken = seen.shapes.get(&case.path).is_some_and(|all| all.iter().any(|e| matches!(e.verdict, Verdict::Broken(_))));
    if seen.show_wire || scenario.outcome != Outcome::Passed || !scenario.findings.is_empty() || shape_broken {
        scenario.transcript = seen.transcripts.of_case(&case.path);
    }
    scenario
}

fn outcome(result: &CaseResult, scenario: &Scenario, unseen: Option<String>) -> (Outcome, Option<String>) {
    if let Some(reason) = &result.errored {
        return (Outcome::Errored, Some(reason.clone()));
    }
    let given: BTreeSet<(&str, String)> = result
        .evaluations
        .iter()
        .filter(|e| e.given && matches!(e.verdict, Verdict::Broken(_)))
        .map(|e| (e.rule.as_str(), e.at.as_ref().map(ToString::to_string).unwrap_or_default()))
        .collect();
    let own: Vec<Finding> = scenario
        .findings
        .iter()
        .filter(|f| !given.contains(&(f.requirement.as_str(), f.at.clone().unwrap_or_default())))
        .cloned()
        .collect();
    let judged = summary::outcome(&own);
    match (&result.blocked, judged) {
        (_, Outcome::Failed | Outcome::Warned) => (judged, own.first().map(told)),
        (Some(reason), _) => (Outcome::Blocked, Some(reason.clone())),
        (None, _) if scenario.exercised.is_empty() => {
            (Outcome::NotExercised, Some(unseen.unwrap_or_else(|| "nothing in it could be judged".to_owned())))
        }
        (None, judged) => (judged, None),
    }
}

fn told(finding: &Finding) -> String {
    finding.mismatches.first().map_or_else(
        || finding.requirement.clone(),
        |m| format!("{}: {} expected {}, got {}", finding.requirement, m.path, m.expected, m.actual),
    )
}

/// Notes for the rules a case would have checked why it did not.
fn silence<'a>(case: &Case, outcome: Outcome, reason: &str, catalogue: &'a Catalogue, evidence: &mut BTreeMap<&'a str, Evidence>) {
    let rules = Catalogue::own_rules(&case.scenario);
    for text in catalogue.requirements.iter().filter(|text| rules.contains(text.id.as_str())) {
        let silence = match outcome {
            Outcome::NotApplicable => Silence::NotApplicable(reason.to_owned()),
            _ => Silence::NotExercised(reason.to_owned()),
        };
        evidence.entry(&text.id).or_default().silences.push(silence);
    }
}

/// Run-wide monitors as cases of their own, so that a scenario is blamed for nothing but its own expectations.
fn monitors<'a>(seen: &Seen<'a>, evidence: &mut BTreeMap<&'a str, Evidence>) -> Vec<Scenario> {
    let mut scenarios = Vec::new();
    for text in seen.catalogue.requirements.iter().filter(|text| text.monitor.is_some()) {
        let Some(observation) = seen.monitors.get(&text.id) else { continue };
        let entry = evidence.entry(&text.id).or_default();
        entry.held += observation.held;
        let path = format!("{}/monitors/{}", seen.catalogue.contract, text.id);
        let findings: Vec<Finding> = observation
            .findings
            .iter()
            .map(|found| Finding {
                requirement: text.id.clone(),
                level: text.level,
                scenario: path.clone(),
                at: None,
                mismatches: found.mismatches.clone(),
                reproduce: seen.transcripts.reproduce(&found.exchanges),
                exchanges: found.exchanges.clone(),
            })
            .collect();
        entry.findings.extend(findings.iter().cloned());
        let exchanges: Vec<u64> = observation.findings.iter().flat_map(|f| f.exchanges.iter().copied()).collect();
        let lacks = seen.inapplicable.get(&text.id);
        let outcome = match (observation.held, findings.is_empty()) {
            (_, false) => summary::outcome(&findings),
            (0, true) if lacks.is_some() => Outcome::NotApplicable,
            (0, true) => Outcome::NotExercised,
            _ => Outcome::Passed,
        };
        scenarios.push(Scenario {
            path,
            title: text.text.clone(),
            outcome,
            reason: match outcome {
                Outcome::NotApplicable => lacks.cloned(),
                Outcome::NotExercised => Some("nothing was seen that it could judge".to_owned()),
                _ => findings.first().map(told),
            },
            duration_ms: 0,
            exercised: if observation.held == 0 && findings.is_empty() { Vec::new() } else { vec![text.id.clone()] },
            findings,
            notes: Vec::new(),
            transcript: seen.transcripts.of_exchanges(&exchanges),
        });
    }
    scenarios
}

fn requirement(text: &RequirementText, evidence: Option<Evidence>) -> Requirement {
    let mut evidence = evidence.unwrap_or_default();
    if let Some(reason) = &text.unobservable {
        evidence.silences.push(Silence::Unobservable(reason.clone()));
    }
    let (status, reason) = summary::status(text.level, evidence.held, evidence.findings.len(), &evidence.silences);
    Requirement {
        id: text.id.clone(),
        area: text.area.clone(),
        level: text.level,
        source: text.source.clone(),
        text: text.text.clone(),
        status,
        reason,
        held: evidence.held,
        findings: evidence.findings,
        readings: evidence.readings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::options::TargetArgs;
    use proofmark_reports::model::Status;

    #[test]
    fn a_rule_of_what_the_target_lacks_does_not_apply_unless_it_was_seen_all_the_same() {
        let loaded = TargetArgs::default().load().unwrap();
        let rules = ["HR-ACTION-16", "HR-ART-8"];
        // That it went another way is no news where there is no other.
        let unseen = |rule: &&str| Evaluation {
            rule: (*rule).to_owned(),
            at: None,
            verdict: Verdict::Unseen("it went another way".to_owned()),
            exchanges: Vec::new(),
            given: false,
        };
        let shapes = BTreeMap::from([(Arc::from("a case"), rules.iter().map(unseen).collect())]);
        let monitors: BTreeMap<String, Observation> = rules.iter().map(|id| ((*id).to_owned(), Observation::default())).collect();
        let folded = |lacked: &[&str], monitors: &BTreeMap<String, Observation>| {
            let folded = fold(&Seen {
                catalogue: &loaded.catalogues["harness-runtime"],
                cases: &[],
                inapplicable: &lacked.iter().map(|id| ((*id).to_owned(), "it has none".to_owned())).collect(),
                results: &BTreeMap::new(),
                shapes: &shapes,
                monitors,
                transcripts: &Transcripts::new(&[], std::iter::empty()),
                show_wire: false,
            });
            rules.map(|id| {
                let rule = folded.requirements.iter().find(|rule| rule.id == id).unwrap();
                let case = folded.scenarios.iter().find(|case| case.path.ends_with(id)).unwrap();
                (rule.status, rule.reason.clone().unwrap_or_default(), case.outcome)
            })
        };
        let [lacked, other] = folded(&rules[..1], &monitors);
        assert_eq!(lacked, (Status::NotApplicable, "it has none".to_owned(), Outcome::NotApplicable));
        assert_eq!((other.0, other.2), (Status::NotExercised, Outcome::NotExercised));
        let mut seen = monitors.clone();
        seen.get_mut(rules[0]).unwrap().held = 1;
        assert_eq!(folded(&rules, &seen)[0], (Status::Held, String::new(), Outcome::Passed));
    }
}
