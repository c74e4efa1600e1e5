//! Reads stored terms in place: building a projection scans every row of a project.

use super::term::{TermEntry, TermHash};

/// The stored form of an [`super::AnalysedText`], read without a copy.
#[derive(Clone, Copy, Debug)]
pub struct TermsView<'a> {
    length: u32,
    hashes: &'a [[u8; 6]],
    frequencies: &'a [u8],
    similar: &'a [u8],
}

impl<'a> TermsView<'a> {
    /// Reads `bytes`. `None`: they are not exactly what [`super::AnalysedText::to_bytes`] writes for sorted,
    /// distinct entries.
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let (length, rest) = bytes.split_first_chunk::<4>()?;
        let (count, rest) = rest.split_first_chunk::<4>()?;
        let count = usize::try_from(u32::from_le_bytes(*count)).ok()?;
        let (hashes, rest) = rest.split_at_checked(count.checked_mul(6)?)?;
        let (hashes, _) = hashes.as_chunks::<6>();
        let (frequencies, similar) = rest.split_at_checked(count)?;
        let unused_bits_are_zero = match (similar.last(), count % 8) {
            (Some(last), used @ 1..) => last >> used == 0,
            _ => true,
        };
        let is_whole = similar.len() == count.div_ceil(8) && unused_bits_are_zero;
        let is_ascending = hashes.windows(2).all(|pair| match pair {
            [left, right] => number(*left) < number(*right),
            _ => true,
        });
        (is_whole && is_ascending).then_some(Self {
            length: u32::from_le_bytes(*length),
            hashes,
            frequencies,
            similar,
        })
    }

    /// Returns the number of search terms, repeats counted.
    pub fn length(&self) -> u32 {
        self.length
    }

    /// Returns the number of entries.
    pub fn count(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the entries, ascending by term.
    pub fn iter(&self) -> impl Iterator<Item = TermEntry> + use<'a> {
        let bits = self.similar.iter().flat_map(|byte| (0..8).map(move |bit| byte >> bit & 1 != 0));
        self.hashes.iter().zip(self.frequencies).zip(bits).map(|((hash, frequency), similar)| TermEntry {
            term: TermHash(number(*hash)),
            frequency: *frequency,
            similar,
        })
    }

    /// Returns how often search finds `term`, at most 255; 0 where it does not.
    pub fn frequency(&self, term: TermHash) -> u8 {
        self.hashes
            .binary_search_by_key(&term.0, |hash| number(*hash))
            .ok()
            .and_then(|at| self.frequencies.get(at).copied())
            .unwrap_or(0)
    }

    /// Returns how many similarity terms the stored text and `other` share.
    pub fn similarity_overlap(&self, other: &super::AnalysedText) -> usize {
        let mut theirs =
            other.entries.iter().filter(|entry| entry.similar).map(|entry| entry.term).peekable();
        self.iter()
            .filter(|entry| entry.similar)
            .filter(|entry| {
                while theirs.next_if(|their| *their < entry.term).is_some() {}
                theirs.next_if_eq(&entry.term).is_some()
            })
            .count()
    }
}

fn number(hash: [u8; 6]) -> u64 {
    let mut bytes = [0; 8];
    if let Some(lower) = bytes.first_chunk_mut() {
        *lower = hash;
    }
    u64::from_le_bytes(bytes)
}
