//! Back-ups, rebuilds and verification.

use am_embed::analysis::Profile;
use am_embed::hash::HashEmbedder;
use am_model::{MemoryKind, Origin, StoreId};
use am_store::{Action, Scope, Store, StoreError};
use am_store_sqlite::{FILE_NAME, RestoreOptions, SqliteStore};

use crate::support::{audit, commit, found, note, open, options, query, save};

async fn contents(store: &SqliteStore) -> Vec<String> {
    let page = store.memories_page(&Scope::AllProjects, StoreId(0), 1000).await.unwrap();
    page.into_iter().map(|stored| stored.memory.content).collect()
}

#[tokio::test]
async fn a_backup_comes_back_whole() {
    let (from, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(from.path());
    for number in 0..20 {
        save(&store, &format!("memory number{number} of the original store"));
    }
    let file = from.path().join("copy.backup");
    let mut last = (0, 0);
    store.backup(&file, &mut |done, total| last = (done, total)).unwrap();
    assert!(last.0 == last.1 && last.1 > 0);
    let beside = from.path().join("copy.partial");
    std::fs::write(&beside, "of the user").unwrap();
    store.backup(&from.path().join("copy.other"), &mut |_, _| ()).unwrap();
    assert_eq!(std::fs::read_to_string(&beside).unwrap(), "of the user");
    assert_eq!(std::fs::read_dir(from.path()).unwrap().count(), 6, "no partial copy is left");
    let left = from.path().join("copy.third.0123456789abcdef.partial");
    std::fs::write(&left, "everything a back-up holds").unwrap();
    store.backup(&from.path().join("copy.third"), &mut |_, _| ()).unwrap();
    assert!(!left.exists());
    let again = store.backup(&file, &mut |_, _| ()).unwrap_err();
    assert_eq!(again, StoreError::Invalid { detail: "the back-up file exists already".to_owned() });

    let target = open(to.path());
    save(&target, "what was here before");
    let refused = target.restore(&file, RestoreOptions::default(), &mut |_, _| ()).unwrap_err();
    assert!(matches!(refused, StoreError::Invalid { .. }), "{refused:?}");
    assert_eq!(contents(&target).await, ["what was here before"]);

    let beside = open(to.path());
    assert_eq!(found(&beside, "before"), ["what was here before"]);
    target
        .restore(&file, RestoreOptions { replace: true, ..RestoreOptions::default() }, &mut |_, _| ())
        .unwrap();
    assert_eq!(contents(&target).await, contents(&store).await);
    assert_eq!(found(&beside, "number7"), ["memory number7 of the original store"]);
    assert_eq!(found(&beside, "before"), Vec::<String>::new());
    assert_ne!(beside.identity().await.unwrap().uuid, store.identity().await.unwrap().uuid);
    save(&target, "after the restore");
    let report = target.verify().await.unwrap();
    assert_eq!((report.faults, report.chains), (vec![], 2));
}

#[test]
fn what_is_no_backup_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let file = directory.path().join("nonsense");
    std::fs::write(&file, "nonsense ".repeat(1000)).unwrap();
    for replace in [false, true] {
        let refused = store
            .restore(&file, RestoreOptions { replace, ..RestoreOptions::default() }, &mut |_, _| ())
            .unwrap_err();
        assert_eq!(refused, StoreError::Foreign);
    }
    let missing = store.restore(&directory.path().join("missing"), RestoreOptions::default(), &mut |_, _| ());
    assert!(missing.is_err());
}

#[tokio::test]
async fn a_rebuild_gives_the_same_answers() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for number in 0..40 {
        save(&store, &format!("note {number} about topic{} and area{}", number % 7, number % 3));
    }
    let before = store.search_blocking(&query("topic3 area1", 20));
    let report = store.rebuild(None, &HashEmbedder::new(), &audit(), &mut |_, _| ()).unwrap();
    assert_eq!(report.memories, 40);
    let after = store.search_blocking(&query("topic3 area1", 20));
    assert_eq!(before.rows, after.rows);
    assert_eq!(before.lexical.unwrap(), after.lexical.unwrap());
    assert_eq!(before.vector.unwrap(), after.vector.unwrap());
    assert_eq!(store.verify().await.unwrap().faults, []);
}

#[tokio::test]
async fn another_profile_begins_an_epoch_that_every_process_notices() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let beside = open(directory.path());
    let mut event = note("tool used: Grep", "s");
    event.memory.kind = MemoryKind::Event;
    event.memory.origin = Origin::from_stored("hook:PostToolUse");
    event.memory.text.terms = None;
    event.memory.text.vector = None;
    commit(&store, Action::Save(Box::new(event)));
    save(&store, "grep finds words");
    assert_eq!(found(&beside, "grep"), ["grep finds words"]);
    store.rebuild(Some(Profile::Contract), &HashEmbedder::new(), &audit(), &mut |_, _| ()).unwrap();
    assert_eq!(beside.identity().await.unwrap().profile, Profile::Contract);
    assert_eq!(found(&beside, "grep").len(), 2);
    assert_eq!(beside.verify().await.unwrap().faults, []);
    store.rebuild(Some(Profile::Default), &HashEmbedder::new(), &audit(), &mut |_, _| ()).unwrap();
    assert_eq!(found(&beside, "grep"), ["grep finds words"]);
    assert_eq!(beside.verify().await.unwrap().faults, []);
}

#[tokio::test]
async fn verification_finds_what_was_tampered_with() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for number in 0..4 {
        save(&store, &format!("sentence {number} to tamper with"));
    }
    assert_eq!(store.verify().await.unwrap().faults, []);
    let tamper = |statement: &str| {
        let connection = rusqlite::Connection::open(directory.path().join(FILE_NAME)).unwrap();
        connection.execute_batch("DROP TRIGGER log_is_not_edited; DROP TRIGGER log_is_not_cut;").ok();
        connection.execute_batch(statement).unwrap();
    };
    tamper("UPDATE log SET actor = 'nobody' WHERE sequence = 2");
    let areas = |report: am_store::VerifyReport| -> Vec<&'static str> {
        report.faults.into_iter().map(|fault| fault.area).collect()
    };
    assert_eq!(areas(store.verify().await.unwrap()), ["log"]);
    tamper("UPDATE log SET actor = 'tester' WHERE sequence = 2; DELETE FROM log WHERE sequence = 4");
    assert_eq!(areas(store.verify().await.unwrap()), ["log"]);
    tamper("UPDATE memory SET importance = 1.0, origin = 'lesson' WHERE id = 1");
    let told = store.verify().await.unwrap().faults;
    assert!(
        told.iter().any(|fault| fault.detail.ends_with("it is not as the log says it was left")),
        "{told:?}"
    );
    tamper("UPDATE memory SET importance = 0.5, origin = 'rest' WHERE id = 1");
    assert_eq!(areas(store.verify().await.unwrap()), ["log"]);
    let file = directory.path().join("faulty.backup");
    assert_eq!(store.backup(&file, &mut |_, _| ()).unwrap().len(), 1);
    let elsewhere = tempfile::tempdir().unwrap();
    let target = open(elsewhere.path());
    let refused = target.restore(&file, RestoreOptions::default(), &mut |_, _| ()).unwrap_err();
    assert!(matches!(refused, StoreError::Damaged { .. }), "{refused:?}");
    assert!(contents(&target).await.is_empty());
    let accepted = RestoreOptions { accept_faults: true, ..RestoreOptions::default() };
    target.restore(&file, accepted, &mut |_, _| ()).unwrap();
    assert_eq!(contents(&target).await.len(), 4);
    tamper("UPDATE memory SET content = 'other words' WHERE id = 2");
    assert!(areas(store.verify().await.unwrap()).contains(&"projection"));
    assert!(areas(store.verify().await.unwrap()).contains(&"memory"));
    drop(SqliteStore::open(directory.path(), options(Profile::Default)).unwrap());
}

#[tokio::test]
async fn the_log_can_be_neither_edited_nor_cut() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    save(&store, "one row of log");
    let connection = rusqlite::Connection::open(directory.path().join(FILE_NAME)).unwrap();
    assert!(connection.execute("UPDATE log SET actor = 'x'", []).is_err());
    assert!(connection.execute("DELETE FROM log", []).is_err());
}

#[tokio::test]
async fn many_removals_leave_exact_statistics() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let ids: Vec<_> = (0..700)
        .map(|number| save(&store, &format!("entry{number} shared word{} group{}", number % 50, number % 9)))
        .collect();
    assert_eq!(found(&store, "entry5").len(), 1);
    for chunk in ids[..600].chunks(7) {
        let forget = am_store::Forget {
            memory_ids: chunk.to_vec(),
            verb: am_model::Verb::Purge,
            reason: None,
            created_before: None,
        };
        commit(&store, Action::Forget(forget));
        found(&store, "shared");
    }
    let fresh = open(directory.path());
    let (tailed, built) = (
        store.search_blocking(&query("shared word3 group2", 50)),
        fresh.search_blocking(&query("shared word3 group2", 50)),
    );
    assert_eq!(tailed.lexical.unwrap(), built.lexical.unwrap());
    assert_eq!(tailed.vector.unwrap(), built.vector.unwrap());
    assert_eq!(store.verify().await.unwrap().faults, []);
}
