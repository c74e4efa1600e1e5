//! Export and import: whole records out of a store and into another.

use am_model::{
    CONTENT_MAX, Concept, DedupKey, Importance, MemoryId, Observation, Origin, Project, Session, SessionId,
    StoreId, bounded_text,
};
use am_store::{Action, Import, Outcome, Scope, StoredLogEntry, StoredMemory, StoredObservation};

use crate::evidence::check_key;
use crate::forget::pieces;
use crate::{Caller, Service, ServiceError};

/// Records read in one step.
const PAGE: usize = 500;

/// One record of a copy.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A session.
    Session(Session),
    /// A memory with everything that belongs to it.
    Memory(Box<StoredMemory>),
    /// An event.
    Observation(Box<StoredObservation>),
    /// A log row.
    Log(Box<StoredLogEntry>),
}

/// How many records were copied out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Exported {
    /// Sessions.
    pub sessions: u64,
    /// Memories.
    pub memories: u64,
    /// Events.
    pub observations: u64,
    /// Log rows.
    pub log_entries: u64,
}

/// What became of a batch of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Imported {
    /// Memories inserted.
    pub memories: u64,
    /// Events inserted.
    pub observations: u64,
    /// Records that were there already.
    pub skipped: u64,
}

impl Service {
    /// Gives every record of `scope` to `sink`: sessions, memories, events, log rows, each by store id.
    ///
    /// Log rows name no project: they are given only with [`Scope::AllProjects`]. Stops at the first error, the
    /// sink's included. What is written meanwhile may or may not be part of the copy.
    pub async fn export<E: From<ServiceError>>(
        &self,
        scope: &Scope,
        mut sink: impl FnMut(Record) -> Result<(), E>,
    ) -> Result<Exported, E> {
        let store = self.store();
        let failed = |error| E::from(ServiceError::Store(error));
        let mut exported = Exported::default();
        let mut after = Some(StoreId(0));
        while let Some(start) = after {
            let page = store.sessions_page(scope, start, PAGE).await.map_err(failed)?;
            after = page.last().filter(|_| page.len() == PAGE).map(|last| last.id);
            exported.sessions += page.len() as u64;
            page.into_iter().map(Record::Session).try_for_each(&mut sink)?;
        }
        after = Some(StoreId(0));
        while let Some(start) = after {
            let page = store.memories_page(scope, start, PAGE).await.map_err(failed)?;
            after = page.last().filter(|_| page.len() == PAGE).map(|last| last.memory.id);
            exported.memories += page.len() as u64;
            page.into_iter().map(|row| Record::Memory(Box::new(row))).try_for_each(&mut sink)?;
        }
        after = Some(StoreId(0));
        while let Some(start) = after {
            let page = store.observations_page(scope, start, PAGE).await.map_err(failed)?;
            after = page.last().filter(|_| page.len() == PAGE).map(|last| last.id);
            exported.observations += page.len() as u64;
            page.into_iter().map(|row| Record::Observation(Box::new(row))).try_for_each(&mut sink)?;
        }
        after = (*scope == Scope::AllProjects).then_some(StoreId(0));
        while let Some(start) = after {
            let page = store.log_page(start, PAGE).await.map_err(failed)?;
            after = page.last().filter(|_| page.len() == PAGE).map(|last| last.id);
            exported.log_entries += page.len() as u64;
            page.into_iter().map(|row| Record::Log(Box::new(row))).try_for_each(&mut sink)?;
        }
        Ok(exported)
    }

    /// Copies a batch of records in, in one commit; records that are there already are skipped.
    ///
    /// `embedder` is the identity of the embedder that made their vectors: where it is not this store's, vectors
    /// are made anew.
    ///
    /// # Errors
    /// A memory contradicts itself ([`ServiceError::Record`]): then nothing of the batch is copied.
    pub async fn import(
        &self,
        caller: &Caller,
        records: Vec<Record>,
        embedder: &str,
    ) -> Result<Imported, ServiceError> {
        let service = self.current().await?;
        let same_embedder = embedder == service.identity().embedder;
        let mut import = Import::default();
        for (position, record) in (1..).zip(records) {
            check(&record).map_err(|detail| ServiceError::Record { position, detail })?;
            match record {
                Record::Session(session) => import.sessions.push(session),
                Record::Observation(observation) => import.observations.push(*observation),
                Record::Log(entry) => import.log.push(*entry),
                Record::Memory(mut memory) => {
                    memory.vector = memory.vector.filter(|_| same_embedder);
                    let dimension = self.embedder().id().dimension() as usize;
                    if memory.vector.as_ref().is_some_and(|vector| !is_vector(vector, dimension)) {
                        return Err(ServiceError::Record { position, detail: "the vector is unusable" });
                    }
                    import.memories.push(service.prepare_copy(*memory).await?);
                }
            }
        }
        match self.commit(caller.audit(self.now()), Action::Import(Box::new(import))).await? {
            Outcome::Imported { memories, observations, skipped } => {
                Ok(Imported { memories, observations, skipped })
            }
            _ => Err(ServiceError::Unexpected { verb: "import" }),
        }
    }
}

/// Largest store id and version that a record may bring: what comes after them must still fit.
const NUMBER_MAX: i64 = 1 << 53;

/// Checks that a record keeps the rules of its fields, and that they agree with one another.
fn check(record: &Record) -> Result<(), &'static str> {
    let numbers = match record {
        Record::Session(Session { id, project, session_id, .. }) => {
            check_names(project, session_id)?;
            [id.0, 1]
        }
        Record::Memory(stored) => {
            check_memory(stored)?;
            [stored.memory.id.0, stored.memory.version]
        }
        Record::Observation(stored) => {
            let Observation { project, session_id, event_id, origin, .. } = &stored.observation;
            check_names(project, session_id)?;
            check_origin(origin)?;
            check_key(event_id).map_err(|_| "the event id is empty, too long or not printable")?;
            [stored.id.0, 1]
        }
        Record::Log(stored) => [stored.id.0, stored.entry.sequence],
    };
    let [id, counted] = numbers;
    if (0..=NUMBER_MAX).contains(&id) && (1..=NUMBER_MAX).contains(&counted) {
        Ok(())
    } else {
        Err("an id, version or sequence is out of range")
    }
}

fn check_names(project: &Project, session_id: &SessionId) -> Result<(), &'static str> {
    if !Project::new(project.as_str()).is_ok_and(|name| name == *project) {
        return Err("the project is empty, too long or not trimmed");
    }
    if !SessionId::new(session_id.as_str()).is_ok_and(|name| name == *session_id) {
        return Err("the session id is empty, too long or not trimmed");
    }
    Ok(())
}

fn check_origin(origin: &Origin) -> Result<(), &'static str> {
    let valid = Origin::new(origin.as_str()).is_ok_and(|name| name == *origin);
    if valid { Ok(()) } else { Err("the origin is empty, too long or not trimmed") }
}

fn check_memory(stored: &StoredMemory) -> Result<(), &'static str> {
    let StoredMemory { memory, concept_parts, dedup_key, parts, .. } = stored;
    check_names(&memory.project, &memory.session_id)?;
    check_origin(&memory.origin)?;
    if bounded_text("content", &memory.content, CONTENT_MAX).is_err() {
        return Err("the content is empty or too long");
    }
    if MemoryId::new(memory.memory_id.as_str()).is_err() || memory.memory_id.as_str().contains('\n') {
        return Err("the id is empty, too long or of several lines");
    }
    if Importance::new(memory.importance.get()).is_err() {
        return Err("the importance is not between 0 and 1");
    }
    if memory.concepts.iter().any(|concept| Concept::new(concept.as_str()).is_err()) {
        return Err("a concept is empty or too long");
    }
    if *dedup_key != DedupKey::of(&memory.project, &memory.content) {
        return Err("the dedup key is not that of the content");
    }
    if pieces(stored).is_err() {
        return Err("the parts don't add up to the content");
    }
    if concept_parts.len() != memory.concepts.len() || concept_parts.iter().any(|part| *part >= parts.len()) {
        return Err("the concepts don't belong to the parts");
    }
    Ok(())
}

fn is_vector(vector: &[f32], dimension: usize) -> bool {
    vector.len() == dimension && vector.iter().all(|component| component.is_finite())
}
