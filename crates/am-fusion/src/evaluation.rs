//! Retrieval metrics with binary relevance (contract §12).

/// Returns the share of `relevant` that stands among the first `k` of `ranked`, 0 to 1; 0 if nothing is relevant.
pub fn recall_at<T: PartialEq>(ranked: &[T], relevant: &[T], k: usize) -> f64 {
    let top = ranked.get(..k).unwrap_or(ranked);
    let found = relevant.iter().filter(|id| top.contains(id)).count();
    if relevant.is_empty() { 0.0 } else { found as f64 / relevant.len() as f64 }
}

/// Returns the place from 1 of the first relevant one, wherever it is; `None` if there is none.
pub fn first_rank<T: PartialEq>(ranked: &[T], relevant: &[T]) -> Option<usize> {
    ranked.iter().position(|id| relevant.contains(id)).map(|index| index + 1)
}

/// Returns `1 / first_rank`, 0 if nothing relevant was found.
pub fn reciprocal_rank<T: PartialEq>(ranked: &[T], relevant: &[T]) -> f64 {
    first_rank(ranked, relevant).map_or(0.0, |rank| 1.0 / rank as f64)
}

/// Returns the normalised discounted cumulative gain of the first 10: gain `1 / log2(rank + 1)`, the ideal having
/// the relevant ones on top.
///
/// 0 to 1, unless `ranked` repeats an id: every repeat gains.
pub fn ndcg_at_10<T: PartialEq>(ranked: &[T], relevant: &[T]) -> f64 {
    let gain = |rank: usize| 1.0 / (rank as f64 + 1.0).log2();
    let ideal = sum((1..=relevant.len().min(10)).map(gain));
    let gained =
        sum((1..=10).zip(ranked).filter(|(_, id)| relevant.contains(id)).map(|(rank, _)| gain(rank)));
    if relevant.is_empty() { 0.0 } else { gained / ideal }
}

/// Adds up from 0: `Iterator::sum` gives -0 for nothing.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |total, value| total + value)
}

/// The metrics of one query, or their means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Recall in the first 1.
    pub recall_1: f64,
    /// Recall in the first 5.
    pub recall_5: f64,
    /// Recall in the first 10.
    pub recall_10: f64,
    /// Reciprocal rank of the first relevant one.
    pub reciprocal_rank: f64,
    /// Normalised discounted cumulative gain of the first 10.
    pub ndcg_10: f64,
}

impl Metrics {
    /// Measures one query.
    pub fn of<T: PartialEq>(ranked: &[T], relevant: &[T]) -> Self {
        Self {
            recall_1: recall_at(ranked, relevant, 1),
            recall_5: recall_at(ranked, relevant, 5),
            recall_10: recall_at(ranked, relevant, 10),
            reciprocal_rank: reciprocal_rank(ranked, relevant),
            ndcg_10: ndcg_at_10(ranked, relevant),
        }
    }

    /// Returns the mean of each metric over queries, zeros for none.
    pub fn mean(queries: &[Self]) -> Self {
        let mean = |metric: fn(&Self) -> f64| {
            if queries.is_empty() { 0.0 } else { sum(queries.iter().map(metric)) / queries.len() as f64 }
        };
        Self {
            recall_1: mean(|query| query.recall_1),
            recall_5: mean(|query| query.recall_5),
            recall_10: mean(|query| query.recall_10),
            reciprocal_rank: mean(|query| query.reciprocal_rank),
            ndcg_10: mean(|query| query.ndcg_10),
        }
    }
}
