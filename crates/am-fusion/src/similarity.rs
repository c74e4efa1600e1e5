//! Near-duplicates: how alike two texts are, which memory takes up a new text, and what it then says.

use std::collections::BTreeSet;

use am_model::{Concept, normalise, number, text};

/// Returns the share of tokens that two sets have in common, 0 to 1; 0 if both are empty.
pub fn jaccard(left: &BTreeSet<String>, right: &BTreeSet<String>) -> f64 {
    jaccard_of_sizes(left.intersection(right).count(), left.len(), right.len())
}

/// Returns the same from the sizes of two sets and of what they share.
pub fn jaccard_of_sizes(shared: usize, left: usize, right: usize) -> f64 {
    let all = left.saturating_add(right).saturating_sub(shared);
    if all == 0 { 0.0 } else { shared as f64 / all as f64 }
}

/// The similarity from which a new text is merged into a memory: strictly between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct MergeThreshold(f64);

impl MergeThreshold {
    /// The threshold of an unset setting.
    pub const DEFAULT: Self = Self(0.9);

    /// Reads the setting as ECMAScript reads numbers: 0.9 if unset, off if unusable.
    pub fn parse(raw: Option<&str>) -> Option<Self> {
        match raw {
            None => Some(Self::DEFAULT),
            Some(raw) => number::parse(raw).filter(|value| *value > 0.0 && *value < 1.0).map(Self),
        }
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }

    /// Returns whether texts of this similarity are merged.
    pub fn admits(self, jaccard: f64) -> bool {
        jaccard >= self.0
    }
}

/// A memory that may take up a new text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurvivorCandidate<'a> {
    /// Public id; one with an empty id is never chosen.
    pub memory_id: &'a str,
    /// Similarity of its tokens to those of the new text.
    pub jaccard: f64,
    /// Stored importance.
    pub importance: f64,
}

/// Returns the index of the candidate that takes up the new text, if one is alike enough.
///
/// Highest similarity, then highest importance, then smallest public id by code unit.
pub fn choose_survivor(threshold: MergeThreshold, candidates: &[SurvivorCandidate<'_>]) -> Option<usize> {
    candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| !candidate.memory_id.is_empty() && threshold.admits(candidate.jaccard))
        .min_by(|(_, left), (_, right)| {
            right
                .jaccard
                .total_cmp(&left.jaccard)
                // Adding zero makes the two zeros equal.
                .then_with(|| (right.importance + 0.0).total_cmp(&(left.importance + 0.0)))
                .then_with(|| text::compare_code_units(left.memory_id, right.memory_id))
        })
        .map(|(index, _)| index)
}

/// Returns what `survivor` says once it has taken up `incoming`; `None` if it says it already.
///
/// It does if its normalised text contains the normalised incoming one. Else: `survivor` without trailing white
/// space, a line feed, `incoming` as it stands. Whether that fits the limit of content is the caller's.
pub fn merge_text(survivor: &str, incoming: &str) -> Option<String> {
    if normalise(survivor).contains(&normalise(incoming)) {
        return None;
    }
    Some(format!("{}\n{incoming}", text::trim_end(survivor)))
}

/// Returns the `expected` concepts that are not `linked`, each once, by code unit.
pub fn missing_concepts(linked: &[Concept], expected: &[Concept]) -> Vec<Concept> {
    let mut missing: Vec<Concept> =
        expected.iter().filter(|concept| !linked.contains(concept)).cloned().collect();
    missing.sort_by(|left, right| text::compare_code_units(left.as_str(), right.as_str()));
    missing.dedup();
    missing
}
