//! Evidence: appended once per event, whoever delivers it and how often.

use am_model::{Instant, MemoryId, Observation, Verb};
use am_store::{Outcome, StoreError};
use rusqlite::{Connection, OptionalExtension, params};

use super::log::{self, Told};
use super::{Context, Step, memory_rows};
use crate::row::storage_error;

/// Two hosts that fire one event do so within this time, in milliseconds.
const WINDOW_MS: i64 = 2_000;
/// Begins the keys of deliveries whose host gave no event id of its own.
const DELIVERY: &str = "delivery:";

/// An observation that was seen before, and the memory it led to.
pub(crate) struct Seen {
    pub(crate) memory_id: Option<MemoryId>,
}

/// Looks an observation up by its key, and by the window where its host gave no key of its own.
pub(crate) fn seen(
    connection: &Connection,
    project: i64,
    observation: &Observation,
) -> Result<Option<Seen>, StoreError> {
    let by_key = connection
        .prepare_cached("SELECT memory_id FROM observation WHERE project = ?1 AND event_id = ?2")
        .and_then(|mut statement| {
            statement
                .query_row(params![project, observation.event_id], |row| row.get::<_, Option<String>>(0))
                .optional()
        })
        .map_err(storage_error)?;
    let found = match by_key {
        Some(found) => Some(found),
        None if observation.event_id.starts_with(DELIVERY) => connection
            .prepare_cached(
                "SELECT memory_id FROM observation WHERE project = ?1 AND session_id = ?2
                 AND at BETWEEN ?3 AND ?4 AND origin = ?5 AND text = ?6 AND substr(event_id, 1, 9) = 'delivery:'
                 ORDER BY id LIMIT 1",
            )
            .and_then(|mut statement| {
                statement
                    .query_row(
                        params![
                            project,
                            observation.session_id.as_str(),
                            observation.at.millis() - WINDOW_MS,
                            observation.at.millis() + WINDOW_MS,
                            observation.origin.as_str(),
                            observation.text,
                        ],
                        |row| row.get::<_, Option<String>>(0),
                    )
                    .optional()
            })
            .map_err(storage_error)?,
        None => None,
    };
    Ok(found.map(|memory_id| Seen { memory_id: memory_id.map(MemoryId::from_stored) }))
}

/// Appends an observation that has not been seen.
pub(crate) fn append(
    connection: &Connection,
    id: Option<i64>,
    project: i64,
    observation: &Observation,
    memory_id: Option<&MemoryId>,
) -> Result<(), StoreError> {
    connection
        .prepare_cached(
            "INSERT INTO observation(id, project, session_id, event_id, origin, at, level, text, memory_id)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )
        .and_then(|mut statement| {
            statement.execute(params![
                id,
                project,
                observation.session_id.as_str(),
                observation.event_id,
                observation.origin.as_str(),
                observation.at.millis(),
                observation.level.as_str(),
                observation.text,
                memory_id.map(MemoryId::as_str),
            ])
        })
        .map(drop)
        .map_err(storage_error)
}

/// Erases the text of the observations that a condition on one or two values selects, and returns their number.
///
/// The key of an imported line is a digest of what it said: it goes too.
pub(super) fn erase(
    connection: &Connection,
    condition: &str,
    values: &[&dyn rusqlite::ToSql],
) -> Result<u64, StoreError> {
    connection
        .prepare_cached(&format!(
            "UPDATE observation SET text = NULL, event_id = CASE WHEN substr(event_id, 1, 7) = 'import:'
               THEN 'erased:' || lower(hex(randomblob(16))) ELSE event_id END
             WHERE text IS NOT NULL AND {condition}"
        ))
        .and_then(|mut statement| statement.execute(values))
        .map(|erased| erased as u64)
        .map_err(storage_error)
}

/// Removes the oldest rows of what happened before an instant.
pub(super) fn purge(context: &Context<'_>, before: Instant, limit: usize) -> Result<Step, StoreError> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let observations = context
        .transaction
        .prepare_cached(
            "DELETE FROM observation WHERE id IN (SELECT id FROM observation WHERE at < ?1 ORDER BY id LIMIT ?2)",
        )
        .and_then(|mut statement| statement.execute(params![before.millis(), limit]))
        .map_err(storage_error)? as u64;
    let outcome =
        Outcome::Forgotten { memories: Vec::new(), derived: Vec::new(), rewritten: Vec::new(), observations };
    if observations == 0 {
        return Ok(Step::Drop(outcome));
    }
    memory_rows::erasure_is_pending(context.transaction)?;
    log::append(context, Verb::Purge, &Told::default())?;
    Ok(Step::Keep(outcome))
}

/// Appends a batch of evidence alone.
pub(crate) fn observe(context: &Context<'_>, observations: &[Observation]) -> Result<Step, StoreError> {
    let (mut appended, mut repeated) = (0, 0);
    for observation in observations {
        let project = memory_rows::project_id(context.transaction, &observation.project)?;
        if seen(context.transaction, project, observation)?.is_some() {
            repeated += 1;
        } else {
            append(context.transaction, None, project, observation, None)?;
            appended += 1;
        }
    }
    let outcome = Outcome::Observed { appended, repeated };
    if appended == 0 {
        return Ok(Step::Drop(outcome));
    }
    log::append(context, Verb::Observe, &Told::default())?;
    Ok(Step::Keep(outcome))
}
