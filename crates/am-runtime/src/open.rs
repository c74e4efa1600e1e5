//! From a configuration to a store and a service, at once or on first use.

use std::sync::Arc;

use am_embed::embedder::Embedder;
use am_embed::hash::HashEmbedder;
use am_service::{Clock as _, Service, ServiceError, SystemClock};
use am_store::StoreError;
use am_store_sqlite::{OpenOptions, SqliteStore};
use tokio::sync::{OnceCell, watch};
use tokio::task::spawn_blocking;

use crate::config::{Config, EmbedderKind, StoreKind};

/// Projections that a long-lived server keeps in memory unless told otherwise, in bytes.
pub const SERVER_PROJECTION_BYTES: usize = 256 << 20;

/// The same for processes of which there are many, and for commands.
pub const SMALL_PROJECTION_BYTES: usize = 32 << 20;

/// Returns the embedder of the configuration.
pub fn embedder(config: &Config) -> Arc<dyn Embedder> {
    match config.embedder.value {
        EmbedderKind::Hash => Arc::new(HashEmbedder::new()),
    }
}

/// Opens the store of the configuration, made where it is missing. Blocks.
///
/// `projection_bytes` is the program's own budget, for users who set none.
///
/// # Errors
/// See [`SqliteStore::open`].
pub fn open_store(config: &Config, projection_bytes: usize) -> Result<SqliteStore, StoreError> {
    let StoreKind::Embedded = config.store.value;
    let options = OpenOptions {
        profile: config.profile.value,
        embedder: embedder(config).id().to_string(),
        synchronous: config.synchronous.value,
        projection_bytes: config.projection_bytes.value.unwrap_or(projection_bytes),
        now: SystemClock.now(),
    };
    SqliteStore::open(&config.data_dir.value, options)
}

/// Makes the service of the configuration over a store that is open.
///
/// # Errors
/// The store can't be read.
pub async fn service(config: &Config, store: SqliteStore) -> Result<Service, ServiceError> {
    Service::open(Arc::new(store), embedder(config), Arc::new(SystemClock), config.settings()).await
}

/// Opens the store of the configuration and the service over it.
///
/// # Errors
/// As [`open_store`].
pub async fn open(config: &Config, projection_bytes: usize) -> Result<Service, ServiceError> {
    let store = {
        let config = config.clone();
        spawn_blocking(move || open_store(&config, projection_bytes)).await
    };
    service(config, store.map_err(|_| ServiceError::Stopped)??).await
}

/// A service that is opened on first use. Clones share it.
#[derive(Clone, Debug)]
pub struct LazyService {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: Config,
    projection_bytes: usize,
    service: OnceCell<Service>,
    opened: watch::Sender<Option<Service>>,
}

impl LazyService {
    /// Makes a service that is not open yet.
    pub fn new(config: Config, projection_bytes: usize) -> Self {
        let opened = watch::Sender::new(None);
        Self { shared: Arc::new(Shared { config, projection_bytes, service: OnceCell::new(), opened }) }
    }

    /// Returns the service, opened now if it is not. After a failure the next call tries again.
    ///
    /// # Errors
    /// As [`open`].
    pub async fn get(&self) -> Result<Service, ServiceError> {
        let shared = &self.shared;
        let opening = || open(&shared.config, shared.projection_bytes);
        let service = shared.service.get_or_try_init(opening).await?.clone();
        shared.opened.send_if_modified(|opened| opened.replace(service.clone()).is_none());
        Ok(service)
    }

    /// Waits until some call of [`LazyService::get`] has opened the service. Opens nothing itself.
    pub async fn opened(&self) -> Service {
        let mut opened = self.shared.opened.subscribe();
        loop {
            if let Some(service) = opened.borrow_and_update().clone() {
                return service;
            }
            // The sender lives in `self`.
            if opened.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
