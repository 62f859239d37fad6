//! The tables of a durable server: one row a thing, its members as JSON, in the order in which the things came to be.

use super::machine::{Forgotten, Row, Store};
use crate::durable::{self, Form, Reader, StoreError, add, put, remove};
use crate::tally::Tally;
use rusqlite::{Connection, Transaction};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// `PMhr` in the header of the file.
const FORM: Form = Form { file: "harness-runtime.db", application: 0x504d_6872, version: 1, tables: TABLES };

const TABLES: &str = "
    CREATE TABLE conversations (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE executions (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE keys (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE actions (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE tallies (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, row TEXT NOT NULL) STRICT;
    CREATE TABLE artifacts (number INTEGER PRIMARY KEY, row TEXT NOT NULL) STRICT;
    CREATE TABLE events (number INTEGER PRIMARY KEY, row TEXT NOT NULL) STRICT;
";

/// What is kept: rows of the machine, and what the providers counted; and what is not kept any longer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Record {
    Row(Row),
    Forgotten(Forgotten),
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
            Record::Row(Row::Conversation(conversation)) => put(transaction, "conversations", &conversation.id, conversation),
            Record::Row(Row::Execution(execution)) => put(transaction, "executions", &execution.id, execution),
            Record::Row(Row::Key { name, used }) => put(transaction, "keys", name, used),
            Record::Row(Row::Action(action)) => put(transaction, "actions", &action.id, action),
            Record::Row(Row::Artifact(artifact)) => add(transaction, "artifacts", artifact),
            Record::Row(Row::Event(event)) => add(transaction, "events", &**event),
            Record::Forgotten(gone) => {
                remove(transaction, "executions", &gone.execution_id)?;
                gone.keys.iter().try_for_each(|name| remove(transaction, "keys", name))?;
                gone.actions.iter().try_for_each(|id| remove(transaction, "actions", id))
            }
            Record::Tally { name, tally } => put(transaction, "tallies", name, tally),
        }
    }
}

/// Opens the store in `folder` and reads it.
pub(crate) fn open(folder: &Path) -> Result<Kept, StoreError> {
    let connection = durable::open(folder, &FORM)?;
    let reader = Reader { connection: &connection, path: folder.join(FORM.file) };
    sweep(&reader)?;
    let mut store = Store::default();
    reader.named("conversations", |_, row| store.restore(Row::Conversation(row)))?;
    reader.named("executions", |_, row| store.restore(Row::Execution(Box::new(row))))?;
    reader.named("keys", |name, row| store.restore(Row::Key { name, used: Box::new(row) }))?;
    reader.named("actions", |_, row| store.restore(Row::Action(Box::new(row))))?;
    reader.nameless("artifacts", |row| store.restore(Row::Artifact(Box::new(row))))?;
    reader.nameless("events", |row| store.restore(Row::Event(Arc::new(row))))?;
    let mut tallies = BTreeMap::new();
    reader.named("tallies", |name, row| {
        tallies.insert(name, row);
    })?;
    Ok(Kept { store, tallies, connection })
}

/// Events and artifacts of executions that are not kept any longer go when the store is opened: there is no index by execution, which would
/// cost at every write.
fn sweep(reader: &Reader) -> Result<(), StoreError> {
    for table in ["events", "artifacts"] {
        // A row that names none is damaged, and is told so when it is read.
        let owner = "json_extract(iif(json_valid(row), row, '{}'), '$.execution_id')";
        let orphaned = format!("{owner} IS NOT NULL AND {owner} NOT IN (SELECT id FROM executions)");
        let swept = reader.connection.execute(&format!("DELETE FROM {table} WHERE {orphaned}"), []);
        swept.map_err(|error| reader.damaged(&error.to_string()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness_runtime::model::{Conversation, JsonObject};
    use serde_json::json;

    #[test]
    fn numbers_and_texts_come_back_as_they_were() {
        let folder = std::env::temp_dir().join(format!("proofmark-records-{}", uuid::Uuid::new_v4().simple()));
        let odd =
            json!({ "a": 0.1, "b": -0.0, "c": 9_007_199_254_740_993_u64, "d": 1e300, "e": "\u{0}\u{1F600}\u{FFFF}", "f": null, "": [] });
        let metadata: JsonObject = odd.as_object().cloned().expect("an object");
        let created_at = jiff::Timestamp::new(1_700_000_000, 123_456_789).expect("an instant");
        let conversation = Conversation { id: "c".to_owned(), created_at, metadata };
        let mut kept = open(&folder).expect("a store");
        let transaction = kept.connection.transaction().expect("a transaction");
        durable::Record::write(&Record::Row(Row::Conversation(conversation.clone())), &transaction).expect("written");
        durable::Record::write(&Record::Tally { name: "t".to_owned(), tally: Tally { started: 1, cleaned_up: 2 } }, &transaction)
            .expect("written");
        transaction.commit().expect("committed");
        drop(kept);
        let kept = open(&folder).expect("a store");
        assert_eq!(kept.store.conversation("c"), Some(&conversation));
        assert_eq!(kept.tallies["t"], Tally { started: 1, cleaned_up: 2 });
        drop(kept);
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn what_is_forgotten_leaves_nothing() {
        let folder = std::env::temp_dir().join(format!("proofmark-records-{}", uuid::Uuid::new_v4().simple()));
        let connection = open(&folder).expect("a store").connection;
        let rows = |connection: &Connection| -> Vec<String> {
            let count = |table: &str| format!("SELECT '{table}' AS name FROM {table}");
            let sql = ["executions", "keys", "actions", "events", "artifacts"].map(count).join(" UNION ALL ");
            let mut select = connection.prepare(&sql).expect("a query");
            select.query_map([], |row| row.get(0)).expect("rows").map(|name| name.expect("a name")).collect()
        };
        let id = |table: &str| format!("INSERT INTO {table} (id, row) VALUES ('{table}-of-x', '{{\"execution_id\":\"x\"}}');");
        let row = |table: &str| format!("INSERT INTO {table} (row) VALUES ('{{\"execution_id\":\"x\"}}');");
        let all = ["keys", "actions"].map(id).join("") + &["events", "artifacts"].map(row).join("");
        connection.execute_batch(&format!("{all} INSERT INTO executions (id, row) VALUES ('x', '{{}}');")).expect("written");
        assert_eq!(rows(&connection).len(), 5);
        let gone = Forgotten { execution_id: "x".to_owned(), keys: vec!["keys-of-x".to_owned()], actions: vec!["actions-of-x".to_owned()] };
        let mut connection = connection;
        let transaction = connection.transaction().expect("a transaction");
        durable::Record::write(&Record::Forgotten(gone), &transaction).expect("written");
        transaction.commit().expect("committed");
        drop(connection);
        assert_eq!(rows(&open(&folder).expect("a store").connection), [""; 0]);
        std::fs::remove_dir_all(folder).expect("removed");
    }

    #[test]
    fn a_row_that_cannot_be_read_is_named() {
        let folder = std::env::temp_dir().join(format!("proofmark-records-{}", uuid::Uuid::new_v4().simple()));
        let kept = open(&folder).expect("a store");
        kept.connection.execute_batch("INSERT INTO events (row) VALUES ('{}')").expect("written");
        drop(kept);
        let error = open(&folder).err().expect("damaged").to_string();
        assert!(error.contains("harness-runtime.db is damaged: events, row 1: missing field"), "{error}");
        std::fs::remove_dir_all(folder).expect("removed");
    }
}
