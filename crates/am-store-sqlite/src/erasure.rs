//! Erasure: what was forgotten leaves the disk.
//!
//! `secure_delete` overwrites freed cells, but pages that were rebalanced may keep a copy in their free space, and the
//! write-ahead log keeps old frames. So an erasure is complete once the file was written anew from live rows alone
//! (`VACUUM`) and the log was truncated. Until then the store says that it is pending.

use am_store::StoreError;
use rusqlite::Connection;

use crate::row::storage_error;
use crate::schema;
use crate::store::SqliteStore;

/// Stores up to this size are written anew by the way; larger ones when asked to.
const BY_THE_WAY_BYTES: u64 = 64 << 20;

/// What a maintenance run did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Maintenance {
    /// The write-ahead log was folded into the file and cut.
    pub log_truncated: bool,
    /// Bytes of something forgotten may still be on disk.
    pub erasure_pending: bool,
}

impl SqliteStore {
    /// Folds the write-ahead log back and, in stores of up to 64 MiB, completes pending erasure.
    ///
    /// For daemons, when idle. Readers of other processes may stand in the way: the result tells.
    pub fn maintain(&self) -> Result<Maintenance, StoreError> {
        if self.erasure_pending()? {
            if self.disk_bytes() <= BY_THE_WAY_BYTES {
                return self.finish_erasure();
            }
            return Ok(Maintenance { log_truncated: truncate_log(&self.writer())?, erasure_pending: true });
        }
        Ok(Maintenance { log_truncated: truncate_log(&self.writer())?, erasure_pending: false })
    }

    /// Writes the file anew from live rows and truncates the write-ahead log, where an erasure is pending.
    pub fn finish_erasure(&self) -> Result<Maintenance, StoreError> {
        let connection = self.writer();
        self.known(&connection)?;
        let pending: i64 = schema::get(&connection, "erasure_pending")?;
        if pending == 0 {
            return Ok(Maintenance { log_truncated: truncate_log(&connection)?, erasure_pending: false });
        }
        // Freed row ids would come back: every table with ids that outlive their rows has AUTOINCREMENT.
        write_anew(&connection, self.disk_bytes())?;
        if !truncate_log(&connection)? {
            return Ok(Maintenance { log_truncated: false, erasure_pending: true });
        }
        // Only what was pending before is done: another process may have forgotten more in between.
        let done = connection
            .execute("UPDATE meta SET value = 0 WHERE key = 'erasure_pending' AND value = ?1", [pending])
            .map_err(storage_error)?;
        Ok(Maintenance { log_truncated: true, erasure_pending: done == 0 })
    }

    /// Returns whether bytes of something forgotten may still be on disk.
    pub fn erasure_pending(&self) -> Result<bool, StoreError> {
        self.read(|connection, _| {
            schema::get::<i64>(connection, "erasure_pending").map(|pending| pending > 0)
        })
    }

    /// Returns the bytes of the database and its write-ahead log.
    pub(crate) fn disk_bytes(&self) -> u64 {
        let size = |suffix: &str| {
            let mut name = self.shared.file.clone().into_os_string();
            name.push(suffix);
            std::fs::metadata(name).map_or(0, |file| file.len())
        };
        size("") + size("-wal")
    }
}

/// Copies the live rows out and back. The copy is in memory for small stores, else in an unnamed temporary file.
fn write_anew(connection: &Connection, bytes: u64) -> Result<(), StoreError> {
    let place = if bytes > BY_THE_WAY_BYTES { "FILE" } else { "MEMORY" };
    connection.execute_batch(&format!("PRAGMA temp_store = {place}")).map_err(storage_error)?;
    let written = connection.execute_batch("VACUUM").map_err(storage_error);
    connection.execute_batch("PRAGMA temp_store = MEMORY").map_err(storage_error)?;
    written
}

/// Folds the write-ahead log back and cuts it to nothing; `false` where readers stand in the way.
fn truncate_log(connection: &Connection) -> Result<bool, StoreError> {
    connection
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        .map(|busy| busy == 0)
        .map_err(storage_error)
}
