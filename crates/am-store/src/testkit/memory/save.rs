//! Saving and merging.

use std::sync::Arc;

use am_model::{Concept, DedupKey, Instant, Memory, MemoryId, Observation, Project, Verb};

use super::state::{LogRow, Row, State, invalid, next};
use crate::{Audit, Merge, Outcome, Part, Save, StoreError, StoredMemory, Text};

impl State {
    pub(super) fn save(&mut self, audit: &Audit, save: Save, key: [u8; 32]) -> Result<Outcome, StoreError> {
        let Save { memory: new, near_duplicate, except, expired_before, observation } = save;
        self.check_vector(new.text.vector.as_ref())?;
        if near_duplicate.is_some_and(|threshold| !(threshold > 0.0 && threshold <= 1.0)) {
            return Err(invalid("a near-duplicate threshold outside 0 to 1"));
        }
        check_scope(observation.as_ref(), &new.project)?;
        let said = Said {
            key: new.text.dedup_key,
            sources: &new.derived_from,
            expired_before,
            observation: observation.as_ref(),
        };
        if let Some(outcome) = self.said_before(audit, &said)? {
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
        let said = Said {
            key: incoming_key,
            sources: &[],
            expired_before: merge.expired_before,
            observation: observation.as_ref(),
        };
        if let Some(outcome) = self.said_before(audit, &said)? {
            return Ok(outcome);
        }
        let Some(row) = self.by_memory_id(&survivor).cloned() else {
            return Ok(Outcome::Changed { now: Vec::new() });
        };
        if row.stored.memory.version != version {
            return Ok(Outcome::Changed { now: vec![row.stored.clone()] });
        }
        check_scope(observation.as_ref(), row.project())?;
        if let Some(text) = &text
            && let Some(owner) = self.by_key(&text.dedup_key)
            && owner.id() != row.id()
        {
            return Ok(Outcome::KeyTaken { memory: Box::new(owner.stored.memory.clone()) });
        }

        let before = row.digest();
        let mut grown = Row::clone(&row);
        let missing = missing(&row.stored.memory.concepts, merge.concepts);
        let writes = text.is_some() || !missing.is_empty();
        if writes {
            let bytes = if text.is_some() { incoming_bytes } else { 0 };
            if let Some(text) = text {
                Part::fit_last(&mut grown.stored.parts, &text.content, incoming_bytes).ok_or_else(|| {
                    invalid("the merged text does not end with a line of the incoming one's length")
                })?;
                replace_text(&mut grown, text);
            }
            self.make_concepts(row.project(), &missing);
            let stored = &mut grown.stored;
            stored.concept_parts.extend(vec![stored.parts.len(); missing.len()]);
            stored.memory.concepts.extend(missing);
            stored.parts.push(Part { session_id: merge.session_id, bytes, at: audit.at });
        }
        let observed = observation.is_some();
        if let Some(observation) = observation {
            self.observe(observation, Some(survivor.clone()));
        }
        if writes {
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
    fn said_before(&mut self, audit: &Audit, said: &Said<'_>) -> Result<Option<Outcome>, StoreError> {
        if let Some(earlier) = said.observation.and_then(|observation| self.delivered(observation)) {
            return Ok(Some(Outcome::Repeated { memory_id: earlier.memory_id.clone() }));
        }
        let Some(row) = self.by_key(&said.key).cloned() else {
            return Ok(None);
        };
        check_scope(said.observation, row.project())?;
        let memory_id: MemoryId = row.memory_id().clone();
        if let Some(observation) = said.observation {
            self.observe(observation.clone(), Some(memory_id.clone()));
        }
        let mut after = Row::clone(&row);
        let has_new_sources = settle_sources(&mut after.stored.derived_from, said.sources);
        let revives = row.is_expired(said.expired_before);
        if revives {
            after.stored.memory.created_at = audit.at;
            after.stored.memory.version += 1;
        }
        let verb = match (revives, has_new_sources, said.observation.is_some()) {
            (true, ..) => Some(Verb::Revive),
            (false, true, _) => Some(Verb::Merge),
            (false, false, true) => Some(Verb::Observe),
            (false, false, false) => None,
        };
        if let Some(verb) = verb {
            let mut log = LogRow::of(verb, vec![memory_id.clone()]);
            if verb != Verb::Observe {
                log.before = Some(row.digest());
                log.after = Some(after.digest());
            }
            self.memories.insert(row.id(), Arc::new(after));
            self.log(audit, log);
        }
        Ok(Some(if revives { Outcome::Revived { memory_id } } else { Outcome::Deduplicated { memory_id } }))
    }
}

/// What may have been said before.
struct Said<'a> {
    key: DedupKey,
    sources: &'a [MemoryId],
    expired_before: Option<Instant>,
    observation: Option<&'a Observation>,
}

fn check_scope(observation: Option<&Observation>, project: &Project) -> Result<(), StoreError> {
    match observation {
        Some(observation) if observation.project != *project => {
            Err(invalid("an observation of another project than its memory"))
        }
        _ => Ok(()),
    }
}

/// Adds what a repeated text quotes, or nothing more if it was said on purpose; tells whether that changes anything.
///
/// A text that quotes nothing stands by itself for ever.
fn settle_sources(known: &mut Vec<MemoryId>, sources: &[MemoryId]) -> bool {
    let before = known.len();
    if sources.is_empty() {
        known.clear();
    } else if !known.is_empty() {
        for source in sources {
            if !known.contains(source) {
                known.push(source.clone());
            }
        }
    }
    known.len() != before
}

/// Returns the concepts that are not linked yet, each once.
fn missing(linked: &[Concept], concepts: Vec<Concept>) -> Vec<Concept> {
    let mut missing = Vec::new();
    for concept in concepts {
        if !linked.contains(&concept) && !missing.contains(&concept) {
            missing.push(concept);
        }
    }
    missing
}

/// Puts another text and what is derived from it into a row.
pub(super) fn replace_text(row: &mut Row, text: Text) {
    row.stored.memory.content = text.content;
    row.stored.dedup_key = text.dedup_key;
    row.stored.vector = text.vector;
    row.terms = text.terms;
}
