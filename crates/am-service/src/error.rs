//! What can go wrong in a verb.

use am_embed::embedder::EmbedError;
use am_fusion::signal;
use am_model::InvalidValue;
use am_store::StoreError;
use thiserror::Error;

/// A verb's failure; nothing was changed unless a page-wise verb says how far it came. Its text carries no address,
/// path, secret or content.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ServiceError {
    /// A value outside its rules.
    #[error(transparent)]
    Invalid(#[from] InvalidValue),
    /// An idempotency key that is empty, too long, or not printable.
    #[error("the idempotency key must be 1 to 200 printable characters")]
    EventKey,
    /// A record to import that contradicts itself.
    #[error("record {position}: {detail}")]
    Record {
        /// Position in the batch, from 1.
        position: usize,
        /// What is wrong with it.
        detail: &'static str,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedder failed. Its own text, the source, may name addresses and paths.
    #[error("{}", embedder_text(.0))]
    Embed(#[from] EmbedError),
    /// Other writers kept changing the same rows.
    #[error("gave up after {attempts} attempts: other writers kept changing the same memories")]
    Contended {
        /// Commits that lost.
        attempts: u32,
    },
    /// The store answered with an outcome that doesn't belong to the change.
    #[error("the store answered {verb} with an outcome of another change")]
    Unexpected {
        /// The verb that was asked for.
        verb: &'static str,
    },
    /// The runtime stopped before the work was done.
    #[error("stopped before the work was done")]
    Stopped,
}

impl ServiceError {
    /// Returns the short stable name that notes show before the text.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Invalid(_) | Self::EventKey | Self::Record { .. } => "Invalid",
            Self::Store(error) => error.name(),
            Self::Embed(_) => "Embedder",
            Self::Contended { .. } => "Contended",
            Self::Unexpected { .. } => "Unexpected",
            Self::Stopped => "Stopped",
        }
    }

    /// Returns the failure on one bounded line, for logs: `NAME: MESSAGE`.
    pub fn note(&self) -> String {
        signal::failure_note(self.name(), &self.to_string(), signal::MESSAGE_MAX)
    }
}

fn embedder_text(error: &EmbedError) -> &'static str {
    match error {
        EmbedError::Unavailable(_) => "the embedder is unavailable",
        EmbedError::InvalidAnswer(_) => "the embedder gave an unusable answer",
    }
}
