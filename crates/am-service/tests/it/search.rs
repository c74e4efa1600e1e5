//! Searching: scope, TTL, over-fetch, recall boost, signals.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_embed::embedder::{Cost, EmbedError, Embedder, EmbedderId};
use am_model::{Importance, MemoryId, Source};
use am_service::{Mode, Remember, Search, Service, ServiceError, Settings, SmartSearch, SystemClock};
use am_store::StoreError;
use am_store::testkit::MemoryStore;

use crate::support::{
    DAY, Fixture, caller, concepts, found, project, request, signals, ttl_of_30_days, without_merging,
};

#[tokio::test]
async fn every_arm_finds_its_own() {
    let fixture = Fixture::new(Profile::Default).await;
    fixture.save("s", "the parser keeps spans").await;
    let tagged =
        Remember { concepts: concepts(&["storage"]), ..request("s", "write-ahead logs are truncated") };
    fixture.service.remember(&caller(), tagged).await.unwrap();

    let keyword = fixture.search("parser").await;
    assert_eq!(keyword.mode, Mode::Bm25);
    assert_eq!(found(&keyword), ["the parser keeps spans"]);
    assert_eq!(keyword.hits[0].source, Source::Text);
    let hybrid = fixture.smart_search("parser", &["storage"]).await;
    assert_eq!(hybrid.mode, Mode::Hybrid);
    assert_eq!(hybrid.hits.len(), 2);
    assert_eq!(signals(&hybrid), [] as [&str; 0]);
    assert_eq!((Mode::Bm25.as_str(), Mode::Hybrid.as_str()), ("bm25", "hybrid"));
}

#[tokio::test]
async fn projects_never_meet() {
    let fixture = Fixture::new(Profile::Default).await;
    fixture.save("s", "the parser keeps spans").await;
    let elsewhere = am_model::Project::new("P").unwrap();
    let search = Search { query: "parser".to_owned(), project: elsewhere.clone(), limit: 10 };
    assert_eq!(fixture.service.search(search).await.hits, []);
    let search = SmartSearch {
        query: "parser".to_owned(),
        concepts: concepts(&["parser"]),
        project: elsewhere,
        limit: 10,
    };
    assert_eq!(fixture.service.smart_search(search).await.hits, []);
}

#[tokio::test]
async fn the_default_profile_fills_the_limit_with_live_rows() {
    let settings = Settings { merge_threshold: None, ..ttl_of_30_days() };
    for (profile, expected) in [(Profile::Contract, 0), (Profile::Default, 3)] {
        let fixture = Fixture::with(profile, settings).await;
        for n in 0..3 {
            fixture.save("old", &format!("deploy {n}")).await;
        }
        fixture.clock.advance(31 * DAY);
        for n in 3..6 {
            fixture.save("new", &format!("deploy {n} with a longer text")).await;
        }
        let search = Search { query: "deploy".to_owned(), project: project(), limit: 3 };
        let results = fixture.service.search(search).await;
        assert_eq!(results.hits.len(), expected, "{profile:?}");
        assert_eq!(signals(&results), ["ttl: hidden 3 expired rows"], "{profile:?}");
    }
}

#[tokio::test]
async fn listings_hide_expired_rows_in_the_default_profile_only() {
    for (profile, expected) in [(Profile::Contract, 1), (Profile::Default, 0)] {
        let fixture = Fixture::with(profile, ttl_of_30_days()).await;
        fixture.save("old", "an old text").await;
        fixture.clock.advance(31 * DAY);
        assert_eq!(fixture.contents("old").await.len(), expected, "{profile:?}");
    }
}

#[tokio::test]
async fn recalls_break_ties_in_the_contract_profile_only() {
    for (profile, expected) in [(Profile::Contract, "zz x"), (Profile::Default, "of another kind")] {
        let fixture = Fixture::with(profile, without_merging()).await;
        let recalled = Remember { importance: Some(Importance::new(0.5).unwrap()), ..request("s", "zz x") };
        let other = Remember {
            importance: Some(Importance::new(0.6).unwrap()),
            concepts: concepts(&["k"]),
            ..request("s", "of another kind")
        };
        fixture.service.remember(&caller(), recalled).await.unwrap();
        fixture.service.remember(&caller(), other).await.unwrap();
        for _ in 0..3 {
            fixture.search("zz").await;
        }
        // One row is first in the text arm, the other in the concept arm; `x` has nothing to embed.
        let results = fixture.smart_search("x", &["k"]).await;
        assert_eq!(results.hits[0].score, results.hits[1].score, "{profile:?}");
        assert_eq!(found(&results)[0], expected, "{profile:?}");
    }
}

#[tokio::test]
async fn a_query_without_words_leaves_the_vector_arm_out_silently() {
    for profile in [Profile::Contract, Profile::Default] {
        let fixture = Fixture::new(profile).await;
        fixture.save("s", "some text").await;
        for query in ["", " ", "!!!", "*", "\"", "\0"] {
            let results = fixture.smart_search(query, &[]).await;
            assert_eq!((results.hits.len(), signals(&results).len()), (0, 0), "{query:?}");
        }
    }
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

#[tokio::test]
async fn verbs_can_run_on_any_thread() {
    fn check<T: Send>(value: T) -> T {
        value
    }
    let fixture = Fixture::new(Profile::Default).await;
    let service = &fixture.service;
    check(service.remember(&caller(), request("s", "some text"))).await.unwrap();
    let search = SmartSearch { query: "text".to_owned(), concepts: vec![], project: project(), limit: 10 };
    check(service.smart_search(search)).await;
    let session = am_model::SessionId::new("s").unwrap();
    check(service.summarize(&caller(), &project(), &session, 10, false)).await.unwrap();
    check(service.forget_session(&caller(), &project(), &session)).await.unwrap();
    check(service.export::<ServiceError>(&am_store::Scope::AllProjects, |_| Ok(()))).await.unwrap();
    check(service.purge(&caller(), &project(), service.now(), |_| ())).await.unwrap();
    check(service.recap(am_service::Digest { project: project(), session_id: None, limit: 1 })).await;
}
