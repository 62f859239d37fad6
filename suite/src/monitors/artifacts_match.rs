//! `artifacts-match`: the list of artifacts and the artifact.created events of a history tell the same artifacts in the same order.
//!
//! Compares ids, place by place. That ids are unique and that descriptors are equal are rules of their own. Silent while numbers of the
//! history are missing or contested: the lost event may be the one.

use super::World;
use super::finding::{Observation, mismatch};
use super::history::Execution;
use super::snapshot::ArtifactList;
use proofmark_reports::model::Mismatch;
use std::time::Duration;

/// Holds once for each list that named an artifact and was matched by the history up to its end.
pub(super) fn check(world: &World<'_>) -> Observation {
    let mut seen = Observation::default();
    for execution in world.history.executions.values().filter(|execution| !execution.artifacts.is_empty()) {
        let Some(created) = created(execution) else { continue };
        for list in &execution.artifacts {
            let complete = history_is_complete(execution, list);
            let found = difference(list, &created, complete);
            if found.is_none() && complete && !list.ids.is_empty() {
                seen.hold();
            }
            let witnesses = created.iter().map(|artifact| artifact.exchange).take(1).chain([list.exchange.id]);
            seen.accuse(execution.case(list.exchange), witnesses, found.into_iter().collect());
        }
    }
    seen
}

struct Created<'e> {
    id: &'e str,
    sequence: i64,
    /// Since when it was certainly in the history: when it, or anything after it, was seen.
    at: Duration,
    exchange: u64,
}

/// All creation events in order; `None` when the history is not known without holes.
fn created<'e>(execution: &'e Execution<'_>) -> Option<Vec<Created<'e>>> {
    let whole = (1..).zip(execution.known.keys()).all(|(expected, sequence)| expected == *sequence);
    if !whole || !execution.disagreements.is_empty() {
        return None;
    }
    let mut at = Duration::MAX;
    let mut found = Vec::new();
    for (reading, event, seen_at) in execution.agreed().rev() {
        at = at.min(seen_at);
        if event.kind == "artifact.created" {
            found.push(Created { id: event.text("id")?, sequence: event.sequence, at, exchange: reading.exchange.id });
        }
    }
    found.reverse();
    Some(found)
}

/// Nothing can be in the list that would not be in the known history: that has its end, or was read from the first event after the list.
fn history_is_complete(execution: &Execution<'_>, list: &ArtifactList<'_>) -> bool {
    let ended = execution.terminal().is_some();
    ended
        || execution.readings.iter().any(|r| r.is_list() && r.after() == Some(0) && r.is_clean() && list.exchange.ended < r.exchange.began)
}

/// The first place where the two differ. A list may lack what was created after it was asked for.
fn difference(list: &ArtifactList<'_>, created: &[Created<'_>], complete: bool) -> Option<Mismatch> {
    let path = |place: usize| format!("artifacts[{place}].id");
    for (place, id) in list.ids.iter().enumerate() {
        match created.get(place) {
            Some(event) if event.id == id => {}
            Some(event) => {
                return Some(mismatch(path(place), format!("{:?}, created by sequence {}", event.id, event.sequence), format!("{id:?}")));
            }
            None if complete => return Some(mismatch(path(place), "no artifact without artifact.created", format!("{id:?}"))),
            None => return None,
        }
    }
    let next = created.get(list.ids.len()).filter(|event| event.at < list.exchange.began)?;
    Some(mismatch(path(list.ids.len()), format!("{:?}, created by sequence {}", next.id, next.sequence), "absent"))
}

#[cfg(test)]
mod tests {
    use crate::monitors::testing::{Ask, accusers, events, held};
    use crate::transcript::StreamEnd;

    const RUN: &str = "queued started artifact=a artifact=b completed";

    #[test]
    fn equal_lists_hold() {
        let run = [Ask::list("e", &events(RUN)), Ask::artifacts("e", &["a", "b"]), Ask::artifacts("e", &["a", "b"])];
        assert_eq!(accusers(run.clone()), [""; 0]);
        assert_eq!(held("artifacts-match", run), 2);
        let live = [Ask::artifacts("e", &["a"]), Ask::list("e", &events(RUN)[..4])];
        assert_eq!(held("artifacts-match", live), 1);
    }

    #[test]
    fn nothing_listed_holds_nothing() {
        assert_eq!(held("artifacts-match", [Ask::list("e", &events("queued completed")), Ask::artifacts("e", &[])]), 0);
        assert_eq!(held("artifacts-match", [Ask::artifacts("e", &["a"])]), 0);
    }

    #[test]
    fn an_artifact_without_event_is_found() {
        let history = || Ask::list("e", &events("queued started artifact=a completed"));
        assert_eq!(accusers([history(), Ask::artifacts("e", &["a", "b"])]), ["artifacts-match"]);
        assert_eq!(accusers([Ask::artifacts("e", &["b"]), Ask::list("e", &events("queued started"))]), ["artifacts-match"]);
        assert_eq!(accusers([history(), Ask::artifacts("e", &["a", "a"])]), ["artifacts-match"]);
    }

    #[test]
    fn an_event_without_artifact_is_found() {
        assert_eq!(accusers([Ask::list("e", &events(RUN)), Ask::artifacts("e", &["a"])]), ["artifacts-match"]);
        assert_eq!(accusers([Ask::list("e", &events(RUN)), Ask::artifacts("e", &[])]), ["artifacts-match"]);
        assert_eq!(
            accusers([Ask::list("e", &events("queued artifact=a artifact=a completed")), Ask::artifacts("e", &["a"])]),
            ["artifacts-match"]
        );
    }

    #[test]
    fn an_event_is_as_old_as_what_follows_it() {
        let all = events(RUN);
        let run = [Ask::list("e", &all[4..]).after(4), Ask::artifacts("e", &["a"]), Ask::list("e", &all)];
        assert_eq!(accusers(run), ["artifacts-match"]);
    }

    #[test]
    fn order_matters() {
        assert_eq!(accusers([Ask::list("e", &events(RUN)), Ask::artifacts("e", &["b", "a"])]), ["artifacts-match"]);
    }

    #[test]
    fn a_doubled_artifact_told_twice_is_another_rule() {
        let history = events("queued artifact=a artifact=a completed");
        assert_eq!(accusers([Ask::list("e", &history), Ask::artifacts("e", &["a", "a"])]), [""; 0]);
    }

    #[test]
    fn a_live_execution_may_go_on_between_reads() {
        let early = [Ask::artifacts("e", &["a"]), Ask::list("e", &events(RUN))];
        assert_eq!(accusers(early), [""; 0]);
        let overlapping = [Ask::list("e", &events(RUN)).during(0, 20), Ask::artifacts("e", &["a"]).during(10, 15)];
        assert_eq!(accusers(overlapping), [""; 0]);
        let grown = [Ask::list("e", &events(RUN)[..3]), Ask::artifacts("e", &["a", "b"])];
        assert_eq!(accusers(grown), [""; 0]);
    }

    #[test]
    fn a_tail_alone_is_no_history() {
        assert_eq!(accusers([Ask::list("e", &events(RUN)[3..]).after(3), Ask::artifacts("e", &["a", "b"])]), [""; 0]);
    }

    #[test]
    fn a_stream_tells_of_artifacts_as_well() {
        let run = [Ask::stream("e", &events(RUN), StreamEnd::Closed), Ask::artifacts("e", &["a"])];
        assert_eq!(accusers(run), ["artifacts-match"]);
    }
}
