//! Copying whole records in.

use am_embed::analysis::AnalysedText;
use am_model::{Session, Verb};
use am_store::{Import, Outcome, StoreError, StoredMemory, StoredObservation, Text};
use rusqlite::{Connection, OptionalExtension, params};

use super::log::{self, Told};
use super::memory_rows::{self, Row};
use super::merge::insert_part;
use super::save::link_sources;
use super::{Context, Step, concept, evidence};
use crate::row::storage_error;

/// Copies records in; what is there already is skipped.
pub(super) fn import(context: &Context<'_>, import: &Import) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let (mut memories, mut observations, mut skipped, mut written) = (0, 0, 0, 0);
    for session in &import.sessions {
        if copy_session(connection, session)? {
            written += 1;
        } else {
            skipped += 1;
        }
    }
    for (stored, terms) in &import.memories {
        if copy_memory(connection, stored, terms.as_ref())? {
            memories += 1;
        } else {
            skipped += 1;
        }
    }
    for stored in &import.observations {
        if copy_observation(connection, stored)? {
            observations += 1;
        } else {
            skipped += 1;
        }
    }
    for stored in &import.log {
        let free = is_free(connection, "log", stored.id.0)?;
        if log::insert(connection, free.then_some(stored.id.0), &stored.entry)? {
            written += 1;
        } else {
            skipped += 1;
        }
    }
    let outcome = Outcome::Imported { memories, observations, skipped };
    if memories + observations + written == 0 {
        return Ok(Step::Drop(outcome));
    }
    // A batch of log rows alone is a copied segment: it says by itself what was done.
    if memories + observations > 0 {
        let targets: Vec<_> =
            import.memories.iter().map(|(stored, _)| stored.memory.memory_id.clone()).collect();
        log::append(context, Verb::Import, &Told { targets: &targets, ..Told::default() })?;
    }
    Ok(Step::Keep(outcome))
}

fn is_free(connection: &Connection, table: &str, id: i64) -> Result<bool, StoreError> {
    if id <= 0 {
        return Ok(false);
    }
    connection
        .prepare_cached(&format!("SELECT NOT EXISTS (SELECT 1 FROM {table} WHERE id = ?1)"))
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)))
        .map_err(storage_error)
}

fn copy_session(connection: &Connection, session: &Session) -> Result<bool, StoreError> {
    let project = memory_rows::project_id(connection, &session.project)?;
    let id = is_free(connection, "session", session.id.0)?.then_some(session.id.0);
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
    let has_session: bool = connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM session WHERE project = ?1 AND session_id = ?2)")
        .and_then(|mut statement| {
            statement.query_row(params![project, memory.session_id.as_str()], |row| row.get(0))
        })
        .map_err(storage_error)?;
    if !has_session {
        memory_rows::touch_session(connection, project, memory.session_id.as_str(), memory.created_at)?;
    }
    let parts = stored.concept_parts.iter().map(|part| *part as u32).chain(std::iter::repeat(0));
    let links = concept::links(connection, project, memory.concepts.iter().zip(parts))?;
    let text = Text {
        content: memory.content.clone(),
        dedup_key: stored.dedup_key,
        terms: terms.cloned(),
        vector: stored.vector.clone(),
    };
    let row = Row {
        id: is_free(connection, "memory", memory.id.0)?.then_some(memory.id.0),
        project,
        memory,
        text: &text,
        links: &links,
        digest_key: &stored.digest_key,
    };
    let id = memory_rows::insert(connection, &row)?;
    if stored.parts.len() > 1 {
        for (ordinal, part) in stored.parts.iter().enumerate() {
            let (session, at) = (part.session_id.as_str(), part.at.millis());
            insert_part(connection, id, ordinal as i64, session, part.bytes, at)?;
        }
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
    let id = is_free(connection, "observation", stored.id.0)?.then_some(stored.id.0);
    evidence::append(connection, id, project, observation, stored.memory_id.as_ref())?;
    Ok(true)
}
