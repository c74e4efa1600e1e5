//! Stores, a clock that tests move, and short ways to save and look.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_model::StoreId;
use am_model::{Concept, Instant, Memory, Origin, Project, SessionId};
use am_service::{
    Caller, Clock, Remember, Remembered, Search, SearchResults, Service, Settings, SmartSearch, Ttl,
};
use am_store::testkit::MemoryStore;
use am_store::{Scope, Store, StoredMemory, StoredObservation};

/// 2031-06-15T12:00:00.000Z.
const START: i64 = 1_939_291_200_000;
pub const DAY: i64 = 86_400_000;

/// A clock that goes one millisecond further at each look.
#[derive(Debug)]
pub struct TestClock(AtomicI64);

impl TestClock {
    pub fn advance(&self, millis: i64) {
        self.0.fetch_add(millis, Ordering::SeqCst);
    }
}

impl Clock for TestClock {
    fn now(&self) -> Instant {
        Instant::from_millis(self.0.fetch_add(1, Ordering::SeqCst))
    }
}

/// A service, what is below it, and what keeps that alive.
pub struct Fixture {
    pub service: Service,
    pub store: Arc<dyn Store>,
    pub clock: Arc<TestClock>,
}

impl Fixture {
    pub async fn over(store: Arc<dyn Store>, settings: Settings) -> Self {
        let clock = Arc::new(TestClock(AtomicI64::new(START)));
        let embedder = Arc::new(HashEmbedder::new());
        let service = Service::open(store.clone(), embedder, clock.clone(), settings).await.unwrap();
        Self { service, store, clock }
    }

    pub async fn new(profile: Profile) -> Self {
        Self::with(profile, Settings::default()).await
    }

    pub async fn with(profile: Profile, settings: Settings) -> Self {
        Self::over(Arc::new(MemoryStore::new(profile)), settings).await
    }

    /// Saves `content` in project `p`.
    pub async fn save(&self, session: &str, content: &str) -> Remembered {
        self.service.remember(&caller(), request(session, content)).await.unwrap()
    }

    pub async fn search(&self, query: &str) -> SearchResults {
        self.service.search(Search { query: query.to_owned(), project: project(), limit: 10 }).await
    }

    pub async fn smart_search(&self, query: &str, concepts: &[&str]) -> SearchResults {
        let concepts = concepts.iter().map(|name| Concept::new(name).unwrap()).collect();
        let query = query.to_owned();
        self.service.smart_search(SmartSearch { query, concepts, project: project(), limit: 10 }).await
    }

    pub async fn contents(&self, session: &str) -> Vec<String> {
        let memories =
            self.service.session_memories(&project(), &SessionId::new(session).unwrap(), 100).await;
        memories.unwrap().into_iter().map(|memory| memory.content).collect()
    }

    /// Every memory of project `p`, by store id.
    pub async fn memories(&self) -> Vec<StoredMemory> {
        self.store.memories_page(&Scope::Project(project()), StoreId(0), 10_000).await.unwrap()
    }

    pub async fn observations(&self) -> Vec<StoredObservation> {
        self.store.observations_page(&Scope::Project(project()), StoreId(0), 10_000).await.unwrap()
    }

    pub async fn memory(&self, saved: &Remembered) -> Memory {
        self.store.memories(std::slice::from_ref(&saved.memory_id)).await.unwrap().remove(0)
    }
}

pub fn ttl_of_30_days() -> Settings {
    Settings { ttl: Ttl::parse(Some("30")), ..Settings::default() }
}

pub fn without_merging() -> Settings {
    Settings { merge_threshold: None, ..Settings::default() }
}

pub fn caller() -> Caller {
    Caller::library()
}

pub fn project() -> Project {
    Project::new("p").unwrap()
}

pub fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

pub fn request(session_id: &str, content: &str) -> Remember {
    Remember {
        session_id: Some(session(session_id)),
        origin: Origin::new("rest").unwrap(),
        ..Remember::new(project(), content).unwrap()
    }
}

pub fn concepts(names: &[&str]) -> Vec<Concept> {
    names.iter().map(|name| Concept::new(name).unwrap()).collect()
}

pub fn found(results: &SearchResults) -> Vec<&str> {
    results.hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

pub fn signals(results: &SearchResults) -> Vec<&str> {
    results.signals.iter().map(|signal| signal.0.as_str()).collect()
}

/// Forty words that no other text of a test has.
pub fn forty_words(theme: &str) -> String {
    (0..40).map(|n| format!("{theme}{n}")).collect::<Vec<_>>().join(" ")
}
