//! Whole records, for copies: exports, imports, moves between stores.

use am_model::{DedupKey, Instant, LogEntry, Memory, MemoryId, Observation, SessionId, StoreId};

/// What one save brought to a memory. The content is the pieces that have bytes joined by line feeds; a save that
/// brought concepts only has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Session whose save brought the piece.
    pub session_id: SessionId,
    /// Bytes of the content that the piece takes; 0 where concepts came without a text.
    pub bytes: usize,
    /// When it was saved.
    pub at: Instant,
}

impl Part {
    /// Returns the bytes of a content whose pieces are these, the line feeds between them included.
    pub fn joined_bytes(parts: &[Self]) -> usize {
        let pieces = parts.iter().filter(|part| part.bytes > 0);
        pieces.clone().map(|part| part.bytes).sum::<usize>() + pieces.count().saturating_sub(1)
    }

    /// Fits the last piece of text to the old content as a merged one keeps it: its end may have been cut.
    ///
    /// `None` where `merged` does not end with a line feed and `incoming_bytes` more bytes, or nothing is left of the
    /// last piece.
    pub fn fit_last(parts: &mut [Self], merged: &str, incoming_bytes: usize) -> Option<()> {
        let kept = merged.len().checked_sub(incoming_bytes)?.checked_sub(1)?;
        let ends_there = merged.get(kept..).is_some_and(|rest| rest.starts_with('\n'));
        let mut pieces = parts.iter_mut().filter(|part| part.bytes > 0).rev();
        let last = pieces.next()?;
        let bytes = kept.checked_sub(pieces.map(|part| part.bytes + 1).sum())?;
        if !ends_there || bytes == 0 || incoming_bytes == 0 {
            return None;
        }
        last.bytes = bytes;
        Some(())
    }
}

/// A memory with everything that belongs to it.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredMemory {
    /// The row; `concepts` in link order, repeats kept.
    pub memory: Memory,
    /// The index in `parts` that each of `memory.concepts` came with, in the same order.
    pub concept_parts: Vec<usize>,
    /// Key of its text.
    pub dedup_key: DedupKey,
    /// Unit vector of the store's embedder; `None` where the text has nothing to embed.
    pub vector: Option<Vec<f32>>,
    /// Pieces, in order: one for a memory that was never merged into.
    pub parts: Vec<Part>,
    /// Memories whose text this one quotes.
    pub derived_from: Vec<MemoryId>,
    /// Random key of this row's digests in the log; another one once a part of the row was forgotten.
    pub digest_key: [u8; 32],
}

/// An observation with its place in the store.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredObservation {
    /// Position in the store's sequence of observations.
    pub id: StoreId,
    /// The event.
    pub observation: Observation,
    /// The memory that rests on it.
    pub memory_id: Option<MemoryId>,
}

/// A log row with its place in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredLogEntry {
    /// Position in the store's sequence of log rows.
    pub id: StoreId,
    /// The row.
    pub entry: LogEntry,
}
