//! Listings and counts.

use am_model::{Counts, Memory, Project, Session, SessionId};

use crate::{Service, ServiceError};

impl Service {
    /// Lists the newest sessions of a project, newest created first.
    pub async fn sessions(&self, project: &Project, limit: usize) -> Result<Vec<Session>, ServiceError> {
        Ok(self.store().sessions(project, limit).await?)
    }

    /// Lists the memories of a session without their concepts, newest created first; none for an unknown session.
    pub async fn session_memories(
        &self,
        project: &Project,
        session_id: &SessionId,
        limit: usize,
    ) -> Result<Vec<Memory>, ServiceError> {
        let live = self.current().await?.live(project, self.now());
        Ok(self.store().session_memories(&live, session_id, limit).await?)
    }

    /// Counts what a project holds; zeros for an unknown one.
    pub async fn counts(&self, project: &Project) -> Result<Counts, ServiceError> {
        Ok(self.store().counts(project).await?)
    }
}
