//! Removing everything a session brought, and leaving what others brought.

use std::collections::HashMap;

use am_model::{MemoryId, SessionId, Verb};
use am_store::{ForgetSession, Outcome, Rewrite, StoreError, StoredMemory, chain};
use rusqlite::{Connection, params};

use super::forget::{quoting, remove_all};
use super::log::{self, Told};
use super::memory_rows::{self, Held};
use super::merge::insert_part;
use super::{Context, Step, concept};
use crate::read;
use crate::row::{ConceptLink, storage_error};

/// Removes a session's memories, its parts of others, the text of its evidence, and its row.
pub(super) fn forget_session(context: &Context<'_>, forget: &ForgetSession) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let nothing = Outcome::Forgotten {
        memories: Vec::new(),
        derived: Vec::new(),
        rewritten: Vec::new(),
        observations: 0,
    };
    let Some(project) = read::project(connection, &forget.project)? else { return Ok(Step::Drop(nothing)) };
    let shared = read::shared_memories(connection, &forget.project, &forget.session_id)?;
    let rewrites: HashMap<&MemoryId, &Rewrite> =
        forget.rewrites.iter().map(|rewrite| (&rewrite.memory_id, rewrite)).collect();
    let fits = shared.len() == rewrites.len()
        && shared.iter().all(|stored| {
            rewrites
                .get(&stored.memory.memory_id)
                .is_some_and(|rewrite| rewrite.version == stored.memory.version)
        });
    if !fits {
        return Ok(Step::Drop(Outcome::Changed { now: shared }));
    }
    let mut rewritten = Vec::new();
    let mut leaving = Vec::new();
    let mut touched = Vec::new();
    for stored in &shared {
        let Some(rewrite) = rewrites.get(&stored.memory.memory_id) else { continue };
        let Some(held) = memory_rows::find(connection, "m.id = ?1", &stored.memory.id.0)? else { continue };
        touched.extend(quoting(connection, &held.memory.memory_id)?);
        if is_taken(connection, rewrite, &held)? || !has_text(stored, &forget.session_id) {
            leaving.push(held);
        } else {
            shrink(context, &held, stored, rewrite, &forget.session_id)?;
            rewritten.push(held.memory.memory_id);
        }
    }
    leaving.extend(own_memories(connection, project.id, &forget.session_id)?);
    let removed = remove_all(connection, leaving)?;
    let mut quotes = Vec::new();
    for id in touched {
        quotes.extend(memory_rows::find(connection, "m.id = ?1", &id)?);
    }
    let quotes = remove_all(connection, quotes)?;
    let observations = connection
        .execute(
            "UPDATE observation SET text = NULL WHERE project = ?1 AND session_id = ?2 AND text IS NOT NULL",
            params![project.id, forget.session_id.as_str()],
        )
        .map_err(storage_error)? as u64;
    let sessions = drop_session(connection, project.id, &forget.session_id)?;
    let derived = [removed.derived, quotes.memories, quotes.derived].concat();
    let observations = observations + removed.observations + quotes.observations;
    let targets = [removed.memories.clone(), derived.clone(), rewritten.clone()].concat();
    if targets.is_empty() && observations == 0 && sessions == 0 {
        return Ok(Step::Drop(nothing));
    }
    memory_rows::erasure_is_pending(connection)?;
    let told = Told { targets: &targets, reason: forget.reason.as_deref(), ..Told::default() };
    log::append(context, Verb::Forget, &told)?;
    Ok(Step::Keep(Outcome::Forgotten { memories: removed.memories, derived, rewritten, observations }))
}

fn is_taken(connection: &Connection, rewrite: &Rewrite, held: &Held) -> Result<bool, StoreError> {
    let owner = memory_rows::find(connection, "m.dedup_key = ?1", &rewrite.text.dedup_key.0.as_slice())?;
    Ok(owner.is_some_and(|owner| owner.memory.id != held.memory.id))
}

/// Returns whether other sessions brought text, and not only concepts.
fn has_text(stored: &StoredMemory, session: &SessionId) -> bool {
    stored.parts.iter().any(|part| part.session_id != *session && part.bytes > 0)
}

/// Rewrites a shared memory without a session's parts.
fn shrink(
    context: &Context<'_>,
    held: &Held,
    stored: &StoredMemory,
    rewrite: &Rewrite,
    session: &SessionId,
) -> Result<(), StoreError> {
    let connection = context.transaction;
    let id = held.memory.id.0;
    let stays = |part: usize| stored.parts.get(part).is_some_and(|part| part.session_id != *session);
    // Parts close up: a link's part is the number of staying parts before it.
    let renumbered = |part: usize| (0..part).filter(|before| stays(*before)).count() as u32;
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    for link in &held.links {
        if stays(link.part as usize) {
            kept.push(ConceptLink { concept: link.concept, part: renumbered(link.part as usize) });
        } else {
            dropped.push(*link);
        }
    }
    dropped.retain(|link| kept.iter().all(|other| other.concept != link.concept));
    let parts: Vec<_> = stored.parts.iter().filter(|part| part.session_id != *session).collect();
    let first = parts.iter().find(|part| part.bytes > 0).map_or(session, |part| &part.session_id);
    let mut after = held.memory.clone();
    after.content.clone_from(&rewrite.text.content);
    after.session_id = first.clone();
    after.version += 1;
    after.concepts = concept::names(connection, &kept)?;
    memory_rows::rewrite(context, held, first.as_str(), &rewrite.text, &kept)?;
    concept::leave(connection, id, &dropped)?;
    connection.execute("DELETE FROM part WHERE memory = ?1", [id]).map_err(storage_error)?;
    for (ordinal, part) in parts.iter().enumerate() {
        let (session, at) = (part.session_id.as_str(), part.at.millis());
        insert_part(connection, id, ordinal as i64, session, part.bytes, at)?;
    }
    memory_rows::touch_session(connection, held.project, first.as_str(), context.audit.at)?;
    let told = Told {
        targets: std::slice::from_ref(&held.memory.memory_id),
        before: Some(held.digest()),
        after: Some(chain::keyed_digest(&held.digest_key, &after)),
        ..Told::default()
    };
    log::append(context, Verb::Merge, &told)
}

/// Lists the memories of a session that no other session shares; shared ones have moved on by now or leave.
fn own_memories(connection: &Connection, project: i64, session: &SessionId) -> Result<Vec<Held>, StoreError> {
    let ids: Vec<i64> = connection
        .prepare_cached("SELECT id FROM memory WHERE project = ?1 AND session_id = ?2")
        .and_then(|mut statement| {
            statement
                .query_map(params![project, session.as_str()], |row| row.get(0))?
                .collect::<Result<_, _>>()
        })
        .map_err(storage_error)?;
    let mut held = Vec::new();
    for id in ids {
        held.extend(memory_rows::find(connection, "m.id = ?1", &id)?);
    }
    Ok(held)
}

fn drop_session(connection: &Connection, project: i64, session: &SessionId) -> Result<usize, StoreError> {
    let dropped = connection
        .execute(
            "DELETE FROM session WHERE project = ?1 AND session_id = ?2",
            params![project, session.as_str()],
        )
        .map_err(storage_error)?;
    connection
        .execute(
            "UPDATE project SET sessions = sessions - ?2 WHERE id = ?1",
            params![project, dropped as i64],
        )
        .map_err(storage_error)?;
    Ok(dropped)
}
