//! Stores in temporary directories.

use std::path::Path;
use std::sync::Mutex;

use am_embed::analysis::{Analysis, Profile};
use am_embed::embedder::{Embedder as _, is_zero};
use am_embed::hash::HashEmbedder;
use am_model::{
    Actor, Channel, Concept, DedupKey, Importance, Instant, MemoryId, MemoryKind, Origin, Project, SessionId,
};
use am_store::{Action, Audit, Change, LiveMemory, NewMemory, Outcome, Save, SearchQuery, Text, VectorQuery};
use am_store_sqlite::{OpenOptions, SqliteStore};
use tempfile::TempDir;

/// Directories that live as long as the test.
#[derive(Default)]
pub(crate) struct Directories(Mutex<Vec<TempDir>>);

impl Directories {
    pub(crate) fn make(&self) -> std::path::PathBuf {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().to_owned();
        self.0.lock().unwrap().push(directory);
        path
    }
}

pub(crate) fn options(profile: Profile) -> OpenOptions {
    OpenOptions { profile, now: Instant::from_millis(1_900_000_000_000), ..OpenOptions::default() }
}

pub(crate) fn open(directory: &Path) -> SqliteStore {
    SqliteStore::open(directory, options(Profile::Default)).unwrap()
}

pub(crate) fn audit() -> Audit {
    Audit {
        at: Instant::from_millis(1_900_000_000_000),
        actor: Actor("tester".to_owned()),
        channel: Channel::Library,
    }
}

pub(crate) fn home() -> Project {
    Project::from_stored("home")
}

pub(crate) fn text(content: &str) -> Text {
    let vector = HashEmbedder::new().embed_query(content).unwrap();
    Text {
        content: content.to_owned(),
        dedup_key: DedupKey::of(&home(), content),
        terms: Some(Analysis::new(Profile::Default).analyse(content)),
        vector: (!is_zero(&vector)).then_some(vector),
    }
}

pub(crate) fn note(content: &str, session: &str) -> Save {
    Save {
        memory: NewMemory {
            memory_id: MemoryId::random(),
            project: home(),
            session_id: SessionId::from_stored(session),
            kind: MemoryKind::Note,
            text: text(content),
            concepts: Analysis::new(Profile::Default)
                .concepts(content)
                .into_iter()
                .map(Concept::from_stored)
                .collect(),
            origin: Origin::from_stored("rest"),
            importance: Importance::from_stored(0.5),
            derived_from: Vec::new(),
        },
        near_duplicate: Some(0.9),
        except: Vec::new(),
        expired_before: None,
        observation: None,
    }
}

pub(crate) fn commit(store: &SqliteStore, action: Action) -> Outcome {
    store.commit_blocking(Change { audit: audit(), analysis: None, action }).unwrap()
}

pub(crate) fn save(store: &SqliteStore, content: &str) -> MemoryId {
    let save = note(content, "s");
    let memory_id = save.memory.memory_id.clone();
    assert_eq!(
        commit(store, Action::Save(Box::new(save))),
        Outcome::Inserted { memory_id: memory_id.clone() },
        "{content}"
    );
    memory_id
}

pub(crate) fn query(content: &str, per_arm: usize) -> SearchQuery {
    let embedder = HashEmbedder::new();
    SearchQuery {
        live: LiveMemory { project: home(), expired_before: None },
        per_arm,
        terms: Some(Analysis::new(Profile::Default).query(content)),
        vector: Some(VectorQuery {
            embedder: embedder.id().to_string(),
            vector: embedder.embed_query(content).unwrap(),
        }),
        concepts: Vec::new(),
    }
}

/// Contents that the lexical arm finds, best first.
pub(crate) fn found(store: &SqliteStore, words: &str) -> Vec<String> {
    let reply = store.search_blocking(&query(words, 10));
    reply.lexical.unwrap().iter().map(|hit| reply.rows[hit.row].content.clone()).collect()
}
