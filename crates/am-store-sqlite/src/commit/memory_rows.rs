//! The rows of one memory: inserted, rewritten and removed together with every index.

use am_embed::analysis::AnalysedText;
use am_model::{Digest, Instant, Memory, Project};
use am_store::{StoreError, Text, chain};
use rusqlite::{Connection, OptionalExtension, params};

use super::feed::{self, Operation};
use super::{Context, concept, evidence};
use crate::projection::quantise;
use crate::read;
use crate::row::{ConceptLink, MEMORY_COLUMNS, concept_links, memory, storage_error, vector_bytes};
use crate::schema::{self, narrow_key};

/// A memory as the committer handles it.
pub(crate) struct Held {
    pub(crate) memory: Memory,
    pub(crate) project: i64,
    pub(crate) links: Vec<ConceptLink>,
    pub(crate) digest_key: [u8; 32],
}

impl Held {
    /// Returns the keyed digest that the log shows.
    pub(crate) fn digest(&self) -> Digest {
        chain::keyed_digest(&self.digest_key, &self.memory)
    }
}

/// Fetches a memory with its concepts by a condition on one value, such as `m.id = ?1`.
pub(crate) fn find(
    connection: &Connection,
    condition: &str,
    value: &dyn rusqlite::ToSql,
) -> Result<Option<Held>, StoreError> {
    let found = connection
        .prepare_cached(&format!(
            "SELECT {MEMORY_COLUMNS}, m.digest_key, m.project, p.name
             FROM memory m JOIN project p ON p.id = m.project WHERE {condition}"
        ))
        .and_then(|mut statement| {
            statement
                .query_row([value], |row| {
                    let project = Project::from_stored(row.get::<_, String>(12)?);
                    Ok(Held {
                        memory: memory(row, &project)?,
                        project: row.get(11)?,
                        links: concept_links(row.get_ref(9)?.as_blob()?),
                        digest_key: row.get(10)?,
                    })
                })
                .optional()
        })
        .map_err(storage_error)?;
    let Some(mut held) = found else { return Ok(None) };
    held.memory.concepts = concept::names(connection, &held.links)?;
    Ok(Some(held))
}

/// Returns the id of a project, made where it is missing.
pub(crate) fn project_id(connection: &Connection, project: &Project) -> Result<i64, StoreError> {
    if let Some(row) = read::project(connection, project)? {
        return Ok(row.id);
    }
    connection
        .prepare_cached("INSERT INTO project(name) VALUES (?1)")
        .and_then(|mut statement| statement.execute([project.as_str()]))
        .map_err(storage_error)?;
    let id = connection.last_insert_rowid();
    if id >= 1 << (63 - schema::MEMORY_BITS) {
        return Err(StoreError::Invalid { detail: "the store holds too many projects".to_owned() });
    }
    Ok(id)
}

/// Makes a session, or moves the update time of one that is there, never back.
pub(crate) fn touch_session(
    connection: &Connection,
    project: i64,
    session_id: &str,
    at: Instant,
) -> Result<(), StoreError> {
    let updated = connection
        .prepare_cached(
            "UPDATE session SET updated_at = max(updated_at, ?3) WHERE project = ?1 AND session_id = ?2",
        )
        .and_then(|mut statement| statement.execute(params![project, session_id, at.millis()]))
        .map_err(storage_error)?;
    if updated == 0 { make_session(connection, project, session_id, at) } else { Ok(()) }
}

/// Makes a session that is missing, and leaves one that is there as it is.
pub(crate) fn ensure_session(
    connection: &Connection,
    project: i64,
    session_id: &str,
    at: Instant,
) -> Result<(), StoreError> {
    let is_there: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM session WHERE project = ?1 AND session_id = ?2)")
        .and_then(|mut statement| statement.query_row(params![project, session_id], |row| row.get(0)))
        .map_err(storage_error)?;
    if is_there { Ok(()) } else { make_session(connection, project, session_id, at) }
}

fn make_session(
    connection: &Connection,
    project: i64,
    session_id: &str,
    at: Instant,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO session(project, session_id, started_at, updated_at) VALUES (?1, ?2, ?3, ?3)",
        )
        .and_then(|mut statement| statement.execute(params![project, session_id, at.millis()]))
        .map_err(storage_error)?;
    connection
        .prepare_cached("UPDATE project SET sessions = sessions + 1 WHERE id = ?1")
        .and_then(|mut statement| statement.execute([project]))
        .map(drop)
        .map_err(storage_error)
}

/// A row to insert.
pub(crate) struct Row<'a> {
    /// Store id, or the next one.
    pub(crate) id: Option<i64>,
    pub(crate) project: i64,
    pub(crate) memory: &'a Memory,
    pub(crate) text: &'a Text,
    pub(crate) links: &'a [ConceptLink],
    pub(crate) digest_key: &'a [u8; 32],
}

/// Inserts a memory into every index and returns its store id.
pub(crate) fn insert(connection: &Connection, row: &Row<'_>) -> Result<i64, StoreError> {
    let Row { project, memory, text, links, .. } = row;
    connection
        .prepare_cached(
            "INSERT INTO memory(id, memory_id, project, session_id, kind, version, origin, importance, created_at,
               dedup_key, digest_key, concepts, content)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                row.id,
                memory.memory_id.as_str(),
                project,
                memory.session_id.as_str(),
                memory.kind.as_str(),
                memory.version,
                memory.origin.as_str(),
                memory.importance.get(),
                memory.created_at.millis(),
                text.dedup_key.0.as_slice(),
                row.digest_key.as_slice(),
                crate::row::concept_bytes(links),
                text.content,
            ])
        })
        .map_err(storage_error)?;
    let id = connection.last_insert_rowid();
    if id >= 1 << schema::MEMORY_BITS {
        return Err(StoreError::Invalid { detail: "the store holds too many memories".to_owned() });
    }
    concept::enter(connection, id, links)?;
    index(
        connection,
        narrow_key(*project, id),
        memory.created_at,
        text.terms.as_ref(),
        text.vector.as_deref(),
    )?;
    feed::append(connection, *project, id, Operation::Put, 1)?;
    Ok(id)
}

/// Writes the narrow rows of a memory.
pub(crate) fn index(
    connection: &Connection,
    key: i64,
    created_at: Instant,
    terms: Option<&AnalysedText>,
    vector: Option<&[f32]>,
) -> Result<(), StoreError> {
    if let Some(terms) = terms {
        connection
            .prepare_cached("INSERT INTO terms(key, created_at, value) VALUES (?1, ?2, ?3)")
            .and_then(|mut statement| statement.execute(params![key, created_at.millis(), terms.to_bytes()]))
            .map_err(storage_error)?;
    }
    if let Some(vector) = vector {
        connection
            .prepare_cached(
                "INSERT INTO vector(key, embedder, value)
                 VALUES (?1, (SELECT value FROM meta WHERE key = 'embedder'), ?2)",
            )
            .and_then(|mut statement| statement.execute(params![key, vector_bytes(vector)]))
            .map_err(storage_error)?;
        connection
            .prepare_cached("INSERT INTO vec8(key, value) VALUES (?1, ?2)")
            .and_then(|mut statement| statement.execute(params![key, quantise(vector).to_bytes()]))
            .map_err(storage_error)?;
    }
    Ok(())
}

/// Removes the narrow rows of a memory.
pub(crate) fn unindex(connection: &Connection, key: i64) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM terms WHERE key = ?1",
        "DELETE FROM vec8 WHERE key = ?1",
        "DELETE FROM vector WHERE key = ?1",
    ] {
        connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.execute([key]))
            .map_err(storage_error)?;
    }
    Ok(())
}

/// Gives a memory another text, session and concept links, with the next version.
pub(crate) fn rewrite(
    context: &Context<'_>,
    held: &Held,
    session_id: &str,
    text: &Text,
    links: &[ConceptLink],
) -> Result<(), StoreError> {
    let connection = context.transaction;
    let id = held.memory.id.0;
    connection
        .prepare_cached(
            "UPDATE memory SET session_id = ?2, version = version + 1, dedup_key = ?3, concepts = ?4, content = ?5
             WHERE id = ?1",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                id,
                session_id,
                text.dedup_key.0.as_slice(),
                crate::row::concept_bytes(links),
                text.content
            ])
        })
        .map_err(storage_error)?;
    let key = narrow_key(held.project, id);
    unindex(connection, key)?;
    index(connection, key, held.memory.created_at, text.terms.as_ref(), text.vector.as_deref())?;
    feed::append(connection, held.project, id, Operation::Put, 0)
}

/// Gives a memory another key for its digests and returns it.
///
/// With the old one, which goes, a text that was taken out could be guessed from the digests in the log.
pub(crate) fn renew_digest_key(connection: &Connection, held: &Held) -> Result<[u8; 32], StoreError> {
    let key: [u8; 32] = rand::random();
    connection
        .prepare_cached("UPDATE memory SET digest_key = ?2 WHERE id = ?1")
        .and_then(|mut statement| statement.execute(params![held.memory.id.0, key.as_slice()]))
        .map_err(storage_error)?;
    Ok(key)
}

/// Removes a memory from every index, and the text of the evidence that rests under it.
///
/// Returns the number of observations whose text was erased.
pub(crate) fn remove(connection: &Connection, held: &Held) -> Result<u64, StoreError> {
    let id = held.memory.id.0;
    for statement in [
        "DELETE FROM memory WHERE id = ?1",
        "DELETE FROM part WHERE memory = ?1",
        "DELETE FROM derived WHERE memory = ?1",
    ] {
        connection
            .prepare_cached(statement)
            .and_then(|mut statement| statement.execute([id]))
            .map_err(storage_error)?;
    }
    unindex(connection, narrow_key(held.project, id))?;
    concept::leave(connection, id, &held.links)?;
    feed::append(connection, held.project, id, Operation::Delete, -1)?;
    evidence::erase(connection, "memory_id = ?1", &[&held.memory.memory_id.as_str()])
}

/// Records that bytes of something forgotten may still be on disk.
pub(crate) fn erasure_is_pending(connection: &Connection) -> Result<(), StoreError> {
    let pending: i64 = schema::get(connection, "erasure_pending")?;
    schema::put(connection, "erasure_pending", &(pending + 1))
}
