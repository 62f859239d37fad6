//! The sessions of a host. Pure: a request, a time and a uid in; a session or a refusal out. No sockets, no tokio.

use super::rules::{History, Refusal, Rules, Shown};
use crate::table::table;
use jiff::Timestamp;
use proofmark_schema::agentsessions::v1::{ResourceMetadata, Session};
use std::collections::BTreeMap;
use std::time::Duration;

table! {
    /// Places where something could come between.
    Seams {
        /// How long after the reply a session is stored. B7: it is stored before.
        stored_late_by: fn() -> Duration = not_late;
    }
}

fn not_late() -> Duration {
    Duration::ZERO
}

/// One stored session.
struct Row {
    /// What the caller said, and what was minted for it.
    session: Session,
    history: History,
    created: Timestamp,
    late_by: Duration,
}

pub(crate) struct Machine {
    rules: Rules,
    seams: Seams,
    rows: BTreeMap<String, Row>,
}

impl Machine {
    pub(crate) fn new(rules: Rules, seams: Seams) -> Self {
        Self { rules, seams, rows: BTreeMap::new() }
    }

    /// `CreateSession`. Everything is checked before anything is stored.
    pub(crate) fn create(&mut self, asked: Option<Session>, uid: String, now: Timestamp) -> Result<Session, Refusal> {
        let described = asked.is_some();
        let mut session = (self.rules.described)(asked.unwrap_or_default());
        session.harness = (self.rules.harness)(&session.harness);
        let metadata = session.metadata.get_or_insert_default();
        let faults = [
            (self.rules.description_fault)(described),
            (self.rules.harness_fault)(&session.harness),
            (self.rules.name_fault)(&metadata.name, self.rows.values().any(|row| name(row) == metadata.name)),
        ];
        if let Some(refusal) = faults.into_iter().flatten().next() {
            return Err(refusal);
        }
        metadata.project = (self.rules.project)(&metadata.project);
        let uid = (self.rules.uid)(uid, &metadata.name);
        metadata.uid.clone_from(&uid);
        metadata.create_time = (self.rules.created)(now).map(timestamp);
        metadata.update_time = Some(timestamp(now));
        let row = Row { session, history: History::default(), created: now, late_by: (self.seams.stored_late_by)() };
        let shown = self.show(Shown::Created, &row);
        self.rows.insert(uid, row);
        Ok(shown)
    }

    /// `GetSession`.
    pub(crate) fn get(&self, uid: &str, now: Timestamp) -> Result<Session, Refusal> {
        if let Some(refusal) = (self.rules.uid_fault)(uid) {
            return Err(refusal);
        }
        match self.rows.get(uid).filter(|row| row.is_stored(now)) {
            Some(row) => Ok(self.show(Shown::Read, row)),
            None => (self.rules.unknown_session)(uid),
        }
    }

    fn show(&self, shown: Shown, row: &Row) -> Session {
        let state = (self.rules.projection)(shown, row.history);
        let mut session = row.session.clone();
        session.last_seq = state.last_seq;
        session.pending_approval = state.pending_approval;
        session.set_exec_state(state.exec_state);
        session.set_compute_state(state.compute_state);
        session
    }
}

impl Row {
    fn is_stored(&self, now: Timestamp) -> bool {
        // A clock that is set back must not make a stored session disappear.
        self.late_by.is_zero() || now.duration_since(self.created).unsigned_abs() >= self.late_by
    }
}

fn name(row: &Row) -> &str {
    row.session.metadata.as_ref().map_or("", |ResourceMetadata { name, .. }| name)
}

fn timestamp(time: Timestamp) -> prost_types::Timestamp {
    prost_types::Timestamp { seconds: time.as_second(), nanos: time.subsec_nanosecond() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_schema::agentsessions::v1::{ComputeState, ExecState};

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).expect("in range")
    }

    fn machine() -> Machine {
        Machine::new(Rules::default(), Seams::default())
    }

    fn named(name: &str) -> Session {
        let metadata = ResourceMetadata { name: name.to_owned(), ..ResourceMetadata::default() };
        Session { metadata: Some(metadata), ..Session::default() }
    }

    #[test]
    fn a_created_session_can_be_read_as_it_was_answered() {
        let mut machine = machine();
        let created = machine.create(Some(named("n")), "u".to_owned(), at(5)).expect("created");
        assert_eq!(machine.get("u", at(5)), Ok(created.clone()));
        let metadata = created.metadata.as_ref().expect("metadata");
        assert_eq!((metadata.uid.as_str(), metadata.name.as_str(), metadata.project.as_str()), ("u", "n", "default"));
        assert_eq!(metadata.create_time.as_ref().map(|time| time.seconds), Some(5));
        assert_eq!(
            (created.exec_state(), created.compute_state(), created.last_seq),
            (ExecState::ExecPending, ComputeState::ComputeNone, 0)
        );
        assert_eq!(created.harness, "echo");
    }

    #[test]
    fn one_name_may_stand_on_many_sessions() {
        let mut machine = machine();
        for uid in ["u", "v"] {
            machine.create(Some(named("n")), uid.to_owned(), at(0)).expect("created");
        }
        assert_ne!(machine.get("u", at(0)), machine.get("v", at(0)));
    }

    #[test]
    fn a_refused_session_is_not_stored() {
        let mut machine = machine();
        let asked = Session { harness: "nobody".to_owned(), ..Session::default() };
        assert!(matches!(machine.create(Some(asked), "u".to_owned(), at(0)), Err(Refusal::InvalidArgument(_))));
        assert!(matches!(machine.get("u", at(0)), Err(Refusal::NotFound(_))));
    }

    #[test]
    fn an_empty_uid_is_not_the_same_as_an_unknown_one() {
        assert!(matches!(machine().get("", at(0)), Err(Refusal::InvalidArgument(_))));
        assert!(matches!(machine().get("u", at(0)), Err(Refusal::NotFound(_))));
    }

    #[test]
    fn a_clock_that_is_set_back_hides_nothing() {
        let mut machine = machine();
        machine.create(None, "u".to_owned(), at(5)).expect("created");
        assert!(machine.get("u", at(4)).is_ok());
    }
}
