//! A store that does as told: it stands before a real one, answers or delays calls, and writes them down.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use am_embed::analysis::Profile;
use am_model::{Counts, Memory, MemoryId, Project, Session, SessionId, StoreId};
use am_store::testkit::MemoryStore;
use am_store::{
    Action, Change, LiveMemory, Outcome, Scope, SearchQuery, SearchReply, Statistics, Store, StoreError,
    StoreIdentity, StoredLogEntry, StoredMemory, StoredObservation, VerifyReport,
};
use async_trait::async_trait;

/// What becomes of a commit.
pub(crate) enum Step {
    /// It goes through.
    Pass,
    /// It is answered so and does nothing.
    Answer(Result<Outcome, StoreError>),
    /// Another writer comes first.
    After(Change),
}

pub(crate) struct Double {
    pub(crate) inner: MemoryStore,
    steps: Mutex<VecDeque<Step>>,
    always: Mutex<Option<Outcome>>,
    pub(crate) identity: Mutex<Option<StoreIdentity>>,
    pub(crate) actions: Mutex<Vec<Action>>,
    pub(crate) reads: Mutex<Vec<String>>,
    pub(crate) sessions: Option<Result<Vec<Session>, StoreError>>,
    pub(crate) memories: HashMap<String, Result<Vec<Memory>, StoreError>>,
    pub(crate) counts: Option<Result<Counts, StoreError>>,
    /// How long a read of a session takes.
    pub(crate) delay: Duration,
}

impl Double {
    pub(crate) fn new(profile: Profile) -> Self {
        Self {
            inner: MemoryStore::new(profile),
            steps: Mutex::default(),
            always: Mutex::default(),
            identity: Mutex::default(),
            actions: Mutex::default(),
            reads: Mutex::default(),
            sessions: None,
            memories: HashMap::new(),
            counts: None,
            delay: Duration::ZERO,
        }
    }

    /// Tells what becomes of the next commits; later ones pass.
    pub(crate) fn script(&self, steps: impl IntoIterator<Item = Step>) {
        self.steps.lock().unwrap().extend(steps);
    }

    pub(crate) fn answer_always(&self, outcome: Outcome) {
        *self.always.lock().unwrap() = Some(outcome);
    }

    pub(crate) fn commits(&self) -> usize {
        self.actions.lock().unwrap().len()
    }

    fn read(&self, call: String) {
        self.reads.lock().unwrap().push(call);
    }
}

#[async_trait]
impl Store for Double {
    async fn identity(&self) -> Result<StoreIdentity, StoreError> {
        let told = self.identity.lock().unwrap().clone();
        match told {
            Some(identity) => Ok(identity),
            None => self.inner.identity().await,
        }
    }

    async fn commit(&self, mut change: Change) -> Result<Outcome, StoreError> {
        self.actions.lock().unwrap().push(change.action.clone());
        if let Some(outcome) = self.always.lock().unwrap().clone() {
            return Ok(outcome);
        }
        let step = self.steps.lock().unwrap().pop_front();
        match step {
            Some(Step::Answer(answer)) => return answer,
            Some(Step::After(other)) => drop(self.inner.commit(other).await?),
            Some(Step::Pass) | None => {}
        }
        if self.identity.lock().unwrap().is_some() {
            // The store within is of another profile than the one that is told.
            change.analysis = None;
        }
        self.inner.commit(change).await
    }

    async fn search(&self, query: SearchQuery) -> SearchReply {
        self.inner.search(query).await
    }

    async fn sessions(&self, project: &Project, limit: usize) -> Result<Vec<Session>, StoreError> {
        self.read(format!("listSessions {project} {limit}"));
        match &self.sessions {
            Some(sessions) => sessions.clone(),
            None => self.inner.sessions(project, limit).await,
        }
    }

    async fn session_memories(
        &self,
        live: &LiveMemory,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        self.read(format!("sessionMemories {} {session} {limit}", live.project));
        tokio::time::sleep(self.delay).await;
        match self.memories.get(session.as_str()) {
            Some(memories) => memories.clone(),
            None => self.inner.session_memories(live, session, limit).await,
        }
    }

    async fn counts(&self, project: &Project) -> Result<Counts, StoreError> {
        match &self.counts {
            Some(counts) => counts.clone(),
            None => self.inner.counts(project).await,
        }
    }

    async fn memories(&self, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        self.inner.memories(ids).await
    }

    async fn shared_memories(
        &self,
        project: &Project,
        session: &SessionId,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        self.inner.shared_memories(project, session).await
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.inner.projects().await
    }

    async fn sessions_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        self.inner.sessions_page(scope, after, limit).await
    }

    async fn memories_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        self.inner.memories_page(scope, after, limit).await
    }

    async fn observations_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredObservation>, StoreError> {
        self.inner.observations_page(scope, after, limit).await
    }

    async fn log_page(&self, after: StoreId, limit: usize) -> Result<Vec<StoredLogEntry>, StoreError> {
        self.inner.log_page(after, limit).await
    }

    async fn verify(&self) -> Result<VerifyReport, StoreError> {
        self.inner.verify().await
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        self.inner.statistics().await
    }
}
