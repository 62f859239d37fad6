//! What follows from requirements and cases by counting: statuses, tallies, the verdict table. Owns no wording and no exit code.

use crate::model::{Feature, FeatureVerdict, Finding, Level, Outcome, Requirement, Scenario, Status, Tally};
use std::collections::BTreeMap;

/// Why a case that names a rule said nothing about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Silence {
    /// Nothing provoked it, or a step that leads there failed.
    NotExercised(String),
    /// The target declares that it lacks the feature.
    NotApplicable(String),
    /// Nothing of it crosses the wire.
    Unobservable(String),
}

/// The status of a requirement, and the reason when nothing was seen of it.
///
/// One finding outweighs everything; then one observation outweighs every silence. Of several silences the one that a user can mend wins.
///
/// ```
/// # use proofmark_reports::{model::{Level, Status}, summary::{Silence, status}};
/// let lacks = Silence::NotApplicable("no action.approval".into());
/// assert_eq!(status(Level::Must, 3, 1, &[]), (Status::Broken, None));
/// assert_eq!(status(Level::Must, 0, 0, &[lacks]), (Status::NotApplicable, Some("no action.approval".into())));
/// ```
pub fn status(level: Level, held: u64, findings: usize, silences: &[Silence]) -> (Status, Option<String>) {
    match (findings, level) {
        (0, _) if held > 0 => (Status::Held, None),
        (0, _) => silent(silences),
        (_, Level::Must | Level::Should) => (Status::Broken, None),
        (_, Level::Observed | Level::Disputed) => (Status::Differs, None),
    }
}

fn silent(silences: &[Silence]) -> (Status, Option<String>) {
    let reason = |pick: fn(&Silence) -> Option<&String>| silences.iter().find_map(pick).cloned();
    let mendable = reason(|silence| if let Silence::NotExercised(why) = silence { Some(why) } else { None });
    let lacking = reason(|silence| if let Silence::NotApplicable(why) = silence { Some(why) } else { None });
    let hidden = reason(|silence| if let Silence::Unobservable(why) = silence { Some(why) } else { None });
    match (mendable, lacking, hidden) {
        (None, Some(why), _) => (Status::NotApplicable, Some(why)),
        (None, None, Some(why)) => (Status::Unobservable, Some(why)),
        (why, ..) => (Status::NotExercised, why.or_else(|| Some("nothing in this run looks at it".to_owned()))),
    }
}

/// The outcome of a case whose steps all ran: its findings decide, and only `must` fails it.
pub fn outcome(findings: &[Finding]) -> Outcome {
    match findings.iter().map(|finding| finding.level).min() {
        Some(Level::Must) => Outcome::Failed,
        Some(Level::Should) => Outcome::Warned,
        Some(Level::Observed | Level::Disputed) | None => Outcome::Passed,
    }
}

/// How many cases ended how. Outcomes that did not occur are left out.
pub fn outcomes<'a>(scenarios: impl IntoIterator<Item = &'a Scenario>) -> BTreeMap<Outcome, usize> {
    scenarios.into_iter().fold(BTreeMap::new(), |mut counts, scenario| {
        *counts.entry(scenario.outcome).or_default() += 1;
        counts
    })
}

/// Requirements of one level by status.
pub fn tally<'a>(requirements: impl IntoIterator<Item = &'a Requirement>, level: Level) -> Tally {
    let mut tally = Tally::default();
    requirements.into_iter().filter(|requirement| requirement.level == level).for_each(|requirement| tally.add(requirement.status));
    tally
}

/// The verdict table: one line an area, in the order in which the requirements name the areas. An area that has neither a `must` nor a
/// `should` has no line: there is nothing to conform to.
pub fn features(requirements: &[Requirement]) -> Vec<Feature> {
    let mut features: Vec<Feature> = Vec::new();
    for requirement in requirements.iter().filter(|requirement| matches!(requirement.level, Level::Must | Level::Should)) {
        let index = features.iter().position(|feature| feature.area == requirement.area).unwrap_or(features.len());
        if index == features.len() {
            features.push(unseen(&requirement.area));
        }
        let feature = &mut features[index];
        let tally = if requirement.level == Level::Must { &mut feature.must } else { &mut feature.should };
        tally.add(requirement.status);
    }
    for feature in &mut features {
        feature.verdict = verdict(&feature.must, &feature.should);
    }
    features
}

fn unseen(area: &str) -> Feature {
    Feature { area: area.to_owned(), verdict: FeatureVerdict::Unseen, must: Tally::default(), should: Tally::default() }
}

/// What an area's tallies amount to. An area without a `must` that could be seen is judged by its `should` rules, which never make it
/// [`FeatureVerdict::Violates`].
pub fn verdict(must: &Tally, should: &Tally) -> FeatureVerdict {
    let binds = must.visible() > 0;
    let decisive = if binds { must } else { should };
    match decisive {
        Tally { broken: 1.., .. } if binds => FeatureVerdict::Violates,
        Tally { broken: 1.., .. } => FeatureVerdict::Partly,
        Tally { held: 1.., not_exercised: 0, .. } => FeatureVerdict::Conforms,
        Tally { held: 1.., .. } => FeatureVerdict::Partly,
        Tally { not_exercised: 0, not_applicable: 1.., .. } => FeatureVerdict::NotApplicable,
        _ => FeatureVerdict::Unseen,
    }
}

impl Tally {
    /// Counts one requirement. [`Status::Differs`] belongs to levels that are never tallied; should it come, it counts as broken rather
    /// than vanish.
    pub fn add(&mut self, status: Status) {
        let count = match status {
            Status::Held => &mut self.held,
            Status::Broken | Status::Differs => &mut self.broken,
            Status::NotExercised => &mut self.not_exercised,
            Status::NotApplicable => &mut self.not_applicable,
            Status::Unobservable => &mut self.unobservable,
        };
        *count += 1;
    }

    /// Requirements of which something could be seen from outside.
    pub fn visible(&self) -> usize {
        self.held + self.broken + self.not_exercised + self.not_applicable
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Source;

    fn rule(area: &str, level: Level, status: Status) -> Requirement {
        let source = Source { document: String::new(), section: String::new(), normative_text: true };
        let (text, readings) = (String::new(), BTreeMap::new());
        Requirement {
            id: "X-1".into(),
            area: area.into(),
            level,
            source,
            text,
            status,
            reason: None,
            held: 0,
            findings: Vec::new(),
            readings,
        }
    }

    fn finding(level: Level) -> Finding {
        let (requirement, scenario) = ("X-1".to_owned(), "x/y/z".to_owned());
        Finding { requirement, level, scenario, at: None, mismatches: Vec::new(), reproduce: None, exchanges: Vec::new() }
    }

    #[test]
    fn a_finding_outweighs_what_held_and_what_was_silent() {
        let silences = [Silence::NotExercised("later".into())];
        assert_eq!(status(Level::Must, 9, 1, &silences), (Status::Broken, None));
        assert_eq!(status(Level::Should, 0, 1, &[]), (Status::Broken, None));
        assert_eq!(status(Level::Observed, 9, 1, &[]), (Status::Differs, None));
        assert_eq!(status(Level::Disputed, 9, 1, &[]), (Status::Differs, None));
        assert_eq!(status(Level::Must, 1, 0, &silences), (Status::Held, None));
    }

    #[test]
    fn of_several_silences_the_mendable_one_is_told() {
        let (add, lacks, hidden) =
            (Silence::NotExercised("add".into()), Silence::NotApplicable("lacks".into()), Silence::Unobservable("hidden".into()));
        let fold = |silences: &[Silence]| status(Level::Must, 0, 0, silences);
        assert_eq!(fold(&[hidden.clone(), lacks.clone(), add]), (Status::NotExercised, Some("add".into())));
        assert_eq!(fold(&[hidden.clone(), lacks]), (Status::NotApplicable, Some("lacks".into())));
        assert_eq!(fold(&[hidden]), (Status::Unobservable, Some("hidden".into())));
        assert_eq!(fold(&[]).0, Status::NotExercised);
    }

    #[test]
    fn only_a_must_fails_a_case() {
        assert_eq!(outcome(&[]), Outcome::Passed);
        assert_eq!(outcome(&[finding(Level::Disputed), finding(Level::Observed)]), Outcome::Passed);
        assert_eq!(outcome(&[finding(Level::Observed), finding(Level::Should)]), Outcome::Warned);
        assert_eq!(outcome(&[finding(Level::Should), finding(Level::Must)]), Outcome::Failed);
    }

    /// The verdict of an area with these rules.
    fn area(rules: &[(Level, Status)]) -> FeatureVerdict {
        let rules: Vec<_> = rules.iter().map(|(level, status)| rule("a", *level, *status)).collect();
        features(&rules)[0].verdict
    }

    #[test]
    fn an_area_is_judged_by_its_musts() {
        use Level::{Must, Should};
        use Status::{Broken, Held, NotApplicable, NotExercised, Unobservable};
        assert_eq!(area(&[(Must, Held), (Must, Unobservable), (Must, NotApplicable), (Should, Broken)]), FeatureVerdict::Conforms);
        assert_eq!(area(&[(Must, Held), (Must, NotExercised)]), FeatureVerdict::Partly);
        assert_eq!(area(&[(Must, Held), (Must, NotExercised), (Must, Broken)]), FeatureVerdict::Violates);
        assert_eq!(area(&[(Must, NotExercised), (Must, NotApplicable), (Should, Held)]), FeatureVerdict::Unseen);
        assert_eq!(area(&[(Must, NotApplicable), (Must, Unobservable), (Should, Held)]), FeatureVerdict::NotApplicable);
        assert_eq!(area(&[(Must, Unobservable)]), FeatureVerdict::Unseen);
    }

    #[test]
    fn an_area_of_advice_never_violates() {
        use Level::{Must, Should};
        use Status::{Broken, Held, NotApplicable, NotExercised, Unobservable};
        assert_eq!(area(&[(Should, Held), (Must, Unobservable)]), FeatureVerdict::Conforms);
        assert_eq!(area(&[(Should, Held), (Should, Broken)]), FeatureVerdict::Partly);
        assert_eq!(area(&[(Should, Broken)]), FeatureVerdict::Partly);
        assert_eq!(area(&[(Should, NotExercised), (Should, NotApplicable)]), FeatureVerdict::Unseen);
    }

    #[test]
    fn areas_keep_the_order_of_the_catalogue_and_levels_stay_apart() {
        let rules = [
            rule("start", Level::Must, Status::Held),
            rule("cancel", Level::Should, Status::Broken),
            rule("habits", Level::Observed, Status::Differs),
            rule("start", Level::Must, Status::Broken),
            rule("cancel", Level::Must, Status::Held),
        ];
        let seen = features(&rules);
        assert_eq!(seen.iter().map(|feature| feature.area.as_str()).collect::<Vec<_>>(), ["start", "cancel"]);
        assert_eq!(seen[0].must, Tally { held: 1, broken: 1, ..Tally::default() });
        assert_eq!((seen[1].must.held, seen[1].should.broken), (1, 1));
        assert_eq!(tally(&rules, Level::Must), Tally { held: 2, broken: 1, ..Tally::default() });
    }
}
