//! The near-duplicate probe: prepared outside the write lock, decided inside.

use std::sync::PoisonError;

use am_embed::analysis::{AnalysedText, TermsView};
use am_fusion::similarity::jaccard_of_sizes;
use am_store::{Save, StoreError};
use rusqlite::{Connection, OptionalExtension};

use super::feed;
use crate::projection::{Freshness, scan_near_duplicates};
use crate::query::{Projected, build_aside, with_projection};
use crate::read::{self, ProjectRow};
use crate::row::storage_error;
use crate::schema::{self, narrow_key};
use crate::store::SqliteStore;

/// Changes that are caught up with under the write lock.
const TAIL_MAX: usize = 2_000;

/// What was found out before the lock was taken.
pub(super) enum Prepared {
    /// No probe is asked, or the project is new.
    Nothing,
    /// The project's projection was current.
    Projected(crate::cache::Shared),
    /// The project is too large for a projection: what a scan found, as of a change.
    Scanned { change: i64, ids: Vec<i64> },
}

/// Gets ready to probe for `save`.
///
/// The first time nothing is read: a projection that is there is caught up with under the lock, if it is not too far
/// behind. Otherwise, and `again`, a read transaction does the work.
pub(super) fn prepare(store: &SqliteStore, save: &Save, again: bool) -> Result<Prepared, StoreError> {
    let Some((threshold, terms)) = asked(save) else { return Ok(Prepared::Nothing) };
    if !again && let Some(shared) = store.shared.cache.known(&save.memory.project) {
        return Ok(Prepared::Projected(shared));
    }
    loop {
        let prepared = store.read(|transaction, known| {
            let Some(project) = read::project(transaction, &save.memory.project)? else {
                return Ok(Some(Prepared::Nothing));
            };
            if store.shared.cache.fits(project.memories) {
                match with_projection(store, transaction, known, &project, |_| ())? {
                    Projected::Used(()) => {
                        store.shared.cache.named(&save.memory.project, project.id);
                        return Ok(Some(Prepared::Projected(store.shared.cache.shared(project.id))));
                    }
                    Projected::Ahead => return Ok(None),
                    Projected::NotYet => {}
                }
            }
            let expired_before = save.expired_before.map_or(i64::MIN, am_model::Instant::millis);
            let ids = scan_near_duplicates(transaction, project.id, terms, threshold, expired_before)?;
            build_aside(store, &project);
            Ok(Some(Prepared::Scanned { change: project.last_change, ids }))
        })?;
        if let Some(prepared) = prepared {
            return Ok(prepared);
        }
    }
}

/// Returns the threshold and the terms of a save that asks for a probe.
pub(super) fn asked(save: &Save) -> Option<(f64, &AnalysedText)> {
    // A text that quotes others is kept apart from what was saved on purpose.
    if !save.memory.derived_from.is_empty() {
        return None;
    }
    save.near_duplicate.zip(save.memory.text.terms.as_ref())
}

/// Returns the store ids of live near-duplicates as of now, under the write lock; `None`: prepare again.
pub(super) fn candidates(
    connection: &Connection,
    project: &ProjectRow,
    save: &Save,
    prepared: &Prepared,
) -> Result<Option<Vec<i64>>, StoreError> {
    let Some((threshold, terms)) = asked(save) else { return Ok(Some(Vec::new())) };
    if project.memories == 0 {
        return Ok(Some(Vec::new()));
    }
    let expired_before = save.expired_before.map_or(i64::MIN, am_model::Instant::millis);
    match prepared {
        Prepared::Nothing => Ok(None),
        Prepared::Projected(shared) => {
            let mut place = shared.write().unwrap_or_else(PoisonError::into_inner);
            let Some(projection) = place.as_mut() else { return Ok(None) };
            if projection.epoch != schema::epoch(connection)? {
                return Ok(None);
            }
            if projection.tail(connection, project.last_change, TAIL_MAX)? == Freshness::Behind {
                return Ok(None);
            }
            Ok(Some(projection.near_duplicates(terms, threshold, expired_before)))
        }
        Prepared::Scanned { change, ids } => {
            if *change < feed::floor(connection)? {
                return Ok(None);
            }
            let changes = feed::after(connection, project.id, *change, TAIL_MAX + 1)?;
            if changes.len() > TAIL_MAX {
                return Ok(None);
            }
            let mut ids = ids.clone();
            ids.extend(changes.into_iter().map(|(_, memory, _)| memory));
            ids.sort_unstable();
            ids.dedup();
            let mut near = Vec::new();
            for id in ids {
                if is_near(connection, project.id, id, terms, threshold, expired_before)? {
                    near.push(id);
                }
            }
            Ok(Some(near))
        }
    }
}

fn is_near(
    connection: &Connection,
    project: i64,
    id: i64,
    terms: &AnalysedText,
    threshold: f64,
    expired_before: i64,
) -> Result<bool, StoreError> {
    let found = connection
        .prepare_cached("SELECT created_at, value FROM terms WHERE key = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([narrow_key(project, id)], |row| {
                    let created: i64 = row.get(0)?;
                    let view = TermsView::parse(row.get_ref(1)?.as_blob()?);
                    Ok(view.is_some_and(|view| {
                        let similar = view.iter().filter(|entry| entry.similar).count();
                        let common = view.similarity_overlap(terms);
                        created >= expired_before
                            && jaccard_of_sizes(common, similar, terms.similarity_count()) >= threshold
                    }))
                })
                .optional()
        })
        .map_err(storage_error)?;
    Ok(found.unwrap_or(false))
}
