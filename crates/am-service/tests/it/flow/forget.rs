//! Forgetting memories and sessions.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::{InvalidValue, StoreId, Verb};
use am_service::{Remember, ServiceError};

use super::KIND;
use crate::support::{Fixture, caller, forty_words, found, project, request, session};

#[tokio::test]
async fn forgetting_tells_whether_it_was_there() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let saved = fixture.save("s", "the parser keeps spans").await;
    fixture.save("s", "a sibling saved in the same breath").await;
    assert!(fixture.service.forget(&caller(), &saved.memory_id).await.unwrap());
    assert!(!fixture.service.forget(&caller(), &saved.memory_id).await.unwrap());
    assert_eq!(fixture.search("parser").await.hits, []);
    assert_eq!(found(&fixture.search("sibling").await), ["a sibling saved in the same breath"]);
    let counts = fixture.service.counts(&project()).await.unwrap();
    assert_eq!((counts.memories, counts.sessions), (1, 1));
    // The text can be saved again, as a new row.
    let again = fixture.save("s", "the parser keeps spans").await;
    assert!(!again.deduped && again.memory_id != saved.memory_id);
}

#[tokio::test]
async fn a_governed_delete_gives_a_receipt_and_logs_its_reason() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let saved = fixture.save("s", "superseded").await;
    let service = &fixture.service;
    for reason in ["", " \n "] {
        let refused = service.delete(&caller(), &saved.memory_id, reason).await;
        assert_eq!(
            refused,
            Err(ServiceError::Invalid(InvalidValue::TooShort { field: "reason", minimum: 1 }))
        );
    }
    // White space counts before it is collapsed.
    let padded = format!("x{}", " ".repeat(1_000));
    assert!(service.delete(&caller(), &saved.memory_id, &padded).await.is_err());

    let receipt = service.delete(&caller(), &saved.memory_id, "  superseded \n by  policy  ").await.unwrap();
    let receipt = receipt.unwrap();
    assert_eq!(receipt.memory_id, saved.memory_id);
    let log = fixture.store.log_page(StoreId(0), 10).await.unwrap();
    let last = &log.last().unwrap().entry;
    assert_eq!((last.verb, last.reason.as_deref()), (Verb::Delete, Some("superseded by policy")));
    assert_eq!(last.at, receipt.deleted_at);
    assert_eq!(service.delete(&caller(), &saved.memory_id, "again").await.unwrap(), None);
}

#[tokio::test]
async fn a_session_takes_its_parts_of_merged_memories_along() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let row = fixture.merged(&["s1", "s2"]).await;
    fixture.save("s2", "something of its own").await;
    let words = forty_words("zeta");

    let forgotten = fixture.service.forget_session(&caller(), &project(), &session("s2")).await.unwrap();
    assert_eq!((forgotten.memories.len(), &forgotten.rewritten), (1, &vec![row]));
    assert_eq!(fixture.contents("s1").await, [format!("{words} rares1")]);
    assert_eq!(fixture.search("rares2").await.hits, []);
    assert_eq!(fixture.search("rares1").await.hits.len(), 1);
    assert_eq!(fixture.search("something").await.hits, []);
    assert!(!format!("{:?}", fixture.memories().await).contains("rares2"));
    assert_eq!(fixture.service.sessions(&project(), 10).await.unwrap().len(), 1);
    let nothing = fixture.service.forget_session(&caller(), &project(), &session("s2")).await.unwrap();
    assert!(nothing.is_empty());
}

#[tokio::test]
async fn the_first_session_of_a_merged_memory_can_go_too() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    fixture.merged(&["s1", "s2"]).await;
    fixture.service.forget_session(&caller(), &project(), &session("s1")).await.unwrap();
    assert_eq!(fixture.search("rares1").await.hits, []);
    assert_eq!(found(&fixture.search("rares2").await), [format!("{} rares2", forty_words("zeta"))]);
    // What is left is a text like any other: repeated, it is known.
    let again = fixture.save("s3", &format!("{} rares2", forty_words("zeta"))).await;
    assert!(again.deduped);
}

/// Events that a hook could not deliver in time.
struct Waiting(std::sync::Mutex<Vec<Remember>>);

#[async_trait::async_trait]
impl am_service::Inbox for Waiting {
    async fn take_in(&self, service: &am_service::Service) {
        let waiting = std::mem::take(&mut *self.0.lock().unwrap());
        for request in waiting {
            service.remember(&caller(), request).await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_waits_outside_can_not_bring_back_what_is_forgotten() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let text = "captured before it was forgotten";
    let id = fixture.save("s", text).await.memory_id;
    let waiting = Arc::new(Waiting(vec![request("s", text)].into()));
    fixture.service.set_inbox(waiting.clone());
    assert!(fixture.service.forget(&caller(), &id).await.unwrap());
    assert!(waiting.0.lock().unwrap().is_empty());
    assert!(fixture.contents("s").await.is_empty());

    fixture.save("s", text).await;
    waiting.0.lock().unwrap().push(request("s", text));
    fixture.service.forget_session(&caller(), &project(), &session("s")).await.unwrap();
    assert!(waiting.0.lock().unwrap().is_empty());
    assert!(fixture.contents("s").await.is_empty());
}
