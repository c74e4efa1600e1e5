//! Removing everything a session brought, and leaving what others brought.

use std::collections::BTreeSet;

use am_model::{MemoryId, SessionId, Verb};
use am_store::{ForgetSession, Outcome, Part, Rewrite, StoreError, StoredMemory, chain};
use rusqlite::{Connection, params};

use super::forget::{Removed, quoting, remove_all};
use super::log::{self, Told};
use super::memory_rows::{self, Held};
use super::merge::insert_parts;
use super::{Context, Step, check_vector, concept, evidence, invalid};
use crate::read;
use crate::row::{ConceptLink, storage_error};

/// Removes a session's memories, its parts of others, the text of its evidence, and its row.
pub(super) fn forget_session(context: &Context<'_>, forget: &ForgetSession) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let (name, session) = (&forget.project, &forget.session_id);
    let shared = read::shared_memories(connection, name, session)?;
    if !names_exactly(&forget.rewrites, &shared) {
        return Ok(Step::Drop(Outcome::Changed { now: shared }));
    }
    let Some(project) = read::project(connection, name)? else {
        return Ok(Step::Drop(Removed::default().outcome(Vec::new())));
    };
    let own = own_memories(connection, project.id, session)?;
    // What quotes a row that is rewritten may quote the part that goes.
    let holding = own.iter().map(|held| &held.memory.memory_id);
    let holding = holding.chain(shared.iter().map(|stored| &stored.memory.memory_id));
    let quoting = quoting(connection, holding)?;
    let mut removed = remove_all(connection, own, quoting)?;
    let mut rewritten = Vec::new();
    for rewrite in &forget.rewrites {
        rewrite_one(context, session, rewrite, &mut removed, &mut rewritten)?;
    }
    let of_session = "project = ?1 AND session_id = ?2";
    removed.observations += evidence::erase(connection, of_session, &[&project.id, &session.as_str()])?;
    let sessions = drop_session(connection, project.id, session)?;
    finish(context, forget.reason.as_deref(), &removed, &rewritten, sessions)
}

/// A row before and after a rewrite.
struct Rewritten {
    before: Held,
    after: am_model::Memory,
    digest_key: [u8; 32],
}

fn finish(
    context: &Context<'_>,
    reason: Option<&str>,
    removed: &Removed,
    rewritten: &[Rewritten],
    sessions: usize,
) -> Result<Step, StoreError> {
    let ids: Vec<MemoryId> = rewritten.iter().map(|row| row.before.memory.memory_id.clone()).collect();
    let outcome = removed.outcome(ids.clone());
    let gone: Vec<&Held> = removed.memories.iter().chain(&removed.derived).collect();
    if gone.is_empty() && rewritten.is_empty() && removed.observations == 0 && sessions == 0 {
        return Ok(Step::Drop(outcome));
    }
    memory_rows::erasure_is_pending(context.transaction)?;
    let (before, after) = match (gone.as_slice(), rewritten) {
        ([only], []) => (Some(only.digest()), None),
        ([], [only]) => {
            let after = chain::keyed_digest(&only.digest_key, &only.after);
            (Some(only.before.digest()), Some(after))
        }
        _ => (None, None),
    };
    let targets: Vec<MemoryId> = gone.iter().map(|held| held.memory.memory_id.clone()).chain(ids).collect();
    log::append(context, Verb::Forget, &Told { targets: &targets, reason, before, after })?;
    Ok(Step::Keep(outcome))
}

fn names_exactly(rewrites: &[Rewrite], shared: &[StoredMemory]) -> bool {
    let now: BTreeSet<(&MemoryId, i64)> =
        shared.iter().map(|stored| (&stored.memory.memory_id, stored.memory.version)).collect();
    let named: BTreeSet<(&MemoryId, i64)> =
        rewrites.iter().map(|rewrite| (&rewrite.memory_id, rewrite.version)).collect();
    now == named && rewrites.len() == shared.len()
}

/// Takes the parts of `session` out of a shared memory, or removes it where nothing of its own is left.
fn rewrite_one(
    context: &Context<'_>,
    session: &SessionId,
    rewrite: &Rewrite,
    removed: &mut Removed,
    rewritten: &mut Vec<Rewritten>,
) -> Result<(), StoreError> {
    let connection = context.transaction;
    check_vector(context, rewrite.text.vector.as_ref())?;
    // It may have quoted a row that went, and gone with it.
    let Some(held) = memory_rows::find(connection, "m.memory_id = ?1", &rewrite.memory_id.as_str())? else {
        return Ok(());
    };
    let parts = read::parts(connection, &held.memory)?;
    let first = parts.iter().find(|part| part.session_id != *session && part.bytes > 0).cloned();
    let owner = memory_rows::find(connection, "m.dedup_key = ?1", &rewrite.text.dedup_key.0.as_slice())?;
    let taken = owner.is_some_and(|owner| owner.memory.id != held.memory.id);
    let Some(first) = first.filter(|_| !taken) else {
        removed.observations += memory_rows::remove(connection, &held)?;
        removed.memories.push(held);
        return Ok(());
    };
    let kept: Vec<usize> =
        parts.iter().enumerate().filter(|(_, part)| part.session_id != *session).map(|(at, _)| at).collect();
    let staying: Vec<Part> = parts.into_iter().filter(|part| part.session_id != *session).collect();
    if Part::joined_bytes(&staying) != rewrite.text.content.len() {
        return Err(invalid("a rewritten text of another length than the remaining parts"));
    }
    let links: Vec<ConceptLink> = held
        .links
        .iter()
        .filter_map(|link| {
            let part = kept.iter().position(|at| *at == link.part as usize)?;
            Some(ConceptLink { concept: link.concept, part: part as u32 })
        })
        .collect();
    let dropped: Vec<ConceptLink> = held
        .links
        .iter()
        .filter(|link| links.iter().all(|other| other.concept != link.concept))
        .copied()
        .collect();
    let moves = held.memory.session_id == *session;
    let owner = if moves { first.session_id.clone() } else { held.memory.session_id.clone() };
    if moves {
        memory_rows::ensure_session(connection, held.project, owner.as_str(), first.at)?;
    }
    let mut after = held.memory.clone();
    after.content.clone_from(&rewrite.text.content);
    after.session_id = owner.clone();
    after.version += 1;
    after.concepts = concept::names(connection, &links)?;
    memory_rows::rewrite(context, &held, owner.as_str(), &rewrite.text, &links)?;
    concept::leave(connection, held.memory.id.0, &dropped)?;
    connection.execute("DELETE FROM part WHERE memory = ?1", [held.memory.id.0]).map_err(storage_error)?;
    insert_parts(connection, held.memory.id.0, &staying)?;
    let digest_key = memory_rows::renew_digest_key(connection, &held)?;
    rewritten.push(Rewritten { before: held, after, digest_key });
    Ok(())
}

/// Lists the memories that hold parts of a session and of no other, by store id.
fn own_memories(connection: &Connection, project: i64, session: &SessionId) -> Result<Vec<Held>, StoreError> {
    let ids: Vec<i64> = connection
        .prepare_cached(
            "SELECT id FROM memory m WHERE project = ?1
             AND (session_id = ?2 OR id IN (SELECT memory FROM part WHERE session_id = ?2))
             AND NOT EXISTS (SELECT 1 FROM part WHERE memory = m.id AND session_id != ?2)
             AND (session_id = ?2 OR EXISTS (SELECT 1 FROM part WHERE memory = m.id)) ORDER BY id",
        )
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
