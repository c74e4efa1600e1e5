//! Purging: memories past an age are removed, page by page.

use am_model::{Instant, MemoryId, Project, StoreId, Verb};
use am_store::{Action, Audit, Forget, Outcome, Scope};

use crate::{Caller, Service, ServiceError};

/// Memories looked at, and at most removed, in one step.
const PAGE: usize = 500;
const DAY_MILLIS: i64 = 86_400_000;

/// How far a purge has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PurgeProgress {
    /// Commits so far, from 1.
    pub batch: u64,
    /// Memories removed so far, in all batches.
    pub deleted: u64,
}

impl Service {
    /// Removes the evidence of every project that is older than `days`, and returns the number of observations.
    ///
    /// Memories that it led to stay. Each page is one commit; a failure leaves the pages before it removed.
    pub async fn purge_evidence(&self, caller: &Caller, days: u32) -> Result<u64, ServiceError> {
        let before = self.purge_cutoff(days);
        let mut purged = 0;
        loop {
            let audit = Audit { at: self.now(), actor: caller.actor.clone(), channel: caller.channel };
            let action = Action::PurgeEvidence { before, limit: PAGE };
            match self.commit(audit, action).await? {
                Outcome::Forgotten { observations: 0, .. } => return Ok(purged),
                Outcome::Forgotten { observations, .. } => purged += observations,
                _ => return Err(ServiceError::Unexpected { verb: "purge" }),
            }
        }
    }

    /// Returns the instant before which memories are older than `days`.
    pub fn purge_cutoff(&self, days: u32) -> Instant {
        self.now().plus_millis(-i64::from(days) * DAY_MILLIS)
    }

    /// Lists the projects that a purge of `scope` goes through, by name.
    pub async fn purge_projects(&self, scope: &Scope) -> Result<Vec<Project>, ServiceError> {
        match scope {
            Scope::Project(project) => Ok(vec![project.clone()]),
            Scope::AllProjects => Ok(self.store().projects().await?),
        }
    }

    /// Tells the ids that a purge would remove, by store id, and returns their number.
    pub async fn purge_plan(
        &self,
        project: &Project,
        cutoff: Instant,
        mut would_delete: impl FnMut(&MemoryId),
    ) -> Result<u64, ServiceError> {
        let mut pages = Pages::of(project);
        let mut found = 0;
        while let Some(expired) = pages.next(self, cutoff).await? {
            expired.iter().for_each(&mut would_delete);
            found += expired.len() as u64;
        }
        Ok(found)
    }

    /// Removes the memories of `project` made before `cutoff`, and returns their number.
    ///
    /// Each page is one commit; `progress` is told of each. A failure leaves the pages before it removed.
    pub async fn purge(
        &self,
        caller: &Caller,
        project: &Project,
        cutoff: Instant,
        mut progress: impl FnMut(PurgeProgress),
    ) -> Result<u64, ServiceError> {
        self.take_in().await;
        let mut pages = Pages::of(project);
        let mut so_far = PurgeProgress { batch: 0, deleted: 0 };
        while let Some(expired) = pages.next(self, cutoff).await? {
            if expired.is_empty() {
                continue;
            }
            let forget = Forget {
                memory_ids: expired,
                verb: Verb::Purge,
                reason: None,
                // A row that a repeated save has revived since it was listed stays.
                created_before: Some(cutoff),
            };
            so_far.deleted += self.commit_forget(caller, self.now(), forget).await?.memories.len() as u64;
            so_far.batch += 1;
            progress(so_far);
        }
        Ok(so_far.deleted)
    }
}

/// A walk over the memories of a project.
struct Pages {
    scope: Scope,
    after: Option<StoreId>,
}

impl Pages {
    fn of(project: &Project) -> Self {
        Self { scope: Scope::Project(project.clone()), after: Some(StoreId(0)) }
    }

    /// Returns the ids of the next page that were made before `cutoff`; `None` after the last page.
    async fn next(
        &mut self,
        service: &Service,
        cutoff: Instant,
    ) -> Result<Option<Vec<MemoryId>>, ServiceError> {
        let Some(after) = self.after else { return Ok(None) };
        let page = service.store().memories_page(&self.scope, after, PAGE).await?;
        self.after = page.last().filter(|_| page.len() == PAGE).map(|last| last.memory.id);
        let expired = page.into_iter().filter(|row| row.memory.created_at < cutoff);
        Ok(Some(expired.map(|row| row.memory.memory_id).collect()))
    }
}
