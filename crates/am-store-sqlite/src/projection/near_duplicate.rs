//! Exact near-duplicate candidates by prefix filter: no row at or above the threshold can be missed.

use am_embed::analysis::AnalysedText;

use super::Projection;
use super::postings::{Posting, slot};

/// Hits among the rarest terms that a candidate must have; more prune better and look at more terms.
const REQUIRED_HITS: usize = 3;

/// Returns the fewest similarity terms a row must share with one of `count` terms to reach `threshold`.
///
/// `|x ∩ y| >= t |x ∪ y| >= t |x|`, with slack for the rounding of the product.
pub(super) fn needed(count: usize, threshold: f64) -> usize {
    ((threshold * count as f64 - 1e-9).ceil() as usize).max(1)
}

/// Returns whether sets of `left` and `right` terms that share `common` reach `threshold`.
pub(super) fn reaches(left: usize, right: usize, common: usize, threshold: f64) -> bool {
    let union = left + right - common.min(left + right);
    union > 0 && common as f64 / union as f64 >= threshold
}

/// Returns whether a set of `right` terms can reach `threshold` with one of `left` at all.
pub(super) fn sizes_fit(left: usize, right: usize, threshold: f64) -> bool {
    let (smaller, larger) = (left.min(right), left.max(right));
    smaller as f64 >= threshold * larger as f64 - 1e-9
}

impl Projection {
    /// Returns the live documents whose similarity terms have a Jaccard of at least `threshold` with `text`'s.
    pub(crate) fn near_duplicates(
        &self,
        text: &AnalysedText,
        threshold: f64,
        expired_before: i64,
    ) -> Vec<i64> {
        let count = text.similarity_count();
        if count == 0 {
            return Vec::new();
        }
        let needed = needed(count, threshold);
        let mut postings: Vec<Option<Posting<'_>>> = text
            .entries
            .iter()
            .filter(|entry| entry.similar)
            .map(|entry| self.postings.get(entry.term))
            .collect();
        postings.sort_by_key(|posting| posting.map_or(0, |posting| posting.len()));
        // Of `count` terms a match misses at most `count - needed`, so among the `count - needed + hits` rarest it has
        // at least `hits`, and among the `count - needed + 1` rarest at least one.
        let hits = REQUIRED_HITS.min(needed);
        let spare = count.saturating_sub(needed);
        let prefix = postings.get(..(spare + hits).min(postings.len())).unwrap_or_default();
        let mut found = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for posting in postings.iter().take(spare + 1).flatten() {
            for entry in posting.parts().into_iter().flatten() {
                let slot = slot(*entry);
                let at = slot as usize;
                let (Some(similar), Some(created), Some(id)) =
                    (self.similar.get(at), self.created.get(at), self.ids.get(at))
                else {
                    continue;
                };
                let similar = *similar as usize;
                if !sizes_fit(count, similar, threshold)
                    || *created < expired_before
                    || self.is_dead(slot)
                    || !seen.insert(slot)
                    || holding(prefix, slot) < hits
                {
                    continue;
                }
                if reaches(count, similar, holding(&postings, slot), threshold) {
                    found.push(*id);
                }
            }
        }
        found.sort_unstable();
        found
    }
}

fn holding(postings: &[Option<Posting<'_>>], slot: u32) -> usize {
    postings.iter().flatten().filter(|posting| posting.frequency_in(slot).is_some()).count()
}
