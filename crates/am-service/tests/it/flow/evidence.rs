//! Events: kept as evidence, never counted twice.

use am_embed::analysis::Profile;
use am_model::{CaptureLevel, MemoryKind, Observation, Origin};
use am_service::{Event, Observed, Remember, Remembered, ServiceError};

use super::KIND;
use crate::support::{Fixture, caller, found, project, request, session};

fn hook(session_id: &str, content: &str, key: &str) -> Remember {
    Remember {
        origin: Origin::new("hook:PostToolUse").unwrap(),
        event: Some(Event { key: key.to_owned(), at: None, level: CaptureLevel::Minimal }),
        ..request(session_id, content)
    }
}

async fn save(fixture: &Fixture, request: Remember) -> Remembered {
    fixture.service.remember(&caller(), request).await.unwrap()
}

#[tokio::test]
async fn a_delivery_counts_once_and_a_repeated_text_is_history() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let first = save(&fixture, hook("s", "tool used: Grep", "event-1")).await;
    let again = save(&fixture, hook("s", "tool used: Grep", "event-1")).await;
    assert_eq!((again.memory_id == first.memory_id, again.deduped), (true, true));
    assert_eq!(fixture.observations().await.len(), 1);

    let next = save(&fixture, hook("s", "tool used: Grep", "event-2")).await;
    assert_eq!((next.memory_id == first.memory_id, next.deduped), (true, true));
    let evidence = fixture.observations().await;
    assert_eq!(evidence.len(), 2);
    assert!(evidence.iter().all(|stored| stored.memory_id.as_ref() == Some(&first.memory_id)));
    assert_eq!(evidence[0].observation.text.as_deref(), Some("tool used: Grep"));
    assert_eq!(fixture.memories().await.len(), 1);
}

#[tokio::test]
async fn a_repeated_delivery_after_forgetting_brings_nothing_back() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let first = save(&fixture, hook("s", "tool used: Grep", "event-1")).await;
    assert!(fixture.service.forget(&caller(), &first.memory_id).await.unwrap());
    let again = save(&fixture, hook("s", "tool used: Grep", "event-1")).await;
    assert_eq!((again.memory_id == first.memory_id, again.deduped), (true, true));
    assert_eq!(fixture.memories().await, []);
    assert!(fixture.observations().await.iter().all(|stored| stored.observation.text.is_none()));
}

#[tokio::test]
async fn events_count_for_hooks_and_imports_only() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let plain = Remember { origin: Origin::new("rest").unwrap(), ..hook("s", "a plain text", "bad\nkey") };
    save(&fixture, plain).await;
    assert_eq!(fixture.observations().await, []);
    let import =
        Remember { origin: Origin::new("import:user").unwrap(), ..hook("s", "an imported text", "line-1") };
    save(&fixture, import).await;
    assert_eq!(fixture.observations().await.len(), 1);
    for key in ["", "bad\nkey", &"k".repeat(201)] {
        let refused = fixture.service.remember(&caller(), hook("s", "tool used: Read", key)).await;
        assert_eq!(refused, Err(ServiceError::EventKey));
    }
    assert_eq!(fixture.memories().await.len(), 2);
}

#[tokio::test]
async fn fixed_lines_are_listed_and_ranked_by_the_contract_only() {
    for (profile, hits) in [(Profile::Contract, 1), (Profile::Default, 0)] {
        let fixture = Fixture::new(KIND, profile).await;
        save(&fixture, hook("s", "tool used: Grep", "event-1")).await;
        assert_eq!(fixture.contents("s").await, ["tool used: Grep"]);
        assert_eq!(fixture.search("grep").await.hits.len(), hits);
        assert_eq!(fixture.smart_search("grep", &[]).await.hits.len(), hits);
    }
}

#[tokio::test]
async fn captured_text_is_recalled() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let saved = save(&fixture, hook("s", "cargo test failed: linker not found", "event-1")).await;
    assert_eq!(fixture.memory(&saved).await.kind, MemoryKind::Observation);
    assert_eq!(found(&fixture.search("linker").await), ["cargo test failed: linker not found"]);
}

fn observation(key: &str, text: &str) -> Observation {
    Observation {
        project: project(),
        session_id: session("s"),
        event_id: key.to_owned(),
        origin: Origin::new("hook:Stop").unwrap(),
        at: am_model::Instant::from_millis(1_000),
        level: CaptureLevel::Minimal,
        text: Some(text.to_owned()),
    }
}

#[tokio::test]
async fn evidence_alone_makes_no_memory_and_does_not_block_one() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let batch = vec![observation("a", "one"), observation("b", "two"), observation("a", "one")];
    let observed = fixture.service.observe(&caller(), batch).await.unwrap();
    assert_eq!(observed, Observed { appended: 2, repeated: 1 });
    assert_eq!(fixture.memories().await, []);
    assert_eq!(
        fixture.service.observe(&caller(), vec![]).await.unwrap(),
        Observed { appended: 0, repeated: 0 }
    );
    let refused = fixture.service.observe(&caller(), vec![observation("", "x")]).await;
    assert_eq!(refused, Err(ServiceError::EventKey));

    // The same event, now with a text to remember: saved, and still one event.
    let saved = save(&fixture, hook("s", "what happened", "a")).await;
    assert!(!saved.deduped);
    assert_eq!(fixture.observations().await.len(), 2);
}

#[tokio::test]
async fn an_observation_can_be_forgotten_with_the_memory_that_rests_on_it() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let saved = save(&fixture, hook("s", "a captured secret", "event-1")).await;
    save(&fixture, hook("s", "another text", "event-2")).await;
    let forgotten = fixture.service.forget_observation(&caller(), &project(), "event-1").await.unwrap();
    assert_eq!((forgotten.memories, forgotten.observations), (vec![saved.memory_id], 1));
    assert_eq!(fixture.contents("s").await, ["another text"]);
    let nothing = fixture.service.forget_observation(&caller(), &project(), "nobody").await.unwrap();
    assert!(nothing.is_empty());
}
