//! Several at once: handles on one store, and writers that race.

use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::{Actor, Channel, Instant, Memory, SessionId};

use super::Factory;
use crate::testkit::MemoryStore;
use crate::testkit::kit::{Kit, MANY, START, home, session, words};
use crate::{Action, Audit, Change, Merge, Outcome, Save, Scope};

/// Writers that race in a case.
const WRITERS: usize = 16;
/// Far more tries than any race needs.
const TRIES: usize = 1_000;

/// Runs `write` once for each writer, all at once, every second one through a handle of its own.
async fn race<T, F>(factory: &dyn Factory, kit: &Kit, write: impl Fn(usize, Kit) -> F) -> Vec<T>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut tasks = Vec::new();
    for number in 0..WRITERS {
        let store = if number % 2 == 0 { Arc::clone(&kit.store) } else { factory.open(&kit.place).await };
        tasks.push(write(number, kit.with(store)));
    }
    let tasks: Vec<_> = tasks.into_iter().map(tokio::spawn).collect();
    let mut results = Vec::new();
    for task in tasks {
        results.push(task.await.unwrap());
    }
    results
}

pub(super) async fn another_handle_sees_a_commit_at_once(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let other = kit.with(factory.open(&kit.place).await);
    // Both have searched before, so that both may hold something derived.
    assert!(kit.lexical("alpha").await.is_empty() && other.lexical("alpha").await.is_empty());

    for round in 0..5 {
        let text = format!("alpha {}", words(round * 10, 5).join(" "));
        let memory_id = kit.insert_note(&text).await;
        assert_eq!(other.lexical(&text).await.first(), Some(&memory_id));
        assert_eq!(other.nearest(&text).await.first(), Some(&memory_id));
        assert_eq!(
            other.save(other.note(&text)).await,
            Outcome::Deduplicated { memory_id: memory_id.clone() }
        );
        let near = other.save(other.probing(&words(round * 10, 5).join(" "), 0.8)).await;
        assert!(matches!(near, Outcome::NearDuplicates { .. }), "{near:?}");

        other.grow(&memory_id, "beta").await;
        assert_eq!(kit.lexical("beta").await, std::slice::from_ref(&memory_id));
        other.forget(std::slice::from_ref(&memory_id)).await;
        assert!(kit.lexical(&text).await.is_empty() && kit.nearest(&text).await.is_empty());
        assert!(!kit.is_there(&memory_id).await);
    }
    assert_eq!(kit.everything().await, other.everything().await);
    kit.verify().await;
}

pub(super) async fn reopening_finds_everything(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let mut saved = Vec::new();
    for number in 0..20 {
        saved.push(kit.insert_note(&words(number, 4).join(" ")).await);
    }
    kit.grow(&saved[3], "grown").await;
    kit.forget(&saved[..2]).await;
    let (everything, query) = (kit.everything().await, words(5, 6).join(" "));
    let (lexical, nearest) = (kit.lexical(&query).await, kit.nearest(&query).await);
    let identity = kit.store.identity().await.unwrap();

    let place = kit.place.clone();
    let beside = kit.with(factory.open(&place).await);
    assert_eq!(beside.store.identity().await.unwrap(), identity);
    // Every handle but the suite's own name for the place is closed.
    let closed = |mut kit: Kit| {
        kit.store = Arc::new(MemoryStore::new(Profile::Default));
        kit
    };
    let (kit, _) = (closed(kit), closed(beside));
    let again = kit.with(factory.open(&place).await);
    assert_eq!(again.everything().await, everything);
    assert_eq!(again.lexical(&query).await, lexical);
    assert_eq!(again.nearest(&query).await, nearest);
    let next = again.insert_note("next").await;
    assert!(again.memory(&next).await.id > everything.memories.last().unwrap().memory.id);
    again.verify().await;
}

pub(super) async fn one_text_saved_by_many_at_once_is_one_row(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let outcomes = race(factory, &kit, async |number, kit| {
        let mut save = kit.probing(&words(0, 12).join(" "), 0.9);
        save.memory.session_id = session(&format!("s{number}"));
        kit.save(save).await
    })
    .await;

    let everything = kit.everything().await;
    assert_eq!((everything.memories.len(), everything.sessions.len(), everything.log.len()), (1, 1, 1));
    let memory_id = everything.memories[0].memory.memory_id.clone();
    let inserted = Outcome::Inserted { memory_id: memory_id.clone() };
    let known = Outcome::Deduplicated { memory_id };
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == inserted).count(), 1);
    assert_eq!(outcomes.iter().filter(|outcome| **outcome == known).count(), WRITERS - 1);
    kit.verify().await;
}

/// Saves a text, or merges it into what is nearest, until one of both went well.
async fn save_or_merge(kit: &Kit, save: Save) {
    let commit = async |action| {
        let audit = Audit {
            at: Instant::from_millis(START),
            actor: Actor("writer".to_owned()),
            channel: Channel::Library,
        };
        kit.store.commit(Change { audit, analysis: None, action }).await.unwrap()
    };
    let incoming = save.memory.text.content.clone();
    let session_id: SessionId = save.memory.session_id.clone();
    for _ in 0..TRIES {
        let survivor: Memory = match commit(Action::Save(Box::new(save.clone()))).await {
            Outcome::NearDuplicates { mut candidates } => candidates.remove(0),
            Outcome::Inserted { .. } | Outcome::Deduplicated { .. } => return,
            outcome => panic!("{outcome:?}"),
        };
        let merge = Merge { session_id: session_id.clone(), ..kit.merge(&survivor, &incoming) };
        match commit(Action::Merge(Box::new(merge))).await {
            Outcome::Merged { .. } => return,
            Outcome::Changed { .. } => {}
            outcome => panic!("{outcome:?}"),
        }
    }
    panic!("no progress in {TRIES} tries");
}

pub(super) async fn near_duplicates_saved_by_many_at_once_lose_no_text(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let common = words(0, 60);
    let text = |number: usize| [common.clone(), words(200 + number, 1)].concat().join(" ");
    let texts: Vec<String> = (0..WRITERS).map(text).collect();
    race(factory, &kit, |number, kit| {
        let mut save = kit.probing(&texts[number], 0.5);
        save.memory.session_id = session(&format!("s{number}"));
        async move { save_or_merge(&kit, save).await }
    })
    .await;

    let everything = kit.everything().await;
    assert_eq!(everything.memories.len(), 1, "all are near one another");
    let survivor = &everything.memories[0];
    let mut lines: Vec<&str> = survivor.memory.content.split('\n').collect();
    lines.sort_unstable();
    let mut expected: Vec<&str> = texts.iter().map(String::as_str).collect();
    expected.sort_unstable();
    assert_eq!(lines, expected, "every text is there once");
    assert_eq!((survivor.memory.version, survivor.parts.len()), (WRITERS as i64, WRITERS));
    for word in words(200, WRITERS) {
        assert_eq!(kit.lexical(&word).await.len(), 1);
    }
    kit.verify().await;
}

pub(super) async fn chains_stay_whole_among_many_writers(factory: &dyn Factory) {
    let kit = Kit::new(factory).await;
    let victim = kit.insert_note("everyone wants this gone").await;
    let outcomes = race(factory, &kit, |number, kit| {
        let victim = victim.clone();
        async move {
            let mut forgotten = 0;
            for step in 0..8 {
                let memory_id = kit.insert_note(&words(number * 40 + step * 4, 4).join(" ")).await;
                if step % 2 == 0 {
                    kit.forget(&[memory_id]).await;
                }
                assert!(kit.search(kit.query("everyone wants this")).await.lexical.is_ok());
                if let Outcome::Forgotten { memories, .. } = kit.forget(std::slice::from_ref(&victim)).await {
                    forgotten += memories.len();
                }
            }
            forgotten
        }
    })
    .await;

    assert_eq!(outcomes.iter().sum::<usize>(), 1, "one of them forgot it");
    let memories =
        kit.store.memories_page(&Scope::Project(home()), am_model::StoreId(0), MANY).await.unwrap();
    assert_eq!(memories.len(), WRITERS * 4);
    let report = kit.store.verify().await.unwrap();
    assert_eq!((report.log_entries, report.faults), ((1 + WRITERS * 12 + 1) as u64, vec![]));
}
