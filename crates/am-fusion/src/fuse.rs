//! Reciprocal rank fusion of the arms of a hybrid search.

use std::collections::HashMap;

use am_model::{Instant, Memory, Source, StoreId, text};

use crate::lifecycle::{self, DecayLambda};

/// Added to every rank, so that the first places of one arm don't drown the other arms.
pub const RANK_CONSTANT: f64 = 60.0;

/// What fusion needs of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate<'a> {
    /// Public id. Rows with the same one are one row; rows with an empty one are told apart by `id`.
    pub memory_id: &'a str,
    /// Position in the store's sequence.
    pub id: StoreId,
    /// Stored importance, 0 to 1.
    pub importance: f64,
    /// When it was made.
    pub created_at: Option<Instant>,
    /// How often it was recalled before this search; 0 where recalls don't count.
    pub recalls: u64,
}

impl<'a> Candidate<'a> {
    /// Takes what fusion needs of `memory`.
    pub fn of(memory: &'a Memory, recalls: u64) -> Self {
        Self {
            memory_id: memory.memory_id.as_str(),
            id: memory.id,
            importance: memory.importance.get(),
            created_at: Some(memory.created_at),
            recalls,
        }
    }
}

/// A row as one arm found it. Its rank is its place in the arm's list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArmHit {
    /// Index of the row among the candidates.
    pub row: usize,
    /// The arm's own score, larger is better. Rank fusion doesn't look at it.
    pub score: f64,
    /// `(1 - cosine) / 2`, of the vector arm only.
    pub distance: Option<f64>,
}

/// A row as fusion placed it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fused {
    /// Index among the candidates of the row that the best-ranked hit named.
    pub row: usize,
    /// Sum of `1 / (60 + rank)` over the arms that found the row.
    pub score: f64,
    /// Distance of the kept hit, where that came from the vector arm.
    pub distance: Option<f64>,
    /// The arm with the best rank; at equal rank vector before text before graph.
    pub source: Source,
}

#[derive(PartialEq, Eq, Hash)]
enum Key<'a> {
    Memory(&'a str),
    Row(StoreId),
}

/// A row while the arms are added up.
struct Found<'a> {
    candidate: Candidate<'a>,
    best_rank: usize,
    fused: Fused,
}

/// Fuses the arms, each in rank order, into one list: best first (contract §5).
///
/// Order: score, tie-break weight, created time (newest first), public id by code unit. A hit whose `row` is not
/// an index of `candidates` is not ranked, though it keeps its place. Cut and TTL are the caller's.
pub fn reciprocal_rank_fusion(
    vector: &[ArmHit],
    text: &[ArmHit],
    graph: &[ArmHit],
    candidates: &[Candidate<'_>],
    now: Instant,
    decay: Option<DecayLambda>,
) -> Vec<Fused> {
    let mut found: Vec<Found<'_>> = Vec::new();
    let mut position: HashMap<Key<'_>, usize> = HashMap::new();
    for (source, hits) in [(Source::Vector, vector), (Source::Text, text), (Source::Graph, graph)] {
        for (rank, hit) in (1_usize..).zip(hits) {
            let Some(candidate) = candidates.get(hit.row) else { continue };
            let share = 1.0 / (RANK_CONSTANT + rank as f64);
            let distance = hit.distance.filter(|_| source == Source::Vector);
            let fused = Fused { row: hit.row, score: share, distance, source };
            let key = match candidate.memory_id {
                "" => Key::Row(candidate.id),
                memory_id => Key::Memory(memory_id),
            };
            let at = *position.entry(key).or_insert(found.len());
            match found.get_mut(at) {
                None => found.push(Found { candidate: *candidate, best_rank: rank, fused }),
                Some(known) => {
                    let score = known.fused.score + share;
                    if rank < known.best_rank {
                        *known = Found { candidate: *candidate, best_rank: rank, fused };
                    }
                    known.fused.score = score;
                }
            }
        }
    }
    in_order(found, now, decay)
}

fn in_order(found: Vec<Found<'_>>, now: Instant, decay: Option<DecayLambda>) -> Vec<Fused> {
    let mut weighed: Vec<(f64, Found<'_>)> = found
        .into_iter()
        .map(|row| {
            let Candidate { importance, created_at, recalls, .. } = row.candidate;
            (lifecycle::tie_break_weight(importance, created_at, now, decay, recalls), row)
        })
        .collect();
    // Stable: rows that only an empty public id leaves equal stay in the order the arms found them.
    weighed.sort_by(|(left_weight, left), (right_weight, right)| {
        right
            .fused
            .score
            .total_cmp(&left.fused.score)
            .then_with(|| right_weight.total_cmp(left_weight))
            .then_with(|| right.candidate.created_at.cmp(&left.candidate.created_at))
            .then_with(|| text::compare_code_units(left.candidate.memory_id, right.candidate.memory_id))
    });
    weighed.into_iter().map(|(_, row)| row.fused).collect()
}
