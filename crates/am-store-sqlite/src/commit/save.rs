//! Inserting a memory, unless its text is there already.

use am_model::{Memory, MemoryId, Observation, StoreId, Verb};
use am_store::{NewMemory, Outcome, Save, StoreError};
use rusqlite::{Connection, params};

use super::log::{self, Told};
use super::memory_rows::{self, Held, Row};
use super::probe::{self, Prepared};
use super::{Context, Step, concept, evidence, feed, is_expired};
use crate::read;
use crate::row::storage_error;
use crate::schema::narrow_key;

/// Saves, in the order of checks that [`Save`] promises.
pub(super) fn save(context: &Context<'_>, save: &Save, prepared: &Prepared) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let new = &save.memory;
    let project = read::project(connection, &new.project)?;
    if let Some(project) = &project {
        if let Some(seen) = seen(connection, project.id, save.observation.as_ref())? {
            return Ok(seen);
        }
        if let Some(held) =
            memory_rows::find(connection, "m.dedup_key = ?1", &new.text.dedup_key.0.as_slice())?
        {
            return repeated(context, &held, save);
        }
        let Some(ids) = probe::candidates(connection, project, save, prepared)? else {
            return Ok(Step::Again);
        };
        let candidates = merge_candidates(connection, &ids, &save.except)?;
        if !candidates.is_empty() {
            return Ok(Step::Drop(Outcome::NearDuplicates { candidates }));
        }
    }
    let project = match project {
        Some(project) => project.id,
        None => memory_rows::project_id(connection, &new.project)?,
    };
    insert(context, project, new)?;
    if let Some(observation) = &save.observation {
        evidence::append(connection, None, project, observation, Some(&new.memory_id))?;
    }
    Ok(Step::Keep(Outcome::Inserted { memory_id: new.memory_id.clone() }))
}

/// Answers a delivery that was seen before.
pub(super) fn seen(
    connection: &Connection,
    project: i64,
    observation: Option<&Observation>,
) -> Result<Option<Step>, StoreError> {
    let Some(observation) = observation else { return Ok(None) };
    let seen = evidence::seen(connection, project, observation)?;
    Ok(seen.map(|seen| Step::Drop(Outcome::Repeated { memory_id: seen.memory_id })))
}

fn insert(context: &Context<'_>, project: i64, new: &NewMemory) -> Result<(), StoreError> {
    let connection = context.transaction;
    memory_rows::touch_session(connection, project, new.session_id.as_str(), context.audit.at)?;
    let links = concept::links(connection, project, new.concepts.iter().map(|concept| (concept, 0)))?;
    let digest_key: [u8; 32] = rand::random();
    let mut held = Held {
        memory: Memory {
            id: StoreId(0),
            memory_id: new.memory_id.clone(),
            project: new.project.clone(),
            session_id: new.session_id.clone(),
            kind: new.kind,
            content: new.text.content.clone(),
            origin: new.origin.clone(),
            importance: new.importance,
            created_at: context.audit.at,
            version: 1,
            concepts: new.concepts.clone(),
        },
        project,
        links,
        digest_key,
    };
    let row = Row {
        id: None,
        project,
        memory: &held.memory,
        text: &new.text,
        links: &held.links,
        digest_key: &held.digest_key,
    };
    let id = memory_rows::insert(connection, &row)?;
    held.memory.id = StoreId(id);
    link_sources(connection, id, &new.derived_from)?;
    let told =
        Told { targets: std::slice::from_ref(&new.memory_id), after: Some(held.digest()), ..Told::default() };
    log::append(context, Verb::Remember, &told)
}

/// Records the memories a row quotes.
pub(super) fn link_sources(connection: &Connection, id: i64, sources: &[MemoryId]) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached("INSERT OR IGNORE INTO derived(source, memory, ordinal) VALUES (?1, ?2, ?3)")
        .map_err(storage_error)?;
    for (ordinal, source) in sources.iter().enumerate() {
        statement.execute(params![source.as_str(), id, ordinal as i64]).map_err(storage_error)?;
    }
    Ok(())
}

/// Answers a save whose text is there: evidence is kept, an expired row lives again, sources are settled.
fn repeated(context: &Context<'_>, held: &Held, save: &Save) -> Result<Step, StoreError> {
    let sources = settle_sources(context, held, &save.memory.derived_from)?;
    dedup_hit(context, held, save.expired_before, save.observation.as_ref(), sources)
}

/// Answers an incoming text whose key `held` has; `written` tells whether something was written already.
pub(super) fn dedup_hit(
    context: &Context<'_>,
    held: &Held,
    expired_before: Option<am_model::Instant>,
    observation: Option<&Observation>,
    written: bool,
) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let memory_id = held.memory.memory_id.clone();
    if let Some(observation) = observation {
        evidence::append(connection, None, held.project, observation, Some(&memory_id))?;
    }
    if is_expired(held.memory.created_at.millis(), expired_before) {
        revive(context, held)?;
        return Ok(Step::Keep(Outcome::Revived { memory_id }));
    }
    let outcome = Outcome::Deduplicated { memory_id: memory_id.clone() };
    if observation.is_some() {
        let told = Told { targets: std::slice::from_ref(&memory_id), ..Told::default() };
        log::append(context, Verb::Observe, &told)?;
        return Ok(Step::Keep(outcome));
    }
    Ok(if written { Step::Keep(outcome) } else { Step::Drop(outcome) })
}

fn revive(context: &Context<'_>, held: &Held) -> Result<(), StoreError> {
    let connection = context.transaction;
    let (id, at) = (held.memory.id.0, context.audit.at.millis());
    connection
        .prepare_cached("UPDATE memory SET created_at = ?2, version = version + 1 WHERE id = ?1")
        .and_then(|mut statement| statement.execute(params![id, at]))
        .map_err(storage_error)?;
    connection
        .prepare_cached("UPDATE terms SET created_at = ?2 WHERE key = ?1")
        .and_then(|mut statement| statement.execute(params![narrow_key(held.project, id), at]))
        .map_err(storage_error)?;
    feed::append(connection, held.project, id, feed::Operation::Touch, 0)?;
    let mut after = held.memory.clone();
    after.created_at = context.audit.at;
    after.version += 1;
    let told = Told {
        targets: std::slice::from_ref(&held.memory.memory_id),
        before: Some(held.digest()),
        after: Some(am_store::chain::keyed_digest(&held.digest_key, &after)),
        ..Told::default()
    };
    log::append(context, Verb::Revive, &told)
}

/// A quoted text that is saved on purpose stands by itself from then on; one that is quoted again gains sources.
///
/// Returns whether anything was written.
fn settle_sources(context: &Context<'_>, held: &Held, sources: &[MemoryId]) -> Result<bool, StoreError> {
    let connection = context.transaction;
    let known: i64 = connection
        .prepare_cached("SELECT count(*) FROM derived WHERE memory = ?1")
        .and_then(|mut statement| statement.query_row([held.memory.id.0], |row| row.get(0)))
        .map_err(storage_error)?;
    if known == 0 {
        return Ok(false);
    }
    if sources.is_empty() {
        connection
            .prepare_cached("DELETE FROM derived WHERE memory = ?1")
            .and_then(|mut statement| statement.execute([held.memory.id.0]))
            .map_err(storage_error)?;
    } else {
        link_sources(connection, held.memory.id.0, sources)?;
    }
    let told = Told {
        targets: std::slice::from_ref(&held.memory.memory_id),
        before: Some(held.digest()),
        after: Some(held.digest()),
        ..Told::default()
    };
    log::append(context, Verb::Merge, &told)?;
    Ok(true)
}

/// Fetches near-duplicates that may take a text: not those that quote others, not those that were refused.
fn merge_candidates(
    connection: &Connection,
    ids: &[i64],
    except: &[(MemoryId, i64)],
) -> Result<Vec<Memory>, StoreError> {
    let mut candidates = Vec::new();
    for id in ids {
        let quotes: bool = connection
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM derived WHERE memory = ?1)")
            .and_then(|mut statement| statement.query_row([id], |row| row.get(0)))
            .map_err(storage_error)?;
        if quotes {
            continue;
        }
        let Some(held) = memory_rows::find(connection, "m.id = ?1", id)? else { continue };
        let refused = except.iter().any(|(memory_id, version)| {
            *memory_id == held.memory.memory_id && *version == held.memory.version
        });
        if !refused {
            candidates.push(held.memory);
        }
    }
    Ok(candidates)
}
