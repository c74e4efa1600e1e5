//! What a store says of itself.

use am_embed::analysis::Profile;
use am_model::{Instant, MemoryKind};

/// The record a store carries from its creation on; every process uses what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreIdentity {
    /// Random id of the store, drawn anew by a restore.
    pub uuid: String,
    /// Schema version.
    pub schema_version: i64,
    /// Behaviour profile.
    pub profile: Profile,
    /// Identity of the analysis that built the lexical projection.
    pub analysis: String,
    /// Canonical identity of the embedder that made the vectors.
    pub embedder: String,
    /// When the store was made.
    pub created_at: Instant,
}

/// Returns whether memories of `kind` take places in a ranking under `profile`.
///
/// Fixed hook lines are listed and not ranked, except where the contract ranks them.
pub fn is_ranked(kind: MemoryKind, profile: Profile) -> bool {
    profile == Profile::Contract || kind != MemoryKind::Event
}
