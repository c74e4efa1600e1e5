//! Random changes, against the store in memory.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_store::Store;
use am_store::testkit::conformance::Factory;
use am_store::testkit::{MemoryStore, differential};

use crate::conformance::Files;

async fn compare(projection_bytes: usize, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let profile = if seed % 2 == 0 { Profile::Default } else { Profile::Contract };
        let files = Files::new(projection_bytes);
        let (store, _) = files.make(profile).await;
        let oracle: Arc<dyn Store> = Arc::new(MemoryStore::new(profile));
        differential(store, oracle, seed, 150).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn projections_answer_as_the_store_in_memory() {
    compare(256 << 20, 0..6).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn scans_answer_as_the_store_in_memory() {
    compare(0, 100..104).await;
}
