//! From a configuration to a store and a service, at once or on first use.

use std::sync::Arc;

use am_embed::embedder::Embedder;
use am_embed::hash::HashEmbedder;
use am_service::{Clock as _, Service, ServiceError, SystemClock};
use am_store::StoreError;
use am_store_sqlite::{OpenOptions, SqliteStore};
use tokio::sync::{OnceCell, watch};
use tokio::task::spawn_blocking;

use crate::absent::AbsentStore;
use crate::config::{Config, EmbedderKind, StoreKind};
use crate::spool::SpoolInbox;

/// Projections that a long-lived server keeps in memory unless told otherwise, in bytes.
pub const SERVER_PROJECTION_BYTES: usize = 96 << 20;

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
    let service =
        Service::open(Arc::new(store), embedder(config), Arc::new(SystemClock), config.settings()).await?;
    service.set_inbox(Arc::new(SpoolInbox::new(config)));
    Ok(service)
}

/// A store and the service over it.
#[derive(Clone, Debug)]
pub struct Opened {
    /// The store, for what is not a verb: maintenance, back-ups.
    pub store: SqliteStore,
    /// The service.
    pub service: Service,
}

/// Opens the store of the configuration and the service over it.
///
/// # Errors
/// As [`open_store`].
pub async fn open(config: &Config, projection_bytes: usize) -> Result<Opened, ServiceError> {
    let opening = {
        let config = config.clone();
        spawn_blocking(move || open_store(&config, projection_bytes))
    };
    let store = opening.await.map_err(|_| ServiceError::Stopped)??;
    let service = service(config, store.clone()).await?;
    Ok(Opened { store, service })
}

/// Makes a service whose store is out of reach: searches and digests come back empty and say `why` in their signals,
/// all else fails with it.
///
/// # Errors
/// None in practice: nothing is opened.
pub async fn absent(config: &Config, why: StoreError) -> Result<Service, ServiceError> {
    let embedder = embedder(config);
    let store = AbsentStore::new(config.profile.value, embedder.id().to_string(), why);
    Service::open(Arc::new(store), embedder, Arc::new(SystemClock), config.settings()).await
}

/// A store that is opened on first use. Clones share it.
#[derive(Clone, Debug)]
pub struct Lazy {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    config: Config,
    projection_bytes: usize,
    opened: OnceCell<Opened>,
    /// The same once more, for those who wait.
    announced: watch::Sender<Option<Opened>>,
}

impl Lazy {
    /// Makes a store that is not open yet.
    pub fn new(config: Config, projection_bytes: usize) -> Self {
        let announced = watch::Sender::new(None);
        Self { shared: Arc::new(Shared { config, projection_bytes, opened: OnceCell::new(), announced }) }
    }

    /// Returns the store and its service, opened now if they are not. After a failure the next call tries again.
    ///
    /// # Errors
    /// As [`open`].
    pub async fn get(&self) -> Result<Opened, ServiceError> {
        let shared = &self.shared;
        let opening = || open(&shared.config, shared.projection_bytes);
        let opened = shared.opened.get_or_try_init(opening).await?.clone();
        shared.announced.send_if_modified(|announced| announced.replace(opened.clone()).is_none());
        Ok(opened)
    }

    /// Returns the service of [`Lazy::get`], or one whose store is out of reach where that fails; `failed` hears why.
    ///
    /// # Errors
    /// As [`absent`].
    pub async fn service(&self, failed: impl FnOnce(&ServiceError)) -> Result<Service, ServiceError> {
        match self.get().await {
            Ok(opened) => Ok(opened.service),
            Err(error) => {
                failed(&error);
                let why = match error {
                    ServiceError::Store(error) => error,
                    error => StoreError::Unavailable { detail: error.to_string() },
                };
                absent(&self.shared.config, why).await
            }
        }
    }

    /// Waits until some call of [`Lazy::get`] has opened the store. Opens nothing itself.
    pub async fn opened(&self) -> Opened {
        let mut announced = self.shared.announced.subscribe();
        loop {
            if let Some(opened) = announced.borrow_and_update().clone() {
                return opened;
            }
            if announced.changed().await.is_err() {
                // Can't be: the sender lives in `self`.
                std::future::pending::<()>().await;
            }
        }
    }
}
