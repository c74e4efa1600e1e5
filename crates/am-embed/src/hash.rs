//! The hash embedder of the contract: no model, no semantics, the same vector everywhere and for ever.

use crate::embedder::{Cost, EmbedError, Embedder, EmbedderId};
use crate::token::{self, BUCKETS};

/// Embeds a text by hashing its frozen tokens into 384 signed positions.
#[derive(Clone, Debug)]
pub struct HashEmbedder {
    id: EmbedderId,
}

impl HashEmbedder {
    /// Makes the embedder `hash/contract-1/384`.
    pub fn new() -> Self {
        Self { id: EmbedderId::of("hash", "contract-1", "", BUCKETS as u32) }
    }
}

impl Default for HashEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for HashEmbedder {
    fn id(&self) -> &EmbedderId {
        &self.id
    }

    fn cost(&self) -> Cost {
        Cost::Inline
    }

    fn fusion_weight(&self) -> f32 {
        0.25
    }

    fn embed_documents(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Ok(texts.iter().map(|text| embed(text)).collect())
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        Ok(embed(text))
    }
}

/// Adds `sign / (1 + ln(count))` for each distinct token at its position, in first-seen order, and divides by the
/// L2 norm. More repeats weigh less: the contract says so.
fn embed(text: &str) -> Vec<f32> {
    let lowered = token::lowered(text);
    // Sorted rather than counted in a hash map, whose collisions a text could be made of.
    let mut sorted: Vec<((u32, u32), &str, usize)> = token::of_lowered(&lowered)
        .enumerate()
        .map(|(order, token)| (token::hashes(token), token, order))
        .collect();
    sorted.sort_unstable();
    let mut distinct: Vec<(usize, (u32, u32), usize)> = sorted
        .chunk_by(|left, right| (left.0, left.1) == (right.0, right.1))
        .filter_map(|equal| equal.first().map(|&(hashes, _, order)| (order, hashes, equal.len())))
        .collect();
    distinct.sort_unstable();

    let mut sum = [0.0_f64; BUCKETS];
    for (_, hashes, count) in distinct {
        let weight = if count == 1 { 1.0 } else { 1.0 / (1.0 + (count as f64).ln()) };
        if let Some(component) = sum.get_mut(token::bucket_of(hashes)) {
            *component += f64::from(token::sign_of(hashes)) * weight;
        }
    }
    let norm = sum.iter().map(|component| component * component).sum::<f64>().sqrt();
    // Zero stays zero; tokens of opposite signs may also cancel out.
    let divisor = if norm > 0.0 { norm } else { 1.0 };
    sum.iter().map(|component| (component / divisor) as f32).collect()
}
