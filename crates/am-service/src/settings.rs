//! What a user may set, as a value.

use am_fusion::lifecycle::{DecayLambda, Ttl};
use am_fusion::similarity::MergeThreshold;

/// The settings of a [`Service`](crate::Service). The default is the contract's: merging at 0.9, the others off.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Age past which memories are hidden; `None` keeps them for good.
    pub ttl: Option<Ttl>,
    /// How fast importance fades in the tie-break; `None`: not at all.
    pub decay: Option<DecayLambda>,
    /// Similarity from which a save is merged into a memory; `None` turns merging off.
    pub merge_threshold: Option<MergeThreshold>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { ttl: None, decay: None, merge_threshold: Some(MergeThreshold::DEFAULT) }
    }
}
