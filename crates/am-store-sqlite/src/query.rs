//! Searches: the arms over one snapshot, and the rows they point to.

use std::sync::PoisonError;
use std::time::Duration;

use am_store::{Arm, ArmHit, SearchQuery, SearchReply, StoreError, VectorQuery};
use rusqlite::{OptionalExtension, Transaction, params};
use rustc_hash::FxHashMap;

use crate::builder;
use crate::cache;
use crate::projection::{Found, Freshness, Hidden, Projection, scan_lexical, scan_vector};
use crate::read::{self, ProjectRow};
use crate::row::{MEMORY_COLUMNS, memory, storage_error, vector_values};
use crate::schema::narrow_key;
use crate::store::{Known, SqliteStore};

/// Changes that are applied one by one; beyond that a new build is as fast.
const TAIL_MAX: usize = 20_000;
/// Memories of a project whose first search waits for its projection, about 20 ms; those of larger ones scan.
const BUILT_AT_ONCE: u64 = 5_000;
/// Longest such wait; builds of other projects may be under way.
const BUILD_WAIT: Duration = Duration::from_millis(100);
/// Times a search starts again because other threads moved a projection past its snapshot.
const RESTARTS: usize = 64;

/// What the arms found in one snapshot, by store id.
struct Found3 {
    lexical: Result<Vec<Found>, StoreError>,
    vector: Result<Vec<Found>, StoreError>,
    concept: Result<Vec<i64>, StoreError>,
    hidden: Hidden,
}

/// Runs a search.
pub(crate) fn search(store: &SqliteStore, query: &SearchQuery) -> SearchReply {
    for attempt in 0..RESTARTS {
        if attempt == RESTARTS / 2 {
            // Nothing moves that far ahead of a snapshot: what is held belongs to another file of the same name.
            store.shared.cache.clear();
        }
        match store.read(|transaction, known| search_once(store, transaction, known, query)) {
            Ok(Some(reply)) => return reply,
            Ok(None) => {}
            Err(error) => return SearchReply::failed(query, &error),
        }
    }
    SearchReply::failed(query, &StoreError::Busy { waited_ms: 0 })
}

/// Returns `None` where the projection is already past this snapshot.
fn search_once(
    store: &SqliteStore,
    transaction: &Transaction<'_>,
    known: &Known,
    query: &SearchQuery,
) -> Result<Option<SearchReply>, StoreError> {
    let Some(project) = read::project(transaction, &query.live.project)? else {
        let mismatch = query.vector.as_ref().map_or(Ok(()), |vector| usable(known, vector));
        return Ok(Some(SearchReply {
            rows: Vec::new(),
            lexical: Ok(Vec::new()),
            vector: mismatch.map(|()| Vec::new()),
            concept: Ok(Vec::new()),
            hidden: 0,
        }));
    };
    let arms = if store.shared.cache.fits(project.memories) {
        with_projection(store, transaction, known, &project, |projection| {
            projected(transaction, known, &project, projection, query)
        })?
    } else {
        Projected::NotYet
    };
    match arms {
        Projected::Used(arms) => reply(transaction, query, arms).map(Some),
        Projected::NotYet => {
            let reply = reply(transaction, query, scanned(transaction, known, &project, query));
            // Not before: the build would take its time from this search.
            build_aside(store, &project);
            reply.map(Some)
        }
        Projected::Ahead => Ok(None),
    }
}

/// What became of a wish for a projection.
pub(crate) enum Projected<T> {
    /// It was there, exactly as the transaction's snapshot has it.
    Used(T),
    /// It is past this snapshot: a new transaction sees what it holds.
    Ahead,
    /// It is too large to wait for: scan, and let [`build_aside`] build it.
    NotYet,
}

/// Gives `use_it` the project's projection, waiting for it to be built where that is quick.
pub(crate) fn with_projection<T>(
    store: &SqliteStore,
    transaction: &Transaction<'_>,
    known: &Known,
    project: &ProjectRow,
    use_it: impl FnOnce(&Projection) -> T,
) -> Result<Projected<T>, StoreError> {
    let shared = store.shared.cache.shared(project.id);
    if !refresh(store, transaction, known, project, &shared)? {
        if project.memories > BUILT_AT_ONCE {
            return Ok(Projected::NotYet);
        }
        match builder::build(store, project).map(|told| told.recv_timeout(BUILD_WAIT)) {
            Some(Ok(built)) => built?,
            // It takes its time, or another thread has asked for it.
            Some(Err(_)) | None => return Ok(Projected::NotYet),
        }
    }
    let place = shared.read().unwrap_or_else(PoisonError::into_inner);
    Ok(match place.as_ref() {
        Some(projection) if projection.is_at(known.epoch, project.last_change) => {
            Projected::Used(use_it(projection))
        }
        Some(_) => Projected::Ahead,
        None => Projected::NotYet,
    })
}

/// Applies the changes that a projection lacks; `false` where it has to be built.
fn refresh(
    store: &SqliteStore,
    transaction: &Transaction<'_>,
    known: &Known,
    project: &ProjectRow,
    shared: &cache::Shared,
) -> Result<bool, StoreError> {
    let is_current = |place: &Option<Projection>| {
        place.as_ref().is_some_and(|projection| projection.is_at(known.epoch, project.last_change))
    };
    if shared.read().is_ok_and(|place| is_current(&place)) {
        return Ok(true);
    }
    let mut place = shared.write().unwrap_or_else(|poisoned| {
        let mut place = PoisonError::into_inner(poisoned);
        // A panic may have left it half changed.
        *place = None;
        place
    });
    let Some(projection) = place.as_mut().filter(|projection| projection.epoch == known.epoch) else {
        *place = None;
        return Ok(false);
    };
    if projection.tail(transaction, project.last_change, TAIL_MAX)? == Freshness::Behind {
        // The old one goes first, so that two are never in memory.
        *place = None;
        return Ok(false);
    }
    store.shared.cache.resized(project.id, projection.bytes());
    Ok(true)
}

/// Builds the projection of a project and waits for it; `false` where it does not fit the budget or is being built.
pub(crate) fn warm(store: &SqliteStore, name: &am_model::Project) -> Result<bool, StoreError> {
    let Some(project) = store.read(|transaction, _| read::project(transaction, name))? else {
        return Ok(false);
    };
    match builder::build(store, &project).map(|told| told.recv()) {
        Some(Ok(built)) => built.map(|()| true),
        Some(Err(_)) | None => Ok(false),
    }
}

/// Builds the projection of a project without waiting for it. A build that fails leaves its place empty: searches go
/// on by scans and try again.
pub(crate) fn build_aside(store: &SqliteStore, project: &ProjectRow) {
    drop(builder::build(store, project));
}

fn projected(
    transaction: &Transaction<'_>,
    known: &Known,
    project: &ProjectRow,
    projection: &Projection,
    query: &SearchQuery,
) -> Found3 {
    let expired_before = query.live.expired_before.map_or(i64::MIN, am_model::Instant::millis);
    let mut hidden = Hidden::default();
    let lexical = Ok(query.terms.as_ref().map_or_else(Vec::new, |terms| {
        projection.lexical(terms, query.per_arm, expired_before, &mut hidden)
    }));
    let vector = query.vector.as_ref().map_or(Ok(Vec::new()), |vector| {
        usable(known, vector)?;
        projection.vector(&vector.vector, query.per_arm, expired_before, &mut hidden, |id| {
            original(transaction, project.id, id)
        })
    });
    let concept = concepts(transaction, known, project, query, expired_before, &mut hidden);
    Found3 { lexical, vector, concept, hidden }
}

fn scanned(
    transaction: &Transaction<'_>,
    known: &Known,
    project: &ProjectRow,
    query: &SearchQuery,
) -> Found3 {
    let expired_before = query.live.expired_before.map_or(i64::MIN, am_model::Instant::millis);
    let mut hidden = Hidden::default();
    let lexical = query.terms.as_ref().map_or(Ok(Vec::new()), |terms| {
        scan_lexical(transaction, project.id, terms, query.per_arm, expired_before, &mut hidden)
    });
    let vector = query.vector.as_ref().map_or(Ok(Vec::new()), |vector| {
        usable(known, vector)?;
        scan_vector(
            transaction,
            project.id,
            &vector.vector,
            query.per_arm,
            expired_before,
            &mut hidden,
            |id| original(transaction, project.id, id),
        )
    });
    let concept = concepts(transaction, known, project, query, expired_before, &mut hidden);
    Found3 { lexical, vector, concept, hidden }
}

fn usable(known: &Known, query: &VectorQuery) -> Result<(), StoreError> {
    if known.identity.embedder != query.embedder {
        return Err(StoreError::EmbedderMismatch {
            stored: known.identity.embedder.clone(),
            given: query.embedder.clone(),
        });
    }
    if query.vector.len() != known.dimension || !query.vector.iter().all(|value| value.is_finite()) {
        let (given, dimension) = (query.vector.len(), known.dimension);
        let detail =
            format!("a query vector of {given} numbers, where {dimension} finite ones are asked for");
        return Err(StoreError::Invalid { detail });
    }
    Ok(())
}

fn original(transaction: &Transaction<'_>, project: i64, id: i64) -> Result<Option<Vec<f32>>, StoreError> {
    transaction
        .prepare_cached("SELECT value FROM vector WHERE key = ?1")
        .and_then(|mut statement| {
            statement
                .query_row([narrow_key(project, id)], |row| Ok(vector_values(row.get_ref(0)?.as_blob()?)))
                .optional()
        })
        .map_err(storage_error)
}

/// Walks the named concepts in creation order and their memories in store-id order.
fn concepts(
    transaction: &Transaction<'_>,
    known: &Known,
    project: &ProjectRow,
    query: &SearchQuery,
    expired_before: i64,
    hidden: &mut Hidden,
) -> Result<Vec<i64>, StoreError> {
    let mut named: Vec<i64> = Vec::new();
    for concept in &query.concepts {
        let id: Option<i64> = transaction
            .prepare_cached("SELECT id FROM concept WHERE project = ?1 AND name = ?2")
            .and_then(|mut statement| {
                statement.query_row(params![project.id, concept.as_str()], |row| row.get(0)).optional()
            })
            .map_err(storage_error)?;
        named.extend(id);
    }
    named.sort_unstable();
    named.dedup();
    let mut seen = rustc_hash::FxHashSet::default();
    let mut found = Vec::new();
    for concept in named {
        let mut statement = transaction
            .prepare_cached(
                "SELECT m.id, m.created_at, m.kind FROM concept_memory c JOIN memory m ON m.id = c.memory
                 WHERE c.concept = ?1 ORDER BY c.memory",
            )
            .map_err(storage_error)?;
        let mut rows = statement.query([concept]).map_err(storage_error)?;
        while found.len() < query.per_arm {
            let Some(row) = rows.next().map_err(storage_error)? else { break };
            let id: i64 = row.get(0).map_err(storage_error)?;
            let created: i64 = row.get(1).map_err(storage_error)?;
            let kind: String = row.get(2).map_err(storage_error)?;
            let ranked = am_model::MemoryKind::parse(&kind)
                .is_some_and(|kind| am_store::is_ranked(kind, known.identity.profile));
            if !ranked || !seen.insert(id) {
                continue;
            }
            if created < expired_before {
                hidden.insert(id);
            } else {
                found.push(id);
            }
        }
    }
    Ok(found)
}

/// Fetches each row once and points the arms to it.
fn reply(
    transaction: &Transaction<'_>,
    query: &SearchQuery,
    arms: Found3,
) -> Result<SearchReply, StoreError> {
    let mut rows = Vec::new();
    let mut place: FxHashMap<i64, usize> = FxHashMap::default();
    let mut statement = transaction
        .prepare_cached(&format!("SELECT {MEMORY_COLUMNS} FROM memory m WHERE m.id = ?1"))
        .map_err(storage_error)?;
    let mut row_of = |id: i64| -> Result<usize, StoreError> {
        if let Some(at) = place.get(&id) {
            return Ok(*at);
        }
        let row = statement.query_row([id], |row| memory(row, &query.live.project)).map_err(storage_error)?;
        rows.push(row);
        place.insert(id, rows.len() - 1);
        Ok(rows.len() - 1)
    };
    let mut point = |found: Result<Vec<Found>, StoreError>, distance: bool| -> Arm {
        found?
            .into_iter()
            .map(|hit| {
                Ok(ArmHit {
                    row: row_of(hit.id)?,
                    score: hit.score,
                    distance: distance.then(|| f64::from(((1.0 - hit.score as f32) / 2.0).clamp(0.0, 1.0))),
                })
            })
            .collect()
    };
    let lexical = point(arms.lexical, false);
    let vector = point(arms.vector, true);
    let concept =
        point(arms.concept.map(|ids| ids.into_iter().map(|id| Found { id, score: 0.0 }).collect()), false);
    drop(statement);
    Ok(SearchReply { rows, lexical, vector, concept, hidden: arms.hidden.len() as u64 })
}
