//! Tables, their version and the guarded migration.
//!
//! Truth: `memory`, `vector`, `part`, `derived`, `session`, `concept`, `observation`, `log`. Derived and rebuildable:
//! `terms`, `vec8`, `concept_memory`, and the counters of `project`. `change` is the feed that projections tail.
//! The narrow tables are keyed by `project << 40 | memory`, so that one project's rows lie together.

use am_embed::analysis::{Analysis, Profile};
use am_model::Instant;
use am_store::{StoreError, StoreIdentity};
use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use crate::row::storage_error;

/// Marks the file as ours: the bytes `amem`.
pub(crate) const APPLICATION_ID: i64 = 0x616d_656d;
/// The newest schema version this program knows.
pub(crate) const VERSION: i64 = 1;
/// Bits of a narrow table's key that hold the memory's store id.
pub(crate) const MEMORY_BITS: u32 = 40;

const TABLES: &str = "
CREATE TABLE meta(key TEXT PRIMARY KEY, value NOT NULL) WITHOUT ROWID;
CREATE TABLE project(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE,
  last_change INTEGER NOT NULL DEFAULT 0, memories INTEGER NOT NULL DEFAULT 0, sessions INTEGER NOT NULL DEFAULT 0);
CREATE TABLE session(id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL, session_id TEXT NOT NULL,
  started_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, UNIQUE(project, session_id));
CREATE INDEX session_by_project ON session(project, id);
CREATE TABLE memory(id INTEGER PRIMARY KEY AUTOINCREMENT, memory_id TEXT NOT NULL UNIQUE, project INTEGER NOT NULL,
  session_id TEXT NOT NULL, kind TEXT NOT NULL, version INTEGER NOT NULL, origin TEXT NOT NULL,
  importance REAL NOT NULL, created_at INTEGER NOT NULL, dedup_key BLOB NOT NULL UNIQUE, digest_key BLOB NOT NULL,
  concepts BLOB NOT NULL, content TEXT NOT NULL);
CREATE INDEX memory_by_session ON memory(project, session_id, id);
CREATE INDEX memory_by_project ON memory(project, id);
CREATE TABLE part(memory INTEGER NOT NULL, ordinal INTEGER NOT NULL, session_id TEXT NOT NULL,
  bytes INTEGER NOT NULL, at INTEGER NOT NULL, PRIMARY KEY(memory, ordinal)) WITHOUT ROWID;
CREATE INDEX part_by_session ON part(session_id);
CREATE TABLE derived(source TEXT NOT NULL, memory INTEGER NOT NULL, ordinal INTEGER NOT NULL,
  PRIMARY KEY(source, memory)) WITHOUT ROWID;
CREATE INDEX derived_by_memory ON derived(memory, ordinal);
CREATE TABLE concept(id INTEGER PRIMARY KEY, project INTEGER NOT NULL, name TEXT NOT NULL,
  UNIQUE(project, name));
CREATE TABLE concept_memory(concept INTEGER NOT NULL, memory INTEGER NOT NULL,
  PRIMARY KEY(concept, memory)) WITHOUT ROWID;
CREATE TABLE embedder(id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);
CREATE TABLE vector(key INTEGER PRIMARY KEY, embedder INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE vec8(key INTEGER PRIMARY KEY, value BLOB NOT NULL);
CREATE TABLE terms(key INTEGER PRIMARY KEY, created_at INTEGER NOT NULL, value BLOB NOT NULL);
CREATE TABLE change(sequence INTEGER PRIMARY KEY, project INTEGER NOT NULL, memory INTEGER NOT NULL,
  operation INTEGER NOT NULL);
CREATE INDEX change_by_project ON change(project, sequence);
CREATE TABLE observation(id INTEGER PRIMARY KEY AUTOINCREMENT, project INTEGER NOT NULL, session_id TEXT NOT NULL,
  event_id TEXT NOT NULL, origin TEXT NOT NULL, at INTEGER NOT NULL, level TEXT NOT NULL, text TEXT, memory_id TEXT,
  UNIQUE(project, event_id));
CREATE INDEX observation_by_memory ON observation(memory_id);
CREATE INDEX observation_by_session ON observation(project, session_id, at);
CREATE TABLE log(id INTEGER PRIMARY KEY, writer BLOB NOT NULL, sequence INTEGER NOT NULL,
  at INTEGER NOT NULL, actor TEXT NOT NULL, channel TEXT NOT NULL, verb TEXT NOT NULL, targets TEXT NOT NULL,
  reason TEXT, before BLOB, after BLOB, previous BLOB NOT NULL, UNIQUE(writer, sequence));
CREATE TRIGGER log_is_not_edited BEFORE UPDATE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
CREATE TRIGGER log_is_not_cut BEFORE DELETE ON log BEGIN SELECT RAISE(ABORT, 'the log is append-only'); END;
";

/// What a store is made with; an existing store's own record wins.
pub(crate) struct NewStore<'a> {
    pub(crate) profile: Profile,
    pub(crate) embedder: &'a str,
    pub(crate) now: Instant,
}

/// Returns the key of a memory in the narrow tables.
pub(crate) fn narrow_key(project: i64, memory: i64) -> i64 {
    project << MEMORY_BITS | memory
}

/// Refuses files that are not ours or newer than this program; changes nothing.
pub(crate) fn check_readable(connection: &Connection) -> Result<(), StoreError> {
    let application: i64 =
        connection.query_row("PRAGMA application_id", [], |row| row.get(0)).map_err(storage_error)?;
    let found: i64 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(storage_error)?;
    if application == APPLICATION_ID {
        if found > VERSION {
            return Err(StoreError::NewerSchema { found, supported: VERSION });
        }
        return Ok(());
    }
    let objects: i64 = connection
        .query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
        .map_err(storage_error)?;
    if application != 0 || found != 0 || objects != 0 { Err(StoreError::Foreign) } else { Ok(()) }
}

/// Creates the tables where there are none, in one transaction that other processes wait for.
pub(crate) fn migrate(connection: &mut Connection, new: &NewStore<'_>) -> Result<(), StoreError> {
    let version: i64 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(storage_error)?;
    if version == VERSION {
        return Ok(());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage_error)?;
    check_readable(&transaction)?;
    let version: i64 =
        transaction.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(storage_error)?;
    if version == 0 {
        transaction.execute_batch(TABLES).map_err(storage_error)?;
        write_identity(&transaction, new)?;
        transaction
            .execute_batch(&format!(
                "PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {VERSION};"
            ))
            .map_err(storage_error)?;
    }
    transaction.commit().map_err(storage_error)
}

fn write_identity(connection: &Connection, new: &NewStore<'_>) -> Result<(), StoreError> {
    let writer: [u8; 16] = rand::random();
    put(connection, "uuid", &uuid::Uuid::new_v4().to_string())?;
    put(connection, "profile", &new.profile.as_str())?;
    put(connection, "analysis", &Analysis::new(new.profile).id())?;
    put(connection, "created_at", &new.now.millis())?;
    put(connection, "writer", &writer.as_slice())?;
    put(connection, "epoch", &1_i64)?;
    put(connection, "erasure_pending", &0_i64)?;
    connection
        .execute("INSERT INTO embedder(id, identity) VALUES (1, ?1)", [new.embedder])
        .map_err(storage_error)?;
    put(connection, "embedder", &1_i64)
}

/// Writes one value of the store's own record.
pub(crate) fn put(connection: &Connection, key: &str, value: &dyn rusqlite::ToSql) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO meta(key, value) VALUES (?1, ?2) ON CONFLICT(key) DO UPDATE SET value = ?2",
        )
        .and_then(|mut statement| statement.execute(params![key, value]))
        .map(drop)
        .map_err(storage_error)
}

/// Reads one value of the store's own record.
pub(crate) fn get<T: rusqlite::types::FromSql>(connection: &Connection, key: &str) -> Result<T, StoreError> {
    connection
        .prepare_cached("SELECT value FROM meta WHERE key = ?1")
        .and_then(|mut statement| statement.query_row([key], |row| row.get(0)).optional())
        .map_err(storage_error)?
        .ok_or_else(|| StoreError::Damaged { detail: format!("the store's record lacks `{key}`") })
}

/// What every transaction checks: the store may have been migrated or rebuilt by another process.
pub(crate) fn epoch(connection: &Connection) -> Result<i64, StoreError> {
    get(connection, "epoch")
}

/// Reads the store's identity.
pub(crate) fn identity(connection: &Connection) -> Result<StoreIdentity, StoreError> {
    let found: i64 =
        connection.query_row("PRAGMA user_version", [], |row| row.get(0)).map_err(storage_error)?;
    if found > VERSION {
        return Err(StoreError::NewerSchema { found, supported: VERSION });
    }
    let profile: String = get(connection, "profile")?;
    let profile = Profile::parse(&profile)
        .ok_or_else(|| StoreError::Damaged { detail: format!("unknown profile `{profile}`") })?;
    let embedder: i64 = get(connection, "embedder")?;
    let embedder = connection
        .query_row("SELECT identity FROM embedder WHERE id = ?1", [embedder], |row| row.get(0))
        .map_err(storage_error)?;
    Ok(StoreIdentity {
        uuid: get(connection, "uuid")?,
        schema_version: found,
        profile,
        analysis: get(connection, "analysis")?,
        embedder,
        created_at: Instant::from_millis(get(connection, "created_at")?),
    })
}
