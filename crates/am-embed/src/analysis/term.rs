//! Analysed text as data: hashed terms with their frequencies, and the form in which they are stored.

use std::hash::Hasher as _;

use fnv::FnvHasher;

use super::view::TermsView;

const HASH_BITS: u32 = 48;
const HASH_MASK: u64 = (1 << HASH_BITS) - 1;

/// The 48-bit hash of a term; the upper 16 bits are zero. Part of the format on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TermHash(pub u64);

impl TermHash {
    /// Hashes `term`: 64-bit FNV-1a of its UTF-8, the upper 16 bits folded onto the lowest by XOR.
    pub fn of(term: &str) -> Self {
        let mut hasher = FnvHasher::default();
        hasher.write(term.as_bytes());
        let hash = hasher.finish();
        Self((hash >> HASH_BITS) ^ (hash & HASH_MASK))
    }
}

/// One distinct term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TermEntry {
    /// The term.
    pub term: TermHash,
    /// How often search finds it in the text, at most 255. 0: it counts for similarity only.
    pub frequency: u8,
    /// Whether it belongs to the similarity set.
    pub similar: bool,
}

/// A text as it is indexed and compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnalysedText {
    /// Distinct terms, ascending.
    pub entries: Vec<TermEntry>,
    /// Number of search terms, repeats counted.
    pub length: u32,
}

impl AnalysedText {
    /// Returns the size of the similarity set.
    pub fn similarity_count(&self) -> usize {
        self.similar().count()
    }

    /// Returns how many similarity terms both texts have.
    pub fn overlap(&self, other: &Self) -> usize {
        let mut theirs = other.similar().peekable();
        self.similar()
            .filter(|term| {
                while theirs.next_if(|their| their < term).is_some() {}
                theirs.next_if_eq(term).is_some()
            })
            .count()
    }

    /// Returns the Jaccard index of the similarity sets, 0 to 1; 0 where both are empty.
    pub fn jaccard(&self, other: &Self) -> f64 {
        let common = self.overlap(other);
        let all = self.similarity_count() + other.similarity_count() - common;
        if all == 0 { 0.0 } else { common as f64 / all as f64 }
    }

    /// Returns the stored form, version 1.
    ///
    /// Little-endian: length (u32), number of entries n (u32), n hashes of 6 bytes ascending, n frequencies of
    /// 1 byte, then a bitmap of `similar`, entry 0 in the lowest bit, in `ceil(n/8)` bytes.
    pub fn to_bytes(&self) -> Vec<u8> {
        let count = self.entries.len();
        let mut bytes = Vec::with_capacity(8 + 7 * count + count.div_ceil(8));
        bytes.extend(self.length.to_le_bytes());
        bytes.extend((count as u32).to_le_bytes());
        for entry in &self.entries {
            bytes.extend(entry.term.0.to_le_bytes().first_chunk::<6>().into_iter().flatten());
        }
        bytes.extend(self.entries.iter().map(|entry| entry.frequency));
        bytes.extend(self.entries.chunks(8).map(|entries| {
            entries.iter().enumerate().fold(0, |byte, (bit, entry)| byte | (u8::from(entry.similar) << bit))
        }));
        bytes
    }

    /// Reads the stored form. `None`: the bytes are not exactly one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let view = TermsView::parse(bytes)?;
        Some(Self { entries: view.iter().collect(), length: view.length() })
    }

    fn similar(&self) -> impl Iterator<Item = TermHash> {
        self.entries.iter().filter(|entry| entry.similar).map(|entry| entry.term)
    }
}

const SEARCHED: u64 = 1;
const SIMILAR: u64 = 2;
const FLAG_BITS: u32 = u64::BITS - HASH_BITS;

/// Gathers the terms of one text.
#[derive(Default)]
pub(super) struct Collector {
    /// Hash in the upper 48 bits, flags in the lower 16: one sort of plain numbers groups equal terms.
    terms: Vec<u64>,
}

impl Collector {
    pub(super) fn add_searched(&mut self, term: &str) {
        self.add(term, SEARCHED);
    }

    pub(super) fn add_similar(&mut self, term: &str) {
        self.add(term, SIMILAR);
    }

    pub(super) fn add_searched_and_similar(&mut self, term: &str) {
        self.add(term, SEARCHED | SIMILAR);
    }

    fn add(&mut self, term: &str, flags: u64) {
        self.terms.push(TermHash::of(term).0 << FLAG_BITS | flags);
    }

    pub(super) fn finish(mut self) -> AnalysedText {
        self.terms.sort_unstable();
        let mut text = AnalysedText { entries: Vec::with_capacity(self.terms.len()), length: 0 };
        for equal in self.terms.chunk_by(|left, right| left >> FLAG_BITS == right >> FLAG_BITS) {
            let mut frequency = 0_u32;
            let mut flags = 0;
            let mut hash = 0;
            for term in equal {
                frequency += u32::from(term & SEARCHED != 0);
                flags |= term;
                hash = term >> FLAG_BITS;
            }
            text.length += frequency;
            text.entries.push(TermEntry {
                term: TermHash(hash),
                frequency: u8::try_from(frequency).unwrap_or(u8::MAX),
                similar: flags & SIMILAR != 0,
            });
        }
        text
    }
}
