//! Inserting a memory, unless its text is there already.

use am_model::{DedupKey, Instant, Memory, MemoryId, Observation, Project, StoreId, Verb};
use am_store::{NewMemory, Outcome, Save, StoreError, chain};
use rusqlite::{Connection, params};

use super::log::{self, Told};
use super::memory_rows::{self, Held, Row};
use super::probe::{self, Prepared};
use super::{Context, Step, check_vector, concept, evidence, feed, invalid, is_expired};
use crate::read;
use crate::row::storage_error;
use crate::schema::narrow_key;

/// Saves, in the order of checks that [`Save`] promises.
pub(super) fn save(context: &Context<'_>, save: &Save, prepared: &Prepared) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let new = &save.memory;
    check_vector(context, new.text.vector.as_ref())?;
    if save.near_duplicate.is_some_and(|threshold| !(threshold > 0.0 && threshold <= 1.0)) {
        return Err(invalid("a near-duplicate threshold outside 0 to 1"));
    }
    check_scope(save.observation.as_ref(), &new.project)?;
    let said = Said {
        key: new.text.dedup_key,
        sources: &new.derived_from,
        expired_before: save.expired_before,
        observation: save.observation.as_ref(),
    };
    if let Some(step) = said_before(context, &said)? {
        return Ok(step);
    }
    if memory_rows::find(connection, "m.memory_id = ?1", &new.memory_id.as_str())?.is_some() {
        return Err(invalid("the memory id is taken"));
    }
    for source in &new.derived_from {
        let held = memory_rows::find(connection, "m.memory_id = ?1", &source.as_str())?;
        if held.is_none_or(|held| held.memory.project != new.project) {
            return Ok(Step::Drop(Outcome::Changed { now: Vec::new() }));
        }
    }
    let project = read::project(connection, &new.project)?;
    if let Some(project) = &project {
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

/// What may have been said before.
pub(super) struct Said<'a> {
    pub(super) key: DedupKey,
    pub(super) sources: &'a [MemoryId],
    pub(super) expired_before: Option<Instant>,
    pub(super) observation: Option<&'a Observation>,
}

/// Refuses an observation of another project than its memory's.
pub(super) fn check_scope(observation: Option<&Observation>, project: &Project) -> Result<(), StoreError> {
    match observation {
        Some(observation) if observation.project != *project => {
            Err(invalid("an observation of another project than its memory"))
        }
        _ => Ok(()),
    }
}

/// Answers a save whose event or whose text is there already.
pub(super) fn said_before(context: &Context<'_>, said: &Said<'_>) -> Result<Option<Step>, StoreError> {
    let connection = context.transaction;
    if let Some(observation) = said.observation
        && let Some(project) = read::project(connection, &observation.project)?
        && let Some(seen) = evidence::seen(connection, project.id, observation)?
    {
        return Ok(Some(Step::Drop(Outcome::Repeated { memory_id: seen.memory_id })));
    }
    let Some(held) = memory_rows::find(connection, "m.dedup_key = ?1", &said.key.0.as_slice())? else {
        return Ok(None);
    };
    check_scope(said.observation, &held.memory.project)?;
    let memory_id = held.memory.memory_id.clone();
    if let Some(observation) = said.observation {
        evidence::append(connection, None, held.project, observation, Some(&memory_id))?;
    }
    let has_new_sources = settle_sources(connection, &held, said.sources)?;
    let mut after = held.memory.clone();
    let revives = is_expired(held.memory.created_at.millis(), said.expired_before);
    if revives {
        revive(context, &held)?;
        after.created_at = context.audit.at;
        after.version += 1;
    }
    let verb = match (revives, has_new_sources, said.observation.is_some()) {
        (true, ..) => Some(Verb::Revive),
        (false, true, _) => Some(Verb::Merge),
        (false, false, true) => Some(Verb::Observe),
        (false, false, false) => None,
    };
    let targets = std::slice::from_ref(&memory_id);
    match verb {
        None => {}
        Some(Verb::Observe) => log::append(context, Verb::Observe, &Told { targets, ..Told::default() })?,
        Some(verb) => {
            let after = Some(chain::keyed_digest(&held.digest_key, &after));
            log::append(
                context,
                verb,
                &Told { targets, before: Some(held.digest()), after, ..Told::default() },
            )?;
        }
    }
    let outcome = if revives { Outcome::Revived { memory_id } } else { Outcome::Deduplicated { memory_id } };
    Ok(Some(if verb.is_some() { Step::Keep(outcome) } else { Step::Drop(outcome) }))
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

/// Records the memories a row quotes, after those it quotes already; returns whether any is new.
pub(super) fn link_sources(
    connection: &Connection,
    id: i64,
    sources: &[MemoryId],
) -> Result<bool, StoreError> {
    let mut statement = connection
        .prepare_cached(
            "INSERT OR IGNORE INTO derived(source, memory, ordinal)
             VALUES (?1, ?2, (SELECT count(*) FROM derived WHERE memory = ?2))",
        )
        .map_err(storage_error)?;
    let mut added = 0;
    for source in sources {
        added += statement.execute(params![source.as_str(), id]).map_err(storage_error)?;
    }
    Ok(added > 0)
}

fn revive(context: &Context<'_>, held: &Held) -> Result<(), StoreError> {
    let connection = context.transaction;
    let (id, at) = (held.memory.id.0, context.audit.at.millis());
    // The piece of text stays as old as it is: from now on its time is not the row's.
    let parts = read::parts(connection, &held.memory)?;
    if let [only] = parts.as_slice() {
        connection
            .prepare_cached(
                "INSERT OR IGNORE INTO part(memory, ordinal, session_id, bytes, at) VALUES (?1, 0, ?2, ?3, ?4)",
            )
            .and_then(|mut statement| {
                let (session, bytes) = (only.session_id.as_str(), only.bytes as i64);
                statement.execute(params![id, session, bytes, only.at.millis()])
            })
            .map_err(storage_error)?;
    }
    connection
        .prepare_cached("UPDATE memory SET created_at = ?2, version = version + 1 WHERE id = ?1")
        .and_then(|mut statement| statement.execute(params![id, at]))
        .map_err(storage_error)?;
    connection
        .prepare_cached("UPDATE terms SET created_at = ?2 WHERE key = ?1")
        .and_then(|mut statement| statement.execute(params![narrow_key(held.project, id), at]))
        .map_err(storage_error)?;
    feed::append(connection, held.project, id, feed::Operation::Touch, 0)
}

/// A quoted text that is saved on purpose stands by itself from then on; one that is quoted again gains sources.
///
/// Returns whether anything was written.
fn settle_sources(connection: &Connection, held: &Held, sources: &[MemoryId]) -> Result<bool, StoreError> {
    let id = held.memory.id.0;
    let known: i64 = connection
        .prepare_cached("SELECT count(*) FROM derived WHERE memory = ?1")
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)))
        .map_err(storage_error)?;
    if known == 0 {
        return Ok(false);
    }
    if sources.is_empty() {
        connection
            .prepare_cached("DELETE FROM derived WHERE memory = ?1")
            .and_then(|mut statement| statement.execute([id]))
            .map_err(storage_error)?;
        return Ok(true);
    }
    link_sources(connection, id, sources)
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
