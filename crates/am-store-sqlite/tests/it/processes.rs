//! Several handles on one directory, as several processes would have them.

use std::sync::{Arc, Barrier};
use std::thread;

use am_model::{StoreId, Verb};
use am_store::{Action, Forget, Outcome, Scope, Store};

use crate::support::{commit, found, home, note, open, save};

#[test]
fn sixteen_first_openers_all_succeed() {
    let parent = tempfile::tempdir().unwrap();
    for round in 0..8 {
        let directory = parent.path().join(round.to_string());
        let start = Arc::new(Barrier::new(16));
        let openers: Vec<_> = (0..16)
            .map(|_| {
                let (directory, start) = (directory.clone(), Arc::clone(&start));
                thread::spawn(move || {
                    start.wait();
                    drop(open(&directory));
                })
            })
            .collect();
        for opener in openers {
            opener.join().unwrap();
        }
    }
}

#[test]
fn an_acknowledged_change_is_seen_by_others_in_their_next_call() {
    let directory = tempfile::tempdir().unwrap();
    let (writer, reader) = (open(directory.path()), open(directory.path()));
    for number in 0..50 {
        let content = format!("fact{number} written by one process");
        let id = save(&writer, &content);
        assert_eq!(found(&reader, &format!("fact{number}")), [content]);
        if number % 3 == 0 {
            let forget =
                Forget { memory_ids: vec![id], verb: Verb::Forget, reason: None, created_before: None };
            commit(&writer, Action::Forget(forget));
            assert_eq!(found(&reader, &format!("fact{number}")), Vec::<String>::new());
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_text_of_many_writers_is_one_row() {
    let directory = tempfile::tempdir().unwrap();
    let writers: Vec<_> = (0..8)
        .map(|_| {
            let store = open(directory.path());
            thread::spawn(move || {
                let mut inserted = 0;
                for number in 0..20 {
                    let save = note(&format!("the same text{number} from everyone"), "s");
                    let outcome = commit(&store, Action::Save(Box::new(save)));
                    inserted += u32::from(matches!(outcome, Outcome::Inserted { .. }));
                }
                inserted
            })
        })
        .collect();
    let inserted: u32 = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
    let store = open(directory.path());
    assert_eq!(inserted, 20);
    assert_eq!(store.counts(&home()).await.unwrap().memories, 20);
    assert_eq!(store.memories_page(&Scope::AllProjects, StoreId(0), 100).await.unwrap().len(), 20);
    assert_eq!(store.verify().await.unwrap().faults, []);
}
