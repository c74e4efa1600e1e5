//! Loading a corpus for evaluation: every text becomes a row of its own.

use am_model::{
    CONTENT_MAX, DedupKey, Importance, Memory, MemoryId, MemoryKind, SessionId, StoreId, bounded_text,
};
use am_store::{Action, Import, Outcome, Part, StoredMemory, Text};
use uuid::Uuid;

use crate::{Caller, Remember, Service, ServiceError};

impl Service {
    /// Saves texts without deduplication and without merging, in one commit, and returns their ids in order.
    ///
    /// For evaluation, where each document must have an id of its own: the rows are unknown to later saves of the
    /// same texts. Events are left out.
    pub async fn load_corpus(
        &self,
        caller: &Caller,
        texts: Vec<Remember>,
    ) -> Result<Vec<MemoryId>, ServiceError> {
        let service = self.current().await?;
        let now = self.now();
        let mut import = Import::default();
        let mut ids = Vec::with_capacity(texts.len());
        for Remember { content, concepts, project, session_id, origin, importance, .. } in texts {
            let content = bounded_text("content", &content, CONTENT_MAX)?;
            let kind = MemoryKind::of(&origin, &content);
            let (text, concepts) = service.prepare_new(&project, kind, content, concepts).await?;
            let Text { content, terms, vector, .. } = text;
            let memory_id = MemoryId::random();
            let session_id = session_id.unwrap_or_else(SessionId::random);
            ids.push(memory_id.clone());
            let stored = StoredMemory {
                concept_parts: vec![0; concepts.len()],
                // The id makes equal texts different.
                dedup_key: DedupKey::of(&project, &format!("{memory_id}\n{content}")),
                vector,
                parts: vec![Part { session_id: session_id.clone(), bytes: content.len(), at: now }],
                derived_from: vec![],
                digest_key: random_key(),
                memory: Memory {
                    // Taken always, so that the store draws one.
                    id: StoreId(0),
                    memory_id,
                    project,
                    session_id,
                    kind,
                    importance: importance
                        .unwrap_or_else(|| Importance::derived(origin.as_str(), concepts.len())),
                    content,
                    origin,
                    created_at: now,
                    version: 1,
                    concepts,
                },
            };
            import.memories.push((stored, terms));
        }
        match self.commit(caller.audit(now), Action::Import(Box::new(import))).await? {
            Outcome::Imported { .. } => Ok(ids),
            _ => Err(ServiceError::Unexpected { verb: "import" }),
        }
    }
}

/// Draws a key: two UUIDs hold 244 random bits.
fn random_key() -> [u8; 32] {
    let mut key = [0; 32];
    let halves = [Uuid::new_v4(), Uuid::new_v4()];
    key.iter_mut().zip(halves.iter().flat_map(Uuid::as_bytes)).for_each(|(byte, random)| *byte = *random);
    key
}
