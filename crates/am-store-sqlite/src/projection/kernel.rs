//! The int8 dot products, the one loop whose speed decides a search's: a portable form, and AVX2 where it is there.
//!
//! Vectors lie in blocks of [`ROWS`] rows, and in a block by pairs of dimensions: pair, row, dimension of the pair. A
//! query whose pair is zero in both skips it, so that a sparse query reads little of the matrix; a dense one streams
//! through it once, with the sums of a whole block in registers.
//!
//! `unsafe` lives here alone. Both forms compute the same integers; a test compares them.

/// Rows of a block.
pub(super) const ROWS: usize = 64;
/// Bytes of one pair of dimensions in a block.
const PAIR_BYTES: usize = ROWS * 2;

/// A pair of dimensions in which a query is not zero.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueryPair {
    pub(super) pair: usize,
    pub(super) values: [i8; 2],
}

/// Returns the pairs of a query that are not zero.
pub(super) fn query_pairs(values: &[i8]) -> Vec<QueryPair> {
    values
        .chunks(2)
        .enumerate()
        .map(|(pair, chunk)| {
            let at = |index: usize| chunk.get(index).copied().unwrap_or(0);
            QueryPair { pair, values: [at(0), at(1)] }
        })
        .filter(|pair| pair.values != [0, 0])
        .collect()
}

/// Returns the bytes of a block for vectors of `dimension` values.
pub(super) fn block_bytes(dimension: usize) -> usize {
    dimension.div_ceil(2) * PAIR_BYTES
}

/// Writes a vector into `row` of a block.
pub(super) fn place(block: &mut [i8], row: usize, values: impl Iterator<Item = i8>) {
    for (dimension, value) in values.enumerate() {
        let at = dimension / 2 * PAIR_BYTES + row * 2 + dimension % 2;
        if let Some(place) = block.get_mut(at) {
            *place = value;
        }
    }
}

/// Computes the dot products of a query with every row of a block.
///
/// Exact in i32 up to 130,000 dimensions.
pub(super) fn dots(block: &[i8], query: &[QueryPair], sums: &mut [i32; ROWS]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        avx2::dots(block, query, sums);
        return;
    }
    portable(block, query, sums);
}

fn portable(block: &[i8], query: &[QueryPair], sums: &mut [i32; ROWS]) {
    *sums = [0; ROWS];
    for QueryPair { pair, values: [even, odd] } in query {
        let Some(column) = block.get(pair * PAIR_BYTES..(pair + 1) * PAIR_BYTES) else { continue };
        let (rows, _) = column.as_chunks::<2>();
        for (sum, [left, right]) in sums.iter_mut().zip(rows) {
            *sum += i32::from(*left) * i32::from(*even) + i32::from(*right) * i32::from(*odd);
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "vector instructions; every slice is bounds-checked before its pointer is used"
)]
mod avx2 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
        _mm256_set1_epi32, _mm256_setzero_si256, _mm256_storeu_si256,
    };

    use super::{PAIR_BYTES, QueryPair, ROWS};

    /// Rows whose sums one register holds.
    const LANES: usize = 8;

    /// Callers have checked that the processor has AVX2.
    pub(super) fn dots(block: &[i8], query: &[QueryPair], sums: &mut [i32; ROWS]) {
        // SAFETY: the only caller detects AVX2 first.
        unsafe { registers(block, query, sums) }
    }

    #[expect(clippy::cast_ptr_alignment, reason = "unaligned loads and stores")]
    #[target_feature(enable = "avx2")]
    unsafe fn registers(block: &[i8], query: &[QueryPair], sums: &mut [i32; ROWS]) {
        let mut totals = [_mm256_setzero_si256(); ROWS / LANES];
        for QueryPair { pair, values: [even, odd] } in query {
            let Some(column) = block.get(pair * PAIR_BYTES..(pair + 1) * PAIR_BYTES) else { continue };
            let both = i32::from(*odd) << 16 | (i32::from(*even) & 0xffff);
            let weights = _mm256_set1_epi32(both);
            for (total, rows) in totals.iter_mut().zip(column.chunks_exact(LANES * 2)) {
                // SAFETY: `rows` holds 16 bytes; the load is unaligned.
                let rows = unsafe { _mm_loadu_si128(rows.as_ptr().cast::<__m128i>()) };
                let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(rows), weights);
                *total = _mm256_add_epi32(*total, products);
            }
        }
        for (total, lanes) in totals.iter().zip(sums.chunks_exact_mut(LANES)) {
            // SAFETY: `lanes` holds 8 i32, 32 bytes; the store is unaligned.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast::<__m256i>(), *total) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ROWS, block_bytes, dots, place, portable, query_pairs};

    #[test]
    fn both_forms_give_the_dot_products() {
        for dimension in [1, 2, 3, 63, 384, 385] {
            let row = |row: usize| -> Vec<i8> {
                (0..dimension)
                    .map(|at| ((at * 37 + row * 11) % 255) as u8 as i8)
                    .map(|v| v.max(-127))
                    .collect()
            };
            let mut block = vec![0_i8; block_bytes(dimension)];
            for number in 0..ROWS {
                place(&mut block, number, row(number).into_iter());
            }
            let query: Vec<i8> =
                (0..dimension).map(|at| if at % 3 == 0 { 0 } else { ((at * 91) % 127) as i8 - 60 }).collect();
            let pairs = query_pairs(&query);
            let (mut fast, mut plain) = ([0; ROWS], [0; ROWS]);
            dots(&block, &pairs, &mut fast);
            portable(&block, &pairs, &mut plain);
            for number in 0..ROWS {
                let expected: i32 = row(number)
                    .iter()
                    .zip(&query)
                    .map(|(left, right)| i32::from(*left) * i32::from(*right))
                    .sum();
                assert_eq!((fast[number], plain[number]), (expected, expected), "{dimension}, row {number}");
            }
        }
    }
}
