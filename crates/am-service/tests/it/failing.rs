//! Stores and embedders that fail.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_embed::embedder::{Cost, EmbedError, Embedder, EmbedderId};
use am_model::MemoryId;
use am_service::{Service, ServiceError, Settings, SmartSearch, SystemClock};
use am_store::StoreError;
use am_store::testkit::MemoryStore;

use crate::support::{Fixture, caller, project, request, signals};

#[tokio::test]
async fn a_store_that_fails_fails_the_save_and_keeps_nothing() {
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let fixture = Fixture::over(store.clone(), Settings::default()).await;
    store.fail_next(StoreError::Full);
    let failed = fixture.service.remember(&caller(), request("s", "text")).await;
    assert_eq!(failed, Err(ServiceError::Store(StoreError::Full)));
    assert_eq!(failed.unwrap_err().note(), "Full: the disk is full: nothing was written");
    assert_eq!(fixture.memories().await, []);
}

#[tokio::test]
async fn failed_arms_become_signals() {
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let fixture = Fixture::over(store.clone(), Settings::default()).await;
    fixture.save("s", "some text").await;
    store.fail_always(Some(StoreError::Busy { waited_ms: 5 }));
    let note = "Busy: the store is busy: gave up after 5 ms";
    let results = fixture.search("text").await;
    assert_eq!((results.hits.len(), signals(&results)), (0, vec![&*format!("text: {note}")]));
    let results = fixture.smart_search("text", &["some"]).await;
    assert_eq!(results.hits, []);
    let expected = [format!("vector: {note}"), format!("text: {note}"), format!("graph: {note}")];
    assert_eq!(signals(&results), expected);
    store.fail_always(None);
    assert_eq!(fixture.smart_search("text", &[]).await.hits.len(), 1);
}

struct Unreachable(EmbedderId);

impl Embedder for Unreachable {
    fn id(&self) -> &EmbedderId {
        &self.0
    }

    fn cost(&self) -> Cost {
        Cost::Remote
    }

    fn fusion_weight(&self) -> f32 {
        1.0
    }

    fn embed_documents(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedError> {
        Err(EmbedError::Unavailable("no route to http://10.0.0.1/v1".to_owned()))
    }

    fn embed_query(&self, _: &str) -> Result<Vec<f32>, EmbedError> {
        Err(EmbedError::Unavailable("no route to http://10.0.0.1/v1".to_owned()))
    }
}

async fn with_unreachable_embedder(store: Arc<MemoryStore>) -> Service {
    let id = EmbedderId::new("http", "far-away", "", 3).unwrap();
    let embedder = Arc::new(Unreachable(id));
    Service::open(store, embedder, Arc::new(SystemClock), Settings::default()).await.unwrap()
}

#[tokio::test]
async fn an_embedder_that_fails_is_named_without_its_address() {
    let id = EmbedderId::new("http", "far-away", "", 3).unwrap();
    let service =
        with_unreachable_embedder(Arc::new(MemoryStore::with_embedder(Profile::Default, &id))).await;
    let failed = service.remember(&caller(), request("s", "some text")).await.unwrap_err();
    assert_eq!(failed.note(), "Embedder: the embedder is unavailable");
    assert!(matches!(failed, ServiceError::Embed(_)));
    let search = SmartSearch { query: "text".to_owned(), concepts: vec![], project: project(), limit: 10 };
    let results = service.smart_search(search).await;
    assert_eq!(signals(&results), ["vector: Embedder: the embedder is unavailable"]);
}

#[tokio::test]
async fn a_store_of_another_embedder_works_by_keyword_and_says_so() {
    let store = Arc::new(MemoryStore::with_embedder(
        Profile::Default,
        &EmbedderId::new("http", "far-away", "", 3).unwrap(),
    ));
    let fixture = Fixture::over(store, Settings::default()).await;
    let saved = fixture.save("s", "the parser keeps spans").await;
    assert_eq!(fixture.memories().await[0].vector, None);
    let results = fixture.smart_search("parser", &[]).await;
    let ids: Vec<&MemoryId> = results.hits.iter().map(|hit| &hit.memory.memory_id).collect();
    assert_eq!(ids, [&saved.memory_id]);
    assert!(signals(&results)[0].starts_with("vector: EmbedderMismatch: "), "{:?}", results.signals);
}
