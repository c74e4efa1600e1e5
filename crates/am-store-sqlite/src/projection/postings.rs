//! The postings of a project: which documents hold a term, in a few large arrays instead of one small one per term.
//!
//! Most terms are in one document or two, so that small arrays would cost more than what they hold, and leave the heap
//! in shreds when a projection goes. What comes after a build waits in a table until it is worth laying out anew.

use am_embed::analysis::TermHash;
use rustc_hash::FxHashMap;

/// Bits of an entry that hold the frequency.
pub(super) const FREQUENCY_BITS: u32 = 8;
/// Terms of a bucket, on average between this and its double.
const BUCKET: usize = 4;
/// Spreads hashes over buckets: 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
/// Entries that wait in the table at least.
const WAITING_MIN: usize = 16_384;
/// Entries that wait at most, as a share of those that are laid out.
const WAITING_SHARE: usize = 4;

/// Returns the entry of a document: `slot << 8 | frequency`. Frequency 0: a similarity term only.
pub(super) fn entry(slot: u32, frequency: u8) -> u32 {
    slot << FREQUENCY_BITS | u32::from(frequency)
}

/// Returns the slot of an entry.
pub(super) fn slot(entry: u32) -> u32 {
    entry >> FREQUENCY_BITS
}

/// Returns the frequency of an entry.
pub(super) fn frequency(entry: u32) -> u8 {
    entry as u8
}

/// The documents of one term, ascending by slot.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting<'a> {
    /// The entries: those laid out, then those that wait.
    parts: [&'a [u32]; 2],
    /// Entries with a frequency above 0.
    pub(super) searchable: u32,
}

impl<'a> Posting<'a> {
    /// Returns the entries in two runs, ascending.
    pub(super) fn parts(&self) -> [&'a [u32]; 2] {
        self.parts
    }

    /// Returns the number of entries.
    pub(super) fn len(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// Returns the frequency in `wanted`, if the posting names it.
    pub(super) fn frequency_in(&self, wanted: u32) -> Option<u8> {
        self.parts.iter().find_map(|part| {
            let at = part.partition_point(|entry| slot(*entry) < wanted);
            part.get(at).filter(|entry| slot(**entry) == wanted).map(|entry| frequency(*entry))
        })
    }
}

/// Entries that wait to be laid out.
#[derive(Debug, Default)]
struct Waiting {
    entries: Vec<u32>,
    searchable: u32,
}

/// A term that is laid out.
#[derive(Clone, Copy, Debug)]
struct Place {
    term: TermHash,
    /// Where its entries end; they begin where those of the place before end.
    end: u32,
    /// Entries with a frequency above 0.
    searchable: u32,
}

/// Every posting of a project.
#[derive(Debug)]
pub(super) struct Postings {
    /// The terms that are laid out, by bucket.
    places: Vec<Place>,
    /// Where the terms of each bucket end, after a leading 0.
    buckets: Vec<u32>,
    /// The bucket of a term is the rest of its spread hash beyond these bits.
    shift: u32,
    entries: Vec<u32>,
    waiting: FxHashMap<TermHash, Waiting>,
    /// Entries of all that waits.
    waiting_entries: usize,
}

fn spread(term: TermHash) -> u64 {
    term.0.wrapping_mul(SPREAD)
}

impl Postings {
    /// Makes room for the entries of the terms, as many of each as `counts` says. `None` beyond four thousand million.
    pub(super) fn with_room(counts: FxHashMap<TermHash, u32>) -> Option<Self> {
        let mut counts: Vec<(TermHash, u32)> = counts.into_iter().collect();
        counts.sort_unstable_by_key(|(term, _)| spread(*term));
        let bits = (counts.len() / BUCKET).max(2).ilog2();
        let shift = u64::BITS - bits;
        let mut buckets = vec![0_u32; (1 << bits) + 1];
        let mut places = Vec::with_capacity(counts.len());
        let mut total = 0_u32;
        for (term, count) in counts {
            // Filling moves each end from where the entries begin to where they end.
            places.push(Place { term, end: total, searchable: 0 });
            total = total.checked_add(count)?;
            if let Some(end) = buckets.get_mut((spread(term) >> shift) as usize + 1) {
                *end = places.len() as u32;
            }
        }
        let mut last = 0;
        for end in &mut buckets {
            last = last.max(*end);
            *end = last;
        }
        Some(Self {
            places,
            buckets,
            shift,
            entries: vec![0; total as usize],
            waiting: FxHashMap::default(),
            waiting_entries: 0,
        })
    }

    fn place(&self, term: TermHash) -> Option<usize> {
        let bucket = (spread(term) >> self.shift) as usize;
        let (begin, end) = (*self.buckets.get(bucket)? as usize, *self.buckets.get(bucket + 1)? as usize);
        let at = self.places.get(begin..end)?.iter().position(|place| place.term == term)?;
        Some(begin + at)
    }

    /// Writes an entry of a term into the room that was made for it; entries of a term come in ascending order.
    pub(super) fn fill(&mut self, term: TermHash, entry: u32) {
        let Some(at) = self.place(term) else {
            self.push(term, entry);
            return;
        };
        self.fill_at(at, entry);
    }

    fn fill_at(&mut self, at: usize, entry: u32) {
        let Some(place) = self.places.get_mut(at) else { return };
        if let Some(room) = self.entries.get_mut(place.end as usize) {
            *room = entry;
            place.end += 1;
            place.searchable += u32::from(frequency(entry) > 0);
        }
    }

    /// Appends an entry of a document whose slot is above all others, when every room is filled.
    pub(super) fn push(&mut self, term: TermHash, entry: u32) {
        let waiting = self.waiting.entry(term).or_default();
        waiting.entries.push(entry);
        waiting.searchable += u32::from(frequency(entry) > 0);
        self.waiting_entries += 1;
    }

    /// Lays out what waits, where that is so much that it pays.
    pub(super) fn settle(&mut self) {
        if self.waiting_entries < WAITING_MIN.max(self.entries.len() / WAITING_SHARE) {
            return;
        }
        let mut counts: FxHashMap<TermHash, u32> = FxHashMap::default();
        counts.reserve(self.places.len() + self.waiting.len());
        for (at, place) in self.places.iter().enumerate() {
            counts.insert(place.term, self.laid_out(at).len() as u32);
        }
        for (term, waiting) in &self.waiting {
            *counts.entry(*term).or_default() += waiting.entries.len() as u32;
        }
        let Some(mut settled) = Self::with_room(counts) else { return };
        for (at, place) in self.places.iter().enumerate() {
            if let Some(place) = settled.place(place.term) {
                self.laid_out(at).iter().for_each(|entry| settled.fill_at(place, *entry));
            }
        }
        for (term, waiting) in &self.waiting {
            if let Some(place) = settled.place(*term) {
                waiting.entries.iter().for_each(|entry| settled.fill_at(place, *entry));
            }
        }
        *self = settled;
    }

    fn laid_out(&self, at: usize) -> &[u32] {
        let end_of = |at: usize| self.places.get(at).map(|place| place.end);
        let begin = at.checked_sub(1).and_then(end_of).unwrap_or(0);
        let end = end_of(at).unwrap_or(begin);
        self.entries.get(begin as usize..end as usize).unwrap_or_default()
    }

    /// Returns the posting of a term.
    pub(super) fn get(&self, term: TermHash) -> Option<Posting<'_>> {
        let place = self.place(term);
        let waiting = self.waiting.get(&term);
        if place.is_none() && waiting.is_none() {
            return None;
        }
        let searchable = place.and_then(|at| self.places.get(at)).map_or(0, |place| place.searchable);
        Some(Posting {
            parts: [
                place.map_or(&[], |at| self.laid_out(at)),
                waiting.map_or(&[], |waiting| waiting.entries.as_slice()),
            ],
            searchable: searchable + waiting.map_or(0, |waiting| waiting.searchable),
        })
    }

    /// Lists every entry with its term, in no order.
    pub(super) fn all(&self) -> impl Iterator<Item = (TermHash, u32)> + '_ {
        let laid_out = self.places.iter().enumerate().map(|(at, place)| (place.term, self.laid_out(at)));
        let waiting = self.waiting.iter().map(|(term, waiting)| (*term, waiting.entries.as_slice()));
        laid_out.chain(waiting).flat_map(|(term, entries)| entries.iter().map(move |entry| (term, *entry)))
    }

    /// Estimates the bytes this takes.
    pub(super) fn bytes(&self) -> usize {
        // Small arrays double as they grow, and the heap keeps a head for each.
        let waiting = self.waiting.capacity() * (size_of::<(TermHash, Waiting)>() + 1)
            + self.waiting.len() * 24
            + self.waiting_entries * 6;
        self.places.capacity() * size_of::<Place>()
            + (self.buckets.capacity() + self.entries.capacity()) * 4
            + waiting
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use am_embed::analysis::TermHash;
    use proptest::prelude::*;
    use rustc_hash::FxHashMap;

    use super::{Postings, WAITING_MIN, entry, frequency, slot};

    type Model = BTreeMap<u64, Vec<u32>>;

    fn check(postings: &Postings, model: &Model) {
        for (term, entries) in model {
            let posting = postings.get(TermHash(*term)).expect("a term that was added");
            assert_eq!(posting.parts().concat(), *entries);
            assert_eq!(posting.len(), entries.len());
            let searchable = entries.iter().filter(|entry| frequency(**entry) > 0).count();
            assert_eq!(posting.searchable as usize, searchable);
            for entry in entries {
                assert_eq!(posting.frequency_in(slot(*entry)), Some(frequency(*entry)));
            }
            assert_eq!(posting.frequency_in(u32::MAX >> 8), None);
        }
        assert!(postings.get(TermHash(u64::MAX)).is_none());
        let mut all: Vec<_> = postings.all().collect();
        all.sort_unstable();
        let expected: Vec<_> = model
            .iter()
            .flat_map(|(term, entries)| entries.iter().map(|entry| (TermHash(*term), *entry)))
            .collect();
        assert_eq!(all, expected);
    }

    fn built(documents: &[Vec<(u64, u8)>]) -> (Postings, Model) {
        let mut counts = FxHashMap::default();
        for (term, _) in documents.iter().flatten() {
            *counts.entry(TermHash(*term)).or_insert(0) += 1;
        }
        let mut postings = Postings::with_room(counts).unwrap();
        let mut model = Model::new();
        for (number, document) in documents.iter().enumerate() {
            for (term, frequency) in document {
                postings.fill(TermHash(*term), entry(number as u32, *frequency));
                model.entry(*term).or_default().push(entry(number as u32, *frequency));
            }
        }
        (postings, model)
    }

    fn documents() -> impl Strategy<Value = Vec<Vec<(u64, u8)>>> {
        let terms = proptest::collection::btree_map(0_u64..200, any::<u8>(), 0..20);
        proptest::collection::vec(terms.prop_map(|terms| terms.into_iter().collect()), 0..40)
    }

    proptest! {
        #[test]
        fn what_was_put_in_is_found(first in documents(), then in documents()) {
            let (mut postings, mut model) = built(&first);
            check(&postings, &model);
            for (number, document) in then.iter().enumerate() {
                for (term, frequency) in document {
                    let entry = entry((first.len() + number) as u32, *frequency);
                    postings.push(TermHash(*term), entry);
                    model.entry(*term).or_default().push(entry);
                }
            }
            check(&postings, &model);
        }
    }

    #[test]
    fn what_waits_is_laid_out_when_it_is_much() {
        let (mut postings, mut model) = built(&[vec![(1, 1), (7, 0)], vec![(7, 3)]]);
        for number in 0..WAITING_MIN as u32 {
            let (term, entry) = (u64::from(number % 1000), entry(2 + number, (number % 3) as u8));
            postings.push(TermHash(term), entry);
            model.entry(term).or_default().push(entry);
        }
        check(&postings, &model);
        postings.settle();
        assert!(postings.waiting.is_empty());
        check(&postings, &model);
    }
}
