//! Merging an incoming text into a survivor.

use am_model::{Concept, Verb};
use am_store::{Merge, Outcome, StoreError, chain};
use rusqlite::{Connection, params};

use super::log::{self, Told};
use super::memory_rows::{self, Held};
use super::save::{dedup_hit, seen};
use super::{Context, Step, concept, evidence};
use crate::read;
use crate::row::{ConceptLink, concept_bytes, storage_error};

/// Merges, in the order of checks that [`Merge`] promises.
pub(super) fn merge(context: &Context<'_>, merge: &Merge) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let survivor = memory_rows::find(connection, "m.memory_id = ?1", &merge.survivor.as_str())?;
    if let Some(held) = &survivor
        && let Some(seen) = seen(connection, held.project, merge.observation.as_ref())?
    {
        return Ok(seen);
    }
    if let Some(held) = memory_rows::find(connection, "m.dedup_key = ?1", &merge.incoming_key.0.as_slice())? {
        return dedup_hit(context, &held, merge.expired_before, merge.observation.as_ref(), false);
    }
    let Some(held) = survivor.filter(|held| held.memory.version == merge.version) else {
        let now = read::stored_memories(connection, std::slice::from_ref(&merge.survivor))?;
        return Ok(Step::Drop(Outcome::Changed { now }));
    };
    if let Some(text) = &merge.text
        && let Some(owner) = memory_rows::find(connection, "m.dedup_key = ?1", &text.dedup_key.0.as_slice())?
        && owner.memory.id != held.memory.id
    {
        return Ok(Step::Drop(Outcome::KeyTaken { memory: Box::new(owner.memory) }));
    }
    grow(context, &held, merge)
}

fn grow(context: &Context<'_>, held: &Held, merge: &Merge) -> Result<Step, StoreError> {
    let connection = context.transaction;
    let missing: Vec<&Concept> = missing(&held.memory.concepts, &merge.concepts);
    let outcome = Outcome::Merged { memory_id: held.memory.memory_id.clone() };
    if let Some(observation) = &merge.observation {
        evidence::append(connection, None, held.project, observation, Some(&held.memory.memory_id))?;
    }
    if merge.text.is_none() && missing.is_empty() {
        if merge.observation.is_none() {
            return Ok(Step::Drop(outcome));
        }
        let told = Told { targets: std::slice::from_ref(&held.memory.memory_id), ..Told::default() };
        log::append(context, Verb::Observe, &told)?;
        return Ok(Step::Keep(outcome));
    }
    let part = append_part(context, held, merge)?;
    let added = concept::links(connection, held.project, missing.iter().map(|concept| (*concept, part)))?;
    concept::enter(connection, held.memory.id.0, &added)?;
    let links: Vec<ConceptLink> = held.links.iter().chain(&added).copied().collect();
    let mut after = held.memory.clone();
    after.version += 1;
    after.concepts.extend(missing.into_iter().cloned());
    match &merge.text {
        Some(text) => {
            after.content.clone_from(&text.content);
            memory_rows::rewrite(context, held, held.memory.session_id.as_str(), text, &links)?;
            // The old text is overwritten, but its old pages may still be on disk.
        }
        None => {
            connection
                .prepare_cached("UPDATE memory SET version = version + 1, concepts = ?2 WHERE id = ?1")
                .and_then(|mut statement| statement.execute(params![held.memory.id.0, concept_bytes(&links)]))
                .map_err(storage_error)?;
        }
    }
    let told = Told {
        targets: std::slice::from_ref(&held.memory.memory_id),
        before: Some(held.digest()),
        after: Some(chain::keyed_digest(&held.digest_key, &after)),
        ..Told::default()
    };
    log::append(context, Verb::Merge, &told)?;
    Ok(Step::Keep(outcome))
}

/// Returns the concepts that are not linked yet, each once.
fn missing<'a>(linked: &[Concept], wanted: &'a [Concept]) -> Vec<&'a Concept> {
    let mut missing: Vec<&Concept> = Vec::new();
    for concept in wanted {
        if !linked.contains(concept) && !missing.contains(&concept) {
            missing.push(concept);
        }
    }
    missing
}

/// Records which save brought what, and returns the index of the new part.
fn append_part(context: &Context<'_>, held: &Held, merge: &Merge) -> Result<u32, StoreError> {
    let connection = context.transaction;
    let id = held.memory.id.0;
    let mut parts = part_count(connection, id)?;
    if parts == 0 {
        // The first text ends where the line feed before the incoming one begins.
        let bytes = merge.text.as_ref().map_or(held.memory.content.len(), |text| {
            text.content.len().saturating_sub(merge.incoming_bytes + 1)
        });
        insert_part(
            connection,
            id,
            0,
            held.memory.session_id.as_str(),
            bytes,
            held.memory.created_at.millis(),
        )?;
        parts = 1;
    }
    let bytes = if merge.text.is_some() { merge.incoming_bytes } else { 0 };
    insert_part(connection, id, parts, merge.session_id.as_str(), bytes, context.audit.at.millis())?;
    Ok(parts as u32)
}

fn part_count(connection: &Connection, id: i64) -> Result<i64, StoreError> {
    connection
        .prepare_cached("SELECT count(*) FROM part WHERE memory = ?1")
        .and_then(|mut statement| statement.query_row([id], |row| row.get(0)))
        .map_err(storage_error)
}

/// Inserts one part row.
pub(super) fn insert_part(
    connection: &Connection,
    memory: i64,
    ordinal: i64,
    session_id: &str,
    bytes: usize,
    at: i64,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO part(memory, ordinal, session_id, bytes, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .and_then(|mut statement| statement.execute(params![memory, ordinal, session_id, bytes as i64, at]))
        .map(drop)
        .map_err(storage_error)
}
