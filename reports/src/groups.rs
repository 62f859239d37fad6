//! Findings gathered by the rule they accuse, so that one broken rule in a hundred cases is told once.

use crate::model::{Finding, Level, Requirement, Scenario, Status, TargetReport};
use std::collections::{BTreeMap, BTreeSet};

/// One rule and everything that was found against it.
pub(crate) struct Group<'a> {
    pub(crate) id: &'a str,
    pub(crate) level: Level,
    /// `None` when the table lacks the rule; its findings are told all the same.
    pub(crate) rule: Option<&'a Requirement>,
    pub(crate) findings: Vec<&'a Finding>,
}

/// The rules of `target` that something was found against, in the order of the catalogue. Findings that only a case carries are not lost.
pub(crate) fn groups(target: &TargetReport) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = target.requirements.iter().map(of_rule).collect();
    let mut index: BTreeMap<&str, usize> = groups.iter().enumerate().map(|(index, group)| (group.id, index)).collect();
    for finding in target.scenarios.iter().flat_map(|scenario| &scenario.findings) {
        let at = *index.entry(&finding.requirement).or_insert(groups.len());
        if at == groups.len() {
            groups.push(Group { id: &finding.requirement, level: finding.level, rule: None, findings: Vec::new() });
        }
        if !groups[at].findings.contains(&finding) {
            groups[at].findings.push(finding);
        }
    }
    groups.retain(Group::accuses);
    groups
}

fn of_rule(rule: &Requirement) -> Group<'_> {
    Group { id: &rule.id, level: rule.level, rule: Some(rule), findings: rule.findings.iter().collect() }
}

impl Group<'_> {
    fn accuses(&self) -> bool {
        !self.findings.is_empty() || self.rule.is_some_and(|rule| matches!(rule.status, Status::Broken | Status::Differs))
    }

    /// In how many cases it was found.
    pub(crate) fn cases(&self) -> usize {
        self.findings.iter().map(|finding| finding.scenario.as_str()).collect::<BTreeSet<_>>().len()
    }
}

/// The case whose transcript shows a finding: the one it was seen in, or, when that one kept no transcript, one that carries the finding.
pub(crate) fn case_of<'a>(target: &'a TargetReport, finding: &Finding) -> Option<&'a Scenario> {
    let mut recorded = target.scenarios.iter().filter(|scenario| !scenario.transcript.is_empty());
    let seen_in = recorded.clone().find(|scenario| scenario.path == finding.scenario);
    seen_in.or_else(|| recorded.find(|scenario| scenario.findings.contains(finding)))
}
