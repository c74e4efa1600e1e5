//! Forgetting: one memory, one memory for a stated reason, or a session.

use am_model::{Instant, InvalidValue, MemoryId, Project, REASON_MAX, SessionId, Verb, text};
use am_store::{Action, Forget, ForgetSession, Outcome, Rewrite, StoreError, StoredMemory};

use crate::retry::Patience;
use crate::{Caller, Service, ServiceError};

/// The proof of a governed delete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The memory that was removed.
    pub memory_id: MemoryId,
    /// When.
    pub deleted_at: Instant,
}

/// What was removed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Forgotten {
    /// Memories that were asked for.
    pub memories: Vec<MemoryId>,
    /// Memories that went because they quoted one of those.
    pub derived: Vec<MemoryId>,
    /// Memories that lost a part.
    pub rewritten: Vec<MemoryId>,
    /// Events whose text was erased.
    pub observations: u64,
}

impl Forgotten {
    /// Returns whether nothing was there to forget.
    pub fn is_empty(&self) -> bool {
        self.memories.is_empty()
            && self.derived.is_empty()
            && self.rewritten.is_empty()
            && self.observations == 0
    }

    pub(crate) fn of(outcome: Outcome) -> Result<Self, ServiceError> {
        match outcome {
            Outcome::Forgotten { memories, derived, rewritten, observations } => {
                Ok(Self { memories, derived, rewritten, observations })
            }
            _ => Err(ServiceError::Unexpected { verb: "forget" }),
        }
    }
}

impl Service {
    /// Forgets a memory of any project; tells whether it was there.
    pub async fn forget(&self, caller: &Caller, memory_id: &MemoryId) -> Result<bool, ServiceError> {
        let forget = Forget {
            memory_ids: vec![memory_id.clone()],
            verb: Verb::Forget,
            reason: None,
            created_before: None,
        };
        self.take_in().await;
        Ok(!self.commit_forget(caller, self.now(), forget).await?.memories.is_empty())
    }

    /// Deletes a memory for a reason that the log keeps; `None` if it wasn't there.
    ///
    /// The reason is 1 to 1,000 UTF-16 units, before and after its white space is collapsed.
    pub async fn delete(
        &self,
        caller: &Caller,
        memory_id: &MemoryId,
        reason: &str,
    ) -> Result<Option<Receipt>, ServiceError> {
        if text::utf16_len(reason) > REASON_MAX {
            return Err(InvalidValue::TooLong { field: "reason", maximum: REASON_MAX }.into());
        }
        let reason = text::collapse_white_space(reason);
        if reason.is_empty() {
            return Err(InvalidValue::TooShort { field: "reason", minimum: 1 }.into());
        }
        self.take_in().await;
        let now = self.now();
        let forget = Forget {
            memory_ids: vec![memory_id.clone()],
            verb: Verb::Delete,
            reason: Some(reason),
            created_before: None,
        };
        let forgotten = self.commit_forget(caller, now, forget).await?;
        Ok(forgotten.memories.into_iter().next().map(|memory_id| Receipt { memory_id, deleted_at: now }))
    }

    /// Forgets everything a session brought: its memories, its parts of merged ones, its events, its row.
    pub async fn forget_session(
        &self,
        caller: &Caller,
        project: &Project,
        session_id: &SessionId,
    ) -> Result<Forgotten, ServiceError> {
        self.take_in().await;
        let service = self.current().await?;
        let mut patience = Patience::default();
        let mut shared = self.store().shared_memories(project, session_id).await?;
        loop {
            let mut rewrites = Vec::with_capacity(shared.len());
            for memory in &shared {
                rewrites.push(service.without_session(memory, session_id).await?);
            }
            let action = Action::ForgetSession(ForgetSession {
                project: project.clone(),
                session_id: session_id.clone(),
                rewrites,
                reason: None,
            });
            match self.commit(caller.audit(self.now()), action).await? {
                Outcome::Changed { now } => {
                    patience.wait().await?;
                    shared = now;
                }
                outcome => return Forgotten::of(outcome),
            }
        }
    }

    pub(crate) async fn commit_forget(
        &self,
        caller: &Caller,
        at: Instant,
        forget: Forget,
    ) -> Result<Forgotten, ServiceError> {
        Forgotten::of(self.commit(caller.audit(at), Action::Forget(forget)).await?)
    }

    /// Returns `memory` without the parts that `session_id` brought.
    async fn without_session(
        &self,
        memory: &StoredMemory,
        session_id: &SessionId,
    ) -> Result<Rewrite, ServiceError> {
        let pieces = pieces(memory)?;
        let kept: Vec<&str> = memory
            .parts
            .iter()
            .zip(pieces)
            .filter(|(part, _)| part.session_id != *session_id)
            .map(|(_, piece)| piece)
            .filter(|piece| !piece.is_empty())
            .collect();
        let row = &memory.memory;
        let text = self.prepare(&row.project, row.kind, kept.join("\n")).await?;
        Ok(Rewrite { memory_id: row.memory_id.clone(), version: row.version, text })
    }
}

/// Cuts the content of a memory into the pieces that its parts describe.
pub(crate) fn pieces(memory: &StoredMemory) -> Result<Vec<&str>, StoreError> {
    let damaged =
        || StoreError::Damaged { detail: "the parts of a memory don't add up to its text".to_owned() };
    let mut rest = Some(memory.memory.content.as_str());
    let mut pieces = Vec::with_capacity(memory.parts.len());
    for part in &memory.parts {
        // A save that brought concepts only.
        if part.bytes == 0 {
            pieces.push("");
            continue;
        }
        let (piece, after) = rest.and_then(|rest| rest.split_at_checked(part.bytes)).ok_or_else(damaged)?;
        pieces.push(piece);
        rest = after.strip_prefix('\n');
        if rest.is_none() && !after.is_empty() {
            return Err(damaged());
        }
    }
    if rest.is_some() { Err(damaged()) } else { Ok(pieces) }
}
