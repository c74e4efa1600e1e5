//! What can go wrong in a store.

use thiserror::Error;

/// A store's failure. Its text carries no address, path or secret: surfaces show it in signals.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StoreError {
    /// The engine can't be reached or opened.
    #[error("the store can't be reached: {detail}")]
    Unavailable {
        /// What failed, without addresses.
        detail: String,
    },
    /// Another writer held the store for longer than the wait that was allowed.
    #[error("the store is busy: gave up after {waited_ms} ms")]
    Busy {
        /// Milliseconds waited.
        waited_ms: u64,
    },
    /// The disk is full; nothing was written.
    #[error("the disk is full: nothing was written")]
    Full,
    /// The disk did not take a write, for another reason than being full; nothing was written.
    #[error(
        "the disk takes no writes (a quota, a limit on files, or a fault of the disk): nothing was written"
    )]
    NoWrites,
    /// The store can only be read.
    #[error("the store is read-only: nothing was written")]
    ReadOnly,
    /// The store was written by a newer version of this program.
    #[error("the store has schema version {found}, this program knows up to {supported}")]
    NewerSchema {
        /// Version in the store.
        found: i64,
        /// Newest version known here.
        supported: i64,
    },
    /// The file is something else than a store of ours.
    #[error("the file is not an agent-memory store")]
    Foreign,
    /// What is stored can't be right.
    #[error("the store is damaged: {detail}")]
    Damaged {
        /// What was found.
        detail: String,
    },
    /// The query vector was made by another embedder than the stored ones.
    #[error("stored vectors are of {stored}, not of {given}")]
    EmbedderMismatch {
        /// Embedder of the stored vectors.
        stored: String,
        /// Embedder of the query.
        given: String,
    },
    /// The terms of a change are of another analysis than the store's: it was rebuilt meanwhile. Nothing was written.
    #[error("the store is of analysis {stored} by now, not of {given}")]
    Outdated {
        /// Analysis of the store.
        stored: String,
        /// Analysis of the change.
        given: String,
    },
    /// A change or query that makes no sense.
    #[error("not possible: {detail}")]
    Invalid {
        /// What is wrong with it.
        detail: String,
    },
}

impl StoreError {
    /// Returns the short stable name that signals show before the text.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "Unavailable",
            Self::Busy { .. } => "Busy",
            Self::Full => "Full",
            Self::NoWrites => "NoWrites",
            Self::ReadOnly => "ReadOnly",
            Self::NewerSchema { .. } => "NewerSchema",
            Self::Foreign => "Foreign",
            Self::Damaged { .. } => "Damaged",
            Self::EmbedderMismatch { .. } => "EmbedderMismatch",
            Self::Outdated { .. } => "Outdated",
            Self::Invalid { .. } => "Invalid",
        }
    }
}
