//! What long-lived programs do for the store when nobody waits for it.

use std::time::Duration;

use am_store::StoreError;
use am_store_sqlite::{Maintenance, SqliteStore};
use tokio::task::spawn_blocking;

/// How often a running program looks after the store.
pub const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(60);

/// Completes pending erasure, where there is some, every [`MAINTENANCE_INTERVAL`], for good.
///
/// `report` hears of every run that did something or failed; a store that is busy is tried again.
pub async fn run(store: SqliteStore, report: impl Fn(Result<Maintenance, StoreError>)) {
    loop {
        tokio::time::sleep(MAINTENANCE_INTERVAL).await;
        let maintained = {
            let store = store.clone();
            spawn_blocking(
                move || if store.erasure_pending()? { store.maintain().map(Some) } else { Ok(None) },
            )
        };
        match maintained.await {
            Ok(Ok(None) | Err(StoreError::Busy { .. })) => {}
            Ok(Ok(Some(maintenance))) => report(Ok(maintenance)),
            Ok(Err(error)) => report(Err(error)),
            // The runtime is stopping.
            Err(_) => return,
        }
    }
}
