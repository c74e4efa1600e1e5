//! A store in memory: whole, simple and slow. The measure for the others, and the store of tests.

mod forget;
mod import;
mod save;
mod search;
mod state;

use std::sync::{Mutex, MutexGuard, PoisonError};

use am_embed::analysis::{Analysis, Profile};
use am_embed::embedder::{Embedder as _, EmbedderId};
use am_embed::hash::HashEmbedder;
use am_model::{Counts, Instant, Memory, MemoryId, Project, Session, SessionId, StoreId, WriterId};
use async_trait::async_trait;
use sha2::{Digest as _, Sha256};

use self::state::{State, without_concepts};
use crate::chain::ChainCheck;
use crate::{
    Action, Change, LiveMemory, Outcome, Scope, SearchQuery, SearchReply, Statistics, Store, StoreError,
    StoreIdentity, StoredLogEntry, StoredMemory, StoredObservation, VerifyReport,
};

/// The in-memory double: all of the port, by walking plain tables under one lock.
///
/// A change works on a copy that takes the place of the tables when it went well, so that nothing is half applied.
#[derive(Debug)]
pub struct MemoryStore {
    state: Mutex<State>,
    failures: Mutex<Failures>,
}

#[derive(Debug, Default)]
struct Failures {
    next: Option<StoreError>,
    every: Option<StoreError>,
}

impl MemoryStore {
    /// Makes an empty store of `profile` for the vectors of the hash embedder.
    pub fn new(profile: Profile) -> Self {
        Self::with_embedder(profile, HashEmbedder::new().id())
    }

    /// Makes an empty store of `profile` for the vectors of `embedder`.
    pub fn with_embedder(profile: Profile, embedder: &EmbedderId) -> Self {
        let identity = StoreIdentity {
            uuid: MemoryId::random().into_string(),
            schema_version: 1,
            profile,
            analysis: Analysis::new(profile).id().to_owned(),
            embedder: embedder.to_string(),
            created_at: Instant::default(),
        };
        let mut writer = WriterId([0; 16]);
        writer.0.iter_mut().zip(random_key()).for_each(|(byte, random)| *byte = random);
        let state = State::new(identity, embedder.dimension() as usize, writer);
        Self { state: Mutex::new(state), failures: Mutex::default() }
    }

    /// Makes the next call fail; a search then fails in every arm that is asked.
    pub fn fail_next(&self, error: StoreError) {
        lock(&self.failures).next = Some(error);
    }

    /// Makes every call fail until told otherwise by `None`.
    pub fn fail_always(&self, error: Option<StoreError>) {
        lock(&self.failures).every = error;
    }

    fn state(&self) -> Result<MutexGuard<'_, State>, StoreError> {
        let mut failures = lock(&self.failures);
        match failures.next.take().or_else(|| failures.every.clone()) {
            Some(error) => Err(error),
            None => Ok(lock(&self.state)),
        }
    }
}

/// A panic elsewhere can't leave half a change behind, so the state stays usable.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws a key. UUIDs are the randomness at hand, two of them hold 244 bits.
fn random_key() -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(MemoryId::random().as_str());
    hash.update(MemoryId::random().as_str());
    hash.finalize().into()
}

fn in_scope(scope: &Scope, project: &Project) -> bool {
    match scope {
        Scope::Project(of) => of == project,
        Scope::AllProjects => true,
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn identity(&self) -> Result<StoreIdentity, StoreError> {
        Ok(self.state()?.identity.clone())
    }

    async fn commit(&self, change: Change) -> Result<Outcome, StoreError> {
        let mut state = self.state()?;
        if let Some(given) = change.analysis.filter(|given| *given != state.identity.analysis) {
            return Err(StoreError::Outdated { stored: state.identity.analysis.clone(), given });
        }
        let mut changed = state.clone();
        let audit = &change.audit;
        let outcome = match change.action {
            Action::Save(save) => changed.save(audit, *save, random_key())?,
            Action::Merge(merge) => changed.merge(audit, *merge)?,
            Action::Forget(forget) => changed.forget(audit, forget)?,
            Action::ForgetSession(forget) => changed.forget_session(audit, forget)?,
            Action::Observe(observations) => changed.observe_all(audit, observations),
            Action::ForgetObservation { project, event_id } => {
                changed.forget_observation(audit, &project, &event_id)
            }
            Action::PurgeEvidence { before, limit } => changed.purge_evidence(audit, before, limit),
            Action::Import(import) => changed.import(audit, *import)?,
        };
        *state = changed;
        Ok(outcome)
    }

    async fn search(&self, query: SearchQuery) -> SearchReply {
        match self.state() {
            Ok(state) => state.search(&query),
            Err(error) => SearchReply::failed(&query, &error),
        }
    }

    async fn sessions(&self, project: &Project, limit: usize) -> Result<Vec<Session>, StoreError> {
        let state = self.state()?;
        let sessions = state.sessions.values().rev().filter(|session| session.project == *project);
        Ok(sessions.take(limit).map(|session| (**session).clone()).collect())
    }

    async fn session_memories(
        &self,
        live: &LiveMemory,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let state = self.state()?;
        let rows = state.memories.values().rev().filter(|row| {
            *row.project() == live.project
                && row.stored.memory.session_id == *session
                && !row.is_expired(live.expired_before)
        });
        Ok(rows.take(limit).map(|row| without_concepts(&row.stored.memory)).collect())
    }

    async fn counts(&self, project: &Project) -> Result<Counts, StoreError> {
        let state = self.state()?;
        Ok(Counts {
            memories: state.memories.values().filter(|row| row.project() == project).count() as u64,
            sessions: state.sessions.values().filter(|session| session.project == *project).count() as u64,
        })
    }

    async fn memories(&self, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        let state = self.state()?;
        let found = ids.iter().filter_map(|id| state.by_memory_id(id));
        Ok(found.map(|row| row.stored.memory.clone()).collect())
    }

    async fn shared_memories(
        &self,
        project: &Project,
        session: &SessionId,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        Ok(self.state()?.shared_memories(project, session))
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        Ok(self.state()?.projects())
    }

    async fn sessions_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let state = self.state()?;
        let rows = state.sessions.values().filter(|row| row.id > after && in_scope(scope, &row.project));
        Ok(rows.take(limit).map(|row| (**row).clone()).collect())
    }

    async fn memories_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let state = self.state()?;
        let rows = state.memories.values().filter(|row| row.id() > after.0 && in_scope(scope, row.project()));
        Ok(rows.take(limit).map(|row| row.stored.clone()).collect())
    }

    async fn observations_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredObservation>, StoreError> {
        let state = self.state()?;
        let rows = state
            .observations
            .values()
            .filter(|row| row.id > after && in_scope(scope, &row.observation.project));
        Ok(rows.take(limit).map(|row| (**row).clone()).collect())
    }

    async fn log_page(&self, after: StoreId, limit: usize) -> Result<Vec<StoredLogEntry>, StoreError> {
        let state = self.state()?;
        let rows = state.log.iter().filter(|(id, _)| **id > after.0).take(limit);
        Ok(rows.map(|(id, entry)| StoredLogEntry { id: StoreId(*id), entry: (**entry).clone() }).collect())
    }

    async fn verify(&self) -> Result<VerifyReport, StoreError> {
        Ok(self.state()?.verify())
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        let state = self.state()?;
        let texts = state.observations.values().filter_map(|stored| stored.observation.text.as_ref());
        Ok(Statistics {
            projects: state.projects().len() as u64,
            sessions: state.sessions.len() as u64,
            memories: state.memories.len() as u64,
            vectors: state.memories.values().filter(|row| row.stored.vector.is_some()).count() as u64,
            concepts: state.concepts.len() as u64,
            observations: state.observations.len() as u64,
            observation_bytes: texts.map(|text| text.len() as u64).sum(),
            log_entries: state.log.len() as u64,
            disk_bytes: 0,
            projection_bytes: 0,
        })
    }
}

impl State {
    fn observe_all(&mut self, audit: &crate::Audit, observations: Vec<am_model::Observation>) -> Outcome {
        let given = observations.len();
        let mut appended = 0;
        for observation in observations {
            if self.delivered(&observation).is_none() {
                self.observe(observation, None);
                appended += 1;
            }
        }
        if appended > 0 {
            self.log(audit, state::LogRow::of(am_model::Verb::Observe, Vec::new()));
        }
        Outcome::Observed { appended: appended as u64, repeated: (given - appended) as u64 }
    }

    fn projects(&self) -> Vec<Project> {
        let of_memories = self.memories.values().map(|row| row.project());
        let of_sessions = self.sessions.values().map(|session| &session.project);
        let of_evidence = self.observations.values().map(|stored| &stored.observation.project);
        let mut projects: Vec<Project> = of_memories.chain(of_sessions).chain(of_evidence).cloned().collect();
        projects.sort();
        projects.dedup();
        projects
    }

    fn verify(&self) -> VerifyReport {
        let mut check = ChainCheck::new();
        self.log.values().for_each(|entry| check.see(entry));
        VerifyReport {
            log_entries: self.log.len() as u64,
            chains: check.chains(),
            memories: self.memories.len() as u64,
            erasure_pending: false,
            faults: check.into_faults(),
        }
    }
}
