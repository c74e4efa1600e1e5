//! Searching: scope, TTL, over-fetch, recall boost, signals.

use am_embed::analysis::Profile;
use am_model::{Importance, Source};
use am_service::{Mode, Remember, Search, ServiceError, Settings, SmartSearch};

use super::KIND;
use crate::support::{
    DAY, Fixture, caller, concepts, found, project, request, signals, ttl_of_30_days, without_merging,
};

#[tokio::test]
async fn every_arm_finds_its_own() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
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
    let fixture = Fixture::new(KIND, Profile::Default).await;
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
        let fixture = Fixture::with(KIND, profile, settings).await;
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
        let fixture = Fixture::with(KIND, profile, ttl_of_30_days()).await;
        fixture.save("old", "an old text").await;
        fixture.clock.advance(31 * DAY);
        assert_eq!(fixture.contents("old").await.len(), expected, "{profile:?}");
    }
}

#[tokio::test]
async fn recalls_break_ties_in_the_contract_profile_only() {
    for (profile, expected) in [(Profile::Contract, "zz x"), (Profile::Default, "of another kind")] {
        let fixture = Fixture::with(KIND, profile, without_merging()).await;
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
        let fixture = Fixture::new(KIND, profile).await;
        fixture.save("s", "some text").await;
        for query in ["", " ", "!!!", "*", "\"", "\0"] {
            let results = fixture.smart_search(query, &[]).await;
            assert_eq!((results.hits.len(), signals(&results).len()), (0, 0), "{query:?}");
        }
    }
}

#[tokio::test]
async fn verbs_can_run_on_any_thread() {
    fn check<T: Send>(value: T) -> T {
        value
    }
    let fixture = Fixture::new(KIND, Profile::Default).await;
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
