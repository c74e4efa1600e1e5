//! Exact cosine by an int8 scan with an error bound and a second look at the f32 vectors it can't tell apart.

use am_store::StoreError;

use super::kernel::{LANES, block_bytes, dots, place, query_pairs};
use super::{Found, Hidden, Projection, best};

/// Head of a stored int8 vector: scale and error norm, two f32.
const HEAD: usize = 8;
/// Slack for single-precision rounding of a dot product of unit vectors.
const ROUNDING: f32 = 1e-5;
/// Most rows of a block of the matrix; small projects have smaller blocks.
const ROWS_MAX: usize = 1024;
const ROWS_MIN: usize = 8 * LANES;
/// Rows kept between two looks at the threshold.
const BLOCK: usize = 1024;

/// A vector in 8 bits: `value * scale` is within `error` (Euclidean norm) of the original.
#[derive(Clone, Debug)]
pub(crate) struct Quantised {
    pub(crate) values: Vec<i8>,
    pub(crate) scale: f32,
    pub(crate) error: f32,
}

/// Rounds a vector to 8 bits by its largest component.
pub(crate) fn quantise(vector: &[f32]) -> Quantised {
    let largest = vector.iter().fold(0.0_f32, |largest, value| largest.max(value.abs()));
    let scale = largest / 127.0;
    let values: Vec<i8> = vector
        .iter()
        .map(|value| if scale > 0.0 { (value / scale).round().clamp(-127.0, 127.0) as i8 } else { 0 })
        .collect();
    let error = vector
        .iter()
        .zip(&values)
        .map(|(value, rounded)| f64::from(value - f32::from(*rounded) * scale).powi(2))
        .sum::<f64>()
        .sqrt() as f32;
    Quantised { values, scale, error }
}

impl Quantised {
    /// Writes what the `vec8` table holds.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD + self.values.len());
        bytes.extend_from_slice(&self.scale.to_le_bytes());
        bytes.extend_from_slice(&self.error.to_le_bytes());
        bytes.extend(self.values.iter().map(|value| *value as u8));
        bytes
    }
}

/// Reads scale, error and values of a stored int8 vector.
pub(super) fn parts(bytes: &[u8]) -> Option<(f32, f32, &[u8])> {
    let (scale, rest) = bytes.split_first_chunk::<4>()?;
    let (error, values) = rest.split_first_chunk::<4>()?;
    Some((f32::from_le_bytes(*scale), f32::from_le_bytes(*error), values))
}

/// The int8 matrix, in the kernel's blocks. A row without a vector has scale NaN.
#[derive(Debug)]
pub(super) struct Vectors {
    dimension: usize,
    /// Rows of a block.
    rows: usize,
    blocks: Vec<i8>,
    scales: Vec<f32>,
    errors: Vec<f32>,
}

impl Vectors {
    pub(super) fn new(dimension: usize, capacity: usize) -> Self {
        // Blocks of equal size, so that the last one is not half empty.
        let rows =
            capacity.div_ceil(capacity.div_ceil(ROWS_MAX).max(1)).next_multiple_of(LANES).max(ROWS_MIN);
        Self {
            dimension,
            rows,
            blocks: Vec::with_capacity(capacity.div_ceil(rows) * block_bytes(rows, dimension)),
            scales: Vec::with_capacity(capacity),
            errors: Vec::with_capacity(capacity),
        }
    }

    pub(super) fn push(&mut self, bytes: Option<&[u8]>) {
        let row = self.scales.len() % self.rows;
        let size = block_bytes(self.rows, self.dimension);
        if row == 0 {
            self.blocks.resize(self.blocks.len() + size, 0);
        }
        let fits = bytes.and_then(parts).filter(|(_, _, values)| values.len() == self.dimension);
        if let Some((scale, error, values)) = fits {
            let begin = self.blocks.len() - size;
            if let Some(block) = self.blocks.get_mut(begin..) {
                place(block, self.rows, row, values.iter().map(|value| *value as i8));
            }
            self.scales.push(scale);
            self.errors.push(error);
        } else {
            self.scales.push(f32::NAN);
            self.errors.push(0.0);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.blocks.capacity() + (self.scales.capacity() + self.errors.capacity()) * 4
    }
}

/// A row whose cosine lies within `margin` of `cosine`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded {
    pub(super) id: i64,
    pub(super) cosine: f32,
    pub(super) margin: f32,
    pub(super) expired: bool,
}

/// The query side of the bound `|q·v - q8·v8| <= e + e_q (1 + e)` for unit vectors.
pub(super) fn margin(query: &Quantised, error: f32) -> f32 {
    error + query.error * (1.0 + error) + ROUNDING
}

impl Projection {
    /// Returns the best `limit` live documents by cosine, ties by store id; `original` reads an f32 vector.
    pub(crate) fn vector(
        &self,
        query: &[f32],
        limit: usize,
        expired_before: i64,
        hidden: &mut Hidden,
        original: impl FnMut(i64) -> Result<Option<Vec<f32>>, StoreError>,
    ) -> Result<Vec<Found>, StoreError> {
        let limit = limit.min(self.ids.len());
        if query.len() != self.dimension || self.dimension == 0 || limit == 0 {
            return Ok(Vec::new());
        }
        let quantised = quantise(query);
        let mut collector = Collector::new(limit);
        let pairs = query_pairs(&quantised.values);
        let rows = self.vectors.rows;
        let mut sums = vec![0_i32; rows];
        let blocks = self.vectors.blocks.chunks_exact(block_bytes(rows, self.dimension));
        for (number, block) in blocks.enumerate() {
            dots(block, &pairs, &mut sums);
            let first = number * rows;
            let scales = self.vectors.scales.iter().zip(&self.vectors.errors).skip(first);
            for (slot, (sum, (scale, error))) in sums.iter().zip(scales).enumerate() {
                let slot = first + slot;
                let cosine = *sum as f32 * scale * quantised.scale;
                let margin = margin(&quantised, *error);
                if scale.is_nan() || cosine + margin < collector.threshold || self.is_dead(slot as u32) {
                    continue;
                }
                let (Some(id), Some(created)) = (self.ids.get(slot), self.created.get(slot)) else {
                    continue;
                };
                collector.push(Bounded { id: *id, cosine, margin, expired: *created < expired_before });
            }
        }
        rescore(collector.finish(), query, limit, hidden, original)
    }
}

/// Keeps every row that may belong to the best `limit` live ones.
pub(super) struct Collector {
    limit: usize,
    rows: Vec<Bounded>,
    /// The `limit`-th best lower bound of a live row so far.
    pub(super) threshold: f32,
}

impl Collector {
    pub(super) fn new(limit: usize) -> Self {
        Self { limit, rows: Vec::new(), threshold: f32::NEG_INFINITY }
    }

    pub(super) fn push(&mut self, row: Bounded) {
        self.rows.push(row);
        if self.rows.len().is_multiple_of(BLOCK) {
            self.tighten();
        }
    }

    fn tighten(&mut self) {
        let mut lower: Vec<f32> =
            self.rows.iter().filter(|row| !row.expired).map(|row| row.cosine - row.margin).collect();
        if lower.len() >= self.limit {
            let (_, kth, _) =
                lower.select_nth_unstable_by(self.limit - 1, |left, right| right.total_cmp(left));
            self.threshold = self.threshold.max(*kth);
        }
        let threshold = self.threshold;
        self.rows.retain(|row| row.cosine + row.margin >= threshold);
    }

    pub(super) fn finish(mut self) -> Vec<Bounded> {
        self.tighten();
        self.rows
    }
}

/// Orders candidates by their exact cosine.
pub(super) fn rescore(
    mut candidates: Vec<Bounded>,
    query: &[f32],
    limit: usize,
    hidden: &mut Hidden,
    mut original: impl FnMut(i64) -> Result<Option<Vec<f32>>, StoreError>,
) -> Result<Vec<Found>, StoreError> {
    // Reading in id order walks the table once.
    candidates.sort_unstable_by_key(|row| row.id);
    let mut scored = Vec::with_capacity(candidates.len());
    for row in candidates {
        let Some(vector) = original(row.id)? else { continue };
        let cosine: f32 = query.iter().zip(&vector).map(|(left, right)| left * right).sum();
        scored.push((row.expired, Found { id: row.id, score: f64::from(cosine) }));
    }
    Ok(best(scored, limit, hidden))
}
