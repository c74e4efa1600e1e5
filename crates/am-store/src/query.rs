//! Reads, as plain data.

use am_embed::analysis::TermHash;
use am_model::{Concept, Instant, Memory, Project};

use crate::StoreError;

/// The memory rows a read may see. There is no default of "all projects".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LiveMemory {
    /// Scope.
    pub project: Project,
    /// Rows created before this are hidden, and counted in [`SearchReply::hidden`].
    pub expired_before: Option<Instant>,
}

/// Which projects a maintenance command walks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// One project.
    Project(Project),
    /// Every project, said on purpose.
    AllProjects,
}

/// A query vector and who made it.
#[derive(Clone, Debug, PartialEq)]
pub struct VectorQuery {
    /// Canonical identity of the embedder.
    pub embedder: String,
    /// Unit vector of the embedder's dimension.
    pub vector: Vec<f32>,
}

/// One search over up to three arms, in one snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchQuery {
    /// The rows that may be seen: the filter comes before each arm's ranking and cut.
    pub live: LiveMemory,
    /// Most hits of each arm.
    pub per_arm: usize,
    /// Distinct query terms in first-seen order; `None` leaves the lexical arm out.
    pub terms: Option<Vec<TermHash>>,
    /// `None` leaves the vector arm out.
    pub vector: Option<VectorQuery>,
    /// Empty leaves the concept arm out.
    pub concepts: Vec<Concept>,
}

/// One hit of an arm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmHit {
    /// Index into [`SearchReply::rows`].
    pub row: usize,
    /// BM25 score in the lexical arm, cosine in the vector arm, 0 in the concept arm.
    ///
    /// The cosine is the dot product in f32, products added in the order of the components.
    pub score: f64,
    /// `(1 - cosine) / 2` in the vector arm, computed in f32, 0 to 1.
    pub distance: Option<f64>,
}

/// The hits of one arm, best first, or why it failed.
pub type Arm = Result<Vec<ArmHit>, StoreError>;

impl SearchReply {
    /// Makes the reply to `query` in which every arm that was asked failed.
    pub fn failed(query: &SearchQuery, error: &StoreError) -> Self {
        let arm = |asked: bool| if asked { Err(error.clone()) } else { Ok(Vec::new()) };
        Self {
            rows: Vec::new(),
            lexical: arm(query.terms.is_some()),
            vector: arm(query.vector.is_some()),
            concept: arm(!query.concepts.is_empty()),
            hidden: 0,
        }
    }
}

/// What the arms found. An arm that was left out is `Ok` and empty.
#[derive(Clone, Debug)]
pub struct SearchReply {
    /// The rows the arms point to, each once, without concepts.
    pub rows: Vec<Memory>,
    /// BM25 with the project's statistics: score above 0, ties by store id ascending.
    ///
    /// The statistics are those of the project's rows with terms, expired ones and empty ones included.
    pub lexical: Arm,
    /// Exact cosine: every row with a vector is a candidate, ties by store id ascending. A query vector of another
    /// length than the embedder's is this arm's `Invalid`.
    pub vector: Arm,
    /// The named concepts in creation order, their memories in store-id order, first occurrence kept; without the
    /// kinds that [`crate::is_ranked`] leaves out.
    pub concept: Arm,
    /// Expired rows that some arm passed on its way down its ranking, before it had `per_arm` live ones.
    pub hidden: u64,
}
