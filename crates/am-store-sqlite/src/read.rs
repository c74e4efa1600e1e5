//! Reads other than searches: named, few, and each for one verb.

use am_model::{Counts, DedupKey, Instant, Memory, MemoryId, Project, Session, SessionId, StoreId};
use am_store::{
    LiveMemory, Part, Scope, Statistics, StoreError, StoredLogEntry, StoredMemory, StoredObservation,
};
use rusqlite::{Connection, OptionalExtension, Row, params};

use crate::commit::log;
use crate::row::{MEMORY_COLUMNS, concept_links, memory, observation, storage_error, vector_values};
use crate::schema::narrow_key;
use crate::store::SqliteStore;

/// A project's own row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProjectRow {
    pub(crate) id: i64,
    pub(crate) last_change: i64,
    pub(crate) memories: u64,
    pub(crate) sessions: u64,
}

/// Looks a project up.
pub(crate) fn project(connection: &Connection, project: &Project) -> Result<Option<ProjectRow>, StoreError> {
    connection
        .prepare_cached("SELECT id, last_change, memories, sessions FROM project WHERE name = ?1")
        .and_then(|mut statement| statement.query_row([project.as_str()], project_row).optional())
        .map_err(storage_error)
}

/// Looks a project up by its row id.
pub(crate) fn project_by_id(connection: &Connection, id: i64) -> Result<Option<ProjectRow>, StoreError> {
    connection
        .prepare_cached("SELECT id, last_change, memories, sessions FROM project WHERE id = ?1")
        .and_then(|mut statement| statement.query_row([id], project_row).optional())
        .map_err(storage_error)
}

fn project_row(row: &Row<'_>) -> rusqlite::Result<ProjectRow> {
    Ok(ProjectRow {
        id: row.get(0)?,
        last_change: row.get(1)?,
        memories: row.get::<_, i64>(2)?.max(0) as u64,
        sessions: row.get::<_, i64>(3)?.max(0) as u64,
    })
}

/// Counts what a project holds.
pub(crate) fn counts(connection: &Connection, name: &Project) -> Result<Counts, StoreError> {
    Ok(project(connection, name)?
        .map_or_else(Counts::default, |row| Counts { memories: row.memories, sessions: row.sessions }))
}

fn session(row: &Row<'_>) -> rusqlite::Result<Session> {
    Ok(Session {
        id: StoreId(row.get(0)?),
        project: Project::from_stored(row.get::<_, String>(1)?),
        session_id: SessionId::from_stored(row.get::<_, String>(2)?),
        started_at: Instant::from_millis(row.get(3)?),
        updated_at: Instant::from_millis(row.get(4)?),
    })
}

/// Lists the newest sessions of a project.
pub(crate) fn sessions(
    connection: &Connection,
    name: &Project,
    limit: usize,
) -> Result<Vec<Session>, StoreError> {
    connection
        .prepare_cached(
            "SELECT s.id, p.name, s.session_id, s.started_at, s.updated_at
             FROM project p JOIN session s ON s.project = p.id WHERE p.name = ?1 ORDER BY s.id DESC LIMIT ?2",
        )
        .and_then(|mut statement| {
            statement.query_map(params![name.as_str(), limit as i64], session)?.collect()
        })
        .map_err(storage_error)
}

/// Lists the newest memories of a session.
pub(crate) fn session_memories(
    connection: &Connection,
    live: &LiveMemory,
    session: &SessionId,
    limit: usize,
) -> Result<Vec<Memory>, StoreError> {
    connection
        .prepare_cached(&format!(
            "SELECT {MEMORY_COLUMNS} FROM project p JOIN memory m ON m.project = p.id
             WHERE p.name = ?1 AND m.session_id = ?2 AND m.created_at >= ?3 ORDER BY m.id DESC LIMIT ?4"
        ))
        .and_then(|mut statement| {
            let expired_before = live.expired_before.map_or(i64::MIN, Instant::millis);
            let given = params![live.project.as_str(), session.as_str(), expired_before, limit as i64];
            statement.query_map(given, |row| memory(row, &live.project))?.collect()
        })
        .map_err(storage_error)
}

/// Fetches memories by public id, with concepts.
pub(crate) fn memories(connection: &Connection, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
    Ok(stored_memories(connection, ids)?.into_iter().map(|stored| stored.memory).collect())
}

/// Fetches whole memories by public id.
pub(crate) fn stored_memories(
    connection: &Connection,
    ids: &[MemoryId],
) -> Result<Vec<StoredMemory>, StoreError> {
    let mut found = Vec::new();
    for id in ids {
        found.extend(stored(connection, "m.memory_id = ?1", &[&id.as_str()])?);
    }
    Ok(found)
}

/// Lists the memories that hold parts of a session and of others.
pub(crate) fn shared_memories(
    connection: &Connection,
    name: &Project,
    session: &SessionId,
) -> Result<Vec<StoredMemory>, StoreError> {
    let Some(row) = project(connection, name)? else { return Ok(Vec::new()) };
    stored(
        connection,
        "m.project = ?1
         AND EXISTS (SELECT 1 FROM part WHERE memory = m.id AND session_id = ?2)
         AND EXISTS (SELECT 1 FROM part WHERE memory = m.id AND session_id != ?2)
         AND m.id IN (SELECT memory FROM part WHERE session_id = ?2) ORDER BY m.id",
        &[&row.id, &session.as_str()],
    )
}

/// Fetches whole memories by a condition.
fn stored(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<Vec<StoredMemory>, StoreError> {
    let rows: Vec<(StoredMemory, i64, Vec<u8>)> = connection
        .prepare_cached(&format!(
            "SELECT {MEMORY_COLUMNS}, m.dedup_key, m.digest_key, m.project, p.name
             FROM memory m JOIN project p ON p.id = m.project WHERE {condition}"
        ))
        .and_then(|mut statement| {
            statement
                .query_map(values, |row| {
                    let project = Project::from_stored(row.get::<_, String>(13)?);
                    let stored = StoredMemory {
                        memory: memory(row, &project)?,
                        concept_parts: Vec::new(),
                        dedup_key: DedupKey(row.get(10)?),
                        vector: None,
                        parts: Vec::new(),
                        derived_from: Vec::new(),
                        digest_key: row.get(11)?,
                    };
                    Ok((stored, row.get(12)?, row.get(9)?))
                })?
                .collect()
        })
        .map_err(storage_error)?;
    rows.into_iter()
        .map(|(mut stored, project, links)| {
            complete(connection, &mut stored, project, &links)?;
            Ok(stored)
        })
        .collect()
}

/// Adds what lies in other tables.
fn complete(
    connection: &Connection,
    stored: &mut StoredMemory,
    project: i64,
    links: &[u8],
) -> Result<(), StoreError> {
    let id = stored.memory.id.0;
    let links = concept_links(links);
    stored.memory.concepts = crate::commit::concept_names(connection, &links)?;
    stored.concept_parts = links.iter().map(|link| link.part as usize).collect();
    stored.vector = connection
        .prepare_cached("SELECT value FROM vector WHERE key = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([narrow_key(project, id)], |row| Ok(vector_values(row.get_ref(0)?.as_blob()?)))
                .optional()
        })
        .map_err(storage_error)?;
    stored.parts = parts(connection, &stored.memory)?;
    stored.derived_from = connection
        .prepare_cached("SELECT source FROM derived WHERE memory = ?1 ORDER BY ordinal, source")
        .and_then(|mut statement| {
            statement.query_map([id], |row| row.get::<_, String>(0).map(MemoryId::from_stored))?.collect()
        })
        .map_err(storage_error)?;
    Ok(())
}

/// Reads the parts of a memory; one that was never merged into has none stored.
pub(crate) fn parts(connection: &Connection, memory: &Memory) -> Result<Vec<Part>, StoreError> {
    let mut parts: Vec<Part> = connection
        .prepare_cached("SELECT session_id, bytes, at FROM part WHERE memory = ?1 ORDER BY ordinal")
        .and_then(|mut statement| {
            statement
                .query_map([memory.id.0], |row| {
                    Ok(Part {
                        session_id: SessionId::from_stored(row.get::<_, String>(0)?),
                        bytes: row.get::<_, i64>(1)?.max(0) as usize,
                        at: Instant::from_millis(row.get(2)?),
                    })
                })?
                .collect()
        })
        .map_err(storage_error)?;
    if parts.is_empty() {
        parts.push(Part {
            session_id: memory.session_id.clone(),
            bytes: memory.content.len(),
            at: memory.created_at,
        });
    }
    Ok(parts)
}

/// Lists the projects that hold anything.
pub(crate) fn projects(connection: &Connection) -> Result<Vec<Project>, StoreError> {
    connection
        .prepare_cached(
            "SELECT name FROM project p WHERE memories > 0 OR sessions > 0
             OR EXISTS (SELECT 1 FROM observation WHERE project = p.id) ORDER BY name",
        )
        .and_then(|mut statement| {
            statement.query_map([], |row| row.get::<_, String>(0).map(Project::from_stored))?.collect()
        })
        .map_err(storage_error)
}

/// Returns the condition on `project` of a scope and the name it asks for.
fn in_scope(scope: &Scope) -> (&'static str, &str) {
    match scope {
        Scope::Project(project) => ("p.name = ?3", project.as_str()),
        Scope::AllProjects => ("?3 = ''", ""),
    }
}

/// Walks sessions.
pub(crate) fn sessions_page(
    connection: &Connection,
    scope: &Scope,
    after: StoreId,
    limit: usize,
) -> Result<Vec<Session>, StoreError> {
    let (condition, name) = in_scope(scope);
    connection
        .prepare_cached(&format!(
            "SELECT s.id, p.name, s.session_id, s.started_at, s.updated_at
             FROM session s JOIN project p ON p.id = s.project
             WHERE s.id > ?1 AND {condition} ORDER BY s.id LIMIT ?2"
        ))
        .and_then(|mut statement| {
            statement.query_map(params![after.0, limit as i64, name], session)?.collect()
        })
        .map_err(storage_error)
}

/// Walks memories.
pub(crate) fn memories_page(
    connection: &Connection,
    scope: &Scope,
    after: StoreId,
    limit: usize,
) -> Result<Vec<StoredMemory>, StoreError> {
    match scope {
        Scope::Project(name) => {
            let Some(row) = project(connection, name)? else { return Ok(Vec::new()) };
            let condition = "m.project = ?1 AND m.id > ?2 ORDER BY m.id LIMIT ?3";
            stored(connection, condition, &[&row.id, &after.0, &(limit as i64)])
        }
        Scope::AllProjects => {
            stored(connection, "m.id > ?1 ORDER BY m.id LIMIT ?2", &[&after.0, &(limit as i64)])
        }
    }
}

/// Walks evidence.
pub(crate) fn observations_page(
    connection: &Connection,
    scope: &Scope,
    after: StoreId,
    limit: usize,
) -> Result<Vec<StoredObservation>, StoreError> {
    let (condition, name) = in_scope(scope);
    connection
        .prepare_cached(&format!(
            "SELECT o.id, o.session_id, o.event_id, o.origin, o.at, o.level, o.text, o.memory_id, p.name
             FROM observation o JOIN project p ON p.id = o.project
             WHERE o.id > ?1 AND {condition} ORDER BY o.id LIMIT ?2"
        ))
        .and_then(|mut statement| {
            statement.query_map(params![after.0, limit as i64, name], observation)?.collect()
        })
        .map_err(storage_error)
}

/// Walks the log.
pub(crate) fn log_page(
    connection: &Connection,
    after: StoreId,
    limit: usize,
) -> Result<Vec<StoredLogEntry>, StoreError> {
    connection
        .prepare_cached(&format!("SELECT {} FROM log WHERE id > ?1 ORDER BY id LIMIT ?2", log::COLUMNS))
        .and_then(|mut statement| statement.query_map(params![after.0, limit as i64], log::entry)?.collect())
        .map_err(storage_error)
}

/// Measures the store.
pub(crate) fn statistics(store: &SqliteStore) -> Result<Statistics, StoreError> {
    let mut measured = store.read(|connection, _| {
        let count = |query: &str| -> Result<u64, StoreError> {
            connection
                .query_row(query, [], |row| row.get::<_, i64>(0))
                .map(|count| count.max(0) as u64)
                .map_err(storage_error)
        };
        Ok(Statistics {
            projects: count(
                "SELECT count(*) FROM project p WHERE memories > 0 OR sessions > 0
                 OR EXISTS (SELECT 1 FROM observation WHERE project = p.id)",
            )?,
            sessions: count("SELECT count(*) FROM session")?,
            memories: count("SELECT coalesce(sum(memories), 0) FROM project")?,
            vectors: count("SELECT count(*) FROM vec8")?,
            concepts: count("SELECT count(*) FROM concept")?,
            observations: count("SELECT count(*) FROM observation")?,
            observation_bytes: count("SELECT coalesce(sum(length(CAST(text AS BLOB))), 0) FROM observation")?,
            log_entries: count("SELECT count(*) FROM log")?,
            disk_bytes: 0,
            projection_bytes: 0,
        })
    })?;
    measured.disk_bytes = store.disk_bytes();
    measured.projection_bytes = store.shared.cache.bytes() as u64;
    Ok(measured)
}
