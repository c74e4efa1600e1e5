//! The int8 dot products, the one loop whose speed decides a search's: a portable form, and AVX2 where it is there.
//!
//! Vectors lie in blocks of a number of rows, and in a block by pairs of dimensions: pair, row, dimension of the pair.
//! A query skips the pairs in which it is zero, so that a sparse one reads little of the matrix, in long runs; a dense
//! one streams through it once. The sums of a block stay in the first-level cache.
//!
//! `unsafe` lives here alone. Both forms compute the same integers; a test compares them.

/// Rows of a block are a multiple of this.
pub(super) const LANES: usize = 8;

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

/// Returns the bytes of a block of `rows` vectors of `dimension` values.
pub(super) fn block_bytes(rows: usize, dimension: usize) -> usize {
    dimension.div_ceil(2) * rows * 2
}

/// Writes a vector into `row` of a block of `rows`.
pub(super) fn place(block: &mut [i8], rows: usize, row: usize, values: impl Iterator<Item = i8>) {
    for (dimension, value) in values.enumerate() {
        let at = (dimension / 2 * rows + row) * 2 + dimension % 2;
        if let Some(place) = block.get_mut(at) {
            *place = value;
        }
    }
}

/// Computes the dot products of a query with every row of a block; `sums` has one place for each.
///
/// Exact in i32 up to 130,000 dimensions.
pub(super) fn dots(block: &[i8], query: &[QueryPair], sums: &mut [i32]) {
    sums.fill(0);
    let bytes = sums.len() * 2;
    for QueryPair { pair, values } in query {
        let Some(column) = block.get(pair * bytes..(pair + 1) * bytes) else { continue };
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            avx2::add(column, *values, sums);
            continue;
        }
        portable(column, *values, sums);
    }
}

fn portable(column: &[i8], [even, odd]: [i8; 2], sums: &mut [i32]) {
    let (rows, _) = column.as_chunks::<2>();
    for (sum, [left, right]) in sums.iter_mut().zip(rows) {
        *sum += i32::from(*left) * i32::from(even) + i32::from(*right) * i32::from(odd);
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions; every chunk has the length its pointer is used for")]
mod avx2 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256,
        _mm256_madd_epi16, _mm256_set1_epi32, _mm256_storeu_si256,
    };

    use super::LANES;

    /// Callers have checked that the processor has AVX2.
    pub(super) fn add(column: &[i8], values: [i8; 2], sums: &mut [i32]) {
        // SAFETY: the only caller detects AVX2 first.
        unsafe { registers(column, values, sums) }
    }

    #[expect(clippy::cast_ptr_alignment, reason = "unaligned loads and stores")]
    #[target_feature(enable = "avx2")]
    unsafe fn registers(column: &[i8], [even, odd]: [i8; 2], sums: &mut [i32]) {
        let weights = _mm256_set1_epi32(i32::from(odd) << 16 | (i32::from(even) & 0xffff));
        let (rows, totals) = (column.chunks_exact(LANES * 2), sums.chunks_exact_mut(LANES));
        for (rows, totals) in rows.zip(totals) {
            // SAFETY: `rows` holds 16 bytes, `totals` 8 i32; loads and stores are unaligned.
            unsafe {
                let rows = _mm_loadu_si128(rows.as_ptr().cast::<__m128i>());
                let products = _mm256_madd_epi16(_mm256_cvtepi8_epi16(rows), weights);
                let total = _mm256_loadu_si256(totals.as_ptr().cast::<__m256i>());
                let total = _mm256_add_epi32(total, products);
                _mm256_storeu_si256(totals.as_mut_ptr().cast::<__m256i>(), total);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{block_bytes, dots, place, portable, query_pairs};

    #[test]
    fn both_forms_give_the_dot_products() {
        for (rows, dimension) in [(8, 1), (16, 2), (64, 3), (64, 63), (1024, 384), (128, 385)] {
            let row = |row: usize| -> Vec<i8> {
                (0..dimension).map(|at| (((at * 37 + row * 11) % 255) as u8 as i8).max(-127)).collect()
            };
            let mut block = vec![0_i8; block_bytes(rows, dimension)];
            for number in 0..rows {
                place(&mut block, rows, number, row(number).into_iter());
            }
            let query: Vec<i8> =
                (0..dimension).map(|at| if at % 3 == 0 { 0 } else { ((at * 91) % 127) as i8 - 60 }).collect();
            let pairs = query_pairs(&query);
            let (mut fast, mut plain) = (vec![0; rows], vec![0; rows]);
            dots(&block, &pairs, &mut fast);
            for pair in &pairs {
                portable(&block[pair.pair * rows * 2..(pair.pair + 1) * rows * 2], pair.values, &mut plain);
            }
            for number in 0..rows {
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
