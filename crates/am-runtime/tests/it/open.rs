//! From a configuration to a service.

use std::sync::atomic::{AtomicUsize, Ordering};

use am_embed::analysis::Profile;
use am_model::{MemoryId, Project};
use am_runtime::open::{Lazy, SMALL_PROJECTION_BYTES, absent, open};
use am_service::{Caller, Digest, Remember, Search, ServiceError, SmartSearch};
use am_store::StoreError;

use crate::support::config_in;

#[tokio::test]
async fn a_store_keeps_its_profile_whatever_is_asked_later() {
    let directory = tempfile::tempdir().unwrap();
    let contract = config_in(directory.path(), &[("AGENT_MEMORY_PROFILE", "contract")]);
    drop(open(&contract, SMALL_PROJECTION_BYTES).await.unwrap());
    let later = open(&config_in(directory.path(), &[]), SMALL_PROJECTION_BYTES).await.unwrap();
    assert_eq!(later.service.identity().profile, Profile::Contract);
}

#[tokio::test]
async fn a_lazy_store_opens_once_on_first_use_and_tells_those_who_wait() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let lazy = Lazy::new(config_in(&data, &[]), SMALL_PROJECTION_BYTES);
    let waiting = tokio::spawn({
        let lazy = lazy.clone();
        async move { lazy.opened().await.service.identity().uuid.clone() }
    });
    tokio::task::yield_now().await;
    assert!(!data.exists() && !waiting.is_finished());
    let (one, other) = tokio::join!(lazy.get(), lazy.get());
    let uuid = one.unwrap().service.identity().uuid.clone();
    assert_eq!(other.unwrap().service.identity().uuid, uuid);
    assert_eq!(waiting.await.unwrap(), uuid);
}

#[tokio::test]
async fn a_store_out_of_reach_answers_as_the_contract_says_and_is_tried_again() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    std::fs::write(&data, "not a directory").unwrap();
    let lazy = Lazy::new(config_in(&data, &[]), SMALL_PROJECTION_BYTES);
    let failures = AtomicUsize::new(0);
    let failed = |_: &ServiceError| {
        failures.fetch_add(1, Ordering::Relaxed);
    };
    let service = lazy.service(failed).await.unwrap();
    let save =
        service.remember(&Caller::library(), Remember::new(Project::unnamed(), "x y z").unwrap()).await;
    assert!(matches!(save, Err(ServiceError::Store(_))), "{save:?}");
    assert_eq!(failures.load(Ordering::Relaxed), 1);
    std::fs::remove_file(&data).unwrap();
    let service = lazy.service(failed).await.unwrap();
    service.remember(&Caller::library(), Remember::new(Project::unnamed(), "x y z").unwrap()).await.unwrap();
    assert_eq!(failures.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn every_verb_over_an_absent_store_says_why() {
    let directory = tempfile::tempdir().unwrap();
    let config = config_in(directory.path(), &[]);
    let service = absent(&config, StoreError::Foreign).await.unwrap();
    let project = Project::unnamed();
    let note = "Foreign: the file is not an agent-memory store";
    let texts =
        |signals: Vec<am_model::Signal>| signals.into_iter().map(|signal| signal.0).collect::<Vec<_>>();
    let found =
        service.search(Search { query: "tokio".to_owned(), project: project.clone(), limit: 3 }).await;
    assert_eq!(texts(found.signals), [format!("text: {note}")]);
    let concepts = vec![am_model::Concept::new("c").unwrap()];
    let smart = SmartSearch { query: "tokio".to_owned(), concepts, project: project.clone(), limit: 3 };
    let signals = texts(service.smart_search(smart).await.signals);
    assert_eq!(signals, ["vector", "text", "graph"].map(|arm| format!("{arm}: {note}")));
    let digest = Digest { project: project.clone(), session_id: None, limit: 3 };
    let handoff = service.handoff(digest).await;
    assert_eq!(handoff.text, "project=default memories=0 sessions=0 recent:");
    assert_eq!(texts(handoff.signals), [format!("sessions: {note}"), format!("counts: {note}")]);
    assert!(service.counts(&project).await.is_err());
    assert!(service.forget(&Caller::library(), &MemoryId::random()).await.is_err());
    assert!(service.store().verify().await.is_err());
    assert!(!directory.path().join("memory.db").exists());
}
