//! The transcript told per execution: who read which events when, what is known of the history, which states were shown.
//!
//! Facts that several monitors need are worked out here once, so that a reader which one rule speaks against does not set off others:
//! - a reading with faulty numbers bears no witness against other readings, as long as there is a reading without;
//! - a number with two contents is *contested*: which of them is the event is not known, so no other rule builds on it.
//!
//! Order in time is real order only: an answer that was complete before another request began. Two that overlap say nothing of order.

use super::dialect::Dialect;
use super::numbering::faults;
use super::reading::{Event, Missing, Reading, Start};
use super::snapshot::{ArtifactList, Snapshot};
use crate::transcript::Exchange;
use proofmark_reports::model::Mismatch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

pub(super) struct History<'a> {
    pub(super) executions: BTreeMap<String, Execution<'a>>,
}

/// What the run saw of one execution.
#[derive(Default)]
pub(super) struct Execution<'a> {
    /// In the order in which they were asked for, as all lists here.
    pub(super) readings: Vec<Reading<'a>>,
    pub(super) snapshots: Vec<Snapshot<'a>>,
    pub(super) artifacts: Vec<ArtifactList<'a>>,
    /// The history as all trusted readers together know it, by sequence.
    pub(super) known: BTreeMap<i64, Known>,
    /// Sightings that contradict the first one under their sequence.
    pub(super) disagreements: Vec<Disagreement>,
    /// The lowest number of a terminal event in any reading, trusted or not.
    pub(super) lowest_end: Option<i64>,
    /// When a terminal event was first seen in any reading, trusted or not.
    first_end: Option<Duration>,
    /// How many trusted readings saw again what another one had seen, and saw the same.
    pub(super) confirmed: u64,
    /// The case that met it first.
    origin: Option<Arc<str>>,
}

/// One event as the first trusted reader saw it.
pub(super) struct Known {
    pub(super) first: Place,
    /// The earliest time at which any trusted reader had it.
    pub(super) at: Duration,
    pub(super) contested: bool,
}

/// Index of a reading and of an event in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) reading: usize,
    pub(super) event: usize,
}

pub(super) struct Disagreement {
    pub(super) sequence: i64,
    pub(super) first: Place,
    pub(super) other: Place,
    pub(super) mismatch: Mismatch,
}

impl<'a> History<'a> {
    pub(super) fn of(exchanges: &'a [Arc<Exchange>], dialect: &'static Dialect) -> Self {
        let mut ordered: Vec<&'a Exchange> = exchanges.iter().map(AsRef::as_ref).collect();
        ordered.sort_by_key(|exchange| exchange.id);
        let mut executions: BTreeMap<String, Execution<'a>> = BTreeMap::new();
        for exchange in ordered {
            if let Some(reading) = Reading::of(exchange, dialect)
                && let Some(id) = reading.execution()
            {
                execution(&mut executions, &id, exchange).readings.push(reading);
            } else if let Some((id, snapshot)) = Snapshot::of(exchange, dialect) {
                execution(&mut executions, &id, exchange).snapshots.push(snapshot);
            } else if let Some((id, list)) = ArtifactList::of(exchange) {
                execution(&mut executions, &id, exchange).artifacts.push(list);
            }
        }
        let ids: BTreeSet<String> = executions.keys().cloned().collect();
        for (id, execution) in &mut executions {
            execution.part_strangers(id, &ids);
            execution.number();
            execution.learn();
            execution.miss();
        }
        Self { executions }
    }
}

fn execution<'m, 'a>(all: &'m mut BTreeMap<String, Execution<'a>>, id: &str, exchange: &Exchange) -> &'m mut Execution<'a> {
    let found = all.entry(id.to_owned()).or_default();
    found.origin.get_or_insert_with(|| Arc::clone(&exchange.case));
    found
}

impl<'a> Execution<'a> {
    pub(super) fn event(&self, place: Place) -> (&Reading<'a>, &Event) {
        let reading = &self.readings[place.reading];
        (reading, &reading.events[place.event])
    }

    /// What all trusted readers agree on, by sequence, with the time it was first seen.
    pub(super) fn agreed(&self) -> impl DoubleEndedIterator<Item = (&Reading<'a>, &Event, Duration)> {
        self.known.values().filter(|known| !known.contested).map(|known| {
            let (reading, event) = self.event(known.first);
            (reading, event, known.at)
        })
    }

    /// The terminal events that all trusted readers agree on; a correct history has one at most.
    pub(super) fn terminals(&self) -> impl DoubleEndedIterator<Item = (&Reading<'a>, &Event, Duration)> {
        self.agreed().filter(|(_, event, _)| event.is_terminal())
    }

    /// The terminal event, when there is exactly one.
    pub(super) fn terminal(&self) -> Option<(&Reading<'a>, &Event, Duration)> {
        let mut all = self.terminals();
        let found = all.next()?;
        all.next().is_none().then_some(found)
    }

    /// Sequences under which one reading shows two different terminal events.
    pub(super) fn double_ends(&self) -> BTreeSet<i64> {
        let mut doubles = BTreeSet::new();
        for reading in &self.readings {
            let Some(first) = reading.terminal() else { continue };
            let twins = reading.events.iter().filter(|event| event.is_terminal() && event.sequence == first.sequence);
            doubles.extend(twins.filter(|twin| first.difference(twin).is_some()).map(|twin| twin.sequence));
        }
        doubles
    }

    /// Lists that reach to the end of the history, begun after the execution had been shown as ended, and without a terminal event;
    /// each with the snapshot that showed it. Not when a terminal event was known before, and not when that question was ever answered
    /// short of known events: then the end is there and the list is at fault, and other rules say so.
    pub(super) fn lists_without_end(&self) -> impl Iterator<Item = (&Snapshot<'a>, &Reading<'a>)> {
        let short: BTreeSet<Start> = self.readings.iter().filter(|r| r.is_list() && !r.missing.is_empty()).map(|r| r.start).collect();
        self.readings.iter().filter_map(move |reading| {
            let cursor = reading.after()?;
            let to_the_end = cursor == 0 || !reading.events.is_empty();
            let whole = reading.is_list() && reading.sound && to_the_end && !short.contains(&reading.start);
            let known_before = self.first_end.is_some_and(|at| at < reading.exchange.began);
            let below = self.lowest_end.is_some_and(|sequence| sequence <= cursor);
            if !whole || known_before || below || reading.terminal().is_some() {
                return None;
            }
            let ended = self.snapshots.iter().find(|snapshot| snapshot.is_terminal() && snapshot.precedes(reading.exchange))?;
            Some((ended, reading))
        })
    }

    /// Whether the target may have been restarted while it was there: what becomes of unfinished work then is the rules' of restarts.
    pub(super) fn was_restarted(&self) -> bool {
        self.snapshots.iter().any(|snapshot| snapshot.exchange.case.split('/').nth(1) == Some("restart"))
    }

    /// The case to blame for what an exchange showed: its own, or the one that met the execution first when a sweep saw it.
    pub(super) fn case(&self, exchange: &'a Exchange) -> &Arc<str> {
        let own = &exchange.case;
        let outside = ["sweep", "discovery", "tidy"].iter().any(|name| own.rsplit('/').next() == Some(name));
        self.origin.as_ref().filter(|_| outside).unwrap_or(own)
    }

    fn part_strangers(&mut self, id: &str, ids: &BTreeSet<String>) {
        for reading in &mut self.readings {
            let stranger = |event: &Event| event.owner().is_some_and(|owner| owner != id && ids.contains(owner));
            let (strangers, own) = std::mem::take(&mut reading.events).into_iter().partition(stranger);
            reading.strangers = strangers;
            reading.events = own;
            reading.sound &= reading.strangers.is_empty();
        }
    }

    fn number(&mut self) {
        let seen: BTreeSet<i64> = self.sightings().map(|event| event.sequence).collect();
        for index in 0..self.readings.len() {
            self.readings[index].numbering = faults(&self.readings[index], &seen);
        }
    }

    fn sightings(&self) -> impl Iterator<Item = &Event> {
        self.readings.iter().flat_map(|reading| &reading.events)
    }

    /// Joins what the trusted readings saw.
    fn learn(&mut self) {
        let ends = || self.sightings().filter(|event| event.is_terminal());
        (self.lowest_end, self.first_end) = (ends().map(|event| event.sequence).min(), ends().map(|event| event.at).min());
        let doubt_all = self.readings.iter().all(|reading| !reading.numbering.is_empty());
        for (index, reading) in self.readings.iter().enumerate().filter(|(_, reading)| doubt_all || reading.numbering.is_empty()) {
            let mut shared = false;
            let before = self.disagreements.len();
            for (place, event) in reading.events.iter().enumerate() {
                let other = Place { reading: index, event: place };
                let known = self.known.entry(event.sequence).or_insert(Known { first: other, at: event.at, contested: false });
                known.at = known.at.min(event.at);
                if known.first == other {
                    continue;
                }
                shared |= known.first.reading != index;
                let first = &self.readings[known.first.reading].events[known.first.event];
                if let Some(mismatch) = first.difference(event) {
                    known.contested = true;
                    self.disagreements.push(Disagreement { sequence: event.sequence, first: known.first, other, mismatch });
                }
            }
            self.confirmed += u64::from(shared && self.disagreements.len() == before);
        }
    }

    /// Finds what each well-numbered reading should have brought besides.
    ///
    /// A lower number was there before a higher one, so whatever lies below the last event of a reading is missing for certain. Above
    /// it only what was seen before the reading began, and only in lists: how far a stream came is judged by its end.
    ///
    /// A list shows the history as it stands. So an event is gone from the history when a list has those before and after it, or when
    /// the same question was answered with it before.
    fn miss(&mut self) {
        let listed = self.listed();
        for index in 0..self.readings.len() {
            let reading = &self.readings[index];
            let Some(cursor) = reading.after().filter(|_| reading.sound && reading.numbering.is_empty()) else { continue };
            let mine: BTreeSet<i64> = reading.events.iter().map(|event| event.sequence).filter(|sequence| *sequence > cursor).collect();
            let asked = reading.exchange.began;
            let missing = |(&sequence, known): (&i64, &Known)| {
                let below = mine.last().is_some_and(|last| sequence < *last);
                let owed = below || (reading.is_list() && known.at < asked);
                let hole = below && mine.first().is_some_and(|first| sequence > *first);
                let gone = || reading.is_list() && (hole || listed.get(&(cursor, sequence)).is_some_and(|at| *at < asked));
                (owed && sequence > cursor && !mine.contains(&sequence)).then(|| Missing { sequence, gone: gone() })
            };
            let above = self.known.range(cursor.max(0).saturating_add(1)..);
            self.readings[index].missing = above.filter_map(missing).collect();
        }
    }

    /// Cursor and sequence of everything that some list has shown, and when first.
    fn listed(&self) -> BTreeMap<(i64, i64), Duration> {
        let mut listed: BTreeMap<(i64, i64), Duration> = BTreeMap::new();
        for (reading, cursor) in self.readings.iter().filter(|reading| reading.is_list()).filter_map(|r| Some((r, r.after()?))) {
            for event in &reading.events {
                let at = listed.entry((cursor, event.sequence)).or_insert(event.at);
                *at = event.at.min(*at);
            }
        }
        listed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitors::testing::{Ask, events, judge};

    fn history(exchanges: &[Arc<Exchange>]) -> Execution<'_> {
        History::of(exchanges, &crate::monitors::dialect::HARNESS).executions.remove("e").expect("seen")
    }

    fn finished(run: impl IntoIterator<Item = Ask>) -> Vec<Arc<Exchange>> {
        run.into_iter().zip(1..).map(|(ask, id)| Arc::new(ask.finish(id))).collect()
    }

    #[test]
    fn what_a_sweep_saw_counts_for_the_case_that_met_the_execution() {
        let case = "harness-runtime/cancellation/race";
        let sweep = || Ask::list("e", &events("queued started completed delta")).case("harness-runtime/sweep");
        let run = [Ask::start("e", "queued").case(case), Ask::state("e", "running").case("harness-runtime/other"), sweep()];
        assert_eq!(&*judge("terminal-last", run).findings[0].case, case);
        assert_eq!(&*judge("terminal-last", [sweep()]).findings[0].case, "harness-runtime/sweep");
    }

    #[test]
    fn the_order_of_the_transcript_does_not_matter() {
        let run = [Ask::list("e", &events("queued completed")), Ask::list("e", &events("queued failed"))];
        let mut exchanges = finished(run);
        exchanges.reverse();
        let execution = history(&exchanges);
        assert_eq!(execution.disagreements[0].first, Place { reading: 0, event: 1 });
        assert_eq!(execution.readings[0].exchange.id, 1);
    }

    #[test]
    fn a_reader_with_bad_numbers_bears_no_witness_unless_all_are_bad() {
        let bad = || Ask::list("e", &crate::monitors::testing::numbered(&events("queued started"), 7));
        let alone = finished([bad()]);
        assert_eq!(history(&alone).known.keys().copied().collect::<Vec<_>>(), [7, 8]);
        let beside = finished([bad(), Ask::list("e", &events("queued"))]);
        assert_eq!(history(&beside).known.keys().copied().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn the_first_sighting_counts() {
        let run = [Ask::list("e", &events("queued")).during(0, 30), Ask::list("e", &events("queued")).during(5, 9)];
        assert_eq!(history(&finished(run)).known[&1].at, Duration::from_millis(9));
    }
}
