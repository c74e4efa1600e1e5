//! The int8 dot product, the one loop whose speed decides a search's: a portable form, and AVX2 where it is there.
//!
//! `unsafe` lives here alone. Both forms compute the same integer; a test compares them.

/// Returns the dot product of two int8 vectors of one length; what the longer one has more is left out.
///
/// Exact in i32 up to 130,000 dimensions.
#[inline]
pub(super) fn dot(left: &[i8], right: &[i8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return avx2::dot(left, right);
    }
    portable(left, right)
}

fn portable(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(left, right)| i32::from(*left) * i32::from(*right)).sum()
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "vector instructions; bounds are checked by chunks_exact")]
mod avx2 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_madd_epi16,
        _mm256_setzero_si256, _mm256_storeu_si256,
    };

    /// Callers have checked that the processor has AVX2.
    pub(super) fn dot(left: &[i8], right: &[i8]) -> i32 {
        let length = left.len().min(right.len());
        let (Some(left), Some(right)) = (left.get(..length), right.get(..length)) else { return 0 };
        // SAFETY: the only caller detects AVX2 first.
        unsafe { vectors(left, right) }
    }

    #[target_feature(enable = "avx2")]
    unsafe fn vectors(left: &[i8], right: &[i8]) -> i32 {
        let mut even = _mm256_setzero_si256();
        let mut odd = _mm256_setzero_si256();
        let (left_chunks, right_chunks) = (left.chunks_exact(32), right.chunks_exact(32));
        let rest = super::portable(left_chunks.remainder(), right_chunks.remainder());
        for (left, right) in left_chunks.zip(right_chunks) {
            // SAFETY: both chunks hold 32 bytes, loads of 16 are unaligned, offsets are 0 and 16.
            unsafe {
                even = _mm256_add_epi32(even, products(left.as_ptr(), right.as_ptr()));
                odd = _mm256_add_epi32(odd, products(left.as_ptr().add(16), right.as_ptr().add(16)));
            }
        }
        let mut lanes = [0_i32; 8];
        // SAFETY: `lanes` holds 32 bytes.
        unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast::<__m256i>(), _mm256_add_epi32(even, odd)) };
        lanes.iter().sum::<i32>() + rest
    }

    /// Multiplies 16 pairs and adds neighbours.
    #[target_feature(enable = "avx2")]
    unsafe fn products(left: *const i8, right: *const i8) -> __m256i {
        // SAFETY: the caller gives pointers to 16 readable bytes.
        let (left, right) =
            unsafe { (_mm_loadu_si128(left.cast::<__m128i>()), _mm_loadu_si128(right.cast::<__m128i>())) };
        _mm256_madd_epi16(_mm256_cvtepi8_epi16(left), _mm256_cvtepi8_epi16(right))
    }
}

#[cfg(test)]
mod tests {
    use super::{dot, portable};

    #[test]
    fn the_fast_form_gives_the_same_integer() {
        for length in [0, 1, 31, 32, 33, 384, 1000] {
            let left: Vec<i8> = (0..length).map(|at| ((at * 37) % 255 - 127) as i8).collect();
            let right: Vec<i8> = (0..length).map(|at| ((at * 91) % 255 - 127) as i8).collect();
            assert_eq!(dot(&left, &right), portable(&left, &right), "{length} values");
        }
        assert_eq!(dot(&[-127; 384], &[-127; 384]), 127 * 127 * 384);
    }
}
