//! The suite on the double.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use am_embed::analysis::Profile;
use am_store::Store;
use am_store::testkit::MemoryStore;
use am_store::testkit::conformance::Factory;
use async_trait::async_trait;

/// Stores by name: a handle is one more pointer.
#[derive(Default)]
struct Stores(Mutex<HashMap<String, Arc<dyn Store>>>);

#[async_trait]
impl Factory for Stores {
    async fn make(&self, profile: Profile) -> (Arc<dyn Store>, String) {
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new(profile));
        let mut stores = self.0.lock().unwrap();
        let place = stores.len().to_string();
        stores.insert(place.clone(), Arc::clone(&store));
        (store, place)
    }

    async fn open(&self, place: &str) -> Arc<dyn Store> {
        Arc::clone(&self.0.lock().unwrap()[place])
    }
}

am_store::conformance_tests!(Stores::default());
