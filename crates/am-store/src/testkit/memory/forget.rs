//! Forgetting: memories, sessions, observations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use am_model::{Instant, MemoryId, Project, SessionId, Verb};

use super::random_key;
use super::save::replace_text;
use super::state::{LogRow, Row, State, invalid};
use crate::{Audit, Forget, ForgetSession, Outcome, Part, Rewrite, StoreError, StoredMemory};

impl State {
    pub(super) fn forget(&mut self, audit: &Audit, forget: Forget) -> Result<Outcome, StoreError> {
        if !matches!(forget.verb, Verb::Forget | Verb::Delete | Verb::Purge) {
            return Err(invalid(format!("forgetting is not logged as `{}`", forget.verb.as_str())));
        }
        let mut asked: Vec<Arc<Row>> = Vec::new();
        for memory_id in &forget.memory_ids {
            if let Some(row) = self.by_memory_id(memory_id)
                && (forget.created_before.is_none() || row.is_expired(forget.created_before))
                && asked.iter().all(|other| other.id() != row.id())
            {
                asked.push(row.clone());
            }
        }
        let quoting = self.quoting(&asked);
        let removal = self.remove(asked, quoting);
        self.log_removal(audit, forget.verb, forget.reason, &removal);
        Ok(removal.outcome())
    }

    pub(super) fn forget_session(
        &mut self,
        audit: &Audit,
        forget: ForgetSession,
    ) -> Result<Outcome, StoreError> {
        let ForgetSession { project, session_id, rewrites, reason } = forget;
        let shared = self.shared_memories(&project, &session_id);
        let now: BTreeSet<(&MemoryId, i64)> =
            shared.iter().map(|stored| (&stored.memory.memory_id, stored.memory.version)).collect();
        let named: BTreeSet<(&MemoryId, i64)> =
            rewrites.iter().map(|rewrite| (&rewrite.memory_id, rewrite.version)).collect();
        if now != named || rewrites.len() != shared.len() {
            return Ok(Outcome::Changed { now: shared });
        }
        let holding: Vec<Arc<Row>> = self
            .memories
            .values()
            .filter(|row| *row.project() == project && row.has_part_of(&session_id))
            .cloned()
            .collect();
        // What quotes a row that is rewritten may quote the part that goes.
        let quoting = self.quoting(&holding);
        let own = holding.into_iter().filter(|row| !row.has_part_of_others(&session_id)).collect();
        let mut removal = self.remove(own, quoting);
        for rewrite in rewrites {
            self.rewrite(&session_id, rewrite, &mut removal)?;
        }
        removal.observations += self.erase_evidence(|stored| {
            stored.observation.project == project && stored.observation.session_id == session_id
        });
        let sessions = self.sessions.len();
        self.sessions.retain(|_, session| session.project != project || session.session_id != session_id);
        removal.session = self.sessions.len() < sessions;
        self.drop_unused_concepts();
        self.log_removal(audit, Verb::Forget, reason, &removal);
        Ok(removal.outcome())
    }

    pub(super) fn forget_observation(&mut self, audit: &Audit, project: &Project, event_id: &str) -> Outcome {
        let found = self.observations.values().find(|stored| {
            stored.observation.project == *project
                && stored.observation.event_id == event_id
                && stored.observation.text.is_some()
        });
        let Some(found) = found.cloned() else {
            return Removal::default().outcome();
        };
        let erased = self.erase_evidence(|stored| stored.id == found.id);
        let resting =
            found.memory_id.as_ref().and_then(|memory_id| self.by_memory_id(memory_id)).filter(|row| {
                let other = self.observations.values().any(|stored| {
                    stored.memory_id.as_ref() == Some(row.memory_id()) && stored.observation.text.is_some()
                });
                row.is_one_captured_text() && !other
            });
        let resting: Vec<Arc<Row>> = resting.cloned().into_iter().collect();
        let quoting = self.quoting(&resting);
        let mut removal = self.remove(resting, quoting);
        removal.observations += erased;
        self.log_removal(audit, Verb::Forget, None, &removal);
        removal.outcome()
    }

    pub(super) fn purge_evidence(&mut self, audit: &Audit, before: Instant, limit: usize) -> Outcome {
        let old: Vec<i64> = self
            .observations
            .iter()
            .filter(|(_, stored)| stored.observation.at < before)
            .map(|(id, _)| *id)
            .take(limit)
            .collect();
        for id in &old {
            self.observations.remove(id);
        }
        let removal = Removal { observations: old.len() as u64, ..Removal::default() };
        self.log_removal(audit, Verb::Purge, None, &removal);
        removal.outcome()
    }

    pub(super) fn shared_memories(&self, project: &Project, session: &SessionId) -> Vec<StoredMemory> {
        self.memories
            .values()
            .filter(|row| row.project() == project)
            .filter(|row| row.has_part_of(session) && row.has_part_of_others(session))
            .map(|row| row.stored.clone())
            .collect()
    }

    /// Takes the parts of `session` out of a shared memory.
    fn rewrite(
        &mut self,
        session: &SessionId,
        rewrite: Rewrite,
        removal: &mut Removal,
    ) -> Result<(), StoreError> {
        self.check_vector(rewrite.text.vector.as_ref())?;
        // It may have quoted a row that went, and gone with it.
        let Some(row) = self.by_memory_id(&rewrite.memory_id).cloned() else {
            return Ok(());
        };
        let remains = |part: &&Part| part.session_id != *session && part.bytes > 0;
        let first = row.stored.parts.iter().find(remains).cloned();
        let taken = self.by_key(&rewrite.text.dedup_key).is_some_and(|owner| owner.id() != row.id());
        let Some(first) = first.filter(|_| !taken) else {
            let removed = self.remove(vec![row], Vec::new());
            removal.memories.extend(removed.memories);
            removal.observations += removed.observations;
            return Ok(());
        };

        let mut rewritten = Row::clone(&row);
        let (kept, parts): (Vec<usize>, Vec<Part>) = row
            .stored
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| part.session_id != *session)
            .map(|(index, part)| (index, part.clone()))
            .unzip();
        if Part::joined_bytes(&parts) != rewrite.text.content.len() {
            return Err(invalid("a rewritten text of another length than the remaining parts"));
        }
        let memory = &mut rewritten.stored.memory;
        let links = memory.concepts.drain(..).zip(rewritten.stored.concept_parts.drain(..));
        (memory.concepts, rewritten.stored.concept_parts) = links
            .filter_map(|(concept, part)| Some((concept, kept.iter().position(|index| *index == part)?)))
            .unzip();
        if memory.session_id == *session {
            memory.session_id = first.session_id;
            if self.session(&memory.project, &memory.session_id).is_none() {
                self.touch_session(&memory.project, &memory.session_id, first.at);
            }
        }
        memory.version += 1;
        rewritten.stored.parts = parts;
        // With the old key, what is taken out could be guessed from the log.
        rewritten.stored.digest_key = random_key();
        replace_text(&mut rewritten, rewrite.text);
        removal.rewritten.push(Changed { before: row, after: Some(rewritten.clone()) });
        self.memories.insert(rewritten.id(), Arc::new(rewritten));
        Ok(())
    }

    /// Removes `memories`, the rows that quote them, and the text of the evidence that led to either.
    fn remove(&mut self, memories: Vec<Arc<Row>>, quoting: Vec<Arc<Row>>) -> Removal {
        let asked = |row: &Arc<Row>| memories.iter().any(|other| other.id() == row.id());
        let derived: Vec<Arc<Row>> = quoting.into_iter().filter(|row| !asked(row)).collect();
        let mut observations = 0;
        for row in memories.iter().chain(&derived) {
            self.memories.remove(&row.id());
            observations += self.erase_evidence(|stored| stored.memory_id.as_ref() == Some(row.memory_id()));
        }
        self.drop_unused_concepts();
        Removal { memories, derived, observations, ..Removal::default() }
    }

    /// Returns the rows that quote one of `rows`, or a row that does, by store id.
    fn quoting(&self, rows: &[Arc<Row>]) -> Vec<Arc<Row>> {
        let mut quoted: BTreeSet<&MemoryId> = rows.iter().map(|row| row.memory_id()).collect();
        let mut quoting: BTreeMap<i64, Arc<Row>> = BTreeMap::new();
        loop {
            let known = quoting.len();
            for row in self.memories.values() {
                if row.stored.derived_from.iter().any(|source| quoted.contains(source)) {
                    quoted.insert(row.memory_id());
                    quoting.insert(row.id(), row.clone());
                }
            }
            if quoting.len() == known {
                return quoting.into_values().collect();
            }
        }
    }

    fn log_removal(&mut self, audit: &Audit, verb: Verb, reason: Option<String>, removal: &Removal) {
        if !removal.changed_something() {
            return;
        }
        let gone = removal.memories.iter().chain(&removal.derived);
        let targets: Vec<Changed> = gone
            .map(|row| Changed { before: row.clone(), after: None })
            .chain(removal.rewritten.iter().cloned())
            .collect();
        let mut log =
            LogRow::of(verb, targets.iter().map(|changed| changed.before.memory_id().clone()).collect());
        log.reason = reason;
        if let [only] = targets.as_slice() {
            log.before = Some(only.before.digest());
            log.after = only.after.as_ref().map(Row::digest);
        }
        self.log(audit, log);
    }
}

/// A row before and after a change.
#[derive(Clone)]
struct Changed {
    before: Arc<Row>,
    after: Option<Row>,
}

/// What one change removed.
#[derive(Default)]
struct Removal {
    memories: Vec<Arc<Row>>,
    derived: Vec<Arc<Row>>,
    rewritten: Vec<Changed>,
    observations: u64,
    session: bool,
}

impl Removal {
    fn changed_something(&self) -> bool {
        self.session
            || self.observations > 0
            || !(self.memories.is_empty() && self.derived.is_empty() && self.rewritten.is_empty())
    }

    fn outcome(&self) -> Outcome {
        let ids = |rows: &[Arc<Row>]| rows.iter().map(|row| row.memory_id().clone()).collect();
        Outcome::Forgotten {
            memories: ids(&self.memories),
            derived: ids(&self.derived),
            rewritten: self.rewritten.iter().map(|changed| changed.before.memory_id().clone()).collect(),
            observations: self.observations,
        }
    }
}
