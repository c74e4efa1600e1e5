//! Merging an incoming text into a survivor.

use am_model::{Concept, Verb};
use am_store::{Merge, Outcome, Part, StoreError, chain};
use rusqlite::{Connection, params};

use super::log::{self, Told};
use super::memory_rows::{self, Held};
use super::save::{Said, check_scope, said_before};
use super::{Context, Step, check_vector, concept, evidence, invalid};
use crate::read;
use crate::row::{ConceptLink, concept_bytes, storage_error};

/// Merges, in the order of checks that [`Merge`] promises.
pub(super) fn merge(context: &Context<'_>, merge: &Merge) -> Result<Step, StoreError> {
    let connection = context.transaction;
    check_vector(context, merge.text.as_ref().and_then(|text| text.vector.as_ref()))?;
    let said = Said {
        key: merge.incoming_key,
        sources: &[],
        expired_before: merge.expired_before,
        observation: merge.observation.as_ref(),
    };
    if let Some(step) = said_before(context, &said)? {
        return Ok(step);
    }
    let survivor = memory_rows::find(connection, "m.memory_id = ?1", &merge.survivor.as_str())?;
    let Some(held) = survivor.filter(|held| held.memory.version == merge.version) else {
        let now = read::stored_memories(connection, std::slice::from_ref(&merge.survivor))?;
        return Ok(Step::Drop(Outcome::Changed { now }));
    };
    check_scope(merge.observation.as_ref(), &held.memory.project)?;
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
///
/// What the merged text cut from the old one was cut from its last piece of text.
fn append_part(context: &Context<'_>, held: &Held, merge: &Merge) -> Result<u32, StoreError> {
    let connection = context.transaction;
    let id = held.memory.id.0;
    let mut parts = read::parts(connection, &held.memory)?;
    if let Some(text) = &merge.text {
        Part::fit_last(&mut parts, &text.content, merge.incoming_bytes).ok_or_else(|| {
            invalid("the merged text does not end with a line of the incoming one's length")
        })?;
    }
    connection
        .prepare_cached("DELETE FROM part WHERE memory = ?1")
        .and_then(|mut statement| statement.execute([id]))
        .map_err(storage_error)?;
    let bytes = if merge.text.is_some() { merge.incoming_bytes } else { 0 };
    parts.push(Part { session_id: merge.session_id.clone(), bytes, at: context.audit.at });
    insert_parts(connection, id, &parts)?;
    Ok(parts.len() as u32 - 1)
}

/// Inserts the parts of a memory that has none stored.
pub(super) fn insert_parts(connection: &Connection, memory: i64, parts: &[Part]) -> Result<(), StoreError> {
    let mut statement = connection
        .prepare_cached(
            "INSERT INTO part(memory, ordinal, session_id, bytes, at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )
        .map_err(storage_error)?;
    for (ordinal, part) in parts.iter().enumerate() {
        let (session, bytes) = (part.session_id.as_str(), part.bytes as i64);
        statement
            .execute(params![memory, ordinal as i64, session, bytes, part.at.millis()])
            .map_err(storage_error)?;
    }
    Ok(())
}
