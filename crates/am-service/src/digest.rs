//! Recap and handoff: the newest memories as text.

use std::time::Duration;

use am_fusion::digest::{handoff_text, recap_text};
use am_model::{Counts, Memory, Project, SessionId, Signal};
use tokio::time::{Instant as Deadline, timeout_at};

use crate::Service;
use crate::search::store_failure;

/// How long a digest reads before it gives what it has.
const BUDGET: Duration = Duration::from_secs(20);

/// What a digest is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest {
    /// Scope.
    pub project: Project,
    /// The session to show; `None` shows the newest ones.
    pub session_id: Option<SessionId>,
    /// Most sessions, and most memories of each.
    pub limit: usize,
}

/// The newest memories of a project or a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recap {
    /// One bullet for each memory; empty for none.
    pub text: String,
    /// Session of the request.
    pub session_id: Option<SessionId>,
    /// How many memories are shown.
    pub count: usize,
    /// What is missing.
    pub signals: Vec<Signal>,
}

/// A recap under the counts of its project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handoff {
    /// A line of counts, then the bullets.
    pub text: String,
    /// Session of the request.
    pub session_id: Option<SessionId>,
    /// What the project holds; zeros where counting failed.
    pub counts: Counts,
    /// What is missing.
    pub signals: Vec<Signal>,
}

/// The reads of one digest, under one deadline.
struct Reading<'a> {
    service: &'a Service,
    deadline: Deadline,
    exceeded: bool,
    signals: Vec<Signal>,
}

impl Reading<'_> {
    /// Awaits one read. A failure leaves a signal; the deadline leaves one, and ends the reading.
    async fn read<T>(
        &mut self,
        part: impl FnOnce() -> String,
        read: impl Future<Output = Result<T, am_store::StoreError>>,
    ) -> Option<T> {
        if self.exceeded {
            return None;
        }
        match timeout_at(self.deadline, read).await {
            Ok(Ok(value)) => Some(value),
            Ok(Err(error)) => {
                self.signals.push(store_failure(&part(), &error));
                None
            }
            Err(_) => {
                self.exceeded = true;
                self.signals.push(Signal("digest: budget exceeded".to_owned()));
                None
            }
        }
    }

    async fn memories(&mut self, digest: &Digest) -> Vec<Memory> {
        let service = self.service;
        let store = service.store();
        // Where even this takes too long, the reads below say so.
        let current = timeout_at(self.deadline, service.current_or_known()).await;
        let live = current.as_ref().unwrap_or(service).live(&digest.project, service.now());
        let sessions = match &digest.session_id {
            Some(session_id) => vec![session_id.clone()],
            None => self
                .read(|| "sessions".to_owned(), store.sessions(&digest.project, digest.limit))
                .await
                .unwrap_or_default()
                .into_iter()
                .map(|session| session.session_id)
                .collect(),
        };
        let mut memories = vec![];
        for session_id in sessions {
            let read = store.session_memories(&live, &session_id, digest.limit);
            let found = self.read(|| format!("memories({session_id})"), read).await;
            memories.extend(found.unwrap_or_default());
        }
        memories
    }

    async fn counts(&mut self, project: &Project) -> Counts {
        let read = self.service.store().counts(project);
        self.read(|| "counts".to_owned(), read).await.unwrap_or_default()
    }
}

impl Service {
    /// Shows the newest memories of a session, or of the newest sessions of a project. Failures become signals.
    pub async fn recap(&self, digest: Digest) -> Recap {
        let mut reading = self.reading();
        let memories = reading.memories(&digest).await;
        Recap {
            text: recap_text(&memories),
            session_id: digest.session_id,
            count: memories.len(),
            signals: reading.signals,
        }
    }

    /// Shows the same under the counts of the project, whatever the session. Failures become signals.
    pub async fn handoff(&self, digest: Digest) -> Handoff {
        let mut reading = self.reading();
        let memories = reading.memories(&digest).await;
        let counts = reading.counts(&digest.project).await;
        Handoff {
            text: handoff_text(&digest.project, counts, &recap_text(&memories)),
            session_id: digest.session_id,
            counts,
            signals: reading.signals,
        }
    }

    fn reading(&self) -> Reading<'_> {
        Reading { service: self, deadline: Deadline::now() + BUDGET, exceeded: false, signals: vec![] }
    }
}
