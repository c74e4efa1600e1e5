//! BM25 over the postings, with the project's statistics.

use am_embed::analysis::TermHash;
use am_fusion::bm25;

use super::postings::{Posting, frequency, slot};
use super::{Hidden, Projection, best};

/// A hit: store id and score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Found {
    pub(crate) id: i64,
    pub(crate) score: f64,
}

/// How far single precision may be off, as a share of the score; more than a hundred terms' rounding.
const SLACK: f32 = 2e-5;

impl Projection {
    /// Returns the best `limit` live documents by BM25, ties by store id; expired ones among them go to `hidden`.
    pub(crate) fn lexical(
        &self,
        terms: &[TermHash],
        limit: usize,
        expired_before: i64,
        hidden: &mut Hidden,
    ) -> Vec<Found> {
        let documents = self.documents();
        let limit = limit.min(self.ids.len());
        if documents == 0 || limit == 0 {
            return Vec::new();
        }
        let average = self.total_length as f64 / documents as f64;
        let weighted: Vec<(Posting<'_>, f64)> = terms
            .iter()
            .filter_map(|term| self.postings.get(*term))
            .map(|posting| (posting, bm25::idf(documents, self.containing(&posting))))
            .collect();
        let scores = self.approximate(&weighted, average);
        self.pick(&scores, limit, expired_before, hidden, |slot| self.exact(slot, &weighted, average))
    }

    /// Adds up single-precision scores by slot: within [`SLACK`] of the exact ones.
    fn approximate(&self, weighted: &[(Posting<'_>, f64)], average: f64) -> Vec<f32> {
        let mut scores = vec![0.0_f32; self.ids.len()];
        let average = average as f32;
        let (k1, b) = (bm25::K1 as f32, bm25::B as f32);
        let base = k1 * (1.0 - b);
        let slope = if average > 0.0 { k1 * b / average } else { 0.0 };
        for (posting, idf) in weighted {
            let weight = *idf as f32 * (k1 + 1.0);
            // Two plain loops: the compiler makes less of a chain.
            for part in posting.parts() {
                for entry in part {
                    let (at, frequency) = (slot(*entry) as usize, f32::from(frequency(*entry)));
                    if let (Some(score), Some(length)) = (scores.get_mut(at), self.lengths.get(at)) {
                        *score += weight * frequency / (frequency + base + slope * *length as f32);
                    }
                }
            }
        }
        scores
    }

    fn exact(&self, slot: u32, weighted: &[(Posting<'_>, f64)], average: f64) -> f64 {
        let length = f64::from(self.lengths.get(slot as usize).copied().unwrap_or(0));
        weighted
            .iter()
            .map(|(posting, idf)| match posting.frequency_in(slot) {
                Some(frequency) if frequency > 0 => {
                    bm25::term_score(*idf, f64::from(frequency), length, average)
                }
                _ => 0.0,
            })
            .sum()
    }

    /// Picks the best live slots of `scores` above 0, exact scores from `exact`.
    fn pick(
        &self,
        scores: &[f32],
        limit: usize,
        expired_before: i64,
        hidden: &mut Hidden,
        exact: impl Fn(u32) -> f64,
    ) -> Vec<Found> {
        let is_expired =
            |slot: u32| self.created.get(slot as usize).is_some_and(|created| *created < expired_before);
        let bound = self.bound(scores, limit, |slot| !is_expired(slot));
        let mut found = Vec::with_capacity(limit + 8);
        for (slot, score) in scores.iter().enumerate() {
            if *score <= 0.0 || *score < bound {
                continue;
            }
            let slot = slot as u32;
            if self.is_dead(slot) {
                continue;
            }
            let Some(id) = self.ids.get(slot as usize).copied() else { continue };
            found.push((is_expired(slot), Found { id, score: exact(slot) }));
        }
        best(found, limit, hidden)
    }

    /// Returns a score no exact member of the best `limit` wanted slots lies below; 0 where there are fewer.
    fn bound(&self, scores: &[f32], limit: usize, wanted: impl Fn(u32) -> bool) -> f32 {
        // A plain buffer cut back now and then beats a heap: few scores pass the growing threshold.
        let mut best: Vec<f32> = Vec::with_capacity(limit * 2 + 64);
        let mut threshold = 0.0_f32;
        for (slot, score) in scores.iter().enumerate() {
            if *score > threshold && !self.is_dead(slot as u32) && wanted(slot as u32) {
                best.push(*score);
                if best.len() >= limit * 2 + 64 {
                    best.select_nth_unstable_by(limit - 1, |left, right| right.total_cmp(left));
                    best.truncate(limit);
                    threshold = best.last().copied().unwrap_or(0.0);
                }
            }
        }
        if best.len() < limit {
            return 0.0;
        }
        let (_, kth, _) = best.select_nth_unstable_by(limit - 1, |left, right| right.total_cmp(left));
        *kth * (1.0 - SLACK)
    }
}
