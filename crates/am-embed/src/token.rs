//! Frozen tokens of the contract and their 32-bit hashes. Stored vectors depend on every bit of this.

use std::borrow::Cow;

const OFFSET_BASIS: u32 = 0x811c_9dc5;
const SIGN_OFFSET_BASIS: u32 = OFFSET_BASIS ^ 0x9e37_79b9;
const PRIME: u32 = 0x0100_0193;

/// Positions of the hash embedding.
pub const BUCKETS: usize = 384;

/// Returns the frozen tokens of `text`: lower case (Unicode), maximal runs of `[a-z0-9]`, runs of one dropped.
///
/// In text order, repeats kept. Every other character only separates.
pub fn tokens(text: &str) -> Vec<String> {
    of_lowered(&lowered(text)).map(str::to_owned).collect()
}

/// Returns the 32-bit FNV-1a hash of `token`.
pub fn fnv1a32(token: &str) -> u32 {
    hashes(token).0
}

/// Returns the position of `token` in a hash embedding, 0 to 383.
pub fn bucket(token: &str) -> usize {
    bucket_of(hashes(token))
}

/// Returns the sign `token` adds with, 1 or -1.
pub fn sign(token: &str) -> i8 {
    sign_of(hashes(token))
}

/// Returns `text` in lower case, without a copy where it already is.
pub(crate) fn lowered(text: &str) -> Cow<'_, str> {
    if !text.is_ascii() {
        Cow::Owned(text.to_lowercase())
    } else if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        Cow::Owned(text.to_ascii_lowercase())
    } else {
        Cow::Borrowed(text)
    }
}

/// Returns the frozen tokens of a text that is in lower case.
pub(crate) fn of_lowered(lowered: &str) -> impl Iterator<Item = &str> {
    lowered.split(|c: char| !matches!(c, 'a'..='z' | '0'..='9')).filter(|token| token.len() > 1)
}

/// Returns both FNV-1a passes over `token`: the one for the position, the one for the sign.
pub(crate) fn hashes(token: &str) -> (u32, u32) {
    token.bytes().fold((OFFSET_BASIS, SIGN_OFFSET_BASIS), |(position, sign), byte| {
        let byte = u32::from(byte);
        ((position ^ byte).wrapping_mul(PRIME), (sign ^ byte).wrapping_mul(PRIME))
    })
}

pub(crate) fn bucket_of((position, _): (u32, u32)) -> usize {
    position as usize % BUCKETS
}

pub(crate) fn sign_of((_, sign): (u32, u32)) -> i8 {
    if sign & 2 == 0 { -1 } else { 1 }
}
