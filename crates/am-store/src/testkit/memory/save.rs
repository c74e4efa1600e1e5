//! Saving and merging.

use std::sync::Arc;

use am_model::{Instant, Memory, MemoryId, Observation, Verb};

use super::state::{LogRow, Row, State, invalid, next};
use crate::{Audit, Merge, Outcome, Part, Save, StoreError, StoredMemory, Text};

impl State {
    pub(super) fn save(&mut self, audit: &Audit, save: Save, key: [u8; 32]) -> Result<Outcome, StoreError> {
        let Save { memory: new, near_duplicate, except, expired_before, observation } = save;
        self.check_vector(new.text.vector.as_ref())?;
        if near_duplicate.is_some_and(|threshold| !(threshold > 0.0 && threshold <= 1.0)) {
            return Err(invalid("a near-duplicate threshold outside 0 to 1"));
        }
        if observation.as_ref().is_some_and(|observation| observation.project != new.project) {
            return Err(invalid("an observation of another project than its memory"));
        }
        if let Some(outcome) =
            self.said_before(audit, &new.text.dedup_key, expired_before, observation.as_ref())
        {
            return Ok(outcome);
        }
        if self.by_memory_id(&new.memory_id).is_some() {
            return Err(invalid("the memory id is taken"));
        }
        let quotable = |source| self.by_memory_id(source).is_some_and(|row| *row.project() == new.project);
        if !new.derived_from.iter().all(quotable) {
            return Ok(Outcome::Changed { now: Vec::new() });
        }
        if let (Some(threshold), Some(terms)) = (near_duplicate, &new.text.terms) {
            let candidates: Vec<Memory> = self
                .memories
                .values()
                .filter(|row| *row.project() == new.project && row.stored.derived_from.is_empty())
                .filter(|row| !row.is_expired(expired_before))
                .filter(|row| !except.contains(&(row.memory_id().clone(), row.stored.memory.version)))
                .filter(|row| row.terms.as_ref().is_some_and(|of_row| terms.jaccard(of_row) >= threshold))
                .map(|row| row.stored.memory.clone())
                .collect();
            if !candidates.is_empty() {
                return Ok(Outcome::NearDuplicates { candidates });
            }
        }

        self.touch_session(&new.project, &new.session_id, audit.at);
        self.make_concepts(&new.project, &new.concepts);
        let id = next(&mut self.last.memory, None);
        let row = Row {
            stored: StoredMemory {
                concept_parts: vec![0; new.concepts.len()],
                dedup_key: new.text.dedup_key,
                vector: new.text.vector,
                parts: vec![Part {
                    session_id: new.session_id.clone(),
                    bytes: new.text.content.len(),
                    at: audit.at,
                }],
                derived_from: new.derived_from,
                digest_key: key,
                memory: Memory {
                    id,
                    memory_id: new.memory_id.clone(),
                    project: new.project,
                    session_id: new.session_id,
                    kind: new.kind,
                    content: new.text.content,
                    origin: new.origin,
                    importance: new.importance,
                    created_at: audit.at,
                    version: 1,
                    concepts: new.concepts,
                },
            },
            terms: new.text.terms,
        };
        let after = Some(row.digest());
        self.memories.insert(id.0, Arc::new(row));
        if let Some(observation) = observation {
            self.observe(observation, Some(new.memory_id.clone()));
        }
        self.log(audit, LogRow { after, ..LogRow::of(Verb::Remember, vec![new.memory_id.clone()]) });
        Ok(Outcome::Inserted { memory_id: new.memory_id })
    }

    pub(super) fn merge(&mut self, audit: &Audit, merge: Merge) -> Result<Outcome, StoreError> {
        let Merge { survivor, version, incoming_key, text, incoming_bytes, .. } = merge;
        self.check_vector(text.as_ref().and_then(|text| text.vector.as_ref()))?;
        let observation = merge.observation;
        if let Some(outcome) =
            self.said_before(audit, &incoming_key, merge.expired_before, observation.as_ref())
        {
            return Ok(outcome);
        }
        let Some(row) = self.by_memory_id(&survivor).cloned() else {
            return Ok(Outcome::Changed { now: Vec::new() });
        };
        if row.stored.memory.version != version {
            return Ok(Outcome::Changed { now: vec![row.stored.clone()] });
        }
        if observation.as_ref().is_some_and(|observation| observation.project != *row.project()) {
            return Err(invalid("an observation of another project than its memory"));
        }
        if let Some(text) = &text
            && let Some(owner) = self.by_key(&text.dedup_key)
            && owner.id() != row.id()
        {
            return Ok(Outcome::KeyTaken { memory: Box::new(owner.stored.memory.clone()) });
        }

        let before = row.digest();
        let mut grown = Row::clone(&row);
        let has_text = text.is_some();
        if let Some(text) = text {
            grow(&mut grown.stored, &text, incoming_bytes)?;
            grown.stored.parts.push(Part {
                session_id: merge.session_id,
                bytes: incoming_bytes,
                at: audit.at,
            });
            replace_text(&mut grown, text);
        }
        // Concepts of a text that was there already belong to the first part.
        let part = if has_text { grown.stored.parts.len() - 1 } else { 0 };
        let mut linked = false;
        for concept in merge.concepts {
            if !grown.stored.memory.concepts.contains(&concept) {
                self.make_concepts(row.project(), std::slice::from_ref(&concept));
                grown.stored.memory.concepts.push(concept);
                grown.stored.concept_parts.push(part);
                linked = true;
            }
        }
        let observed = observation.is_some();
        if let Some(observation) = observation {
            self.observe(observation, Some(survivor.clone()));
        }
        if has_text || linked {
            grown.stored.memory.version += 1;
            let after = Some(grown.digest());
            self.memories.insert(grown.id(), Arc::new(grown));
            let row = LogRow::of(Verb::Merge, vec![survivor.clone()]);
            self.log(audit, LogRow { before: Some(before), after, ..row });
        } else if observed {
            self.log(audit, LogRow::of(Verb::Observe, vec![survivor.clone()]));
        }
        Ok(Outcome::Merged { memory_id: survivor })
    }

    /// Answers a save whose event or whose text is there already.
    fn said_before(
        &mut self,
        audit: &Audit,
        key: &am_model::DedupKey,
        expired_before: Option<Instant>,
        observation: Option<&Observation>,
    ) -> Option<Outcome> {
        if let Some(earlier) = observation.and_then(|observation| self.delivered(observation)) {
            return Some(Outcome::Repeated { memory_id: earlier.memory_id.clone() });
        }
        let row = self.by_key(key)?.clone();
        let memory_id: MemoryId = row.memory_id().clone();
        if let Some(observation) = observation {
            self.observe(observation.clone(), Some(memory_id.clone()));
        }
        if row.is_expired(expired_before) {
            let mut revived = Row::clone(&row);
            revived.stored.memory.created_at = audit.at;
            revived.stored.memory.version += 1;
            let log = LogRow {
                before: Some(row.digest()),
                after: Some(revived.digest()),
                ..LogRow::of(Verb::Revive, vec![memory_id.clone()])
            };
            self.memories.insert(row.id(), Arc::new(revived));
            self.log(audit, log);
            return Some(Outcome::Revived { memory_id });
        }
        if observation.is_some() {
            self.log(audit, LogRow::of(Verb::Observe, vec![memory_id.clone()]));
        }
        Some(Outcome::Deduplicated { memory_id })
    }
}

/// Fits the last part to the old content as the merged one keeps it: its trailing white space may be cut.
fn grow(stored: &mut StoredMemory, text: &Text, incoming_bytes: usize) -> Result<(), StoreError> {
    let kept = text.content.len().checked_sub(incoming_bytes).and_then(|rest| rest.checked_sub(1));
    let kept = kept.filter(|kept| text.content.get(*kept..).is_some_and(|rest| rest.starts_with('\n')));
    let earlier: usize = stored.parts.iter().rev().skip(1).map(|part| part.bytes + 1).sum();
    match (kept.and_then(|kept| kept.checked_sub(earlier)), stored.parts.last_mut()) {
        (Some(bytes), Some(last)) => {
            last.bytes = bytes;
            Ok(())
        }
        _ => Err(invalid("the merged text does not end with a line of the incoming one's length")),
    }
}

/// Puts another text and what is derived from it into a row.
pub(super) fn replace_text(row: &mut Row, text: Text) {
    row.stored.memory.content = text.content;
    row.stored.dedup_key = text.dedup_key;
    row.stored.vector = text.vector;
    row.terms = text.terms;
}
