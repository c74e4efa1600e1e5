//! What long-lived programs do for the store when nobody waits for it.

use std::time::Duration;

use am_embed::analysis::Analysis;
use am_model::{Actor, Channel};
use am_service::{Caller, ServiceError};
use am_store::{Audit, Store as _, StoreError};
use am_store_sqlite::SqliteStore;
use tokio::task::spawn_blocking;

use crate::config::Config;
use crate::open::{self, Opened};

/// How often a running program looks after the store.
pub const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60);
/// Looks between two at old evidence.
const EVIDENCE_EVERY: u32 = 60;

/// What one look did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintained {
    /// Bytes of something forgotten left the disk, or still have to.
    Erasure {
        /// Whether they still have to.
        pending: bool,
    },
    /// Observations past their age were removed.
    Evidence {
        /// How many.
        purged: u64,
    },
    /// Projections of an older analysis were derived anew.
    Rebuilt {
        /// Of how many memories.
        memories: u64,
    },
}

/// Looks after the store for good: projections of an older analysis are derived anew, old evidence goes where the
/// configuration says so, and pending erasure is completed, every [`MAINTENANCE_INTERVAL`].
///
/// `report` hears of everything that was done or failed; a store that is busy is tried again.
pub async fn run(config: Config, opened: Opened, report: impl Fn(Result<Maintained, ServiceError>)) {
    let tell = |result: Result<Option<Maintained>, ServiceError>| match result {
        Ok(None) | Err(ServiceError::Store(StoreError::Busy { .. })) => {}
        Ok(Some(maintained)) => report(Ok(maintained)),
        Err(error) => report(Err(error)),
    };
    tell(upgrade(&config, &opened).await);
    for look in 0_u32.. {
        tokio::time::sleep(MAINTENANCE_INTERVAL).await;
        if look % EVIDENCE_EVERY == 0
            && let Some(days) = config.evidence_days.value
        {
            let purged = opened.service.purge_evidence(&caller(), days).await;
            tell(purged.map(|purged| (purged > 0).then_some(Maintained::Evidence { purged })));
        }
        tell(erase(opened.store.clone()).await);
    }
}

fn caller() -> Caller {
    Caller { channel: Channel::Library, actor: Actor("maintenance".to_owned()) }
}

async fn erase(store: SqliteStore) -> Result<Option<Maintained>, ServiceError> {
    let maintained = spawn_blocking(move || {
        if !store.erasure_pending()? {
            return Ok(None);
        }
        let done = store.maintain()?;
        Ok(Some(Maintained::Erasure { pending: done.erasure_pending }))
    });
    // Where the runtime is stopping, nothing is left to say.
    maintained.await.unwrap_or(Ok(None))
}

/// Derives the projections anew where this program's analysis supersedes the store's; one transaction, so that an end
/// in between leaves the old ones. Searches go on meanwhile and say so in a signal.
///
/// # Errors
/// The store can't be read or written.
pub async fn upgrade(config: &Config, opened: &Opened) -> Result<Option<Maintained>, ServiceError> {
    let identity = opened.store.identity().await?;
    if !Analysis::new(identity.profile).supersedes(&identity.analysis) {
        return Ok(None);
    }
    let Caller { channel, actor } = caller();
    let audit = Audit { at: opened.service.now(), actor, channel };
    let (store, embedder) = (opened.store.clone(), open::embedder(config));
    let rebuilt = spawn_blocking(move || store.rebuild(None, &*embedder, &audit, &mut |_, _| ())).await;
    let report = rebuilt.map_err(|_| ServiceError::Stopped)??;
    Ok(Some(Maintained::Rebuilt { memories: report.memories }))
}
