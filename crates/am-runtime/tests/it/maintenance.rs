//! What is done for a store when nobody waits for it.

use std::path::Path;

use am_embed::analysis::{Analysis, Profile};
use am_model::{CaptureLevel, Origin, Project};
use am_runtime::maintenance::{Maintained, upgrade};
use am_runtime::open::{Opened, SMALL_PROJECTION_BYTES, open};
use am_service::{Caller, Event, Remember, Search};
use am_store::{Store as _, StoreError};
use am_store_sqlite::FILE_NAME;

use crate::support::config_in;

async fn opened(directory: &Path) -> Opened {
    open(&config_in(directory, &[]), SMALL_PROJECTION_BYTES).await.unwrap()
}

/// Makes the store one that an earlier version analysed.
fn as_of(directory: &Path, analysis: &str) {
    rusqlite::Connection::open(directory.join(FILE_NAME))
        .unwrap()
        .execute_batch(&format!(
            "UPDATE meta SET value = '{analysis}' WHERE key = 'analysis';
             UPDATE meta SET value = value + 1 WHERE key = 'epoch';
             UPDATE terms SET value = x'0000000000000000'"
        ))
        .unwrap();
}

#[tokio::test]
async fn what_an_earlier_version_analysed_is_derived_anew_and_said_until_then() {
    let directory = tempfile::tempdir().unwrap();
    let config = config_in(directory.path(), &[]);
    let before = opened(directory.path()).await;
    let project = Project::new("p").unwrap();
    let text = Remember::new(project.clone(), "found again after an upgrade").unwrap();
    before.service.remember(&Caller::library(), text.clone()).await.unwrap();
    assert_eq!(upgrade(&config, &before).await.unwrap(), None);

    as_of(directory.path(), "default-0");
    let search = Search { query: "upgrade".to_owned(), project: project.clone(), limit: 5 };
    let later = opened(directory.path()).await;
    let found = later.service.search(search.clone()).await;
    assert!(found.hits.is_empty());
    assert!(found.signals[0].0.starts_with("text: Outdated: "), "{:?}", found.signals);

    assert_eq!(upgrade(&config, &later).await.unwrap(), Some(Maintained::Rebuilt { memories: 1 }));
    for service in [&before.service, &later.service] {
        let found = service.search(search.clone()).await;
        assert_eq!((found.hits.len(), found.signals.len()), (1, 0));
    }
    let ours = Analysis::new(Profile::Default).id();
    assert_eq!(later.store.identity().await.unwrap().analysis, ours);
    assert_eq!(later.store.verify().await.unwrap().faults, []);
}

#[tokio::test]
async fn a_store_of_a_later_version_is_left_alone_and_takes_no_terms_of_ours() {
    let directory = tempfile::tempdir().unwrap();
    let config = config_in(directory.path(), &[]);
    drop(opened(directory.path()).await);
    as_of(directory.path(), "default-4000000");
    let opened = opened(directory.path()).await;
    assert_eq!(upgrade(&config, &opened).await.unwrap(), None);
    let text = Remember::new(Project::unnamed(), "analysed by an old program").unwrap();
    let refused = opened.service.remember(&Caller::library(), text).await.unwrap_err();
    let am_service::ServiceError::Store(StoreError::Outdated { .. }) = refused else { panic!("{refused}") };
    assert_eq!(opened.service.counts(&Project::unnamed()).await.unwrap().memories, 0);
}

#[tokio::test]
async fn evidence_past_its_age_goes_and_memories_stay() {
    let directory = tempfile::tempdir().unwrap();
    let opened = opened(directory.path()).await;
    let project = Project::new("p").unwrap();
    let now = opened.service.now();
    for (key, days) in [("host:old", 40), ("host:new", 1)] {
        let mut text = Remember::new(project.clone(), &format!("tool used: {key}")).unwrap();
        text.origin = Origin::from_stored("hook:PostToolUse");
        text.event = Some(Event {
            key: key.to_owned(),
            at: Some(now.plus_millis(-days * 86_400_000)),
            level: CaptureLevel::Minimal,
        });
        opened.service.remember(&Caller::library(), text).await.unwrap();
    }
    assert_eq!(opened.service.purge_evidence(&Caller::library(), 30).await.unwrap(), 1);
    assert_eq!(opened.service.purge_evidence(&Caller::library(), 30).await.unwrap(), 0);
    assert_eq!(opened.service.counts(&project).await.unwrap().memories, 2);
    assert_eq!(opened.store.verify().await.unwrap().faults, []);
}
