//! Sessions, keyed by project and session id.

use crate::{Instant, Project, SessionId, StoreId};

/// One session of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Position in the store's sequence of sessions.
    pub id: StoreId,
    /// Scope.
    pub project: Project,
    /// Id, unique in its project.
    pub session_id: SessionId,
    /// When its first memory was made.
    pub started_at: Instant,
    /// When its last memory was made.
    pub updated_at: Instant,
}

/// How much a project holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// Memories, expired ones included.
    pub memories: u64,
    /// Sessions.
    pub sessions: u64,
}
