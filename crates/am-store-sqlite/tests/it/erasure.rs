//! What was forgotten is nowhere in the directory, read as bytes.

use std::fs;
use std::path::Path;

use am_embed::embedder::Embedder as _;
use am_embed::hash::HashEmbedder;
use am_model::{
    CaptureLevel, DedupKey, Instant, Memory, MemoryId, MemoryKind, Observation, Origin, SessionId, Verb,
};
use am_store::{Action, Forget, ForgetSession, Merge, Outcome, Rewrite, Save, Store, VerifyReport};
use am_store_sqlite::SqliteStore;

use crate::support::{commit, found, home, note, open, save, text};

/// Returns the files whose bytes hold `needle`.
fn holding(directory: &Path, needle: &[u8]) -> Vec<String> {
    fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| fs::read(path).unwrap().windows(needle.len()).any(|window| window == needle))
        .map(|path| path.file_name().unwrap().to_string_lossy().into_owned())
        .collect()
}

fn nowhere(directory: &Path, text: &str) {
    for word in text.split(' ').chain([text]) {
        assert_eq!(holding(directory, word.as_bytes()), Vec::<String>::new(), "`{word}` is still there");
    }
    let vector = HashEmbedder::new().embed_query(text).unwrap();
    let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
    assert_eq!(holding(directory, &bytes), Vec::<String>::new(), "the vector of `{text}` is still there");
}

async fn clean(store: &SqliteStore) {
    let report = store.verify().await.unwrap();
    assert_eq!(report.faults, [], "{report:?}");
    let VerifyReport { erasure_pending, .. } = report;
    assert!(!erasure_pending);
}

fn event(text: &str, session: &str) -> Observation {
    Observation {
        project: home(),
        session_id: SessionId::from_stored(session),
        event_id: format!("host:PostToolUse:{session}"),
        origin: Origin::from_stored("hook:PostToolUse"),
        at: Instant::from_millis(1_900_000_000_000),
        level: CaptureLevel::Full,
        text: Some(text.to_owned()),
    }
}

async fn memory(store: &SqliteStore, id: &MemoryId) -> Memory {
    store.memories(std::slice::from_ref(id)).await.unwrap().remove(0)
}

fn merge_of(survivor: &Memory, incoming: &str, session: &str) -> Merge {
    Merge {
        survivor: survivor.memory_id.clone(),
        version: survivor.version,
        incoming_key: DedupKey::of(&home(), incoming),
        text: Some(text(&format!("{}\n{incoming}", survivor.content))),
        incoming_bytes: incoming.len(),
        session_id: SessionId::from_stored(session),
        concepts: note(incoming, session).memory.concepts,
        expired_before: None,
        observation: None,
    }
}

const SECRET: &str = "quixotic zugzwang blueprint vexes sphinx";
const INCOMING: &str = "quixotic zugzwang blueprint vexes sphinx flummoxed";
const SIBLING: &str = "an ordinary sibling stays exactly where it was";

/// Fills pages, so that rows move between them.
fn crowd(store: &SqliteStore, from: usize, count: usize) {
    for number in from..from + count {
        let filler: Vec<_> =
            (0..40).map(|word| format!("filler{}", (number * 31 + word * 7) % 997)).collect();
        let mut save = note(&format!("row{number} {}", filler.join(" ")), "crowd");
        save.near_duplicate = None;
        commit(store, Action::Save(Box::new(save)));
    }
}

#[tokio::test]
async fn a_forgotten_memory_leaves_no_bytes() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    crowd(&store, 0, 150);
    let secret = note(SECRET, "s");
    let id = secret.memory.memory_id.clone();
    let secret = Save { observation: Some(event(SECRET, "s")), ..secret };
    commit(&store, Action::Save(Box::new(secret)));
    save(&store, SIBLING);
    let survivor = memory(&store, &id).await;
    let merge = merge_of(&survivor, INCOMING, "t");
    assert!(matches!(commit(&store, Action::Merge(Box::new(merge))), Outcome::Merged { .. }));
    let mut summary = note(&format!("summary of {SECRET}"), "s");
    summary.memory.kind = MemoryKind::Summary;
    summary.memory.derived_from = vec![id.clone()];
    commit(&store, Action::Save(Box::new(summary)));
    crowd(&store, 1000, 150);
    assert!(!holding(directory.path(), b"zugzwang").is_empty());

    let forget =
        Forget { memory_ids: vec![id.clone()], verb: Verb::Forget, reason: None, created_before: None };
    let Outcome::Forgotten { memories, derived, observations, .. } = commit(&store, Action::Forget(forget))
    else {
        panic!("not forgotten")
    };
    assert_eq!((memories, derived.len(), observations), (vec![id], 1, 1));
    assert!(store.erasure_pending().unwrap());
    clean(&store).await;
    nowhere(directory.path(), SECRET);
    nowhere(directory.path(), INCOMING);
    assert_eq!(found(&store, "ordinary sibling"), [SIBLING]);
    assert_eq!(found(&store, "zugzwang"), Vec::<String>::new());
}

#[tokio::test]
async fn a_forgotten_session_leaves_no_bytes_and_others_keep_theirs() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    crowd(&store, 0, 100);
    let ours = note(SIBLING, "ours");
    let id = ours.memory.memory_id.clone();
    commit(&store, Action::Save(Box::new(ours)));
    let merge = merge_of(&memory(&store, &id).await, SECRET, "theirs");
    commit(&store, Action::Merge(Box::new(merge)));
    let mut own = note(&format!("{SECRET} alone"), "theirs");
    own.near_duplicate = None;
    own.observation = Some(event(SECRET, "theirs"));
    commit(&store, Action::Save(Box::new(own)));
    crowd(&store, 1000, 100);

    let session_id = SessionId::from_stored("theirs");
    let shared = store.shared_memories(&home(), &session_id).await.unwrap();
    assert_eq!(shared.len(), 1);
    let rewrites =
        vec![Rewrite { memory_id: id.clone(), version: shared[0].memory.version, text: text(SIBLING) }];
    let forget = ForgetSession { project: home(), session_id: session_id.clone(), rewrites, reason: None };
    let Outcome::Forgotten { memories, rewritten, .. } = commit(&store, Action::ForgetSession(forget)) else {
        panic!("not forgotten")
    };
    assert_eq!((memories.len(), rewritten), (1, vec![id]));
    clean(&store).await;
    nowhere(directory.path(), SECRET);
    assert_eq!(found(&store, "ordinary sibling"), [SIBLING]);
}

#[tokio::test]
async fn erasure_is_pending_while_a_reader_holds_old_pages() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = save(&store, SECRET);
    let reader = rusqlite::Connection::open(directory.path().join(am_store_sqlite::FILE_NAME)).unwrap();
    reader.execute_batch("BEGIN; SELECT count(*) FROM memory").unwrap();
    let forget = Forget { memory_ids: vec![id], verb: Verb::Forget, reason: None, created_before: None };
    commit(&store, Action::Forget(forget));
    assert!(store.finish_erasure().unwrap().erasure_pending);
    assert!(store.erasure_pending().unwrap());
    reader.execute_batch("COMMIT").unwrap();
    assert!(!store.finish_erasure().unwrap().erasure_pending);
    nowhere(directory.path(), SECRET);
}

/// Forgets a memory, or the event that led to it.
type Way = fn(MemoryId) -> Action;

#[tokio::test]
async fn every_way_to_forget_leaves_no_bytes() {
    let event_of = |save: Save| Save { observation: Some(event(SECRET, "s")), ..save };
    let ways: [(&str, Way); 3] = [
        ("delete", |id| {
            let reason = Some("superseded".to_owned());
            Action::Forget(Forget { memory_ids: vec![id], verb: Verb::Delete, reason, created_before: None })
        }),
        ("purge", |id| {
            let created_before = Some(Instant::from_millis(2_000_000_000_000));
            Action::Forget(Forget { memory_ids: vec![id], verb: Verb::Purge, reason: None, created_before })
        }),
        ("observation", |_| Action::ForgetObservation {
            project: home(),
            event_id: "host:PostToolUse:s".to_owned(),
        }),
    ];
    for (way, action) in ways {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        crowd(&store, 0, 60);
        let mut secret = event_of(note(SECRET, "s"));
        secret.memory.origin = Origin::from_stored("hook:PostToolUse");
        let id = secret.memory.memory_id.clone();
        commit(&store, Action::Save(Box::new(secret)));
        save(&store, SIBLING);
        crowd(&store, 1000, 60);
        let outcome = commit(&store, action(id));
        assert!(matches!(&outcome, Outcome::Forgotten { memories, .. } if memories.len() == 1), "{way}");
        clean(&store).await;
        nowhere(directory.path(), SECRET);
        assert_eq!(found(&store, "ordinary sibling"), [SIBLING], "{way}");
    }
}
