//! Requests without a network.

use std::sync::{Arc, Mutex};

use am_api::{Answered, ApiSettings, Deleted, Failed, Observer, Router, router};
use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_service::{Service, Settings, SystemClock};
use am_store::testkit::MemoryStore;
use am_store::{Store, StoreError};
use am_store_sqlite::{OpenOptions, SqliteStore};
use bytes::Bytes;
use http::{HeaderMap, Request};
use http_body_util::{BodyExt as _, Full};
use tower::Service as _;

use crate::json::Json;

/// A reply as a client has it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    pub(crate) fn json(&self) -> Json {
        Json::parse(self.text())
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }
}

/// Writes down what the surface tells.
#[derive(Debug, Default)]
pub(crate) struct Notes(Mutex<Vec<String>>);

impl Notes {
    pub(crate) fn all(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    fn add(&self, note: String) {
        self.0.lock().unwrap().push(note);
    }
}

impl Observer for Notes {
    fn answered(&self, request: &Answered<'_>) {
        self.add(format!("{} {} {} via {:?}", request.method, request.path, request.status, request.route));
    }

    fn failed(&self, failure: &Failed<'_>) {
        self.add(format!("{} {} -> {}: {}", failure.method, failure.path, failure.status, failure.note));
    }

    fn deleted(&self, deletion: &Deleted<'_>) {
        self.add(format!("deleted {} for {}", deletion.receipt.memory_id, deletion.reason));
    }
}

pub(crate) async fn service(store: Arc<dyn Store>) -> Service {
    let embedder = Arc::new(HashEmbedder::new());
    Service::open(store, embedder, Arc::new(SystemClock), Settings::default()).await.unwrap()
}

/// A surface over a fresh store in memory.
pub(crate) async fn over_memory(settings: ApiSettings) -> Router {
    router(service(Arc::new(MemoryStore::new(Profile::Contract))).await, settings)
}

/// A surface over a fresh embedded store, and the directory it lives in.
pub(crate) async fn over_sqlite(settings: ApiSettings) -> (Router, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let options = OpenOptions { profile: Profile::Contract, ..OpenOptions::default() };
    let store = SqliteStore::open(directory.path(), options).unwrap();
    (router(service(Arc::new(store)).await, settings), directory)
}

/// A surface whose store can't be reached.
pub(crate) async fn over_nothing(settings: ApiSettings) -> Router {
    let store = Arc::new(MemoryStore::new(Profile::Contract));
    let service = service(Arc::clone(&store) as Arc<dyn Store>).await;
    store.fail_always(Some(StoreError::Unavailable { detail: "down for a test".to_owned() }));
    router(service, settings)
}

/// Begins a request to a server that is named by a loopback name.
pub(crate) fn request(method: &str, uri: &str) -> http::request::Builder {
    Request::builder().method(method).uri(uri).header("host", "localhost:3111")
}

pub(crate) fn get(uri: &str) -> Request<Full<Bytes>> {
    request("GET", uri).body(Full::default()).unwrap()
}

pub(crate) fn post(uri: &str, body: impl Into<Bytes>) -> Request<Full<Bytes>> {
    request("POST", uri).header("content-type", "application/json").body(Full::new(body.into())).unwrap()
}

pub(crate) async fn send<B>(router: &Router, request: Request<B>) -> Reply
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
    B::Error: Send,
{
    let response = router.clone().call(request).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    Reply { status: head.status.as_u16(), headers: head.headers, body }
}
