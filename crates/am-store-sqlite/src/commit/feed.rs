//! The change feed: what projections tail. Rows carry ids only.

use am_store::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use crate::row::storage_error;
use crate::schema;

/// Changes kept; a projection that is further behind is built anew.
const KEPT: i64 = 100_000;
/// Changes between two trims.
const TRIM_EVERY: i64 = 1024;

/// What happened to a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// Its terms or vector are new.
    Put,
    /// It is gone.
    Delete,
    /// Its creation time moved.
    Touch,
}

impl Operation {
    fn code(self) -> i64 {
        match self {
            Self::Put => 0,
            Self::Delete => 1,
            Self::Touch => 2,
        }
    }

    fn of(code: i64) -> Self {
        match code {
            0 => Self::Put,
            1 => Self::Delete,
            _ => Self::Touch,
        }
    }
}

/// Appends a change and moves the project's counters by `memories`.
pub(crate) fn append(
    connection: &Connection,
    project: i64,
    memory: i64,
    operation: Operation,
    memories: i64,
) -> Result<(), StoreError> {
    connection
        .prepare_cached("INSERT INTO change(project, memory, operation) VALUES (?1, ?2, ?3)")
        .and_then(|mut statement| statement.execute(params![project, memory, operation.code()]))
        .map_err(storage_error)?;
    let sequence = connection.last_insert_rowid();
    connection
        .prepare_cached("UPDATE project SET last_change = ?2, memories = memories + ?3 WHERE id = ?1")
        .and_then(|mut statement| statement.execute(params![project, sequence, memories]))
        .map_err(storage_error)?;
    if sequence % TRIM_EVERY == 0 && sequence > KEPT {
        connection
            .execute("DELETE FROM change WHERE sequence <= ?1", [sequence - KEPT])
            .map_err(storage_error)?;
        schema::put(connection, "change_floor", &(sequence - KEPT))?;
    }
    Ok(())
}

/// Returns the last change that is no longer kept, 0 for none.
pub(crate) fn floor(connection: &Connection) -> Result<i64, StoreError> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = 'change_floor'")
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)).optional())
        .map(Option::unwrap_or_default)
        .map_err(storage_error)
}

/// Lists a project's changes after one, at most `limit`: sequence, memory, operation.
pub(crate) fn after(
    connection: &Connection,
    project: i64,
    sequence: i64,
    limit: usize,
) -> Result<Vec<(i64, i64, Operation)>, StoreError> {
    connection
        .prepare_cached(
            "SELECT sequence, memory, operation FROM change WHERE project = ?1 AND sequence > ?2
             ORDER BY sequence LIMIT ?3",
        )
        .and_then(|mut statement| {
            statement
                .query_map(params![project, sequence, limit as i64], |row| {
                    Ok((row.get(0)?, row.get(1)?, Operation::of(row.get(2)?)))
                })?
                .collect()
        })
        .map_err(storage_error)
}
