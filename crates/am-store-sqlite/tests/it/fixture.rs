//! Stores of released schema versions: each must be read by every later version, with everything in it.
//!
//! `tests/fixtures/vN/memory.db` was written by a build of schema version N and is never written again. For a new
//! version: keep the older ones with their tests, name the new one below, and run
//! `UPDATE_FIXTURE=1 cargo test -p am-store-sqlite --test it fixture`, which makes a fixture where none is.

use std::fs;
use std::path::{Path, PathBuf};

use am_embed::analysis::{Analysis, Profile};
use am_embed::hash::HashEmbedder;
use am_model::{
    Actor, CaptureLevel, Channel, Concept, DedupKey, Importance, Instant, MemoryId, MemoryKind, Observation,
    Origin, Project, SessionId, StoreId, Verb,
};
use am_store::{
    Action, Audit, Change, Forget, ForgetSession, Merge, NewMemory, Outcome, Part, Rewrite, Save, Scope,
    SearchQuery, Store, StoredMemory, Text, chain,
};
use am_store_sqlite::{FILE_NAME, RestoreOptions, SqliteStore};
use tempfile::TempDir;

use crate::support::{note, open, options, query, text};

/// Time of the first change; each further one is a second later.
const START: i64 = 1_900_000_000_000;

const LOCK_FILE: &str = "The lock file of the build cache is removed by the nightly job, never by hand, because two runners share \
                         the cache and one of them would rebuild everything from scratch";
const LOCK_FILE_AGAIN: &str = "The lock file of the build cache is removed by the nightly job, never by hand, because \
                               two runners share the cache and one of them would rebuild everything from scratch again";
const ZERO_COPY: &str =
    "We parse frames without copying: parse_frame() in src/wire.rs borrows from the buffer";
const CHINESE: &str = "检索结果按项目隔离";
const SUMMARY: &str = "session a: the build cache has a lock file, frames are parsed without copying";
const LESSON: &str = "Never retry a payment without its idempotency key";
const EXPIRED: &str = "The staging certificate runs out every ninety days";
const ELSEWHERE: &str = "Frames of the other project are of no concern here";
const HOOK_LINE: &str = "tool used: Grep";

fn fixture(version: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/fixtures/v{version}")).join(FILE_NAME)
}

/// A store that is being written, one change a second.
struct Writer<'a> {
    store: &'a SqliteStore,
    now: i64,
}

impl Writer<'_> {
    fn commit(&mut self, channel: Channel, action: Action) -> Outcome {
        let audit =
            Audit { at: Instant::from_millis(self.now), actor: Actor(channel.as_str().to_owned()), channel };
        self.now += 1000;
        self.store.commit_blocking(Change { audit, analysis: None, action }).unwrap()
    }

    fn save(&mut self, save: Save) {
        let memory_id = save.memory.memory_id.clone();
        assert_eq!(self.commit(Channel::Rest, Action::Save(Box::new(save))), Outcome::Inserted { memory_id });
    }
}

fn id(name: &str) -> MemoryId {
    MemoryId::from_stored(name)
}

fn named(name: &str, content: &str, session: &str) -> Save {
    let mut save = note(content, session);
    save.memory.memory_id = id(name);
    save
}

fn event(key: &str, content: &str, at: i64) -> Observation {
    Observation {
        project: crate::support::home(),
        session_id: SessionId::from_stored("b"),
        event_id: key.to_owned(),
        origin: Origin::from_stored("hook:PostToolUse"),
        at: Instant::from_millis(at),
        level: CaptureLevel::Minimal,
        text: Some(content.to_owned()),
    }
}

/// A fixed line of a hook: listed, not ranked, with evidence.
fn hook_line(name: &str, content: &str, key: &str) -> Save {
    let save = named(name, content, "b");
    Save {
        memory: NewMemory {
            kind: MemoryKind::Event,
            origin: Origin::from_stored("hook:PostToolUse"),
            text: Text { terms: None, vector: None, ..text(content) },
            ..save.memory
        },
        observation: Some(event(key, content, START - 5)),
        ..save
    }
}

/// Makes one of everything that schema version 1 can hold.
fn write_everything(store: &SqliteStore) {
    let mut writer = Writer { store, now: START };
    writer.save(named("lock", LOCK_FILE, "a"));
    let mut zero_copy = named("frames", ZERO_COPY, "a");
    zero_copy.memory.concepts = ["parser", "wire", "parser"].map(Concept::from_stored).to_vec();
    zero_copy.memory.importance = Importance::from_stored(0.775);
    writer.save(zero_copy);
    writer.save(named("chinese", CHINESE, "c"));
    let mut lesson = named("lesson", LESSON, "c");
    lesson.memory.kind = MemoryKind::Lesson;
    lesson.memory.origin = Origin::from_stored(Origin::LESSON);
    writer.save(lesson);
    merge_again(&mut writer);
    let mut summary = named("summary", SUMMARY, "a");
    summary.memory.kind = MemoryKind::Summary;
    summary.memory.origin = Origin::from_stored("summary");
    summary.memory.derived_from = vec![id("lock"), id("frames")];
    summary.near_duplicate = None;
    writer.save(summary);
    writer.save(hook_line("grep", HOOK_LINE, "host:PostToolUse:1"));
    let again = hook_line("unused", HOOK_LINE, "delivery:0f8fad5b-d9cb-469f-a165-70867728950e");
    let outcome = writer.commit(Channel::Hook, Action::Save(Box::new(again)));
    assert_eq!(outcome, Outcome::Deduplicated { memory_id: id("grep") });
    writer.save(named("expired", EXPIRED, "c"));
    let revived = Save {
        expired_before: Some(Instant::from_millis(writer.now)),
        near_duplicate: None,
        ..named("unused", EXPIRED, "d")
    };
    let outcome = writer.commit(Channel::Mcp, Action::Save(Box::new(revived)));
    assert_eq!(outcome, Outcome::Revived { memory_id: id("expired") });
    let mut elsewhere = named("elsewhere", ELSEWHERE, "a");
    elsewhere.memory.project = Project::from_stored("other");
    elsewhere.memory.text.dedup_key = DedupKey::of(&elsewhere.memory.project, ELSEWHERE);
    writer.save(elsewhere);
    forget_one(&mut writer);
    let audit =
        Audit { at: Instant::from_millis(writer.now), actor: Actor("cli".to_owned()), channel: Channel::Cli };
    store.rebuild(None, &HashEmbedder::new(), &audit, &mut |_, _| ()).unwrap();
    assert!(!store.finish_erasure().unwrap().erasure_pending);
}

fn merge_again(writer: &mut Writer<'_>) {
    let merged = format!("{LOCK_FILE}\n{LOCK_FILE_AGAIN}");
    let merge = Merge {
        survivor: id("lock"),
        version: 1,
        incoming_key: DedupKey::of(&crate::support::home(), LOCK_FILE_AGAIN),
        text: Some(text(&merged)),
        incoming_bytes: LOCK_FILE_AGAIN.len(),
        session_id: SessionId::from_stored("b"),
        concepts: vec![Concept::from_stored("again")],
        expired_before: None,
        observation: None,
    };
    let outcome = writer.commit(Channel::Mcp, Action::Merge(Box::new(merge)));
    assert_eq!(outcome, Outcome::Merged { memory_id: id("lock") });
}

fn forget_one(writer: &mut Writer<'_>) {
    let mut secret = hook_line("secret", "tool used: Leak", "host:PostToolUse:2");
    secret.observation = Some(event("host:PostToolUse:2", "tool used: Leak", START + 60_000));
    writer.save(secret);
    let forget = Forget {
        memory_ids: vec![id("secret")],
        verb: Verb::Delete,
        reason: Some("it was a secret".to_owned()),
        created_before: None,
    };
    let outcome = writer.commit(Channel::Rest, Action::Forget(forget));
    let expected = Outcome::Forgotten {
        memories: vec![id("secret")],
        derived: vec![],
        rewritten: vec![],
        observations: 1,
    };
    assert_eq!(outcome, expected);
}

/// Opens a copy of a fixture.
fn copy(version: u32) -> (TempDir, SqliteStore) {
    let directory = tempfile::tempdir().unwrap();
    fs::copy(fixture(version), directory.path().join(FILE_NAME)).unwrap();
    let store = open(directory.path());
    (directory, store)
}

async fn memories(store: &SqliteStore) -> Vec<StoredMemory> {
    store.memories_page(&Scope::AllProjects, StoreId(0), 100).await.unwrap()
}

async fn memory(store: &SqliteStore, name: &str) -> StoredMemory {
    let all = memories(store).await;
    all.into_iter().find(|stored| stored.memory.memory_id == id(name)).unwrap()
}

fn contents(store: &SqliteStore, query: &SearchQuery) -> [Vec<String>; 3] {
    let reply = store.search_blocking(query);
    [reply.lexical, reply.vector, reply.concept]
        .map(|arm| arm.unwrap().iter().map(|hit| reply.rows[hit.row].content.clone()).collect())
}

fn part(session: &str, bytes: usize, at: i64) -> Part {
    Part { session_id: SessionId::from_stored(session), bytes, at: Instant::from_millis(at) }
}

#[test]
fn a_missing_fixture_is_made_when_asked() {
    let file = fixture(1);
    if file.exists() {
        return;
    }
    assert!(std::env::var_os("UPDATE_FIXTURE").is_some(), "UPDATE_FIXTURE=1 makes it");
    let directory = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(directory.path(), options(Profile::Default)).unwrap();
    write_everything(&store);
    // The last one to close folds the write-ahead log back.
    drop(store);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::copy(directory.path().join(FILE_NAME), file).unwrap();
}

#[tokio::test]
async fn a_store_of_version_1_is_read_whole() {
    let (_directory, store) = copy(1);
    let identity = store.identity().await.unwrap();
    assert_eq!(identity.profile, Profile::Default);
    assert_eq!(identity.analysis, "default-1");
    assert_eq!(identity.embedder, "hash/contract-1/384");
    assert_eq!(identity.created_at, Instant::from_millis(START));
    let held = memories(&store).await;
    let names: Vec<&str> = held.iter().map(|stored| stored.memory.memory_id.as_str()).collect();
    assert_eq!(names, ["lock", "frames", "chinese", "lesson", "summary", "grep", "expired", "elsewhere"]);
    let kinds: Vec<&str> = held.iter().map(|stored| stored.memory.kind.as_str()).collect();
    assert_eq!(kinds, ["note", "note", "note", "lesson", "summary", "event", "note", "note"]);
    let vectors: Vec<&str> =
        held.iter().filter(|stored| stored.vector.is_none()).map(|s| s.memory.memory_id.as_str()).collect();
    assert_eq!(vectors, ["chinese", "grep"]);
    let report = store.verify().await.unwrap();
    assert_eq!((report.faults, report.chains, report.memories), (vec![], 1, 8));
    assert!(!report.erasure_pending);
}

#[tokio::test]
async fn memories_of_version_1_keep_what_belongs_to_them() {
    let (_directory, store) = copy(1);
    let lock = memory(&store, "lock").await;
    assert_eq!(lock.memory.content, format!("{LOCK_FILE}\n{LOCK_FILE_AGAIN}"));
    assert_eq!((lock.memory.version, lock.memory.session_id.as_str()), (2, "a"));
    let parts = [part("a", LOCK_FILE.len(), START), part("b", LOCK_FILE_AGAIN.len(), START + 4000)];
    assert_eq!(lock.parts, parts);
    assert_eq!(lock.memory.concepts.last(), Some(&Concept::from_stored("again")));
    assert_eq!(lock.concept_parts, [0, 0, 0, 0, 0, 0, 0, 0, 1]);

    let frames = memory(&store, "frames").await;
    let concepts: Vec<&str> = frames.memory.concepts.iter().map(Concept::as_str).collect();
    assert_eq!(concepts, ["parser", "wire", "parser"]);
    assert_eq!(frames.memory.importance.get(), 0.775);
    assert_eq!(frames.parts, [part("a", ZERO_COPY.len(), START + 1000)]);

    assert_eq!(memory(&store, "summary").await.derived_from, [id("lock"), id("frames")]);
    let expired = memory(&store, "expired").await;
    assert_eq!(expired.memory.created_at, Instant::from_millis(START + 9000));
    assert_eq!(expired.parts, [part("c", EXPIRED.len(), START + 8000)]);

    let sessions = store.sessions(&crate::support::home(), 10).await.unwrap();
    let sessions: Vec<(&str, i64, i64)> = sessions
        .iter()
        .map(|session| {
            (session.session_id.as_str(), session.started_at.millis(), session.updated_at.millis())
        })
        .collect();
    let expected =
        [("b", START + 6000, START + 11_000), ("c", START + 2000, START + 8000), ("a", START, START + 5000)];
    assert_eq!(sessions, expected);
}

#[tokio::test]
async fn evidence_and_log_of_version_1_are_kept() {
    let (_directory, store) = copy(1);
    let evidence = store.observations_page(&Scope::AllProjects, StoreId(0), 10).await.unwrap();
    let evidence: Vec<(&str, Option<&str>, &str)> = evidence
        .iter()
        .map(|stored| {
            let observation = &stored.observation;
            let led_to = stored.memory_id.as_ref().map_or("", MemoryId::as_str);
            (observation.event_id.as_str(), observation.text.as_deref(), led_to)
        })
        .collect();
    let expected = [
        ("host:PostToolUse:1", Some(HOOK_LINE), "grep"),
        ("delivery:0f8fad5b-d9cb-469f-a165-70867728950e", Some(HOOK_LINE), "grep"),
        ("host:PostToolUse:2", None, "secret"),
    ];
    assert_eq!(evidence, expected);

    let log = store.log_page(StoreId(0), 100).await.unwrap();
    let verbs: Vec<&str> = log.iter().map(|row| row.entry.verb.as_str()).collect();
    let expected = [
        "remember", "remember", "remember", "remember", "merge", "remember", "remember", "observe",
        "remember", "revive", "remember", "remember", "delete", "rebuild",
    ];
    assert_eq!(verbs, expected);
    assert_eq!(log[12].entry.reason.as_deref(), Some("it was a secret"));
    // The digests in the log are of the memories as they are read now.
    for stored in memories(&store).await {
        let about = |row: &&am_store::StoredLogEntry| row.entry.targets == [stored.memory.memory_id.clone()];
        let last = log.iter().filter(about).rfind(|row| row.entry.after.is_some()).unwrap();
        assert_eq!(last.entry.after, Some(chain::keyed_digest(&stored.digest_key, &stored.memory)));
    }
}

#[test]
fn a_store_of_version_1_is_searched() {
    let (_directory, store) = copy(1);
    let merged = format!("{LOCK_FILE}\n{LOCK_FILE_AGAIN}");
    let [lexical, _, _] = contents(&store, &query("who removes the lock file of the cache", 2));
    assert_eq!(lexical, [merged.as_str(), SUMMARY]);
    let [_, vector, _] = contents(&store, &query(ZERO_COPY, 9));
    assert_eq!(vector[0], ZERO_COPY);
    // Everything that has a vector, the summary and the lesson too.
    assert_eq!(vector.len(), 5);
    assert_eq!(contents(&store, &query("检索", 5))[0], [CHINESE]);
    assert_eq!(contents(&store, &query("grep", 5))[0], [] as [&str; 0]);
    assert_eq!(contents(&store, &query("leak", 5))[0], [] as [&str; 0]);
    let concept = SearchQuery {
        concepts: vec![Concept::from_stored("wire"), Concept::from_stored("again")],
        ..query("x", 5)
    };
    assert_eq!(contents(&store, &concept)[2], [ZERO_COPY, merged.as_str()]);
}

#[tokio::test]
async fn a_store_of_version_1_goes_on() {
    let (_directory, store) = copy(1);
    let mut writer = Writer { store: &store, now: START + 100_000 };
    let outcome = writer.commit(Channel::Rest, Action::Save(Box::new(note(ZERO_COPY, "e"))));
    assert_eq!(outcome, Outcome::Deduplicated { memory_id: id("frames") });
    let near = format!("{LOCK_FILE}\n{LOCK_FILE_AGAIN} and again");
    let outcome = writer.commit(Channel::Rest, Action::Save(Box::new(note(&near, "e"))));
    let Outcome::NearDuplicates { candidates } = outcome else { panic!("{outcome:?}") };
    assert_eq!(candidates[0].memory_id, id("lock"));
    let again = hook_line("unused", "tool used: Leak", "host:PostToolUse:2");
    let outcome = writer.commit(Channel::Hook, Action::Save(Box::new(again)));
    assert_eq!(outcome, Outcome::Repeated { memory_id: Some(id("secret")) });

    writer.save(named("new", "written by a later version", "e"));
    let rewrite = Rewrite { memory_id: id("lock"), version: 2, text: text(LOCK_FILE) };
    let forget = ForgetSession {
        project: crate::support::home(),
        session_id: SessionId::from_stored("b"),
        rewrites: vec![rewrite],
        reason: None,
    };
    let outcome = writer.commit(Channel::Cli, Action::ForgetSession(forget));
    let expected = Outcome::Forgotten {
        memories: vec![id("grep")],
        derived: vec![id("summary")],
        rewritten: vec![id("lock")],
        observations: 2,
    };
    assert_eq!(outcome, expected);
    assert_eq!(memory(&store, "lock").await.memory.content, LOCK_FILE);
    let new = memory(&store, "new").await.memory.id;
    assert!(memories(&store).await.iter().all(|stored| stored.memory.id <= new));
    let report = store.verify().await.unwrap();
    assert_eq!((report.faults, report.erasure_pending), (vec![], false));
}

#[tokio::test]
async fn terms_of_version_1_are_those_of_its_analysis() {
    let (_directory, store) = copy(1);
    let rebuilt = {
        let audit = crate::support::audit();
        store.rebuild(None, &HashEmbedder::new(), &audit, &mut |_, _| ()).unwrap()
    };
    assert_eq!(rebuilt.memories, 8);
    assert_eq!(store.identity().await.unwrap().analysis, Analysis::new(Profile::Default).id());
    assert_eq!(store.verify().await.unwrap().faults, []);
}

#[tokio::test]
async fn a_back_up_of_version_1_is_restored() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("made-by-version-1.backup");
    fs::copy(fixture(1), &file).unwrap();
    let store = open(&directory.path().join("data"));
    store.restore(&file, RestoreOptions::default(), &mut |_, _| ()).unwrap();
    assert_eq!(memories(&store).await.len(), 8);
    let (_other, original) = copy(1);
    assert_ne!(store.identity().await.unwrap().uuid, original.identity().await.unwrap().uuid);
    let mut writer = Writer { store: &store, now: START + 100_000 };
    writer.save(named("new", "written after the restore", "e"));
    let report = store.verify().await.unwrap();
    assert_eq!((report.faults, report.chains), (vec![], 2));
}
