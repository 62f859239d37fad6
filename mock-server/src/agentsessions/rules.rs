//! The contract in code: its decisions as small functions, one a rule, each naming what it implements. To know the contract, read here.
//!
//! The functions stand in a table, so that one of them can be replaced or wrapped while the machine stays as it is.

use crate::table::table;
use jiff::Timestamp;
use proofmark_schema::agentsessions::v1::{ApprovalRef, ComputeState, ExecState, IdentityRef, Origin, ResourceMetadata, Session};

/// Why a call is refused. A refused call has changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    InvalidArgument(String),
    NotFound(String),
    AlreadyExists(String),
}

/// The journal of a session, as far as its projections look at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct History {
    /// The number of committed records, which is the sequence number of the last one (F1).
    pub(crate) records: i64,
}

/// What a reply says of the state of a session.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Projection {
    pub(crate) exec_state: ExecState,
    pub(crate) compute_state: ComputeState,
    /// The approval that the session waits for.
    pub(crate) pending_approval: Option<ApprovalRef>,
    pub(crate) last_seq: i64,
}

/// Which call a session is shown in answer to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    Created,
    Read,
}

table! {
    /// The decisions of sections A to C.
    Rules {
        uid_fault: fn(&str) -> Option<Refusal> = uid_fault;
        unknown_session: fn(&str) -> Result<Session, Refusal> = unknown_session;
        description_fault: fn(bool) -> Option<Refusal> = description_fault;
        name_fault: fn(&str, bool) -> Option<Refusal> = name_fault;
        uid: fn(String, &str) -> String = uid;
        created: fn(Timestamp) -> Option<Timestamp> = created;
        described: fn(Session) -> Session = described;
        project: fn(&str) -> String = project;
        harness: fn(&str) -> String = harness;
        harness_fault: fn(&str) -> Option<Refusal> = harness_fault;
        projection: fn(Shown, History) -> Projection = projection;
    }
}

/// The harness that this host serves, and that a session gets which names none.
pub(crate) const HARNESS: &str = "echo";
/// The project of a session that names none.
const PROJECT: &str = "default";

/// AS-GET-2: a uid is required, and an empty one is no uid.
fn uid_fault(uid: &str) -> Option<Refusal> {
    uid.is_empty().then(|| Refusal::InvalidArgument("uid is required".to_owned()))
}

/// AS-GET-3: a uid that was never given out names nothing.
fn unknown_session(uid: &str) -> Result<Session, Refusal> {
    Err(Refusal::NotFound(format!("session {uid:?} not found")))
}

/// AS-CREATE-1: a session may be created without a description.
fn description_fault(_described: bool) -> Option<Refusal> {
    None
}

/// AS-CREATE-2: the uid of a session is minted for it, and its name has no part in it.
fn uid(minted: String, _name: &str) -> String {
    minted
}

/// AS-CREATE-14: when a session was created is shown.
#[expect(clippy::unnecessary_wraps, reason = "the reference dates every session, another host may not")]
fn created(now: Timestamp) -> Option<Timestamp> {
    Some(now)
}

/// AS-CREATE-3: names are labels, and any number of sessions may carry the same one.
fn name_fault(_name: &str, _taken: bool) -> Option<Refusal> {
    None
}

/// AS-CREATE-4 to -9, -15 and -20: what a caller may say of a session; all else belongs to the host and is passed over.
fn described(asked: Session) -> Session {
    let metadata = asked.metadata.unwrap_or_default();
    Session {
        metadata: Some(ResourceMetadata { project: metadata.project, name: metadata.name, ..ResourceMetadata::default() }),
        harness: asked.harness,
        model: asked.model,
        labels: asked.labels,
        annotations: asked.annotations,
        // AS-CREATE-24: an empty message is as good as none.
        origin: asked.origin.filter(|origin| *origin != Origin::default()),
        identity: asked.identity.filter(|identity| *identity != IdentityRef::default()),
        ..Session::default()
    }
}

/// AS-CREATE-10: no project means the host's own.
fn project(asked: &str) -> String {
    if asked.is_empty() { PROJECT.to_owned() } else { asked.to_owned() }
}

/// AS-CREATE-11: no harness means the host's default, which is stored and shown.
fn harness(asked: &str) -> String {
    if asked.is_empty() { HARNESS.to_owned() } else { asked.to_owned() }
}

/// AS-CREATE-12: a harness that is not served is refused before anything is stored.
fn harness_fault(name: &str) -> Option<Refusal> {
    (name != HARNESS).then(|| Refusal::InvalidArgument(format!("harness {name:?} is not served here")))
}

/// AS-STATE-1, AS-STATE-2, AS-CREATE-13: one projection of the journal, whatever call is answered.
fn projection(_: Shown, history: History) -> Projection {
    let (exec_state, compute_state) = if history.records == 0 {
        (ExecState::ExecPending, ComputeState::ComputeNone)
    } else {
        (ExecState::ExecCompleted, ComputeState::ComputeLive)
    };
    Projection { exec_state, compute_state, pending_approval: None, last_seq: history.records }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proofmark_schema::agentsessions::v1::ComputeRef;

    #[test]
    fn what_belongs_to_the_host_is_passed_over() {
        let metadata = ResourceMetadata {
            project: "p".to_owned(),
            name: "n".to_owned(),
            uid: "mine".to_owned(),
            version: 7,
            create_time: Some(prost_types::Timestamp::default()),
            update_time: Some(prost_types::Timestamp::default()),
        };
        let kept = Session {
            harness: "h".to_owned(),
            model: "m".to_owned(),
            labels: [("a".to_owned(), String::new())].into(),
            ..Session::default()
        };
        let asked = Session {
            metadata: Some(metadata),
            last_seq: 9,
            parent_uid: "p".to_owned(),
            fork_seq: 3,
            exec_state: ExecState::ExecFailed.into(),
            compute_state: ComputeState::ComputeLive.into(),
            compute: Some(ComputeRef::default()),
            pending_approval: Some(ApprovalRef::default()),
            ..kept.clone()
        };
        let metadata = ResourceMetadata { project: "p".to_owned(), name: "n".to_owned(), ..ResourceMetadata::default() };
        assert_eq!(described(asked), Session { metadata: Some(metadata), ..kept });
    }

    #[test]
    fn empty_provenance_is_none() {
        let some = Session { identity: Some(IdentityRef::default()), origin: Some(Origin::default()), ..Session::default() };
        assert_eq!(described(some), described(Session::default()));
        let identity = Some(IdentityRef { principal: "p".to_owned(), ..IdentityRef::default() });
        assert_eq!(described(Session { identity: identity.clone(), ..Session::default() }).identity, identity);
    }

    #[test]
    fn defaults_fill_only_what_is_missing() {
        assert_eq!((project(""), project("p")), ("default".to_owned(), "p".to_owned()));
        assert_eq!((harness(""), harness("h")), ("echo".to_owned(), "h".to_owned()));
        assert!(harness_fault("echo").is_none() && harness_fault("Echo").is_some());
    }

    #[test]
    fn the_first_record_ends_the_wait() {
        let fresh = projection(Shown::Created, History::default());
        let (exec_state, compute_state) = (ExecState::ExecPending, ComputeState::ComputeNone);
        assert_eq!(fresh, Projection { exec_state, compute_state, pending_approval: None, last_seq: 0 });
        assert_eq!(fresh, projection(Shown::Read, History::default()));
        assert_eq!(projection(Shown::Read, History { records: 5 }).last_seq, 5);
    }
}
