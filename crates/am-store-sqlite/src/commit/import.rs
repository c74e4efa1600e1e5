//! Copying whole records in.

use am_embed::analysis::AnalysedText;
use am_model::{MemoryId, Session, StoreId, Verb};
use am_store::{Import, Outcome, Part, StoreError, StoredMemory, StoredObservation, Text, chain};
use rusqlite::{Connection, OptionalExtension, params};

use super::log::{self, Told};
use super::memory_rows::{self, Row};
use super::merge::insert_parts;
use super::save::link_sources;
use super::{Context, Step, check_vector, concept, evidence, invalid};
use crate::row::storage_error;

/// Copies records in; what is there already is skipped.
pub(super) fn import(context: &Context<'_>, import: &Import) -> Result<Step, StoreError> {
    let connection = context.transaction;
    for (stored, _) in &import.memories {
        check_vector(context, stored.vector.as_ref())?;
        check_parts(stored)?;
    }
    let given = import.sessions.len() + import.memories.len() + import.observations.len() + import.log.len();
    let (mut observed, mut copied) = (0, 0);
    let mut inserted: Vec<&StoredMemory> = Vec::new();
    for session in by_id(&import.sessions, |session| session.id) {
        copied += usize::from(copy_session(connection, session)?);
    }
    let mut only = None;
    for (stored, terms) in by_id(&import.memories, |(stored, _)| stored.memory.id) {
        if copy_memory(connection, stored, terms.as_ref())? {
            only = if inserted.is_empty() {
                Some(chain::keyed_digest(&stored.digest_key, &stored.memory))
            } else {
                None
            };
            inserted.push(stored);
        }
    }
    for stored in by_id(&import.observations, |stored| stored.id) {
        observed += usize::from(copy_observation(connection, stored)?);
    }
    for stored in by_id(&import.log, |stored| stored.id) {
        let id = kept_id(connection, "SELECT coalesce(max(id), 0) FROM log", stored.id)?;
        copied += usize::from(log::insert(connection, id, &stored.entry)?);
    }
    copied += inserted.len() + observed;
    let outcome = Outcome::Imported {
        memories: inserted.len() as u64,
        observations: observed as u64,
        skipped: (given - copied) as u64,
    };
    if copied == 0 {
        return Ok(Step::Drop(outcome));
    }
    // Sessions and log rows alone are a copied segment: it says by itself what was done.
    if inserted.len() + observed > 0 {
        let targets: Vec<MemoryId> = inserted.iter().map(|stored| stored.memory.memory_id.clone()).collect();
        log::append(context, Verb::Import, &Told { targets: &targets, after: only, ..Told::default() })?;
    }
    Ok(Step::Keep(outcome))
}

fn by_id<T>(records: &[T], id: impl Fn(&T) -> StoreId) -> Vec<&T> {
    let mut sorted: Vec<&T> = records.iter().collect();
    sorted.sort_by_key(|record| id(record));
    sorted
}

/// Fails where a record can't be what a store gave out.
fn check_parts(stored: &StoredMemory) -> Result<(), StoreError> {
    let parts = stored.parts.len();
    if parts == 0 {
        return Err(invalid("a memory without parts"));
    }
    if stored.memory.memory_id.as_str().contains('\n') {
        return Err(invalid("a memory id of several lines"));
    }
    if Part::joined_bytes(&stored.parts) != stored.memory.content.len() {
        return Err(invalid("a memory whose parts are not as long as its content"));
    }
    if stored.concept_parts.len() != stored.memory.concepts.len()
        || stored.concept_parts.iter().any(|part| *part >= parts)
    {
        return Err(invalid("a memory whose concepts belong to parts it has not"));
    }
    Ok(())
}

/// Returns the id to insert a record with: its own above every id that `last` gives, else the next.
fn kept_id(connection: &Connection, last: &str, id: StoreId) -> Result<Option<i64>, StoreError> {
    let last: i64 = connection
        .prepare_cached(last)
        .and_then(|mut statement| statement.query_row([], |row| row.get(0)))
        .map_err(storage_error)?;
    Ok((id.0 > last).then_some(id.0))
}

/// Returns the last id that a table with ids of its own has given.
fn last_given(table: &str) -> String {
    format!("SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0)")
}

fn copy_session(connection: &Connection, session: &Session) -> Result<bool, StoreError> {
    let project = memory_rows::project_id(connection, &session.project)?;
    let id = kept_id(connection, &last_given("session"), session.id)?;
    let inserted = connection
        .prepare_cached(
            "INSERT INTO session(id, project, session_id, started_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT(project, session_id) DO NOTHING",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                id,
                project,
                session.session_id.as_str(),
                session.started_at.millis(),
                session.updated_at.millis()
            ])
        })
        .map_err(storage_error)?;
    connection
        .prepare_cached("UPDATE project SET sessions = sessions + ?2 WHERE id = ?1")
        .and_then(|mut statement| statement.execute(params![project, inserted as i64]))
        .map_err(storage_error)?;
    Ok(inserted > 0)
}

fn copy_memory(
    connection: &Connection,
    stored: &StoredMemory,
    terms: Option<&AnalysedText>,
) -> Result<bool, StoreError> {
    let memory = &stored.memory;
    let there: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM memory WHERE memory_id = ?1 OR dedup_key = ?2)")
        .and_then(|mut statement| {
            statement.query_row(params![memory.memory_id.as_str(), stored.dedup_key.0.as_slice()], |row| {
                row.get(0)
            })
        })
        .map_err(storage_error)?;
    if there {
        return Ok(false);
    }
    let project = memory_rows::project_id(connection, &memory.project)?;
    memory_rows::ensure_session(connection, project, memory.session_id.as_str(), memory.created_at)?;
    let parts = stored.concept_parts.iter().map(|part| *part as u32).chain(std::iter::repeat(0));
    let links = concept::links(connection, project, memory.concepts.iter().zip(parts))?;
    let text = Text {
        content: memory.content.clone(),
        dedup_key: stored.dedup_key,
        terms: terms.cloned(),
        vector: stored.vector.clone(),
    };
    let row = Row {
        id: kept_id(connection, &last_given("memory"), memory.id)?,
        project,
        memory,
        text: &text,
        links: &links,
        digest_key: &stored.digest_key,
    };
    let id = memory_rows::insert(connection, &row)?;
    // A single part that is not the row's own session at its creation says something the row does not.
    let implied =
        stored.parts.iter().all(|part| part.session_id == memory.session_id && part.at == memory.created_at);
    if stored.parts.len() > 1 || !implied {
        insert_parts(connection, id, &stored.parts)?;
    }
    link_sources(connection, id, &stored.derived_from)?;
    Ok(true)
}

fn copy_observation(connection: &Connection, stored: &StoredObservation) -> Result<bool, StoreError> {
    let observation = &stored.observation;
    let project = memory_rows::project_id(connection, &observation.project)?;
    let known: Option<i64> = connection
        .prepare_cached("SELECT id FROM observation WHERE project = ?1 AND event_id = ?2")
        .and_then(|mut statement| {
            statement.query_row(params![project, observation.event_id], |row| row.get(0)).optional()
        })
        .map_err(storage_error)?;
    if known.is_some() {
        return Ok(false);
    }
    let id = kept_id(connection, &last_given("observation"), stored.id)?;
    evidence::append(connection, id, project, observation, stored.memory_id.as_ref())?;
    Ok(true)
}
