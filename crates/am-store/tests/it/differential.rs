//! The comparison itself: two doubles agree over every outcome, and a difference is found out.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_store::testkit::{MemoryStore, differential};

#[tokio::test]
async fn two_doubles_agree_over_every_outcome() {
    const OUTCOMES: [&str; 12] = [
        "Inserted",
        "Deduplicated",
        "Revived",
        "Repeated",
        "NearDuplicates",
        "Merged",
        "Changed",
        "KeyTaken",
        "Forgotten",
        "Observed",
        "Imported",
        "Err",
    ];
    let mut seen = std::collections::BTreeMap::<String, usize>::new();
    for (profile, seed) in [(Profile::Default, 1), (Profile::Contract, 2)] {
        let (store, oracle) = (MemoryStore::new(profile), MemoryStore::new(profile));
        for (name, count) in differential(Arc::new(store), Arc::new(oracle), seed, 800).await {
            *seen.entry(name).or_default() += count;
        }
    }
    for outcome in OUTCOMES {
        assert!(seen.contains_key(outcome), "{outcome} never came about: {seen:?}");
    }
}

#[tokio::test]
#[should_panic(expected = "seed 3, step 0")]
async fn a_difference_is_found_out() {
    let store = Arc::new(MemoryStore::new(Profile::Default));
    let ahead = MemoryStore::new(Profile::Default);
    differential(store.clone(), Arc::new(MemoryStore::new(Profile::Default)), 5, 30).await;
    differential(store, Arc::new(ahead), 3, 30).await;
}
