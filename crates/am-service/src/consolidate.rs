//! What a save becomes when the project holds near-duplicates of it.

use std::collections::BTreeSet;

use am_fusion::similarity::{
    MergeThreshold, SurvivorCandidate, choose_survivor, jaccard, merge_text, missing_concepts,
};
use am_model::{CONTENT_MAX, Instant, Memory, MemoryId, text};
use am_store::{Action, Merge, Save, Text};

use crate::{Service, ServiceError};

/// A save on its way, with what was learnt about its near-duplicates.
pub(crate) struct Incoming {
    save: Save,
    /// The survivor of the merge that was tried last.
    tried: Option<(MemoryId, i64)>,
}

impl Incoming {
    pub(crate) fn new(save: Save) -> Self {
        Self { save, tried: None }
    }

    /// Returns the insertion of the text beside every near-duplicate that was passed over.
    pub(crate) fn insert(&self) -> Action {
        Action::Save(Box::new(self.save.clone()))
    }

    /// Goes on without evidence of the event.
    pub(crate) fn leave_out_observation(&mut self) {
        self.save.observation = None;
    }

    /// Makes later insertions stand beside this version of a near-duplicate.
    fn pass_over(&mut self, memory_id: MemoryId, version: i64) {
        if !self.is_passed_over(&memory_id, version) {
            self.save.except.push((memory_id, version));
        }
    }

    fn is_passed_over(&self, memory_id: &MemoryId, version: i64) -> bool {
        self.save.except.iter().any(|(known, at)| known == memory_id && *at == version)
    }

    fn merge_into(&mut self, survivor: &Memory, text: Option<Text>) -> Action {
        self.tried = Some((survivor.memory_id.clone(), survivor.version));
        let incoming = &self.save.memory;
        let incoming_bytes = if text.is_some() { incoming.text.content.len() } else { 0 };
        Action::Merge(Box::new(Merge {
            survivor: survivor.memory_id.clone(),
            version: survivor.version,
            incoming_key: incoming.text.dedup_key,
            text,
            incoming_bytes,
            session_id: incoming.session_id.clone(),
            concepts: missing_concepts(&survivor.concepts, &incoming.concepts),
            expired_before: self.save.expired_before,
            observation: self.save.observation.clone(),
        }))
    }

    /// Follows the merged text to the row that has it: concepts are linked there, the text is its already.
    ///
    /// A row that TTL hides can't stand for a text that was just saved: then the text is inserted.
    pub(crate) fn link_to_owner(&mut self, owner: Memory) -> Action {
        let hidden = self.save.expired_before.is_some_and(|before: Instant| owner.created_at < before);
        if !hidden {
            return self.merge_into(&owner, None);
        }
        if let Some((memory_id, version)) = self.tried.take() {
            self.pass_over(memory_id, version);
        }
        self.insert()
    }
}

impl Service {
    /// Decides what a text with near-duplicates becomes: a merge into the best of them, or a row beside them.
    pub(crate) async fn merge_or_insert(
        &self,
        incoming: &mut Incoming,
        candidates: Vec<Memory>,
    ) -> Result<Action, ServiceError> {
        let open: Vec<Memory> = candidates
            .into_iter()
            .filter(|candidate| !incoming.is_passed_over(&candidate.memory_id, candidate.version))
            .collect();
        if let Some(survivor) = self.survivor(&incoming.save.memory.text.content, &open) {
            match merge_text(&survivor.content, &incoming.save.memory.text.content) {
                None => return Ok(incoming.merge_into(survivor, None)),
                Some(merged) if text::utf16_len(&merged) <= CONTENT_MAX => {
                    let text = self.prepare(&survivor.project, survivor.kind, merged).await?;
                    return Ok(incoming.merge_into(survivor, Some(text)));
                }
                Some(_) => {}
            }
        }
        for candidate in open {
            incoming.pass_over(candidate.memory_id, candidate.version);
        }
        Ok(incoming.insert())
    }

    /// Chooses the memory that takes up `content`, by its exact similarity to each candidate.
    fn survivor<'a>(&self, content: &str, candidates: &'a [Memory]) -> Option<&'a Memory> {
        let threshold: MergeThreshold = self.settings().merge_threshold?;
        let terms: BTreeSet<String> = self.analysis().similarity_terms(content);
        let compared: Vec<SurvivorCandidate<'_>> = candidates
            .iter()
            .map(|candidate| SurvivorCandidate {
                memory_id: candidate.memory_id.as_str(),
                jaccard: jaccard(&terms, &self.analysis().similarity_terms(&candidate.content)),
                importance: candidate.importance.get(),
            })
            .collect();
        candidates.get(choose_survivor(threshold, &compared)?)
    }
}
