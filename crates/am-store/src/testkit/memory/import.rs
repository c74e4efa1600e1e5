//! Copying whole records in.

use std::sync::Arc;

use am_model::{MemoryId, Session, Verb};

use super::state::{LogRow, Row, State, invalid, next};
use crate::{Audit, Import, Outcome, Part, StoreError, StoredMemory, StoredObservation};

impl State {
    pub(super) fn import(&mut self, audit: &Audit, import: Import) -> Result<Outcome, StoreError> {
        let Import { mut sessions, mut memories, mut observations, mut log } = import;
        for (stored, _) in &memories {
            self.check_vector(stored.vector.as_ref())?;
            check_parts(stored)?;
        }
        sessions.sort_by_key(|session| session.id);
        memories.sort_by_key(|(stored, _)| stored.memory.id);
        observations.sort_by_key(|stored| stored.id);
        log.sort_by_key(|stored| stored.id);
        let given = sessions.len() + memories.len() + observations.len() + log.len();
        let mut copied = 0;

        for session in sessions {
            if self.session(&session.project, &session.session_id).is_none() {
                let id = next(&mut self.last.session, Some(session.id));
                self.sessions.insert(id.0, Arc::new(Session { id, ..session }));
                copied += 1;
            }
        }
        let mut inserted: Vec<Arc<Row>> = Vec::new();
        for (mut stored, terms) in memories {
            let memory = &stored.memory;
            if self.by_memory_id(&memory.memory_id).is_some() || self.by_key(&stored.dedup_key).is_some() {
                continue;
            }
            if self.session(&memory.project, &memory.session_id).is_none() {
                self.touch_session(&memory.project, &memory.session_id, memory.created_at);
            }
            self.make_concepts(&memory.project, &memory.concepts);
            let id = next(&mut self.last.memory, Some(memory.id));
            stored.memory.id = id;
            let row = Arc::new(Row { stored, terms });
            self.memories.insert(id.0, row.clone());
            inserted.push(row);
        }
        let mut observed = 0;
        for stored in observations {
            let event = &stored.observation;
            let known = self.observations.values().any(|known| {
                known.observation.project == event.project && known.observation.event_id == event.event_id
            });
            if !known {
                let id = next(&mut self.last.observation, Some(stored.id));
                self.observations.insert(id.0, Arc::new(StoredObservation { id, ..stored }));
                observed += 1;
            }
        }
        for stored in log {
            let entry = stored.entry;
            let known =
                self.log.values().any(|row| row.writer == entry.writer && row.sequence == entry.sequence);
            if !known {
                let id = next(&mut self.last.log, Some(stored.id));
                self.log.insert(id.0, Arc::new(entry));
                copied += 1;
            }
        }

        copied += inserted.len() + observed;
        if inserted.len() + observed > 0 {
            let targets: Vec<MemoryId> = inserted.iter().map(|row| row.memory_id().clone()).collect();
            let mut row = LogRow::of(Verb::Import, targets);
            if let [only] = inserted.as_slice() {
                row.after = Some(only.digest());
            }
            self.log(audit, row);
        }
        Ok(Outcome::Imported {
            memories: inserted.len() as u64,
            observations: observed as u64,
            skipped: (given - copied) as u64,
        })
    }
}

/// Fails where a record can't be what a store gave out.
fn check_parts(stored: &StoredMemory) -> Result<(), StoreError> {
    let parts = stored.parts.len();
    if parts == 0 {
        return Err(invalid("a memory without parts"));
    }
    if stored.memory.memory_id.as_str().contains('\n') {
        return Err(invalid("a memory id of several lines"));
    }
    if Part::joined_bytes(&stored.parts) != stored.memory.content.len() {
        return Err(invalid("a memory whose parts are not as long as its content"));
    }
    if stored.concept_parts.len() != stored.memory.concepts.len()
        || stored.concept_parts.iter().any(|part| *part >= parts)
    {
        return Err(invalid("a memory whose concepts belong to parts it has not"));
    }
    Ok(())
}
