//! The projection of one project: postings and int8 vectors in memory, kept current from the change feed.
//!
//! A document has a slot. Slots only grow: a changed document gets a new one and leaves its old one dead. Ties never
//! depend on slots but on store ids, so that a projection that was tailed answers as one that was built anew.

mod build;
mod kernel;
mod lexical;
mod near_duplicate;
mod postings;
mod scan;
mod vector;

use am_embed::analysis::{TermEntry, TermHash, TermsView};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) use build::Freshness;
pub(crate) use lexical::Found;
use postings::{Posting, Postings};
pub(crate) use scan::{scan_lexical, scan_near_duplicates, scan_vector};
pub(crate) use vector::quantise;

/// Most dead slots before a rebuild, as a share of the live ones (and at least [`DEAD_FLOOR`]).
const DEAD_SHARE: usize = 5;
const DEAD_FLOOR: usize = 256;
/// Slots that a posting can name.
pub(crate) const SLOTS_MAX: usize = 1 << (32 - postings::FREQUENCY_BITS);

/// One project in memory.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) project: i64,
    /// The store's epoch it was built in.
    pub(crate) epoch: i64,
    /// The last change that is in.
    pub(crate) change: i64,
    dimension: usize,
    ids: Vec<i64>,
    lengths: Vec<u32>,
    created: Vec<i64>,
    /// Similarity terms of each slot.
    similar: Vec<u32>,
    dead: Vec<bool>,
    dead_slots: Vec<u32>,
    /// Slots of documents that were added after the build, by store id.
    added: FxHashMap<i64, u32>,
    /// Slots below this are in store-id order.
    built: usize,
    total_length: u64,
    postings: Postings,
    vectors: vector::Vectors,
}

impl Projection {
    fn new(project: i64, epoch: i64, dimension: usize, capacity: usize, postings: Postings) -> Self {
        Self {
            project,
            epoch,
            change: 0,
            dimension,
            ids: Vec::with_capacity(capacity),
            lengths: Vec::with_capacity(capacity),
            created: Vec::with_capacity(capacity),
            similar: Vec::with_capacity(capacity),
            dead: Vec::with_capacity(capacity),
            dead_slots: Vec::new(),
            added: FxHashMap::default(),
            built: 0,
            total_length: 0,
            postings,
            vectors: vector::Vectors::new(dimension, capacity),
        }
    }

    /// Returns the number of live documents.
    pub(crate) fn documents(&self) -> u64 {
        (self.ids.len() - self.dead_slots.len()) as u64
    }

    /// Returns whether it holds what the store held at `change` of `epoch`, no more and no less.
    pub(crate) fn is_at(&self, epoch: i64, change: i64) -> bool {
        self.epoch == epoch && self.change == change
    }

    /// Returns the sum of live document lengths.
    pub(crate) fn total_length(&self) -> u64 {
        self.total_length
    }

    /// Estimates the bytes this projection takes.
    pub(crate) fn bytes(&self) -> usize {
        self.postings.bytes() + self.ids.capacity() * (8 + 4 + 8 + 4 + 1) + self.vectors.bytes()
    }

    /// Returns whether so much is dead that a rebuild pays.
    fn is_worn(&self) -> bool {
        self.dead_slots.len() > DEAD_FLOOR.max(self.ids.len() / DEAD_SHARE)
    }

    fn slot_of(&self, id: i64) -> Option<u32> {
        let slot = self.added.get(&id).copied().or_else(|| {
            self.ids.get(..self.built).and_then(|ids| ids.binary_search(&id).ok()).map(|slot| slot as u32)
        })?;
        (!self.is_dead(slot)).then_some(slot)
    }

    fn is_dead(&self, slot: u32) -> bool {
        self.dead.get(slot as usize).copied().unwrap_or(true)
    }

    /// Appends a document; `enter` takes each term's entry. Postings stay ascending because slots only grow.
    fn add(
        &mut self,
        id: i64,
        created: i64,
        terms: &TermsView<'_>,
        vector: Option<&[u8]>,
        enter: fn(&mut Postings, TermHash, u32),
    ) {
        let slot = self.ids.len() as u32;
        let mut similar = 0;
        for TermEntry { term, frequency, similar: is_similar } in terms.iter() {
            enter(&mut self.postings, term, postings::entry(slot, frequency));
            similar += u32::from(is_similar);
        }
        self.ids.push(id);
        self.created.push(created);
        self.lengths.push(terms.length());
        self.similar.push(similar);
        self.dead.push(false);
        self.total_length += u64::from(terms.length());
        self.vectors.push(vector);
    }

    fn remove(&mut self, id: i64) {
        let Some(slot) = self.slot_of(id) else { return };
        if let Some(dead) = self.dead.get_mut(slot as usize) {
            *dead = true;
        }
        let length = self.lengths.get(slot as usize).copied().unwrap_or(0);
        self.total_length = self.total_length.saturating_sub(u64::from(length));
        self.dead_slots.push(slot);
        self.added.remove(&id);
    }

    fn set_created(&mut self, id: i64, at: i64) {
        if let Some(slot) = self.slot_of(id)
            && let Some(created) = self.created.get_mut(slot as usize)
        {
            *created = at;
        }
    }

    /// Returns how many live documents hold `term` as a search term.
    fn containing(&self, posting: &Posting<'_>) -> u64 {
        let dead = self
            .dead_slots
            .iter()
            .filter(|slot| posting.frequency_in(**slot).is_some_and(|frequency| frequency > 0))
            .count();
        u64::from(posting.searchable).saturating_sub(dead as u64)
    }

    /// Returns a digest-ready listing of the live documents: id, length and terms, in id order, for verification.
    pub(crate) fn fingerprint(&self) -> Vec<(i64, u32, i64)> {
        let mut live: Vec<_> = (0..self.ids.len() as u32)
            .filter(|slot| !self.is_dead(*slot))
            .filter_map(|slot| {
                let slot = slot as usize;
                Some((*self.ids.get(slot)?, *self.lengths.get(slot)?, *self.created.get(slot)?))
            })
            .collect();
        live.sort_unstable();
        live
    }

    /// Lists every term's live documents as (term, id, frequency), sorted, for verification.
    pub(crate) fn term_listing(&self) -> Vec<(TermHash, i64, u8)> {
        let mut listing: Vec<_> = self
            .postings
            .all()
            .filter(|(_, entry)| !self.is_dead(postings::slot(*entry)))
            .filter_map(|(term, entry)| {
                let id = self.ids.get(postings::slot(entry) as usize)?;
                Some((term, *id, postings::frequency(entry)))
            })
            .collect();
        listing.sort_unstable();
        listing
    }
}

/// The ids of expired candidates, of all arms.
pub(crate) type Hidden = FxHashSet<i64>;

/// Keeps the best `limit` live hits, ties by store id; the expired ones that are passed on the way go to `hidden`.
fn best(mut found: Vec<(bool, Found)>, limit: usize, hidden: &mut Hidden) -> Vec<Found> {
    found.sort_by(|(_, left), (_, right)| right.score.total_cmp(&left.score).then(left.id.cmp(&right.id)));
    let mut kept = Vec::new();
    for (expired, hit) in found {
        if kept.len() == limit {
            break;
        }
        if expired {
            hidden.insert(hit.id);
        } else {
            kept.push(hit);
        }
    }
    kept
}
