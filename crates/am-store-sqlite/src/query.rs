//! Searches: the arms over one snapshot, and the rows they point to.

use std::sync::PoisonError;

use am_store::{Arm, ArmHit, SearchQuery, SearchReply, StoreError, VectorQuery};
use rusqlite::{OptionalExtension, Transaction, params};
use rustc_hash::FxHashMap;

use crate::projection::{Found, Freshness, Hidden, Projection, scan_lexical, scan_vector};
use crate::read::{self, ProjectRow};
use crate::row::{MEMORY_COLUMNS, memory, storage_error, vector_values};
use crate::schema::narrow_key;
use crate::store::{Known, SqliteStore};

/// Changes that are applied one by one; beyond that a new build is as fast.
const TAIL_MAX: usize = 20_000;
/// Memories of a project whose projection is built by the first search, in about 20 ms; larger ones aside.
const BUILT_AT_ONCE: u64 = 5_000;
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
    for _ in 0..RESTARTS {
        match store.read(|transaction, known| attempt(store, transaction, known, query)) {
            Ok(Some(reply)) => return reply,
            Ok(None) => {}
            Err(error) => return SearchReply::failed(query, &error),
        }
    }
    SearchReply::failed(query, &StoreError::Busy { waited_ms: 0 })
}

/// Returns `None` where the projection is already past this snapshot.
fn attempt(
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

/// Gives `use_it` the project's projection, built here where that is quick.
pub(crate) fn with_projection<T>(
    store: &SqliteStore,
    transaction: &Transaction<'_>,
    known: &Known,
    project: &ProjectRow,
    use_it: impl FnOnce(&Projection) -> T,
) -> Result<Projected<T>, StoreError> {
    let shared = store.shared.cache.shared(project.id);
    let empty = shared.read().is_ok_and(|place| place.is_none());
    if empty && project.memories > BUILT_AT_ONCE {
        return Ok(Projected::NotYet);
    }
    {
        let mut place = shared.write().unwrap_or_else(|poisoned| {
            let mut place = PoisonError::into_inner(poisoned);
            // A panic may have left it half changed.
            *place = None;
            place
        });
        if place.as_ref().is_some_and(|projection| projection.epoch != known.epoch) {
            *place = None;
        }
        let change = place.as_ref().map(|projection| projection.change);
        if change.is_some_and(|change| change > project.last_change) {
            return Ok(Projected::Ahead);
        }
        if change != Some(project.last_change) {
            let tailed = match place.as_mut() {
                Some(projection) => projection.tail(transaction, project.last_change, TAIL_MAX)?,
                None => Freshness::Behind,
            };
            if tailed == Freshness::Behind {
                // The old one goes first, so that two are never in memory.
                *place = None;
                if project.memories > BUILT_AT_ONCE {
                    return Ok(Projected::NotYet);
                }
                *place = Some(Projection::build(transaction, known, project)?);
            }
            let bytes = place.as_ref().map_or(0, Projection::bytes);
            store.shared.cache.resized(project.id, bytes);
        }
    }
    let place = shared.read().unwrap_or_else(PoisonError::into_inner);
    Ok(match place.as_ref() {
        Some(projection) if projection.change == project.last_change => Projected::Used(use_it(projection)),
        _ => Projected::Ahead,
    })
}

/// Builds the projection of a project on this thread; `false` where it does not fit the budget or is being built.
pub(crate) fn warm(store: &SqliteStore, name: &am_model::Project) -> Result<bool, StoreError> {
    let Some(project) = store.read(|transaction, _| read::project(transaction, name))? else {
        return Ok(false);
    };
    if !store.shared.cache.fits(project.memories) || !store.shared.cache.begin_build(project.id) {
        return Ok(false);
    }
    let built = build_and_place(store, project.id);
    store.shared.cache.end_build(project.id);
    built.map(|()| true)
}

fn build_and_place(store: &SqliteStore, id: i64) -> Result<(), StoreError> {
    let built = store.read(|transaction, known| {
        let Some(project) = read::project_by_id(transaction, id)? else { return Ok(None) };
        Projection::build(transaction, known, &project).map(Some)
    })?;
    if let Some(projection) = built {
        let bytes = projection.bytes();
        let shared = store.shared.cache.shared(id);
        *shared.write().unwrap_or_else(PoisonError::into_inner) = Some(projection);
        store.shared.cache.resized(id, bytes);
    }
    Ok(())
}

/// Builds a large projection on a thread of its own, unless one is at it or it does not fit the budget.
pub(crate) fn build_aside(store: &SqliteStore, project: &ProjectRow) {
    let id = project.id;
    if !store.shared.cache.fits(project.memories) || !store.shared.cache.begin_build(id) {
        return;
    }
    let builder = store.clone();
    let started = std::thread::Builder::new().name("projection".to_owned()).spawn(move || {
        // A build that fails leaves the place empty: searches go on by scans and try again.
        drop(build_and_place(&builder, id));
        builder.shared.cache.end_build(id);
    });
    if started.is_err() {
        store.shared.cache.end_build(id);
    }
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
