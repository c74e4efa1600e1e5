//! The same over the embedded store.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_service::{Service, Settings, SystemClock};
use am_store_sqlite::{OpenOptions, SqliteStore};
use serde_json::json;

use crate::support::{Client, body};

async fn client(directory: &std::path::Path, profile: Profile) -> Client {
    let store = SqliteStore::open(directory, OpenOptions { profile, ..OpenOptions::default() }).unwrap();
    let embedder = Arc::new(HashEmbedder::new());
    let service = Service::open(Arc::new(store), embedder, Arc::new(SystemClock), Settings::default());
    let mut client = Client::over(service.await.unwrap());
    client.initialize().await;
    client
}

#[tokio::test]
async fn two_clients_of_one_directory_see_each_other_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let mut one = client(directory.path(), Profile::Default).await;
    let mut other = client(directory.path(), Profile::Default).await;
    let saved = one.call("memory_save", json!({"content": "tokio parks on epoll", "project": "p"})).await;
    let found = other.call("memory_smart_search", json!({"query": "epoll", "project": "p"})).await;
    assert_eq!(body(&found)["results"][0]["memoryId"], body(&saved)["id"]);
    let forgotten = other.call("memory_forget", json!({"memoryId": body(&saved)["id"]})).await;
    assert_eq!(body(&forgotten), json!({"forgotten": true}));
    let found = one.call("memory_search", json!({"query": "epoll", "project": "p"})).await;
    assert_eq!(body(&found)["results"], json!([]));
    assert_eq!(body(&found)["signals"], json!([]));
}

#[tokio::test]
async fn the_profile_is_what_the_store_records() {
    let directory = tempfile::tempdir().unwrap();
    drop(client(directory.path(), Profile::Contract).await);
    let mut later = client(directory.path(), Profile::Default).await;
    let list = later.ask("tools/list", json!({})).await["result"]["tools"].clone();
    assert!(list[0].get("outputSchema").is_none(), "{list}");
    let saved = later.call("memory_save", json!({"content": "x y z claim"})).await;
    assert!(saved.get("structuredContent").is_none(), "{saved}");
}
