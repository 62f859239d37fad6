//! Rows: the members of a thing as JSON, in the order in which the things came to be.

use super::StoreError;
use rusqlite::{Connection, Transaction, params};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::PathBuf;

/// A row that takes the place of the one with its id, and otherwise comes last.
pub(crate) fn put(transaction: &Transaction, table: &str, id: &str, row: &impl Serialize) -> rusqlite::Result<()> {
    let sql = format!("INSERT INTO {table} (id, row) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET row = excluded.row");
    transaction.prepare(&sql)?.execute(params![id, text(row)?]).map(|_| ())
}

/// A row that comes last.
pub(crate) fn add(transaction: &Transaction, table: &str, row: &impl Serialize) -> rusqlite::Result<()> {
    transaction.prepare(&format!("INSERT INTO {table} (row) VALUES (?1)"))?.execute(params![text(row)?]).map(|_| ())
}

/// Takes the row with that id away, if there is one.
pub(crate) fn remove(transaction: &Transaction, table: &str, id: &str) -> rusqlite::Result<()> {
    transaction.prepare(&format!("DELETE FROM {table} WHERE id = ?1"))?.execute(params![id]).map(|_| ())
}

fn text(row: &impl Serialize) -> rusqlite::Result<String> {
    serde_json::to_string(row).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
}

/// Reads the tables of a store that was opened.
pub(crate) struct Reader<'a> {
    pub(crate) connection: &'a Connection,
    /// The file.
    pub(crate) path: PathBuf,
}

impl Reader<'_> {
    /// Hands each row of a table on, with its id.
    pub(crate) fn named<T: DeserializeOwned>(&self, table: &str, take: impl FnMut(String, T)) -> Result<(), StoreError> {
        self.rows(table, "id", take)
    }

    /// Hands each row of a table without ids on.
    pub(crate) fn nameless<T: DeserializeOwned>(&self, table: &str, mut take: impl FnMut(T)) -> Result<(), StoreError> {
        self.rows(table, "''", |_, row| take(row))
    }

    fn rows<T: DeserializeOwned>(&self, table: &str, id: &str, mut take: impl FnMut(String, T)) -> Result<(), StoreError> {
        let sql = format!("SELECT number, {id}, row FROM {table} ORDER BY number");
        let mut select = self.connection.prepare(&sql).map_err(|error| self.damaged(&error.to_string()))?;
        let mut rows = select.query([]).map_err(|error| self.damaged(&error.to_string()))?;
        while let Some(row) = rows.next().map_err(|error| self.damaged(&error.to_string()))? {
            let read = || Ok::<(i64, String, String), rusqlite::Error>((row.get(0)?, row.get(1)?, row.get(2)?));
            let (number, id, text) = read().map_err(|error| self.damaged(&error.to_string()))?;
            let row = serde_json::from_str(&text).map_err(|error| self.damaged(&format!("{table}, row {number}: {error}")))?;
            take(id, row);
        }
        Ok(())
    }

    pub(crate) fn damaged(&self, what: &str) -> StoreError {
        StoreError::Damaged { path: self.path.clone(), what: what.to_owned() }
    }
}
