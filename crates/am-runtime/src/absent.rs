//! A store that is out of reach: every verb over it answers as it does when a store fails.

use am_embed::analysis::{Analysis, Profile};
use am_model::{Counts, Instant, Memory, MemoryId, Project, Session, SessionId, StoreId};
use am_store::{
    Change, LiveMemory, Outcome, Scope, SearchQuery, SearchReply, Statistics, Store, StoreError,
    StoreIdentity, StoredLogEntry, StoredMemory, StoredObservation, VerifyReport,
};
use async_trait::async_trait;

/// Stands for the store that could not be opened, and says why to everyone who asks.
#[derive(Debug)]
pub(crate) struct AbsentStore {
    profile: Profile,
    embedder: String,
    error: StoreError,
}

impl AbsentStore {
    pub(crate) fn new(profile: Profile, embedder: String, error: StoreError) -> Self {
        Self { profile, embedder, error }
    }

    fn failed<T>(&self) -> Result<T, StoreError> {
        Err(self.error.clone())
    }
}

#[async_trait]
impl Store for AbsentStore {
    /// Tells what a new store would be.
    async fn identity(&self) -> Result<StoreIdentity, StoreError> {
        Ok(StoreIdentity {
            uuid: String::new(),
            schema_version: 0,
            profile: self.profile,
            analysis: Analysis::new(self.profile).id().to_owned(),
            embedder: self.embedder.clone(),
            created_at: Instant::default(),
        })
    }

    async fn commit(&self, _: Change) -> Result<Outcome, StoreError> {
        self.failed()
    }

    async fn search(&self, query: SearchQuery) -> SearchReply {
        let arm = |asked| if asked { self.failed() } else { Ok(vec![]) };
        SearchReply {
            rows: vec![],
            lexical: arm(query.terms.is_some()),
            vector: arm(query.vector.is_some()),
            concept: arm(!query.concepts.is_empty()),
            hidden: 0,
        }
    }

    async fn sessions(&self, _: &Project, _: usize) -> Result<Vec<Session>, StoreError> {
        self.failed()
    }

    async fn session_memories(
        &self,
        _: &LiveMemory,
        _: &SessionId,
        _: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        self.failed()
    }

    async fn counts(&self, _: &Project) -> Result<Counts, StoreError> {
        self.failed()
    }

    async fn memories(&self, _: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        self.failed()
    }

    async fn shared_memories(&self, _: &Project, _: &SessionId) -> Result<Vec<StoredMemory>, StoreError> {
        self.failed()
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.failed()
    }

    async fn sessions_page(&self, _: &Scope, _: StoreId, _: usize) -> Result<Vec<Session>, StoreError> {
        self.failed()
    }

    async fn memories_page(&self, _: &Scope, _: StoreId, _: usize) -> Result<Vec<StoredMemory>, StoreError> {
        self.failed()
    }

    async fn observations_page(
        &self,
        _: &Scope,
        _: StoreId,
        _: usize,
    ) -> Result<Vec<StoredObservation>, StoreError> {
        self.failed()
    }

    async fn log_page(&self, _: StoreId, _: usize) -> Result<Vec<StoredLogEntry>, StoreError> {
        self.failed()
    }

    async fn verify(&self) -> Result<VerifyReport, StoreError> {
        self.failed()
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        self.failed()
    }
}
