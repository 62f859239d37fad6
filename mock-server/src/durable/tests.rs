//! Stores that are not there, not ours, not whole, not free, or of the future.

use super::*;
use rusqlite::Transaction;
use std::path::{Path, PathBuf};
use std::time::Duration;

const FORM: Form =
    Form { file: "notes.db", application: 0x504d_7465, version: 2, tables: "CREATE TABLE notes (text TEXT NOT NULL) STRICT;" };

struct Note(&'static str);

impl Record for Note {
    fn write(&self, transaction: &Transaction) -> rusqlite::Result<()> {
        transaction.execute("INSERT INTO notes (text) VALUES (?1)", [self.0]).map(|_| ())
    }
}

/// A folder that goes away with the test.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        Self(std::env::temp_dir().join(format!("proofmark-store-{}", uuid::Uuid::new_v4().simple())))
    }

    fn file(&self) -> PathBuf {
        self.0.join(FORM.file)
    }

    fn put(&self, bytes: &[u8]) {
        std::fs::create_dir_all(&self.0).expect("a folder");
        std::fs::write(self.file(), bytes).expect("a file");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn written(folder: &Path, notes: &[&'static str]) {
    let writer = Writer::start(open(folder, &FORM).expect("a store"), || Duration::ZERO).expect("a thread");
    for note in notes {
        writer.submit(vec![Note(note)]);
    }
    writer.settled().await;
    writer.close().await;
}

fn notes(folder: &Path) -> Vec<String> {
    let connection = open(folder, &FORM).expect("a store");
    let mut select = connection.prepare("SELECT text FROM notes ORDER BY rowid").expect("a statement");
    select.query_map([], |row| row.get(0)).expect("rows").collect::<rusqlite::Result<_>>().expect("texts")
}

#[tokio::test]
async fn what_was_written_is_there_in_order() {
    let folder = Folder::new();
    written(&folder.0, &["a", "b"]).await;
    written(&folder.0, &["c"]).await;
    assert_eq!(notes(&folder.0), ["a", "b", "c"]);
}

#[tokio::test]
async fn one_process_at_a_time() {
    let folder = Folder::new();
    let first = open(&folder.0, &FORM).expect("a store");
    assert!(matches!(open(&folder.0, &FORM), Err(StoreError::InUse { .. })));
    drop(first);
    assert!(open(&folder.0, &FORM).is_ok());
}

#[test]
fn an_empty_file_is_a_store_that_was_never_begun() {
    let folder = Folder::new();
    folder.put(b"");
    assert!(notes(&folder.0).is_empty());
}

#[test]
fn foreign_files_are_refused_and_stay_as_they_are() {
    let folder = Folder::new();
    for bytes in [b"short".to_vec(), b"a text that somebody else wrote ".repeat(400)] {
        folder.put(&bytes);
        assert!(matches!(open(&folder.0, &FORM), Err(StoreError::Foreign { .. })));
        assert_eq!(std::fs::read(folder.file()).expect("the file"), bytes);
    }
    std::fs::remove_file(folder.file()).expect("removed");
    let other = rusqlite::Connection::open(folder.file()).expect("a database");
    other.execute_batch("CREATE TABLE theirs (a);").expect("a table");
    drop(other);
    let before = std::fs::read(folder.file()).expect("the file");
    assert!(matches!(open(&folder.0, &FORM), Err(StoreError::Foreign { .. })));
    assert_eq!(std::fs::read(folder.file()).expect("the file"), before);
}

#[tokio::test]
async fn a_newer_form_is_refused_and_stays_as_it_is() {
    let folder = Folder::new();
    written(&folder.0, &["a"]).await;
    let older = Form { version: 1, ..FORM };
    let before = std::fs::read(folder.file()).expect("the file");
    assert!(matches!(open(&folder.0, &older), Err(StoreError::Newer { found: 2, known: 1, .. })));
    assert_eq!(std::fs::read(folder.file()).expect("the file"), before);
    assert_eq!(notes(&folder.0), ["a"]);
}

#[tokio::test]
async fn a_damaged_store_is_refused_and_stays_as_it_is() {
    let folder = Folder::new();
    written(&folder.0, &["a"]).await;
    let mut bytes = std::fs::read(folder.file()).expect("the file");
    let page = 4096;
    bytes[page..].fill(0xA5);
    folder.put(&bytes);
    let error = open(&folder.0, &FORM).expect_err("damaged");
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(error.to_string().contains("notes.db"));
    assert_eq!(std::fs::read(folder.file()).expect("the file"), bytes);
}

#[test]
fn a_folder_that_is_a_file_is_refused() {
    let folder = Folder::new();
    folder.put(b"");
    assert!(matches!(open(&folder.file(), &FORM), Err(StoreError::Folder { .. })));
}

#[tokio::test]
async fn a_failed_write_is_told_and_nothing_is_durable_afterwards() {
    let folder = Folder::new();
    let connection = open(&folder.0, &FORM).expect("a store");
    connection.execute_batch("DROP TABLE notes;").expect("dropped");
    let writer = Writer::start(connection, || Duration::ZERO).expect("a thread");
    writer.submit(vec![Note("a")]);
    assert!(writer.failed().await.contains("notes"));
    let settled = tokio::time::timeout(Duration::from_millis(50), writer.settled()).await;
    assert!(settled.is_err());
    writer.close().await;
}
