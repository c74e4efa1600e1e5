//! What a search gives back.

use std::fmt;

use crate::Memory;

/// The arm of a search that placed a hit best.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// Embedding similarity.
    Vector,
    /// BM25.
    Text,
    /// Shared concepts.
    Graph,
}

impl Source {
    /// Returns the name in replies and signals.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Vector => "vector",
            Self::Text => "text",
            Self::Graph => "graph",
        }
    }
}

/// One row of a search reply.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchHit {
    /// The memory, without its concepts.
    pub memory: Memory,
    /// BM25 score (keyword search) or fused score (hybrid search): larger is better.
    pub score: f64,
    /// `(1 - cosine) / 2` where the kept hit came from the vector arm, 0 to 1.
    pub distance: Option<f64>,
    /// The arm with the best rank.
    pub source: Source,
}

/// A visible sign that an answer is partial, such as `text: Busy: ...`. Carries no address, path or secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal(pub String);

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
