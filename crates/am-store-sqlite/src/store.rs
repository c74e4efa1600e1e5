//! The store as others hold it: connections, projections, and the port over them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use am_embed::analysis::Profile;
use am_model::{Counts, Instant, Memory, MemoryId, Project, Session, SessionId, StoreId};
use am_store::{
    Change, LiveMemory, Outcome, Scope, SearchQuery, SearchReply, Statistics, Store, StoreError,
    StoreIdentity, StoredLogEntry, StoredMemory, StoredObservation, VerifyReport,
};
use async_trait::async_trait;
use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::builder::Builder;
use crate::cache::ProjectionCache;
use crate::filesystem::FileIdentity;
use crate::row::storage_error;
use crate::schema::NewStore;
use crate::{commit, connection, filesystem, query, read, schema, verify};

/// The database's file name in the data directory.
pub const FILE_NAME: &str = "memory.db";
/// Connections kept for readers.
const IDLE_READERS: usize = 4;

/// What an acknowledged commit survives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Synchronous {
    /// The end of the process and of power.
    #[default]
    Full,
    /// The end of the process; the last commits may be lost with power. Twice the throughput.
    Normal,
}

impl Synchronous {
    pub(crate) fn pragma(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
        }
    }
}

/// How a store is opened. Profile and embedder count only where the store is made; an existing one keeps its own.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// Profile of a new store.
    pub profile: Profile,
    /// Canonical identity of the embedder of a new store.
    pub embedder: String,
    /// Durability of commits.
    pub synchronous: Synchronous,
    /// Most bytes of projections in memory; larger projects are scanned without one.
    pub projection_bytes: usize,
    /// Creation time of a new store.
    pub now: Instant,
}

impl Default for OpenOptions {
    /// The default profile, the hash embedder, full durability, 256 MiB of projections.
    fn default() -> Self {
        Self {
            profile: Profile::Default,
            embedder: am_embed::embedder::Embedder::id(&am_embed::hash::HashEmbedder::new()).to_string(),
            synchronous: Synchronous::Full,
            projection_bytes: 256 << 20,
            now: Instant::default(),
        }
    }
}

/// The embedded store. Cheap to clone; every process of a machine may hold its own on one directory.
#[derive(Clone, Debug)]
pub struct SqliteStore {
    pub(crate) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) file: PathBuf,
    pub(crate) synchronous: Synchronous,
    pub(crate) cache: ProjectionCache,
    pub(crate) builder: Builder,
    writer: Mutex<Connection>,
    readers: Mutex<Vec<Connection>>,
    identity: RwLock<Known>,
    /// The file behind the connections, which another may replace under its name.
    opened: RwLock<FileIdentity>,
}

/// The identity as this process last read it, and the epoch that tells when it has to be read again.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) epoch: i64,
    pub(crate) identity: StoreIdentity,
    /// Values of a vector.
    pub(crate) dimension: usize,
}

impl Known {
    pub(crate) fn read(connection: &Connection) -> Result<Self, StoreError> {
        let epoch = schema::epoch(connection)?;
        let identity = schema::identity(connection)?;
        let dimension = am_embed::embedder::EmbedderId::parse(&identity.embedder)
            .map_err(|error| StoreError::Damaged { detail: error.to_string() })?
            .dimension() as usize;
        Ok(Self { epoch, identity, dimension })
    }
}

impl SqliteStore {
    /// Opens the store in `directory`, made where it is missing.
    ///
    /// # Errors
    /// The directory can't be made or lies on a network file system, the file is not ours or of a newer version.
    /// A store that is refused is left as it was.
    pub fn open(directory: &Path, options: OpenOptions) -> Result<Self, StoreError> {
        filesystem::make_directory(directory)?;
        filesystem::refuse_network(directory)?;
        let file = directory.join(FILE_NAME);
        filesystem::make_file(&file)?;
        let new = NewStore { profile: options.profile, embedder: &options.embedder, now: options.now };
        let writer = connection::open_first(&file, options.synchronous, &new)?;
        let identity = Known::read(&writer)?;
        let opened = filesystem::identity(&file)?;
        Ok(Self {
            shared: Arc::new(Shared {
                file,
                synchronous: options.synchronous,
                cache: ProjectionCache::new(options.projection_bytes),
                builder: Builder::default(),
                writer: Mutex::new(writer),
                readers: Mutex::default(),
                identity: RwLock::new(identity),
                opened: RwLock::new(opened),
            }),
        })
    }

    /// Returns whether `directory` holds a store, without opening it.
    pub fn exists(directory: &Path) -> bool {
        directory.join(FILE_NAME).metadata().is_ok_and(|file| file.len() > 0)
    }

    /// Makes sure that the connections lead to the file that has the name now, and returns which that is.
    ///
    /// A file that was removed or replaced still takes writes of those who have it open; nobody else would see them.
    fn follow_the_name(&self) -> Result<FileIdentity, StoreError> {
        let shared = &self.shared;
        let now = filesystem::identity(&shared.file)?;
        if *shared.opened.read().unwrap_or_else(PoisonError::into_inner) == now {
            return Ok(now);
        }
        let mut writer = self.writer();
        let mut opened = shared.opened.write().unwrap_or_else(PoisonError::into_inner);
        if *opened == now {
            return Ok(now);
        }
        let connection = connection::open_next(&shared.file, shared.synchronous)?;
        schema::check_readable(&connection)?;
        let known = Known::read(&connection)?;
        shared.readers.lock().unwrap_or_else(PoisonError::into_inner).clear();
        shared.cache.clear();
        *shared.identity.write().unwrap_or_else(PoisonError::into_inner) = known;
        *writer = connection;
        *opened = now;
        Ok(now)
    }

    pub(crate) fn writer(&self) -> MutexGuard<'_, Connection> {
        self.shared.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is known of the store, re-read where another process has begun a new epoch.
    ///
    /// Called first in every transaction, so that an old process beside a new one stops.
    pub(crate) fn known(&self, connection: &Connection) -> Result<Known, StoreError> {
        let epoch = schema::epoch(connection)?;
        let known = self.shared.identity.read().unwrap_or_else(PoisonError::into_inner).clone();
        if known.epoch == epoch {
            return Ok(known);
        }
        let known = Known::read(connection)?;
        self.shared.cache.clear();
        *self.shared.identity.write().unwrap_or_else(PoisonError::into_inner) = known.clone();
        Ok(known)
    }

    /// Runs `read` in one snapshot.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Transaction<'_>, &Known) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let file = self.follow_the_name()?;
        let idle = self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection = match idle {
            Some(connection) => connection,
            None => connection::open_next(&self.shared.file, self.shared.synchronous)?,
        };
        let result = {
            let transaction = connection.unchecked_transaction().map_err(storage_error)?;
            let known = self.known(&transaction)?;
            read(&transaction, &known)
        };
        // Looked at before the readers are locked: whoever follows the name locks them in this order.
        let is_current = *self.shared.opened.read().unwrap_or_else(PoisonError::into_inner) == file;
        let mut readers = self.shared.readers.lock().unwrap_or_else(PoisonError::into_inner);
        if is_current && readers.len() < IDLE_READERS {
            readers.push(connection);
        }
        result
    }

    /// Runs `write` in one transaction that no other writer interrupts; it is kept only where `write` says so.
    pub(crate) fn write<T>(
        &self,
        write: impl FnOnce(&Transaction<'_>, &Known) -> Result<(Keep, T), StoreError>,
    ) -> Result<T, StoreError> {
        self.follow_the_name()?;
        let mut connection = self.writer();
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(storage_error)?;
        let known = self.known(&transaction)?;
        let (keep, value) = write(&transaction, &known)?;
        match keep {
            Keep::Yes => transaction.commit().map_err(storage_error)?,
            Keep::No => transaction.rollback().map_err(storage_error)?,
        }
        Ok(value)
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let store = self.clone();
        match tokio::task::spawn_blocking(move || work(&store)).await {
            Ok(result) => result,
            Err(_) => Err(StoreError::Unavailable { detail: "the store's thread ended".to_owned() }),
        }
    }

    /// Applies one change, waiting on this thread: [`Store::commit`] without a runtime.
    pub fn commit_blocking(&self, change: Change) -> Result<Outcome, StoreError> {
        commit::commit(self, change)
    }

    /// Builds the projection of a project before its first search, for programs that know what they will ask.
    ///
    /// Returns `false` where the project is unknown, does not fit the budget, or is being built already.
    ///
    /// # Errors
    /// The store can't be read.
    pub fn warm(&self, project: &Project) -> Result<bool, StoreError> {
        query::warm(self, project)
    }

    /// Searches on this thread: [`Store::search`] without a runtime.
    pub fn search_blocking(&self, query: &SearchQuery) -> SearchReply {
        query::search(self, query)
    }
}

/// Whether a write transaction is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Keep {
    Yes,
    No,
}

#[async_trait]
impl Store for SqliteStore {
    async fn identity(&self) -> Result<StoreIdentity, StoreError> {
        self.run(|store| store.read(|_, known| Ok(known.identity.clone()))).await
    }

    async fn commit(&self, change: Change) -> Result<Outcome, StoreError> {
        self.run(move |store| commit::commit(store, change)).await
    }

    async fn search(&self, query: SearchQuery) -> SearchReply {
        let asked = query.clone();
        match self.run(move |store| Ok(query::search(store, &query))).await {
            Ok(reply) => reply,
            Err(error) => SearchReply::failed(&asked, &error),
        }
    }

    async fn sessions(&self, project: &Project, limit: usize) -> Result<Vec<Session>, StoreError> {
        let project = project.clone();
        self.run(move |store| store.read(|transaction, _| read::sessions(transaction, &project, limit))).await
    }

    async fn session_memories(
        &self,
        live: &LiveMemory,
        session: &SessionId,
        limit: usize,
    ) -> Result<Vec<Memory>, StoreError> {
        let (live, session) = (live.clone(), session.clone());
        self.run(move |store| {
            store.read(|transaction, _| read::session_memories(transaction, &live, &session, limit))
        })
        .await
    }

    async fn counts(&self, project: &Project) -> Result<Counts, StoreError> {
        let project = project.clone();
        self.run(move |store| store.read(|transaction, _| read::counts(transaction, &project))).await
    }

    async fn memories(&self, ids: &[MemoryId]) -> Result<Vec<Memory>, StoreError> {
        let ids = ids.to_vec();
        self.run(move |store| store.read(|transaction, _| read::memories(transaction, &ids))).await
    }

    async fn shared_memories(
        &self,
        project: &Project,
        session: &SessionId,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let (project, session) = (project.clone(), session.clone());
        self.run(move |store| {
            store.read(|transaction, _| read::shared_memories(transaction, &project, &session))
        })
        .await
    }

    async fn projects(&self) -> Result<Vec<Project>, StoreError> {
        self.run(|store| store.read(|transaction, _| read::projects(transaction))).await
    }

    async fn sessions_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<Session>, StoreError> {
        let scope = scope.clone();
        self.run(move |store| {
            store.read(|transaction, _| read::sessions_page(transaction, &scope, after, limit))
        })
        .await
    }

    async fn memories_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredMemory>, StoreError> {
        let scope = scope.clone();
        self.run(move |store| {
            store.read(|transaction, _| read::memories_page(transaction, &scope, after, limit))
        })
        .await
    }

    async fn observations_page(
        &self,
        scope: &Scope,
        after: StoreId,
        limit: usize,
    ) -> Result<Vec<StoredObservation>, StoreError> {
        let scope = scope.clone();
        self.run(move |store| {
            store.read(|transaction, _| read::observations_page(transaction, &scope, after, limit))
        })
        .await
    }

    async fn log_page(&self, after: StoreId, limit: usize) -> Result<Vec<StoredLogEntry>, StoreError> {
        self.run(move |store| store.read(|transaction, _| read::log_page(transaction, after, limit))).await
    }

    async fn verify(&self) -> Result<VerifyReport, StoreError> {
        self.run(verify::verify).await
    }

    async fn statistics(&self) -> Result<Statistics, StoreError> {
        self.run(read::statistics).await
    }
}
