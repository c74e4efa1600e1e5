//! What only the double can do: fail when told to.

use am_embed::analysis::Profile;
use am_model::{Project, StoreId};
use am_store::testkit::conformance::{COUNT, cases};
use am_store::testkit::{MemoryStore, conformance};
use am_store::{LiveMemory, Scope, SearchQuery, Store, StoreError};

fn query() -> SearchQuery {
    SearchQuery {
        live: LiveMemory { project: Project::unnamed(), expired_before: None },
        per_arm: 10,
        terms: Some(vec![]),
        vector: None,
        concepts: vec![],
    }
}

#[tokio::test]
async fn a_double_fails_once_or_until_told_otherwise() {
    let store = MemoryStore::new(Profile::Default);
    store.fail_next(StoreError::Full);
    assert_eq!(store.counts(&Project::unnamed()).await, Err(StoreError::Full));
    assert!(store.counts(&Project::unnamed()).await.is_ok());

    let busy = StoreError::Busy { waited_ms: 7 };
    store.fail_always(Some(busy.clone()));
    for _ in 0..2 {
        let reply = store.search(query()).await;
        assert_eq!(
            (reply.lexical, reply.vector),
            (Err(busy.clone()), Ok(vec![])),
            "arms that were asked fail"
        );
        assert_eq!(store.memories_page(&Scope::AllProjects, StoreId(0), 1).await, Err(busy.clone()));
    }
    store.fail_next(StoreError::ReadOnly);
    assert_eq!(store.verify().await, Err(StoreError::ReadOnly), "the next failure comes first");
    store.fail_always(None);
    assert!(store.search(query()).await.lexical.is_ok());
}

#[test]
fn case_names_are_distinct_and_counted() {
    let names: std::collections::BTreeSet<&str> = cases().iter().map(|case| case.name).collect();
    assert_eq!(names.len(), COUNT);
    assert_eq!(conformance::COUNT, cases().len());
}
