//! What the double holds, and the steps that changes are made of.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use am_embed::analysis::AnalysedText;
use am_model::{
    Concept, DedupKey, Digest, Instant, LogEntry, Memory, MemoryId, Observation, Project, Session, SessionId,
    StoreId, Verb, WriterId,
};

use crate::chain::{self, digest_of, keyed_digest};
use crate::{Audit, StoreError, StoreIdentity, StoredMemory, StoredObservation};

/// Events without an id of the host's own start their key so.
const DELIVERY: &str = "delivery:";
/// Two such this far apart, in milliseconds, may still be one event.
const WINDOW_MS: i64 = 2_000;

/// A memory and the terms it is indexed by.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub(super) stored: StoredMemory,
    pub(super) terms: Option<AnalysedText>,
}

impl Row {
    pub(super) fn id(&self) -> i64 {
        self.stored.memory.id.0
    }

    pub(super) fn memory_id(&self) -> &MemoryId {
        &self.stored.memory.memory_id
    }

    pub(super) fn project(&self) -> &Project {
        &self.stored.memory.project
    }

    pub(super) fn is_expired(&self, before: Option<Instant>) -> bool {
        before.is_some_and(|before| self.stored.memory.created_at < before)
    }

    pub(super) fn digest(&self) -> Digest {
        keyed_digest(&self.stored.digest_key, &self.stored.memory)
    }

    /// Returns whether `session` brought something of it.
    pub(super) fn has_part_of(&self, session: &SessionId) -> bool {
        self.stored.parts.iter().any(|part| part.session_id == *session)
    }

    /// Returns whether another session than `session` brought something of it.
    pub(super) fn has_part_of_others(&self, session: &SessionId) -> bool {
        self.stored.parts.iter().any(|part| part.session_id != *session)
    }

    /// Returns whether all its text was captured as one.
    pub(super) fn is_one_captured_text(&self) -> bool {
        let origin = &self.stored.memory.origin;
        (origin.is_hook() || origin.as_str().starts_with("import:"))
            && self.stored.parts.iter().filter(|part| part.bytes > 0).count() == 1
    }
}

/// Tables by store id. Rows are shared, so that a transaction can work on a copy.
#[derive(Clone, Debug)]
pub(super) struct State {
    pub(super) identity: StoreIdentity,
    /// Length of every vector.
    pub(super) dimension: usize,
    writer: WriterId,
    pub(super) sessions: BTreeMap<i64, Arc<Session>>,
    pub(super) memories: BTreeMap<i64, Arc<Row>>,
    /// Concepts by their place in the order of creation.
    pub(super) concepts: BTreeMap<i64, (Project, Concept)>,
    pub(super) observations: BTreeMap<i64, Arc<StoredObservation>>,
    pub(super) log: BTreeMap<i64, Arc<LogEntry>>,
    pub(super) last: Last,
}

/// The last number each sequence gave; none is given twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Last {
    pub(super) session: i64,
    pub(super) memory: i64,
    pub(super) concept: i64,
    pub(super) observation: i64,
    pub(super) log: i64,
}

/// Takes the next number of a sequence, or `wanted` where that lies ahead.
pub(super) fn next(last: &mut i64, wanted: Option<StoreId>) -> StoreId {
    *last = wanted.map_or(*last + 1, |wanted| wanted.0.max(*last + 1));
    StoreId(*last)
}

impl State {
    pub(super) fn new(identity: StoreIdentity, dimension: usize, writer: WriterId) -> Self {
        Self {
            identity,
            dimension,
            writer,
            sessions: BTreeMap::new(),
            memories: BTreeMap::new(),
            concepts: BTreeMap::new(),
            observations: BTreeMap::new(),
            log: BTreeMap::new(),
            last: Last::default(),
        }
    }

    pub(super) fn by_memory_id(&self, memory_id: &MemoryId) -> Option<&Arc<Row>> {
        self.memories.values().find(|row| row.memory_id() == memory_id)
    }

    pub(super) fn by_key(&self, key: &DedupKey) -> Option<&Arc<Row>> {
        self.memories.values().find(|row| row.stored.dedup_key == *key)
    }

    /// Returns the earlier delivery of the same event.
    pub(super) fn delivered(&self, event: &Observation) -> Option<&Arc<StoredObservation>> {
        let of_project =
            || self.observations.values().filter(|stored| stored.observation.project == event.project);
        of_project()
            .find(|stored| stored.observation.event_id == event.event_id)
            .or_else(|| of_project().find(|stored| fired_twice(&stored.observation, event)))
    }

    pub(super) fn session(&self, project: &Project, session: &SessionId) -> Option<&Arc<Session>> {
        self.sessions.values().find(|row| row.project == *project && row.session_id == *session)
    }

    /// Makes the session if it is new, else moves its end.
    pub(super) fn touch_session(&mut self, project: &Project, session_id: &SessionId, at: Instant) {
        let known = self.session(project, session_id).cloned();
        let row = match known {
            Some(known) => Session { updated_at: known.updated_at.max(at), ..(*known).clone() },
            None => Session {
                id: next(&mut self.last.session, None),
                project: project.clone(),
                session_id: session_id.clone(),
                started_at: at,
                updated_at: at,
            },
        };
        self.sessions.insert(row.id.0, Arc::new(row));
    }

    /// Makes the concepts that the project lacks.
    pub(super) fn make_concepts(&mut self, project: &Project, names: &[Concept]) {
        for name in names {
            if !self.concepts.values().any(|(of, known)| of == project && known == name) {
                let place = next(&mut self.last.concept, None);
                self.concepts.insert(place.0, (project.clone(), name.clone()));
            }
        }
    }

    /// Drops the concepts that no memory has any more.
    pub(super) fn drop_unused_concepts(&mut self) {
        let used: BTreeSet<(&Project, &Concept)> = self
            .memories
            .values()
            .flat_map(|row| row.stored.memory.concepts.iter().map(move |concept| (row.project(), concept)))
            .collect();
        self.concepts.retain(|_, (project, concept)| used.contains(&(&*project, &*concept)));
    }

    pub(super) fn observe(&mut self, observation: Observation, memory_id: Option<MemoryId>) {
        let id = next(&mut self.last.observation, None);
        self.observations.insert(id.0, Arc::new(StoredObservation { id, observation, memory_id }));
    }

    /// Erases the text of the observations that `which` picks; returns how many had one.
    pub(super) fn erase_evidence(&mut self, which: impl Fn(&StoredObservation) -> bool) -> u64 {
        let mut erased = 0;
        for stored in self.observations.values_mut() {
            if stored.observation.text.is_some() && which(stored) {
                let observation = &mut Arc::make_mut(stored).observation;
                observation.text = None;
                if observation.event_id.starts_with("import:") {
                    observation.event_id = format!("erased:{}", am_model::MemoryId::random());
                }
                erased += 1;
            }
        }
        erased
    }

    /// Appends a row to this writer's chain.
    pub(super) fn log(&mut self, audit: &Audit, row: LogRow) {
        let chain = self.log.values().filter(|entry| entry.writer == self.writer);
        let previous = chain.max_by_key(|entry| entry.sequence);
        let entry = LogEntry {
            writer: self.writer,
            sequence: previous.map_or(1, |previous| previous.sequence + 1),
            at: audit.at,
            actor: audit.actor.clone(),
            channel: audit.channel,
            verb: row.verb,
            targets: row.targets,
            reason: row.reason,
            before: row.before,
            after: row.after,
            previous: previous.map_or(chain::FIRST, |previous| digest_of(previous)),
        };
        let id = next(&mut self.last.log, None);
        self.log.insert(id.0, Arc::new(entry));
    }

    /// Fails where a vector is not of the store's dimension or not finite.
    pub(super) fn check_vector(&self, vector: Option<&Vec<f32>>) -> Result<(), StoreError> {
        match vector {
            Some(vector) if vector.len() != self.dimension => {
                Err(invalid(format!("a vector of {} numbers in a store of {}", vector.len(), self.dimension)))
            }
            Some(vector) if !vector.iter().all(|number| number.is_finite()) => {
                Err(invalid("a vector with a number that is not finite"))
            }
            _ => Ok(()),
        }
    }
}

/// What a change says of itself in the log.
pub(super) struct LogRow {
    pub(super) verb: Verb,
    pub(super) targets: Vec<MemoryId>,
    pub(super) reason: Option<String>,
    pub(super) before: Option<Digest>,
    pub(super) after: Option<Digest>,
}

impl LogRow {
    pub(super) fn of(verb: Verb, targets: Vec<MemoryId>) -> Self {
        Self { verb, targets, reason: None, before: None, after: None }
    }
}

pub(super) fn invalid(detail: impl Into<String>) -> StoreError {
    StoreError::Invalid { detail: detail.into() }
}

/// Returns a copy of `memory` without its concepts, as searches and listings give it.
pub(super) fn without_concepts(memory: &Memory) -> Memory {
    Memory { concepts: Vec::new(), ..memory.clone() }
}

/// Returns whether two hosts fired one event: neither gave an id of its own, and all else agrees.
fn fired_twice(earlier: &Observation, event: &Observation) -> bool {
    earlier.event_id.starts_with(DELIVERY)
        && event.event_id.starts_with(DELIVERY)
        && earlier.session_id == event.session_id
        && earlier.origin == event.origin
        && earlier.text.is_some()
        && earlier.text == event.text
        && (earlier.at.millis() - event.at.millis()).abs() <= WINDOW_MS
}
