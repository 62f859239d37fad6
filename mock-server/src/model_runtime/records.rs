//! The tables of a durable server: one row a thing, its members as JSON, in the order in which the things came to be.
//!
//! A request is written once, however often the record of its execution changes.

use super::machine::{KeyUse, Row, Store};
use super::model::{Execution, Request};
use crate::durable::{self, Form, Reader, StoreError, add, put};
use crate::tally::Tally;
use rusqlite::{Connection, Transaction};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// `PMmr` in the header of the file.
const FORM: Form = Form { file: "model-runtime.db", application: 0x504d_6d72, version: 1, tables: TABLES };

const TABLES: &str = "
    CREATE TABLE requests (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE executions (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE keys (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE tallies (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE events (number INTEGER PRIMARY KEY, row TEXT NOT NULL) STRICT;
";

/// What is kept: rows of the machine, and what the providers counted.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Row(Row),
    Tally { name: String, tally: Tally },
}

/// What a store held when it was opened.
pub(crate) struct Kept {
    pub(crate) store: Store,
    pub(crate) tallies: BTreeMap<String, Tally>,
    pub(crate) connection: Connection,
}

impl durable::Record for Record {
    fn write(&self, transaction: &Transaction) -> rusqlite::Result<()> {
        match self {
            Record::Row(Row::Accepted(execution)) => {
                put(transaction, "requests", &execution.id, &*execution.request)?;
                put(transaction, "executions", &execution.id, execution)
            }
            Record::Row(Row::Execution(execution)) => put(transaction, "executions", &execution.id, execution),
            Record::Row(Row::Key { name, used }) => put(transaction, "keys", name, &(&*used.request, &used.execution_id)),
            Record::Row(Row::Event(event)) => add(transaction, "events", &**event),
            Record::Tally { name, tally } => put(transaction, "tallies", name, tally),
        }
    }
}

/// Opens the store in `folder` and reads it.
pub(crate) fn open(folder: &Path) -> Result<Kept, StoreError> {
    let connection = durable::open(folder, &FORM)?;
    let reader = Reader { connection: &connection, path: folder.join(FORM.file) };
    let store = read(&reader)?;
    let mut tallies = BTreeMap::new();
    reader.named("tallies", |name, row| {
        tallies.insert(name, row);
    })?;
    Ok(Kept { store, tallies, connection })
}

fn read(reader: &Reader) -> Result<Store, StoreError> {
    let mut store = Store::default();
    let mut requests: BTreeMap<String, Arc<Request>> = BTreeMap::new();
    reader.named("requests", |id, request: Request| {
        requests.insert(id, Arc::new(request));
    })?;
    let mut lost = None;
    reader.named("executions", |id, execution: Execution| match requests.remove(&id) {
        Some(request) => store.restore(Row::Execution(Box::new(Execution { request, ..execution }))),
        None => lost = Some(id),
    })?;
    if let Some(id) = lost {
        return Err(reader.damaged(&format!("executions, {id}: its request is not there")));
    }
    reader.named("keys", |name, (request, execution_id): (Request, String)| {
        let used = Box::new(KeyUse { request: Arc::new(request), execution_id });
        store.restore(Row::Key { name, used });
    })?;
    reader.nameless("events", |event| store.restore(Row::Event(Arc::new(event))))?;
    Ok(store)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::JsonObject;
    use crate::model_runtime::model::{Event, Feature, Preferences, Requirements, Status, Target};
    use crate::model_runtime::problem::{Code, Fault};
    use durable::Record as _;
    use serde_json::json;
    use std::path::PathBuf;

    fn folder() -> PathBuf {
        std::env::temp_dir().join(format!("proofmark-records-{}", uuid::Uuid::new_v4().simple()))
    }

    fn odd() -> JsonObject {
        let odd =
            json!({ "a": 0.1, "b": -0.0, "c": 9_007_199_254_740_993_u64, "d": 1e300, "e": "\u{0}\u{1F600}\u{FFFF}", "f": null, "": [] });
        odd.as_object().cloned().expect("an object")
    }

    fn execution() -> Execution {
        let request = Request {
            ability: "a".to_owned(),
            input: vec![odd()],
            requirements: Requirements { features: [Feature::StructuredOutput].into(), ..Requirements::default() },
            routing: Preferences { allow_fallback: Some(true), max_attempts: Some(3), ..Preferences::default() },
            deadline_ms: Some(7),
            metadata: odd(),
            extensions: odd(),
            document: json!(odd()),
            text: "{ }".to_owned(),
        };
        let fault = Fault { provider_code: Some("4711".to_owned()), ..Fault::new(Code::QueueFull, "m", true) };
        Execution {
            id: "e".to_owned(),
            request: Arc::new(request),
            status: Status::Failed,
            created_at: jiff::Timestamp::new(1_700_000_000, 123_456_789).expect("an instant"),
            candidates: vec![Target { provider: "p".to_owned(), model: "m".to_owned() }],
            attempt: 1,
            committed: true,
            error: Some(fault),
        }
    }

    fn write(kept: &mut Kept, records: &[Record]) {
        let transaction = kept.connection.transaction().expect("a transaction");
        records.iter().for_each(|record| record.write(&transaction).expect("written"));
        transaction.commit().expect("committed");
    }

    #[test]
    fn everything_comes_back_as_it_was() {
        let (folder, after) = (folder(), execution());
        let before =
            Execution { status: Status::Accepted, candidates: Vec::new(), attempt: 0, committed: false, error: None, ..after.clone() };
        let used = KeyUse { request: Arc::clone(&after.request), execution_id: "e".to_owned() };
        let (execution_id, kind, time) = ("e".to_owned(), "k".to_owned(), after.created_at);
        let event = Event { execution_id, sequence: 1, kind, status: Status::Routing, time, data: odd() };
        let rows = [
            Row::Accepted(Box::new(before)),
            Row::Key { name: "K".to_owned(), used: Box::new(used.clone()) },
            Row::Event(Arc::new(event.clone())),
            Row::Execution(Box::new(after.clone())),
        ];
        let tally = Tally { started: 1, cleaned_up: 0 };
        let records = rows.map(Record::Row).into_iter().chain([Record::Tally { name: "t".to_owned(), tally }]);
        write(&mut open(&folder).expect("a store"), &records.collect::<Vec<_>>());
        let kept = open(&folder).expect("a store");
        assert_eq!(kept.store.execution("e"), Some(&after));
        assert_eq!(kept.store.key("K"), Some(&used));
        assert_eq!(kept.store.log("e"), [Arc::new(event)]);
        assert_eq!(kept.tallies["t"], tally);
        drop(kept);
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn an_execution_without_its_request_is_damage() {
        let folder = folder();
        write(&mut open(&folder).expect("a store"), &[Record::Row(Row::Execution(Box::new(execution())))]);
        let error = open(&folder).err().expect("damaged").to_string();
        assert!(error.contains("model-runtime.db is damaged: executions, e: its request is not there"), "{error}");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
