//! Saving: what is derived, what is echoed, what is merged.

use am_embed::analysis::Profile;
use am_model::{Importance, InvalidValue, MemoryKind, Origin, Project};
use am_service::{Clock, Remember, ServiceError, Settings, SystemClock};

use super::KIND;
use crate::support::{
    DAY, Fixture, caller, concepts, forty_words, found, project, request, ttl_of_30_days, without_merging,
};

const PROFILES: [Profile; 2] = [Profile::Contract, Profile::Default];

#[tokio::test]
async fn derives_what_the_request_leaves_out() {
    let fixture = Fixture::new(KIND, Profile::Contract).await;
    let saved = fixture.save("one", "  The import queue drains in batches of 250 rows \u{feff}").await;
    assert_eq!(saved.concepts, concepts(&["250", "batches", "drains", "import", "queue", "rows"]));
    assert!(!saved.deduped && !saved.consolidated);
    let memory = fixture.memory(&saved).await;
    assert_eq!(memory.content, "The import queue drains in batches of 250 rows");
    assert_eq!(memory.importance.get(), 0.65);
    assert_eq!(memory.kind, MemoryKind::Note);

    let lesson =
        Remember { origin: Origin::new("rest").unwrap(), ..request("two", "Never deploy on Friday") };
    let saved = fixture.service.lesson(&caller(), lesson).await.unwrap();
    let memory = fixture.memory(&saved).await;
    assert_eq!((memory.origin.as_str(), memory.kind), ("lesson", MemoryKind::Lesson));
    assert_eq!(memory.importance.get(), 0.75 + 0.025 * 3.0);
}

#[tokio::test]
async fn keeps_what_the_request_gives() {
    let fixture = Fixture::new(KIND, Profile::Contract).await;
    let given = Remember {
        concepts: concepts(&["Billing", "export", "export"]),
        importance: Some(Importance::new(0.0).unwrap()),
        ..request("one", "Scratch note")
    };
    let saved = fixture.service.remember(&caller(), given).await.unwrap();
    assert_eq!(saved.concepts, concepts(&["Billing", "export", "export"]));
    let memory = fixture.memory(&saved).await;
    assert_eq!(memory.importance.get(), 0.0);
    assert_eq!(memory.concepts, concepts(&["Billing", "export", "export"]));
    assert_eq!(memory.session_id.as_str(), "one");
}

#[tokio::test]
async fn bad_requests_change_nothing() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    let blank = Remember { content: " \n\u{feff} ".to_owned(), ..request("s", "x") };
    let refused = fixture.service.remember(&caller(), blank).await;
    assert_eq!(refused, Err(ServiceError::Invalid(InvalidValue::TooShort { field: "content", minimum: 1 })));
    let long = Remember { content: "\u{1f680}".repeat(100_001), ..request("s", "x") };
    let refused = fixture.service.remember(&caller(), long).await;
    assert_eq!(
        refused,
        Err(ServiceError::Invalid(InvalidValue::TooLong { field: "content", maximum: 200_000 }))
    );
    let many = Remember { concepts: vec![concepts(&["c"]).remove(0); 65], ..request("s", "x") };
    let refused = fixture.service.remember(&caller(), many).await;
    assert_eq!(refused, Err(ServiceError::Invalid(InvalidValue::TooMany { field: "concepts", maximum: 64 })));
    assert_eq!(fixture.memories().await, []);
    assert!(Remember::new(project(), " ").is_err());
}

#[tokio::test]
async fn a_repeated_text_is_saved_once_and_echoes_the_request() {
    for profile in PROFILES {
        let fixture = Fixture::new(KIND, profile).await;
        let first = fixture.save("one", "Billing export runs at 02:00").await;
        let repeat =
            Remember { concepts: concepts(&["other"]), ..request("two", "BILLING  export\nruns AT 02:00") };
        let second = fixture.service.remember(&caller(), repeat).await.unwrap();
        assert_eq!(second.memory_id, first.memory_id);
        assert!(second.deduped && !second.consolidated);
        assert_eq!((second.session_id.as_str(), &second.concepts), ("two", &concepts(&["other"])));
        let third = fixture.save("three", "billing export runs at 02:00").await;
        assert_eq!(third.concepts, []);
        let counts = fixture.service.counts(&project()).await.unwrap();
        assert_eq!((counts.memories, counts.sessions), (1, 1));

        let elsewhere = Remember {
            project: Project::new("q").unwrap(),
            ..request("one", "billing export runs at 02:00")
        };
        let other = fixture.service.remember(&caller(), elsewhere).await.unwrap();
        assert_ne!(other.memory_id, first.memory_id);
    }
}

#[tokio::test]
async fn near_duplicates_merge_into_the_first() {
    for profile in PROFILES {
        let fixture = Fixture::new(KIND, profile).await;
        let text =
            "archive worker compacts cold segments nightly then verifies every checksum before publish";
        let first = fixture.save("m1", text).await;
        let longer = format!("{text} promptly");
        let second = fixture.save("m2", &longer).await;
        assert_eq!(second.memory_id, first.memory_id);
        assert!(second.consolidated && !second.deduped);
        assert_eq!((second.session_id.as_str(), second.concepts.len()), ("m2", 0));
        assert_eq!(fixture.contents("m1").await, [format!("{text}\n{longer}")]);
        assert_eq!(fixture.contents("m2").await, [] as [&str; 0]);

        // The joined text is the row's own now.
        assert!(fixture.save("m3", &format!("{text}\n{longer}")).await.deduped);

        // Contained already: only the concept is new.
        let contained = Remember { concepts: concepts(&["linked"]), ..request("m4", &longer) };
        let third = fixture.service.remember(&caller(), contained).await.unwrap();
        assert!(third.consolidated);
        assert_eq!(third.concepts, concepts(&["linked"]));
        let row = fixture.memory(&first).await;
        assert_eq!(row.content, format!("{text}\n{longer}"));
        assert!(row.concepts.contains(&concepts(&["linked"])[0]));
        assert_eq!(fixture.smart_search("nothing alike", &["linked"]).await.hits.len(), 1);
    }
}

#[tokio::test]
async fn merging_can_be_turned_off() {
    let fixture = Fixture::with(KIND, Profile::Default, without_merging()).await;
    let text = forty_words("alpha");
    let first = fixture.save("s", &text).await;
    let second = fixture.save("s", &format!("{text} more")).await;
    assert_ne!(first.memory_id, second.memory_id);
    assert!(!second.consolidated);
}

#[tokio::test]
async fn the_most_similar_memory_takes_the_text() {
    let apart = Fixture::with(KIND, Profile::Contract, without_merging()).await;
    let text = forty_words("beta");
    let far = Remember {
        importance: Some(Importance::new(1.0).unwrap()),
        ..request("far", &format!("{text} one two"))
    };
    apart.service.remember(&caller(), far).await.unwrap();
    let near = apart.save("near", &format!("{text} three")).await;
    let fixture = Fixture::over(apart.store.clone(), Settings::default()).await;
    assert_eq!(fixture.save("s", &text).await.memory_id, near.memory_id);
}

#[tokio::test]
async fn a_merge_that_would_outgrow_the_limit_inserts() {
    for profile in PROFILES {
        let fixture = Fixture::new(KIND, profile).await;
        let words = forty_words("gamma");
        let long = std::iter::repeat_n(words.as_str(), 400).collect::<Vec<_>>().join(" ");
        let first = fixture.save("a", &long).await;
        let second = fixture.save("b", &format!("{long} tail")).await;
        assert_ne!(second.memory_id, first.memory_id);
        assert!(!second.consolidated && !second.deduped);
        assert_eq!(fixture.contents("b").await, [format!("{long} tail")]);
        // A short one still merges: into the best of them.
        assert!(fixture.save("c", &format!("{words} more")).await.consolidated);
    }
}

#[tokio::test]
async fn a_merged_text_that_another_row_has_links_concepts_there() {
    let apart = Fixture::with(KIND, Profile::Contract, without_merging()).await;
    let forward = forty_words("delta");
    let backward = forward.split(' ').rev().collect::<Vec<_>>().join(" ");
    let survivor = Remember { importance: Some(Importance::new(1.0).unwrap()), ..request("s1", &forward) };
    let survivor = apart.service.remember(&caller(), survivor).await.unwrap();
    let owner = apart.save("s2", &format!("{forward}\n{backward}")).await;

    let fixture = Fixture::over(apart.store.clone(), Settings::default()).await;
    let incoming = Remember { concepts: concepts(&["way-back"]), ..request("s3", &backward) };
    let saved = fixture.service.remember(&caller(), incoming).await.unwrap();
    assert!(saved.consolidated);
    assert_eq!(saved.memory_id, owner.memory_id);
    assert_eq!(fixture.memory(&survivor).await.content, forward);
    assert!(fixture.memory(&owner).await.concepts.contains(&concepts(&["way-back"])[0]));
}

#[tokio::test]
async fn a_merged_text_of_an_expired_row_is_inserted_instead() {
    let apart = Fixture::with(KIND, Profile::Default, without_merging()).await;
    let forward = forty_words("delta");
    let backward = forward.split(' ').rev().collect::<Vec<_>>().join(" ");
    apart.save("old", &format!("{forward}\n{backward}")).await;
    let fixture = Fixture::over(apart.store.clone(), ttl_of_30_days()).await;
    fixture.clock.advance(40 * DAY);
    fixture.save("s1", &forward).await;
    let saved = fixture.save("s3", &backward).await;
    assert!(!saved.consolidated && !saved.deduped);
    assert_eq!(fixture.contents("s3").await, [backward]);
}

#[tokio::test]
async fn a_repeated_save_revives_what_ttl_hides() {
    for profile in PROFILES {
        let fixture = Fixture::with(KIND, profile, ttl_of_30_days()).await;
        let first = fixture.save("one", "rotate the signing keys").await;
        let made = fixture.memory(&first).await.created_at;
        fixture.clock.advance(31 * DAY);
        let hidden = fixture.search("signing keys").await;
        assert_eq!(found(&hidden), [] as [&str; 0]);
        assert_eq!(crate::support::signals(&hidden), ["ttl: hidden 1 expired rows"]);

        let again = fixture.save("two", "Rotate the signing keys").await;
        assert_eq!(again.memory_id, first.memory_id);
        assert!(again.deduped);
        assert!(fixture.memory(&first).await.created_at.days_since(made) > 30.0);
        assert_eq!(found(&fixture.search("signing keys").await), ["rotate the signing keys"]);
        assert_eq!(found(&fixture.smart_search("signing keys", &[]).await), ["rotate the signing keys"]);
    }
}

#[tokio::test]
async fn expired_rows_take_up_no_text() {
    let fixture = Fixture::with(KIND, Profile::Default, ttl_of_30_days()).await;
    let text = forty_words("epsilon");
    let first = fixture.save("one", &text).await;
    fixture.clock.advance(31 * DAY);
    let second = fixture.save("two", &format!("{text} more")).await;
    assert_ne!(second.memory_id, first.memory_id);
    assert!(!second.consolidated);
}

#[tokio::test]
async fn the_log_names_the_origin_and_never_the_content() {
    let fixture = Fixture::new(KIND, Profile::Default).await;
    fixture.save("s", "a secret handshake").await;
    let log = fixture.store.log_page(am_model::StoreId(0), 10).await.unwrap();
    assert_eq!(log.len(), 1);
    assert_eq!(log[0].entry.actor.0, "rest");
    assert!(!format!("{log:?}").contains("handshake"));
}

#[test]
fn the_system_clock_tells_this_century() {
    let now = SystemClock.now().to_string();
    assert!(now.starts_with("20"), "{now}");
}
