//! The port.

use am_model::{Counts, Memory, MemoryId, Project, Session, SessionId, StoreId};
use async_trait::async_trait;

use crate::{
    Change, LiveMemory, Outcome, Scope, SearchQuery, SearchReply, Statistics, StoreError, StoreIdentity,
    StoredLogEntry, StoredMemory, StoredObservation, VerifyReport,
};

/// A place where memories live.
///
/// Pages come by id ascending, start after `after` (0 for the first) and hold at most `limit` rows; a page shorter
/// than `limit` is the last.
#[async_trait]
pub trait Store: Send + Sync {
    /// Tells what the store is.
    async fn identity(&self) -> Result<StoreIdentity, StoreError>;

    /// Applies one change in one transaction, or nothing. The only write.
    async fn commit(&self, change: Change) -> Result<Outcome, StoreError>;

    /// Runs the arms of a search over one snapshot. A failure of the store is one of every arm that was asked.
    async fn search(&self, query: SearchQuery) -> SearchReply;

    /// Lists the newest sessions of a project, by store id descending.
    async fn sessions(&self, project: &Project, limit: usize) -> Result<Vec<Session>, StoreError>;

    /// Lists the live memories that a session made, without concepts, by store id descending.
    async fn session_memories(
        &self,
        live: &LiveMemory,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError>;

    /// Counts what a project holds; zeros for an unknown one.
    async fn counts(&self, project: &Project) -> Result<Counts, StoreError>;

    /// Fetches memories by public id, with concepts, in the order asked, expired ones too; unknown ids are left
    /// out.
    async fn memories(&self, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError>;

    /// Lists the memories that hold parts of this session and of others, by store id.
    async fn shared_memories(
        &self,
        project: &Project,
        session: &SessionId,
    ) -> Result<Vec<StoredMemory>, StoreError>;

    /// Lists the projects that hold a memory, a session or an observation, by name in code point order.
    async fn projects(&self) -> Result<Vec<Project>, StoreError>;

    /// Walks sessions.
    async fn sessions_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError>;

    /// Walks memories with everything that belongs to them.
    async fn memories_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredMemory>, StoreError>;

    /// Walks evidence.
    async fn observations_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredObservation>, StoreError>;

    /// Walks the log.
    async fn log_page(&self, after: StoreId, limit: usize) -> Result<Vec<StoredLogEntry>, StoreError>;

    /// Checks integrity, log chains and that projections equal a rebuild; finishes pending erasure where it can.
    async fn verify(&self) -> Result<VerifyReport, StoreError>;

    /// Measures the store.
    async fn statistics(&self) -> Result<Statistics, StoreError>;
}
