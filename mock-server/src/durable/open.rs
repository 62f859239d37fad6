//! Opening a store: made when it is not there, refused when it is anything but whole, ours, and free.

use super::StoreError;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a contract's database looks like.
pub(crate) struct Form {
    /// The name of the file.
    pub(crate) file: &'static str,
    /// Says in the header of the file whose it is.
    pub(crate) application: u32,
    /// Rises with every change of the tables.
    pub(crate) version: u32,
    /// The statements that make the tables.
    pub(crate) tables: &'static str,
}

/// What every `SQLite` database begins with.
const MAGIC: &[u8; 16] = b"SQLite format 3\0";
/// Where the header of a database names its application: four bytes, the highest first.
const APPLICATION_AT: usize = 68;
const HEADER: usize = 100;

/// Opens the database in `folder`, and makes both when they are not there. Afterwards every transaction is durable once it is committed,
/// and no other process can open the database.
pub(crate) fn open(folder: &Path, form: &Form) -> Result<Connection, StoreError> {
    std::fs::create_dir_all(folder).map_err(|problem| StoreError::Folder { path: folder.to_owned(), problem })?;
    let path = folder.join(form.file);
    recognise(&path, form)?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags).map_err(|error| refusal(&path, &error))?;
    prepare(&connection, &path, form)?;
    Ok(connection)
}

/// Looks at the file itself, so that what belongs to somebody else is not even opened as a database.
fn recognise(path: &Path, form: &Form) -> Result<(), StoreError> {
    let unusable = |problem: std::io::Error| StoreError::Unusable { path: path.to_owned(), problem: problem.to_string() };
    let mut header = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(HEADER as u64).read_to_end(&mut header).map_err(unusable)?,
        Err(problem) if problem.kind() == ErrorKind::NotFound => return Ok(()),
        Err(problem) => return Err(unusable(problem)),
    };
    let foreign = |what: &str| Err(StoreError::Foreign { path: path.to_owned(), what: what.to_owned() });
    // A kill between the making of the file and the first transaction leaves it empty.
    if header.is_empty() {
        return Ok(());
    }
    if !header.starts_with(MAGIC) {
        return foreign("it is no SQLite database");
    }
    let application = header.get(APPLICATION_AT..APPLICATION_AT + 4).and_then(|bytes| bytes.try_into().ok()).map(u32::from_be_bytes);
    if application == Some(form.application) { Ok(()) } else { foreign("it is a database of another program") }
}

fn prepare(connection: &Connection, path: &Path, form: &Form) -> Result<(), StoreError> {
    let refused = |error: rusqlite::Error| refusal(path, &error);
    connection.busy_timeout(Duration::ZERO).map_err(refused)?;
    // From the first read on the file is locked, and a killed process lets go of it.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(refused)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(refused)?;
    let version: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).map_err(refused)?;
    let known = i64::from(form.version);
    if version > known {
        return Err(StoreError::Newer { path: path.to_owned(), found: version, known });
    }
    if version == 0 {
        create(connection, form).map_err(refused)?;
    } else {
        check(connection, path)?;
    }
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0)).map_err(refused)?;
    if mode == "wal" { Ok(()) } else { Err(StoreError::Unusable { path: path.to_owned(), problem: format!("its journal stays {mode}") }) }
}

/// In one transaction: a kill leaves all of it or nothing.
fn create(connection: &Connection, form: &Form) -> rusqlite::Result<()> {
    let (application, version, tables) = (form.application, form.version, form.tables);
    connection.execute_batch(&format!(
        "BEGIN EXCLUSIVE; PRAGMA application_id = {application}; PRAGMA user_version = {version}; {tables} COMMIT;"
    ))
}

fn check(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let found: String = connection.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(|error| refusal(path, &error))?;
    if found == "ok" { Ok(()) } else { Err(StoreError::Damaged { path: path.to_owned(), what: found }) }
}

/// What `SQLite` refuses, in the words of a store.
pub(super) fn refusal(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path: PathBuf = path.to_owned();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::InUse { path },
        Some(ErrorCode::NotADatabase) => StoreError::Foreign { path, what: "it is no SQLite database".to_owned() },
        Some(ErrorCode::DatabaseCorrupt) => StoreError::Damaged { path, what: error.to_string() },
        _ => StoreError::Unusable { path, problem: error.to_string() },
    }
}
