//! Searching: by keyword, and by meaning, keyword and concept at once.

use am_embed::analysis::TermHash;
use am_fusion::fuse::{ArmHit, Candidate, Fused, reciprocal_rank_fusion};
use am_fusion::{lifecycle, signal};
use am_model::{Concept, Instant, Memory, Project, SearchHit, Signal, Source};
use am_store::{SearchQuery, SearchReply, StoreError, VectorQuery};

use crate::Service;

/// Fewest rows an arm gives before the fused list is cut.
const FETCH_MIN: usize = 50;
/// How many times the rows asked for an arm gives.
const FETCH_FACTOR: usize = 4;

/// A keyword search. The query is data: no character of it is an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// What is looked for.
    pub query: String,
    /// Scope.
    pub project: Project,
    /// Most hits.
    pub limit: usize,
}

/// A hybrid search. The query is data: no character of it is an operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SmartSearch {
    /// What is looked for.
    pub query: String,
    /// Concepts whose memories are looked for beside it, by exact name.
    pub concepts: Vec<Concept>,
    /// Scope.
    pub project: Project,
    /// Most hits.
    pub limit: usize,
}

/// How hits were ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By BM25.
    Bm25,
    /// By cosine to the embedded query.
    Vector,
    /// By rank fusion of vector, text and concept arm.
    Hybrid,
}

impl Mode {
    /// Returns the name in replies.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Bm25 => "bm25",
            Self::Vector => "vector",
            Self::Hybrid => "hybrid",
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchResults {
    /// How the hits were ranked.
    pub mode: Mode,
    /// Hits, best first.
    pub hits: Vec<SearchHit>,
    /// What is missing from the answer.
    pub signals: Vec<Signal>,
}

impl Service {
    /// Searches by keyword. Failures become signals.
    pub async fn search(&self, search: Search) -> SearchResults {
        self.current_or_known().await.search_by_keyword(search).await
    }

    /// Searches by meaning, keyword and concept, and fuses the ranks. Failures become signals.
    pub async fn smart_search(&self, search: SmartSearch) -> SearchResults {
        self.current_or_known().await.search_by_all(search).await
    }

    /// Searches by meaning alone: the nearest vectors, however far they are. Failures become signals.
    pub async fn semantic_search(&self, search: Search) -> SearchResults {
        self.current_or_known().await.search_by_meaning(search).await
    }

    async fn search_by_meaning(&self, search: Search) -> SearchResults {
        let Search { query, project, limit } = search;
        let now = self.now();
        let mut signals = vec![];
        let vector = match self.embed_query(&query).await {
            Ok(vector) => vector,
            Err(error) => {
                signals.push(failure("vector", error.name(), &error.to_string()));
                None
            }
        };
        let embedder = self.embedder().id().to_string();
        let reply = self
            .store()
            .search(SearchQuery {
                live: self.live(&project, now),
                per_arm: self.per_arm(limit),
                terms: None,
                vector: vector.map(|vector| VectorQuery { embedder, vector }),
                concepts: vec![],
            })
            .await;
        let ranked = arm(reply.vector, "vector", &mut signals)
            .into_iter()
            .map(|hit| Fused {
                row: hit.row,
                score: hit.score,
                distance: hit.distance,
                source: Source::Vector,
            })
            .collect();
        let hits = self.finish(ranked, reply.rows, reply.hidden, limit, now, &mut signals);
        SearchResults { mode: Mode::Vector, hits, signals }
    }

    async fn search_by_keyword(&self, search: Search) -> SearchResults {
        let Search { query, project, limit } = search;
        let now = self.now();
        let reply = self
            .store()
            .search(SearchQuery {
                live: self.live(&project, now),
                per_arm: self.per_arm(limit),
                terms: self.query_terms(&query),
                vector: None,
                concepts: vec![],
            })
            .await;
        let mut signals = vec![];
        let ranked = arm(reply.lexical, "text", &mut signals)
            .into_iter()
            .map(|hit| Fused { row: hit.row, score: hit.score, distance: None, source: Source::Text })
            .collect();
        let hits = self.finish(ranked, reply.rows, reply.hidden, limit, now, &mut signals);
        SearchResults { mode: Mode::Bm25, hits, signals }
    }

    async fn search_by_all(&self, search: SmartSearch) -> SearchResults {
        let SmartSearch { query, concepts, project, limit } = search;
        let now = self.now();
        let (vector, embedding_failed) = match self.embed_query(&query).await {
            Ok(vector) => (vector, None),
            Err(error) => (None, Some(error)),
        };
        let embedder = self.embedder().id().to_string();
        let SearchReply { rows, lexical, vector, concept, hidden } = self
            .store()
            .search(SearchQuery {
                live: self.live(&project, now),
                per_arm: self.per_arm(limit),
                terms: self.query_terms(&query),
                vector: vector.map(|vector| VectorQuery { embedder, vector }),
                concepts,
            })
            .await;
        let mut signals = vec![];
        if let Some(error) = embedding_failed {
            signals.push(failure("vector", error.name(), &error.to_string()));
        }
        let vector = arm(vector, "vector", &mut signals);
        let lexical = arm(lexical, "text", &mut signals);
        let concept = arm(concept, "graph", &mut signals);
        let candidates: Vec<Candidate<'_>> = {
            let recalls = self.recalls();
            rows.iter().map(|row| Candidate::of(row, recalls.count(&row.memory_id))).collect()
        };
        let decay = self.settings().decay;
        let ranked = reciprocal_rank_fusion(&vector, &lexical, &concept, &candidates, now, decay);
        let hits = self.finish(ranked, rows, hidden, limit, now, &mut signals);
        SearchResults { mode: Mode::Hybrid, hits, signals }
    }

    /// Returns how many rows each arm is asked for. The contract fuses lists that are cut already.
    fn per_arm(&self, limit: usize) -> usize {
        if self.is_contract() { limit } else { limit.saturating_mul(FETCH_FACTOR).max(FETCH_MIN) }
    }

    fn query_terms(&self, query: &str) -> Option<Vec<TermHash>> {
        let terms = self.analysis().query(query);
        (!terms.is_empty()).then_some(terms)
    }

    /// Cuts a ranking to `limit` hits and tells how many rows TTL hid.
    ///
    /// Under the contract TTL takes rows out here, after the cut, and what is returned counts as recalled; else the
    /// store has left them out before ranking, and recalls don't count.
    fn finish(
        &self,
        ranked: Vec<Fused>,
        rows: Vec<Memory>,
        hidden: u64,
        limit: usize,
        now: Instant,
        signals: &mut Vec<Signal>,
    ) -> Vec<SearchHit> {
        let mut rows: Vec<Option<Memory>> = rows.into_iter().map(Some).collect();
        let mut hits: Vec<SearchHit> = ranked
            .into_iter()
            .filter_map(|Fused { row, score, distance, source }| {
                let memory = rows.get_mut(row)?.take()?;
                Some(SearchHit { memory, score, distance, source })
            })
            .take(limit)
            .collect();
        let hidden = if self.is_contract() {
            let created_at = |hit: &SearchHit| Some(hit.memory.created_at);
            let hidden = lifecycle::remove_expired(&mut hits, created_at, now, self.settings().ttl);
            self.recalls().record(hits.iter().map(|hit| &hit.memory.memory_id));
            hidden
        } else {
            usize::try_from(hidden).unwrap_or(usize::MAX)
        };
        signals.extend(signal::hidden(hidden));
        if !self.is_up_to_date() {
            // What was analysed otherwise is found by the words both have in common.
            let (stored, given) = (self.identity().analysis.clone(), self.analysis().id().to_owned());
            let error = StoreError::Outdated { stored, given };
            signals.push(store_failure("text", &error));
        }
        hits
    }
}

/// Takes the hits of an arm, or leaves a signal that it failed.
fn arm(arm: am_store::Arm, name: &str, signals: &mut Vec<Signal>) -> Vec<ArmHit> {
    match arm {
        Ok(hits) => hits
            .into_iter()
            .map(|hit| ArmHit { row: hit.row, score: hit.score, distance: hit.distance })
            .collect(),
        Err(error) => {
            signals.push(store_failure(name, &error));
            vec![]
        }
    }
}

pub(crate) fn store_failure(part: &str, error: &StoreError) -> Signal {
    failure(part, error.name(), &error.to_string())
}

fn failure(part: &str, name: &str, message: &str) -> Signal {
    signal::failed(part, &signal::failure_note(name, message, signal::MESSAGE_MAX))
}
