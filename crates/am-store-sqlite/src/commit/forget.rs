//! Removing memories: every index, what quotes them, and the evidence that only they rest on.

use std::collections::{HashSet, VecDeque};

use am_model::{MemoryId, Project, Verb};
use am_store::{Forget, Outcome, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

use super::log::{self, Told};
use super::memory_rows::{self, Held};
use super::{Context, Step};
use crate::read;
use crate::row::storage_error;

/// What was removed.
#[derive(Default)]
pub(super) struct Removed {
    pub(super) memories: Vec<MemoryId>,
    pub(super) derived: Vec<MemoryId>,
    pub(super) observations: u64,
}

/// Removes memories by public id.
pub(super) fn forget(context: &Context<'_>, forget: &Forget) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let mut asked = Vec::new();
    for memory_id in &forget.memory_ids {
        let held = memory_rows::find(connection, "m.memory_id = ?1", &memory_id.as_str())?;
        asked.extend(
            held.filter(|held| forget.created_before.is_none_or(|cutoff| held.memory.created_at < cutoff)),
        );
    }
    let before = match asked.as_slice() {
        [only] => Some(only.digest()),
        _ => None,
    };
    let removed = remove_all(connection, asked)?;
    let outcome = Outcome::Forgotten {
        memories: removed.memories.clone(),
        derived: removed.derived.clone(),
        rewritten: Vec::new(),
        observations: removed.observations,
    };
    if removed.memories.is_empty() {
        return Ok(Step::Drop(outcome));
    }
    memory_rows::erasure_is_pending(connection)?;
    let targets = [removed.memories, removed.derived].concat();
    let told = Told { targets: &targets, reason: forget.reason.as_deref(), before, after: None };
    log::append(context, forget.verb, &told)?;
    Ok(Step::Keep(outcome))
}

/// Removes memories and, transitively, what quotes them.
pub(super) fn remove_all(connection: &Connection, asked: Vec<Held>) -> Result<Removed, StoreError> {
    let mut removed = Removed::default();
    let mut gone = HashSet::new();
    let mut queue: VecDeque<(Held, bool)> = asked.into_iter().map(|held| (held, true)).collect();
    while let Some((held, was_asked)) = queue.pop_front() {
        if !gone.insert(held.memory.id) {
            continue;
        }
        for derived in quoting(connection, &held.memory.memory_id)? {
            if let Some(derived) = memory_rows::find(connection, "m.id = ?1", &derived)? {
                queue.push_back((derived, false));
            }
        }
        removed.observations += memory_rows::remove(connection, &held)?;
        let list = if was_asked { &mut removed.memories } else { &mut removed.derived };
        list.push(held.memory.memory_id);
    }
    Ok(removed)
}

/// Lists the memories that quote one.
pub(super) fn quoting(connection: &Connection, source: &MemoryId) -> Result<Vec<i64>, StoreError> {
    connection
        .prepare_cached("SELECT memory FROM derived WHERE source = ?1 ORDER BY memory")
        .and_then(|mut statement| {
            statement.query_map([source.as_str()], |row| row.get(0))?.collect::<Result<_, _>>()
        })
        .map_err(storage_error)
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
    let Some((id, memory_id)) = found else {
        return Ok(Step::Drop(Outcome::Forgotten {
            memories: Vec::new(),
            derived: Vec::new(),
            rewritten: Vec::new(),
            observations: 0,
        }));
    };
    connection.execute("UPDATE observation SET text = NULL WHERE id = ?1", [id]).map_err(storage_error)?;
    let mut removed = Removed::default();
    if let Some(memory_id) = memory_id {
        let others: i64 = connection
            .query_row(
                "SELECT count(*) FROM observation WHERE memory_id = ?1 AND text IS NOT NULL",
                [&memory_id],
                |row| row.get(0),
            )
            .map_err(storage_error)?;
        let held = memory_rows::find(connection, "m.memory_id = ?1", &memory_id)?;
        let rests = |held: &Held| {
            let origin = &held.memory.origin;
            others == 0 && (origin.is_hook() || origin.as_str().starts_with("import:"))
        };
        removed = remove_all(connection, held.into_iter().filter(rests).collect())?;
    }
    memory_rows::erasure_is_pending(connection)?;
    let targets = [removed.memories.clone(), removed.derived.clone()].concat();
    log::append(context, Verb::Forget, &Told { targets: &targets, ..Told::default() })?;
    Ok(Step::Keep(Outcome::Forgotten {
        memories: removed.memories,
        derived: removed.derived,
        rewritten: Vec::new(),
        observations: removed.observations + 1,
    }))
}
