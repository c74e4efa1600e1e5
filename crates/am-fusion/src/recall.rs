//! How often a process has returned each memory from a search.

use std::collections::HashMap;

use am_model::MemoryId;

/// Most ids a ledger holds.
pub const LEDGER_MAX: usize = 10_000;

/// Counts the recalls of at most [`LEDGER_MAX`] memories; a further one clears all.
#[derive(Clone, Debug, Default)]
pub struct RecallLedger {
    counts: HashMap<MemoryId, u64>,
}

impl RecallLedger {
    /// Returns how often `memory` was recorded.
    pub fn count(&self, memory: &MemoryId) -> u64 {
        self.counts.get(memory).copied().unwrap_or(0)
    }

    /// Counts one recall of each memory. Call it once a search has sorted and filtered its rows.
    pub fn record<'a>(&mut self, memories: impl IntoIterator<Item = &'a MemoryId>) {
        for memory in memories {
            if let Some(count) = self.counts.get_mut(memory) {
                *count = count.saturating_add(1);
                continue;
            }
            if self.counts.len() >= LEDGER_MAX {
                self.counts.clear();
            }
            self.counts.insert(memory.clone(), 1);
        }
    }
}
