//! The committer: the one door for writes.
//!
//! A change is checked and applied inside one `BEGIN IMMEDIATE` transaction. What could be slow - building a
//! projection for the near-duplicate probe - happens before, in a read transaction; under the lock only a bounded
//! tail of changes is caught up with, else the lock is let go and the preparation runs again.

mod concept;
mod evidence;
pub(crate) mod feed;
mod forget;
mod forget_session;
mod import;
pub(crate) mod log;
mod memory_rows;
mod merge;
mod probe;
mod save;

pub(crate) use concept::{enter as concept_enter, names as concept_names};
pub(crate) use memory_rows::{index, unindex};

use am_model::Instant;
use am_store::{Action, Audit, Change, Outcome, StoreError};
use rusqlite::Transaction;

use crate::store::{Keep, SqliteStore};

/// Times a change is prepared again because others wrote more in between than may be caught up under the lock.
const PREPARATIONS: usize = 32;

/// What every step of a commit needs.
pub(crate) struct Context<'a> {
    pub(crate) transaction: &'a Transaction<'a>,
    pub(crate) audit: &'a Audit,
    /// Values of a vector.
    pub(crate) dimension: usize,
}

/// The result of a step: an outcome to keep, an outcome that wrote nothing, or a call for a new preparation.
pub(crate) enum Step {
    Keep(Outcome),
    Drop(Outcome),
    Again,
}

/// Applies one change, or nothing.
pub(crate) fn commit(store: &SqliteStore, change: Change) -> Result<Outcome, StoreError> {
    let Change { audit, analysis, action } = change;
    for attempt in 0..PREPARATIONS {
        let prepared = match &action {
            Action::Save(save) => probe::prepare(store, save, attempt > 0)?,
            _ => probe::Prepared::Nothing,
        };
        let outcome = store.write(|transaction, known| {
            if let Some(given) = analysis.as_ref().filter(|given| **given != known.identity.analysis) {
                return Err(StoreError::Outdated {
                    stored: known.identity.analysis.clone(),
                    given: given.clone(),
                });
            }
            let context = Context { transaction, audit: &audit, dimension: known.dimension };
            let step = match &action {
                Action::Save(save) => save::save(&context, save, &prepared),
                Action::Merge(merge) => merge::merge(&context, merge),
                Action::Forget(forget) => forget::forget(&context, forget),
                Action::ForgetSession(forget) => forget_session::forget_session(&context, forget),
                Action::ForgetObservation { project, event_id } => {
                    forget::forget_observation(&context, project, event_id)
                }
                Action::PurgeEvidence { before, limit } => evidence::purge(&context, *before, *limit),
                Action::Observe(observations) => evidence::observe(&context, observations),
                Action::Import(import) => import::import(&context, import),
            }?;
            Ok(match step {
                Step::Keep(outcome) => (Keep::Yes, Some(outcome)),
                Step::Drop(outcome) => (Keep::No, Some(outcome)),
                Step::Again => (Keep::No, None),
            })
        })?;
        if let Some(outcome) = outcome {
            return Ok(outcome);
        }
    }
    Err(StoreError::Busy { waited_ms: crate::connection::BUSY_LIMIT_MS })
}

/// Makes the error of a change that makes no sense.
pub(crate) fn invalid(detail: impl Into<String>) -> StoreError {
    StoreError::Invalid { detail: detail.into() }
}

/// Refuses a vector that is not finite or not of the embedder's dimension.
fn check_vector(context: &Context<'_>, vector: Option<&Vec<f32>>) -> Result<(), StoreError> {
    match vector {
        Some(vector) if vector.len() != context.dimension => {
            Err(invalid(format!("a vector of {} numbers in a store of {}", vector.len(), context.dimension)))
        }
        Some(vector) if !vector.iter().all(|number| number.is_finite()) => {
            Err(invalid("a vector with a number that is not finite"))
        }
        _ => Ok(()),
    }
}

/// Returns whether a row made at `created` is hidden by a cut-off.
pub(crate) fn is_expired(created: i64, expired_before: Option<Instant>) -> bool {
    expired_before.is_some_and(|cutoff| created < cutoff.millis())
}
