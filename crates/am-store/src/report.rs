//! What maintenance finds.

/// A finding of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What was checked, such as `log`, `projection`, `integrity`.
    pub area: &'static str,
    /// What was found, without content.
    pub detail: String,
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Log rows walked.
    pub log_entries: u64,
    /// Chains they form.
    pub chains: u64,
    /// Memories whose rows and projections were compared.
    pub memories: u64,
    /// Whether bytes of something forgotten may still be on disk.
    pub erasure_pending: bool,
    /// What is wrong. Empty: everything holds.
    pub faults: Vec<Fault>,
}

/// Sizes of a store.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Projects that hold something.
    pub projects: u64,
    /// Sessions.
    pub sessions: u64,
    /// Memories.
    pub memories: u64,
    /// Memories with a vector.
    pub vectors: u64,
    /// Concepts.
    pub concepts: u64,
    /// Observations.
    pub observations: u64,
    /// Bytes of captured text.
    pub observation_bytes: u64,
    /// Log rows.
    pub log_entries: u64,
    /// Bytes on disk, write-ahead log included.
    pub disk_bytes: u64,
    /// Bytes of the in-memory projections of this process.
    pub projection_bytes: u64,
}
