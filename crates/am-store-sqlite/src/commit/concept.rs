//! Concepts: per project, and gone with their last memory.

use am_model::Concept;
use am_store::StoreError;
use rusqlite::{Connection, OptionalExtension, params};

use crate::row::{ConceptLink, storage_error};

/// Returns the id of a concept, made where it is missing.
fn id_of(connection: &Connection, project: i64, name: &str) -> Result<i64, StoreError> {
    let known = connection
        .prepare_cached("SELECT id FROM concept WHERE project = ?1 AND name = ?2")
        .and_then(|mut statement| statement.query_row(params![project, name], |row| row.get(0)).optional())
        .map_err(storage_error)?;
    if let Some(id) = known {
        return Ok(id);
    }
    connection
        .prepare_cached("INSERT INTO concept(project, name) VALUES (?1, ?2)")
        .and_then(|mut statement| statement.execute(params![project, name]))
        .map_err(storage_error)?;
    Ok(connection.last_insert_rowid())
}

/// Returns the links that tie `concepts`, each with its part, to a memory of `project`.
pub(crate) fn links<'a>(
    connection: &Connection,
    project: i64,
    concepts: impl IntoIterator<Item = (&'a Concept, u32)>,
) -> Result<Vec<ConceptLink>, StoreError> {
    concepts
        .into_iter()
        .map(|(concept, part)| {
            Ok(ConceptLink { concept: id_of(connection, project, concept.as_str())?, part })
        })
        .collect()
}

/// Enters a memory under each of its concepts.
pub(crate) fn enter(connection: &Connection, memory: i64, links: &[ConceptLink]) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached("INSERT OR IGNORE INTO concept_memory(concept, memory) VALUES (?1, ?2)")
        .map_err(storage_error)?;
    for link in links {
        statement.execute(params![link.concept, memory]).map_err(storage_error)?;
    }
    Ok(())
}

/// Takes a memory out from under concepts; those that are left without one go.
pub(crate) fn leave(connection: &Connection, memory: i64, links: &[ConceptLink]) -> Result<(), StoreError> {
    for link in links {
        connection
            .prepare_cached("DELETE FROM concept_memory WHERE concept = ?1 AND memory = ?2")
            .and_then(|mut statement| statement.execute(params![link.concept, memory]))
            .map_err(storage_error)?;
        connection
            .prepare_cached(
                "DELETE FROM concept WHERE id = ?1
                 AND NOT EXISTS (SELECT 1 FROM concept_memory WHERE concept = ?1)",
            )
            .and_then(|mut statement| statement.execute([link.concept]))
            .map_err(storage_error)?;
    }
    Ok(())
}

/// Reads the names behind links, in their order.
pub(crate) fn names(connection: &Connection, links: &[ConceptLink]) -> Result<Vec<Concept>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT name FROM concept WHERE id = ?1").map_err(storage_error)?;
    links
        .iter()
        .map(|link| {
            statement
                .query_row([link.concept], |row| row.get::<_, String>(0))
                .map(Concept::from_stored)
                .map_err(storage_error)
        })
        .collect()
}
