//! What capture hooks send: keys that make a retry harmless, and the time of the event.

use am_api::{ApiSettings, router};
use am_embed::analysis::Profile;
use am_model::StoreId;
use am_store::testkit::MemoryStore;
use am_store::{Scope, Store as _, StoredObservation};
use std::sync::Arc;

use crate::support::{Notes, Reply, post, send, service};

const BODY: &str =
    r#"{"content":"tool used: Grep","project":"p","sessionId":"s","origin":"hook:PostToolUse"}"#;

async fn deliver(store: &Arc<MemoryStore>, headers: &[(&'static str, &str)], body: &str) -> Reply {
    let router = router(service(Arc::clone(store) as _).await, ApiSettings::default());
    let mut request = post("/memory/remember", body.to_owned());
    for (name, value) in headers {
        let value = http::HeaderValue::from_bytes(value.as_bytes()).unwrap();
        request.headers_mut().append(*name, value);
    }
    send(&router, request).await
}

async fn evidence(store: &MemoryStore) -> Vec<StoredObservation> {
    store.observations_page(&Scope::AllProjects, StoreId(0), 100).await.unwrap()
}

fn store() -> Arc<MemoryStore> {
    Arc::new(MemoryStore::new(Profile::Default))
}

#[tokio::test]
async fn every_event_of_a_hook_is_evidence_though_its_text_is_saved_once() {
    let store = store();
    for key in ["host:PostToolUse:1", "host:PostToolUse:2", "host:PostToolUse:2"] {
        let reply = deliver(&store, &[("idempotency-key", key)], BODY).await;
        assert_eq!(reply.status, 201, "{}", reply.text());
    }
    let keys: Vec<String> = evidence(&store).await.into_iter().map(|row| row.observation.event_id).collect();
    assert_eq!(keys, ["host:PostToolUse:1", "host:PostToolUse:2"]);
    assert_eq!(store.counts(&am_model::Project::new("p").unwrap()).await.unwrap().memories, 1);
}

#[tokio::test]
async fn a_forwarded_event_keeps_its_time() {
    let store = store();
    let headers = [("idempotency-key", "delivery:1"), ("x-agent-memory-event-time", "1700000000123")];
    assert_eq!(deliver(&store, &headers, BODY).await.status, 201);
    assert_eq!(evidence(&store).await[0].observation.at.millis(), 1_700_000_000_123);
}

#[tokio::test]
async fn the_headers_mean_nothing_to_other_origins() {
    let store = store();
    let body = r#"{"content":"a note","origin":"script"}"#;
    let headers = [("idempotency-key", "\u{fc}"), ("x-agent-memory-event-time", "soon")];
    assert_eq!(deliver(&store, &headers, body).await.status, 201);
    assert_eq!(evidence(&store).await, []);
}

#[tokio::test]
async fn an_unusable_key_or_time_is_refused_and_changes_nothing() {
    let store = store();
    let long = "k".repeat(201);
    for (headers, expected) in [
        (
            &[("idempotency-key", "")][..],
            "idempotency-key: the idempotency key must be 1 to 200 printable characters",
        ),
        (
            &[("idempotency-key", &*long)],
            "idempotency-key: the idempotency key must be 1 to 200 printable characters",
        ),
        (
            &[("idempotency-key", "k"), ("x-agent-memory-event-time", "1e3")],
            "x-agent-memory-event-time: it must be milliseconds since 1970",
        ),
    ] {
        let reply = deliver(&store, headers, BODY).await;
        let body = format!(r#"{{"error":"invalid_request","details":"{expected}"}}"#);
        assert_eq!((reply.status, reply.text()), (400, &*body));
    }
    assert_eq!(store.statistics().await.unwrap().memories, 0);
}

#[tokio::test]
async fn a_governed_delete_is_told_with_its_reason_on_one_line() {
    let notes = Arc::new(Notes::default());
    let settings = ApiSettings { observer: Arc::clone(&notes) as _, ..ApiSettings::default() };
    let router = router(service(store()).await, settings);
    let saved = send(&router, post("/memory/remember", r#"{"content":"to be removed"}"#)).await.json();
    let id = saved.at("id").text();
    let body = format!(r#"{{"memoryId":"{id}","reason":" out \n of date "}}"#);
    assert_eq!(send(&router, post("/memory/delete", body.clone())).await.status, 200);
    assert_eq!(send(&router, post("/memory/delete", body)).await.status, 404);
    let deleted: Vec<String> = notes.all().into_iter().filter(|note| note.starts_with("deleted")).collect();
    assert_eq!(deleted, [format!("deleted {id} for out of date")]);
}
