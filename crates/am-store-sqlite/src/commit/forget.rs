//! Removing memories: every index, what quotes them, and the evidence that only they rest on.

use std::collections::{BTreeMap, BTreeSet};

use am_model::{MemoryId, Project, StoreId, Verb};
use am_store::{Forget, Outcome, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

use super::log::{self, Told};
use super::memory_rows::{self, Held};
use super::{Context, Step, evidence, invalid};
use crate::read;
use crate::row::storage_error;

/// What one change removed.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) memories: Vec<Held>,
    pub(super) derived: Vec<Held>,
    pub(super) observations: u64,
}

impl Removed {
    /// Returns the outcome, with the memories that lost a part.
    pub(super) fn outcome(&self, rewritten: Vec<MemoryId>) -> Outcome {
        let ids = |held: &[Held]| held.iter().map(|held| held.memory.memory_id.clone()).collect();
        Outcome::Forgotten {
            memories: ids(&self.memories),
            derived: ids(&self.derived),
            rewritten,
            observations: self.observations,
        }
    }

    fn is_nothing(&self) -> bool {
        self.memories.is_empty() && self.derived.is_empty() && self.observations == 0
    }
}

/// Removes memories by public id.
pub(super) fn forget(context: &Context<'_>, forget: &Forget) -> Result<Step, StoreError> {
    let connection = context.transaction;
    if !matches!(forget.verb, Verb::Forget | Verb::Delete | Verb::Purge) {
        return Err(invalid(format!("forgetting is not logged as `{}`", forget.verb.as_str())));
    }
    let mut asked: Vec<Held> = Vec::new();
    for memory_id in &forget.memory_ids {
        let held = memory_rows::find(connection, "m.memory_id = ?1", &memory_id.as_str())?;
        let held = held.filter(|held| {
            forget.created_before.is_none_or(|cutoff| held.memory.created_at < cutoff)
                && asked.iter().all(|other| other.memory.id != held.memory.id)
        });
        asked.extend(held);
    }
    let quoting = quoting(connection, asked.iter().map(|held| &held.memory.memory_id))?;
    let removed = remove_all(connection, asked, quoting)?;
    finish(context, forget.verb, forget.reason.as_deref(), &removed)
}

/// Logs a removal and keeps it, unless nothing was removed.
fn finish(
    context: &Context<'_>,
    verb: Verb,
    reason: Option<&str>,
    removed: &Removed,
) -> Result<Step, StoreError> {
    let outcome = removed.outcome(Vec::new());
    if removed.is_nothing() {
        return Ok(Step::Drop(outcome));
    }
    memory_rows::erasure_is_pending(context.transaction)?;
    let gone: Vec<&Held> = removed.memories.iter().chain(&removed.derived).collect();
    let targets: Vec<MemoryId> = gone.iter().map(|held| held.memory.memory_id.clone()).collect();
    let before = match gone.as_slice() {
        [only] => Some(only.digest()),
        _ => None,
    };
    log::append(context, verb, &Told { targets: &targets, reason, before, after: None })?;
    Ok(Step::Keep(outcome))
}

/// Removes `memories`, and those of `quoting` that are not among them.
pub(super) fn remove_all(
    connection: &Connection,
    memories: Vec<Held>,
    quoting: Vec<Held>,
) -> Result<Removed, StoreError> {
    let asked: BTreeSet<StoreId> = memories.iter().map(|held| held.memory.id).collect();
    let derived: Vec<Held> = quoting.into_iter().filter(|held| !asked.contains(&held.memory.id)).collect();
    let mut observations = 0;
    for held in memories.iter().chain(&derived) {
        observations += memory_rows::remove(connection, held)?;
    }
    Ok(Removed { memories, derived, observations })
}

/// Lists the memories that quote one of `sources`, or one that does, by store id.
pub(super) fn quoting<'a>(
    connection: &Connection,
    sources: impl IntoIterator<Item = &'a MemoryId>,
) -> Result<Vec<Held>, StoreError> {
    let mut found: BTreeMap<StoreId, Held> = BTreeMap::new();
    let mut queue: Vec<MemoryId> = sources.into_iter().cloned().collect();
    while let Some(source) = queue.pop() {
        let ids: Vec<i64> = connection
            .prepare_cached("SELECT memory FROM derived WHERE source = ?1")
            .and_then(|mut statement| {
                statement.query_map([source.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()
            })
            .map_err(storage_error)?;
        for id in ids {
            if found.contains_key(&StoreId(id)) {
                continue;
            }
            if let Some(held) = memory_rows::find(connection, "m.id = ?1", &id)? {
                queue.push(held.memory.memory_id.clone());
                found.insert(StoreId(id), held);
            }
        }
    }
    Ok(found.into_values().collect())
}

/// Erases the text of one observation, and the memory that rests on it alone.
pub(super) fn forget_observation(
    context: &Context<'_>,
    project: &Project,
    event_id: &str,
) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let found: Option<(i64, Option<String>)> = match read::project(connection, project)? {
        Some(project) => connection
            .prepare_cached(
                "SELECT id, memory_id FROM observation
                 WHERE project = ?1 AND event_id = ?2 AND text IS NOT NULL",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(params![project.id, event_id], |row| Ok((row.get(0)?, row.get(1)?)))
                    .optional()
            })
            .map_err(storage_error)?,
        None => None,
    };
    let Some((id, memory_id)) = found else { return Ok(Step::Drop(Removed::default().outcome(Vec::new()))) };
    evidence::erase(connection, "id = ?1", &[&id])?;
    let mut resting = Vec::new();
    if let Some(memory_id) = memory_id {
        let others: i64 = connection
            .query_row(
                "SELECT count(*) FROM observation WHERE memory_id = ?1 AND text IS NOT NULL",
                [&memory_id],
                |row| row.get(0),
            )
            .map_err(storage_error)?;
        if let Some(held) = memory_rows::find(connection, "m.memory_id = ?1", &memory_id)? {
            let origin = &held.memory.origin;
            let captured = origin.is_hook() || origin.as_str().starts_with("import:");
            let pieces = read::parts(connection, &held.memory)?.iter().filter(|part| part.bytes > 0).count();
            if captured && pieces == 1 && others == 0 {
                resting.push(held);
            }
        }
    }
    let quoting = quoting(connection, resting.iter().map(|held| &held.memory.memory_id))?;
    let mut removed = remove_all(connection, resting, quoting)?;
    removed.observations += 1;
    finish(context, Verb::Forget, None, &removed)
}
