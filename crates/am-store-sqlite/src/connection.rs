//! Connections: how they are opened, and how they wait for one another.

use std::path::Path;
use std::time::Duration;

use am_store::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::row::storage_error;
use crate::schema::{self, NewStore};
use crate::store::Synchronous;

/// The longest a statement waits for another process, in milliseconds.
pub(crate) const BUSY_LIMIT_MS: u64 = 10_000;
/// The version that fixed the write-ahead log's reset race.
const OLDEST_ENGINE: i32 = 3_051_003;
/// Pages that the writer keeps, in KiB.
const WRITER_CACHE_KIB: u32 = 8192;
/// Pages that each reader keeps, in KiB: the inner pages of the trees. Rows are read once here and there, and the
/// system keeps them.
const READER_CACHE_KIB: u32 = 2048;
/// Tries of what several first openers do at once.
const OPEN_TRIES: u32 = 400;

/// Waits a short random time; the engine's own sleeps grow to 100 ms and are unfair.
fn wait(tries: i32) -> bool {
    std::thread::sleep(Duration::from_micros(rand::random_range(300..1500)));
    // 0.9 ms on average, and about 0.1 ms more to wake up.
    u64::try_from(tries).is_ok_and(|tries| tries < BUSY_LIMIT_MS)
}

/// Opens the file for the first time in this process: checks it, switches it to a write-ahead log, migrates it.
pub(crate) fn open_first(
    file: &Path,
    synchronous: Synchronous,
    new: &NewStore<'_>,
) -> Result<Connection, StoreError> {
    if rusqlite::version_number() < OLDEST_ENGINE {
        return Err(StoreError::Unavailable {
            detail: format!(
                "SQLite {} has a known defect; 3.51.3 is the oldest that will do",
                rusqlite::version()
            ),
        });
    }
    let mut log = file.as_os_str().to_owned();
    log.push("-wal");
    let has_log = Path::new(&log).exists();
    let mut connection = connect(file)?;
    // A store that is refused stays untouched: not even its log is folded back on close. Where there is none, closing
    // takes away what opening made.
    let keep = |connection: &Connection, kept: bool| {
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, kept)
            .map(drop)
            .map_err(storage_error)
    };
    keep(&connection, has_log)?;
    // In one snapshot: another first opener may make the tables between two looks.
    let snapshot = connection.unchecked_transaction().map_err(storage_error)?;
    schema::check_readable(&snapshot)?;
    snapshot.finish().map_err(storage_error)?;
    keep(&connection, false)?;
    switch_to_write_ahead_log(&connection)?;
    configure(&connection, synchronous, WRITER_CACHE_KIB)?;
    schema::migrate(&mut connection, new)?;
    Ok(connection)
}

/// Opens a further connection.
pub(crate) fn open_next(file: &Path, synchronous: Synchronous) -> Result<Connection, StoreError> {
    let connection = connect(file)?;
    configure(&connection, synchronous, READER_CACHE_KIB)?;
    Ok(connection)
}

fn connect(file: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(storage_error)?;
    connection.busy_handler(Some(wait)).map_err(storage_error)?;
    Ok(connection)
}

/// The switch fails with "busy" among several first openers whatever the busy handler says.
fn switch_to_write_ahead_log(connection: &Connection) -> Result<(), StoreError> {
    for _ in 0..OPEN_TRIES {
        let switched = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0));
        match switched.map_err(storage_error) {
            Ok(mode) if mode == "wal" => return Ok(()),
            Ok(mode) => {
                return Err(StoreError::Unavailable {
                    detail: format!("no write-ahead log here, only `{mode}`"),
                });
            }
            Err(StoreError::Busy { .. }) => {
                std::thread::sleep(Duration::from_micros(rand::random_range(500..5000)));
            }
            Err(error) => return Err(error),
        }
    }
    Err(StoreError::Busy { waited_ms: BUSY_LIMIT_MS })
}

fn configure(connection: &Connection, synchronous: Synchronous, cache_kib: u32) -> Result<(), StoreError> {
    connection
        .execute_batch(&format!(
            "PRAGMA synchronous = {}; PRAGMA secure_delete = ON; PRAGMA foreign_keys = ON;
             PRAGMA cache_size = -{cache_kib}; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0;
             PRAGMA wal_autocheckpoint = 1000; PRAGMA journal_size_limit = 67108864; PRAGMA trusted_schema = OFF;",
            synchronous.pragma()
        ))
        .map_err(storage_error)?;
    // Otherwise the engine looks at the values of some statements, and plans them anew for every value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(storage_error)?;
    connection.set_prepared_statement_cache_capacity(96);
    Ok(())
}
