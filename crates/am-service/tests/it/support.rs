//! Stores, a clock that tests move, and short ways to save and look.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_model::{Concept, Instant, Memory, MemoryId, Origin, Project, SessionId, StoreId};
use am_service::{
    Caller, Clock, Remember, Remembered, Search, SearchResults, Service, Settings, SmartSearch, Summary, Ttl,
};
use am_store::testkit::MemoryStore;
use am_store::{Scope, Store, StoredMemory, StoredObservation};
use am_store_sqlite::{OpenOptions, SqliteStore, Synchronous};
use tempfile::TempDir;

/// 2031-06-15T12:00:00.000Z.
const START: i64 = 1_939_291_200_000;
pub(crate) const DAY: i64 = 86_400_000;

/// A clock that goes one millisecond further at each look.
#[derive(Debug)]
pub(crate) struct TestClock(AtomicI64);

impl TestClock {
    pub(crate) fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        Instant::from_millis(self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// Which store a test runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Memory,
    Sqlite,
}

/// A service, what is below it, and what keeps that alive.
pub(crate) struct Fixture {
    directory: Option<Arc<TempDir>>,
    pub(crate) service: Service,
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<TestClock>,
}

impl Fixture {
    pub(crate) async fn over(store: Arc<dyn Store>, settings: Settings) -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(START)));
        let embedder = Arc::new(HashEmbedder::new());
        let service = Service::open(store.clone(), embedder, clock.clone(), settings).await.unwrap();
        Self { directory: None, service, store, clock }
    }

    pub(crate) async fn new(kind: Kind, profile: Profile) -> Self {
        Self::with(kind, profile, Settings::default()).await
    }

    pub(crate) async fn with(kind: Kind, profile: Profile, settings: Settings) -> Self {
        match kind {
            Kind::Memory => Self::over(Arc::new(MemoryStore::new(profile)), settings).await,
            Kind::Sqlite => Self::on_disk(Arc::new(tempfile::tempdir().unwrap()), profile, settings).await,
        }
    }

    async fn on_disk(directory: Arc<TempDir>, profile: Profile, settings: Settings) -> Self {
        // Tests don't end with the power.
        let options = OpenOptions { profile, synchronous: Synchronous::Normal, ..OpenOptions::default() };
        let store = SqliteStore::open(directory.path(), options).unwrap();
        Self { directory: Some(directory), ..Self::over(Arc::new(store), settings).await }
    }

    /// Opens the same store as another process would.
    pub(crate) async fn beside(&self) -> Self {
        let profile = self.service.identity().profile;
        match &self.directory {
            Some(directory) => Self::on_disk(directory.clone(), profile, *self.service.settings()).await,
            None => Self::over(self.store.clone(), *self.service.settings()).await,
        }
    }

    /// Saves `content` in project `p`.
    pub(crate) async fn save(&self, session: &str, content: &str) -> Remembered {
        self.service.remember(&caller(), request(session, content)).await.unwrap()
    }

    /// Saves one text for each session, ending in `rare` and its name; all of them meet in one row.
    pub(crate) async fn merged(&self, sessions: &[&str]) -> MemoryId {
        let words = forty_words("zeta");
        let mut row = None;
        for name in sessions {
            let saved = self.save(name, &format!("{words} rare{name}")).await;
            assert_eq!(saved.memory_id, *row.get_or_insert(saved.memory_id.clone()));
        }
        row.unwrap()
    }

    /// Saves three texts in session `s`.
    pub(crate) async fn seed(&self) -> Vec<MemoryId> {
        let mut ids = vec![];
        for text in ["chose the wal mode", "the flux capacitor was rewired", "ordinary chatter"] {
            ids.push(self.save("s", text).await.memory_id);
        }
        ids
    }

    pub(crate) async fn summarize(&self, dry_run: bool) -> Summary {
        self.service.summarize(&caller(), &project(), &session("s"), 100, dry_run).await.unwrap()
    }

    pub(crate) async fn search(&self, query: &str) -> SearchResults {
        self.service.search(Search { query: query.to_owned(), project: project(), limit: 10 }).await
    }

    pub(crate) async fn smart_search(&self, query: &str, concepts: &[&str]) -> SearchResults {
        let concepts = concepts.iter().map(|name| Concept::new(name).unwrap()).collect();
        let query = query.to_owned();
        self.service.smart_search(SmartSearch { query, concepts, project: project(), limit: 10 }).await
    }

    pub(crate) async fn contents(&self, session: &str) -> Vec<String> {
        let memories =
            self.service.session_memories(&project(), &SessionId::new(session).unwrap(), 100).await;
        memories.unwrap().into_iter().map(|memory| memory.content).collect()
    }

    /// Every memory of project `p`, by store id.
    pub(crate) async fn memories(&self) -> Vec<StoredMemory> {
        self.store.memories_page(&Scope::Project(project()), StoreId(0), 10_000).await.unwrap()
    }

    pub(crate) async fn observations(&self) -> Vec<StoredObservation> {
        self.store.observations_page(&Scope::Project(project()), StoreId(0), 10_000).await.unwrap()
    }

    pub(crate) async fn memory(&self, saved: &Remembered) -> Memory {
        self.store.memories(std::slice::from_ref(&saved.memory_id)).await.unwrap().remove(0)
    }
}

pub(crate) fn ttl_of_30_days() -> Settings {
    Settings { ttl: Ttl::parse(Some("30")), ..Settings::default() }
}

pub(crate) fn without_merging() -> Settings {
    Settings { merge_threshold: None, ..Settings::default() }
}

pub(crate) fn caller() -> Caller {
    Caller::library()
}

pub(crate) fn project() -> Project {
    Project::new("p").unwrap()
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub(crate) fn request(session_id: &str, content: &str) -> Remember {
    Remember {
        session_id: Some(session(session_id)),
        origin: Origin::new("rest").unwrap(),
        ..Remember::new(project(), content).unwrap()
    }
}

pub(crate) fn concepts(names: &[&str]) -> Vec<Concept> {
    names.iter().map(|name| Concept::new(name).unwrap()).collect()
}

pub(crate) fn found(results: &SearchResults) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

pub(crate) fn signals(results: &SearchResults) -> Vec<&str> {
    results.signals.iter().map(|signal| signal.0.as_str()).collect()
}

/// Forty words that no other text of a test has.
pub(crate) fn forty_words(theme: &str) -> String {
    (0..40).map(|n| format!("{theme}{n}")).collect::<Vec<_>>().join(" ")
}
