//! Building a projection, and keeping it current from the change feed.

use am_embed::analysis::TermsView;
use am_store::StoreError;
use rusqlite::{Connection, OptionalExtension, Row, params};
use rustc_hash::FxHashMap;

use super::postings::Postings;
use super::scan::each_document;
use super::{Projection, SLOTS_MAX};
use crate::commit::feed;
use crate::read::ProjectRow;
use crate::row::storage_error;
use crate::schema::narrow_key;
use crate::store::Known;

/// What a projection is after a refresh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freshness {
    /// It holds every change up to the one asked for.
    Current,
    /// More changes are waiting than were allowed, or it has to be built anew.
    Behind,
}

impl Projection {
    /// Builds the projection of a project as the connection's transaction sees it.
    pub(crate) fn build(
        connection: &Connection,
        known: &Known,
        row: &ProjectRow,
    ) -> Result<Self, StoreError> {
        let (project, documents) = (row.id, row.memories as usize);
        if documents >= SLOTS_MAX {
            return Err(StoreError::Invalid {
                detail: "a project holds at most 16 million memories".to_owned(),
            });
        }
        // Counted first, so that every posting gets exactly the room it needs.
        let mut counts = FxHashMap::default();
        each_document(connection, project, |_, _, value| {
            parse(value)?.iter().for_each(|entry| *counts.entry(entry.term).or_insert(0) += 1);
            Ok(())
        })?;
        let postings = Postings::with_room(counts)
            .ok_or_else(|| StoreError::Invalid { detail: "a project of too many words".to_owned() })?;
        let capacity = documents + documents / 8;
        let mut projection = Self::new(project, known.epoch, known.dimension, capacity, postings);
        let range = params![narrow_key(project, 0), narrow_key(project + 1, 0) - 1];
        let mut terms = connection
            .prepare_cached(
                "SELECT key, created_at, value FROM terms WHERE key BETWEEN ?1 AND ?2 ORDER BY key",
            )
            .map_err(storage_error)?;
        let mut vectors = connection
            .prepare_cached("SELECT key, value FROM vec8 WHERE key BETWEEN ?1 AND ?2 ORDER BY key")
            .map_err(storage_error)?;
        let mut terms = terms.query(range).map_err(storage_error)?;
        let mut vectors = vectors.query(range).map_err(storage_error)?;
        let mut vector = vectors.next().map_err(storage_error)?;
        while let Some(row) = terms.next().map_err(storage_error)? {
            let key: i64 = row.get(0).map_err(storage_error)?;
            let created: i64 = row.get(1).map_err(storage_error)?;
            // Both tables are walked once, in step.
            while let Some(other) = vector {
                if other.get::<_, i64>(0).map_err(storage_error)? < key {
                    vector = vectors.next().map_err(storage_error)?;
                } else {
                    vector = Some(other);
                    break;
                }
            }
            let bytes = match vector {
                Some(other) if other.get::<_, i64>(0).map_err(storage_error)? == key => Some(blob(other, 1)?),
                _ => None,
            };
            let id = key - narrow_key(project, 0);
            projection.add(id, created, &parse(blob(row, 2)?)?, bytes, Postings::fill);
        }
        projection.built = projection.ids.len();
        projection.change = row.last_change;
        Ok(projection)
    }

    /// Applies the changes after the last one that is in, up to `change`, if there are at most `allowed`.
    pub(crate) fn tail(
        &mut self,
        connection: &Connection,
        change: i64,
        allowed: usize,
    ) -> Result<Freshness, StoreError> {
        if self.change >= change {
            return Ok(Freshness::Current);
        }
        if self.change < feed::floor(connection)? || self.is_worn() {
            return Ok(Freshness::Behind);
        }
        let changes = feed::after(connection, self.project, self.change, allowed + 1)?;
        if changes.len() > allowed || self.ids.len() + changes.len() >= SLOTS_MAX {
            return Ok(Freshness::Behind);
        }
        for (sequence, memory, operation) in changes {
            match operation {
                feed::Operation::Put => self.put(connection, memory)?,
                feed::Operation::Delete => self.remove(memory),
                feed::Operation::Touch => {
                    let created = connection
                        .prepare_cached("SELECT created_at FROM terms WHERE key = ?1")
                        .and_then(|mut statement| {
                            statement
                                .query_row([narrow_key(self.project, memory)], |row| row.get(0))
                                .optional()
                        })
                        .map_err(storage_error)?;
                    if let Some(created) = created {
                        self.set_created(memory, created);
                    }
                }
            }
            self.change = sequence;
        }
        self.postings.settle();
        self.change = change;
        Ok(Freshness::Current)
    }

    fn put(&mut self, connection: &Connection, memory: i64) -> Result<(), StoreError> {
        self.remove(memory);
        let key = narrow_key(self.project, memory);
        let mut terms = connection
            .prepare_cached("SELECT created_at, value FROM terms WHERE key = ?1")
            .map_err(storage_error)?;
        let mut rows = terms.query([key]).map_err(storage_error)?;
        // A row that is missing was removed by a later change of this feed, or is not ranked.
        let Some(row) = rows.next().map_err(storage_error)? else { return Ok(()) };
        let mut vectors =
            connection.prepare_cached("SELECT value FROM vec8 WHERE key = ?1").map_err(storage_error)?;
        let mut vector_rows = vectors.query([key]).map_err(storage_error)?;
        let bytes = match vector_rows.next().map_err(storage_error)? {
            Some(vector) => Some(blob(vector, 0)?),
            None => None,
        };
        let slot = self.ids.len() as u32;
        self.add(memory, row.get(0).map_err(storage_error)?, &parse(blob(row, 1)?)?, bytes, Postings::push);
        self.added.insert(memory, slot);
        Ok(())
    }
}

fn blob<'a>(row: &'a Row<'_>, column: usize) -> Result<&'a [u8], StoreError> {
    row.get_ref(column).and_then(|value| value.as_blob().map_err(Into::into)).map_err(storage_error)
}

pub(super) fn parse(bytes: &[u8]) -> Result<TermsView<'_>, StoreError> {
    TermsView::parse(bytes)
        .ok_or_else(|| StoreError::Damaged { detail: "a row of analysed terms can't be read".to_owned() })
}
