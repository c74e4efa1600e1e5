//! What the cases are written with: a store, its analysis and embedder, and a clock that only moves by itself.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use am_embed::analysis::{Analysis, Profile, TermHash};
use am_embed::embedder::{Embedder as _, is_zero};
use am_embed::hash::HashEmbedder;
use am_model::{
    Actor, CaptureLevel, Channel, Concept, DedupKey, Importance, Instant, LogEntry, Memory, MemoryId,
    MemoryKind, Observation, Origin, Project, Session, SessionId, StoreId, Verb,
};

use super::conformance::Factory;
use crate::{
    Action, Arm, Audit, Change, Forget, ForgetSession, LiveMemory, Merge, NewMemory, Outcome, Rewrite, Save,
    Scope, SearchQuery, SearchReply, Store, StoreError, StoredLogEntry, StoredMemory, StoredObservation,
    Text, VectorQuery,
};

/// The instant before the first change of a case.
pub(super) const START: i64 = 1_900_000_000_000;
/// What the clock moves by with each change.
pub(super) const TICK: i64 = 1_000;
/// More rows than any case makes.
pub(super) const MANY: usize = 10_000;

/// A store under test.
pub(super) struct Kit {
    pub(super) store: Arc<dyn Store>,
    pub(super) place: String,
    profile: Profile,
    clock: AtomicI64,
}

/// Everything that can be read page by page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Everything {
    pub(super) sessions: Vec<Session>,
    pub(super) memories: Vec<StoredMemory>,
    pub(super) observations: Vec<StoredObservation>,
    pub(super) log: Vec<StoredLogEntry>,
}

pub(super) fn project(name: &str) -> Project {
    Project::from_stored(name)
}

pub(super) fn session(name: &str) -> SessionId {
    SessionId::from_stored(name)
}

pub(super) fn concepts(names: &[&str]) -> Vec<Concept> {
    names.iter().map(|name| Concept::from_stored(*name)).collect()
}

/// The project of texts that name none.
pub(super) fn home() -> Project {
    project("home")
}

/// Rows of the home project that were not made before `expired_before`.
pub(super) fn live(expired_before: Option<Instant>) -> LiveMemory {
    LiveMemory { project: home(), expired_before }
}

/// An event of the home project and session `s`, at the start of the case.
pub(super) fn event(event_id: &str, text: &str) -> Observation {
    Observation {
        project: home(),
        session_id: session("s"),
        event_id: event_id.to_owned(),
        origin: Origin::from_stored("hook:PostToolUse"),
        at: Instant::from_millis(START),
        level: CaptureLevel::Full,
        text: Some(text.to_owned()),
    }
}

/// `count` words that share no term, the first of them number `from`.
pub(super) fn words(from: usize, count: usize) -> Vec<String> {
    (from..from + count)
        .map(|number| {
            let letters = [number / 676 % 26, number / 26 % 26, number % 26];
            let letters = letters.map(|letter| char::from(b'a' + letter as u8));
            format!("word{}", letters.iter().collect::<String>())
        })
        .collect()
}

/// Embeds a query as the store's embedder does.
pub(super) fn vector_query(text: &str) -> VectorQuery {
    let embedder = HashEmbedder::new();
    VectorQuery { embedder: embedder.id().to_string(), vector: embedder.embed_query(text).unwrap() }
}

impl Kit {
    pub(super) async fn new(factory: &dyn Factory) -> Self {
        Self::of(factory, Profile::Default).await
    }

    pub(super) async fn of(factory: &dyn Factory, profile: Profile) -> Self {
        let (store, place) = factory.make(profile).await;
        Self { store, place, profile, clock: AtomicI64::new(START) }
    }

    /// Returns a kit for a store that no factory made.
    pub(super) fn over(store: Arc<dyn Store>, profile: Profile) -> Self {
        Self { store, place: String::new(), profile, clock: AtomicI64::new(START) }
    }

    /// Returns a kit for another store of the same profile.
    pub(super) fn with(&self, store: Arc<dyn Store>) -> Self {
        let clock = AtomicI64::new(self.clock.load(Ordering::Relaxed));
        Self { store, place: self.place.clone(), profile: self.profile, clock }
    }

    pub(super) fn analysis(&self) -> Analysis {
        Analysis::new(self.profile)
    }

    /// Moves the clock and returns it.
    pub(super) fn tick(&self) -> Instant {
        Instant::from_millis(self.clock.fetch_add(TICK, Ordering::Relaxed) + TICK)
    }

    pub(super) fn text(&self, project: &Project, content: &str) -> Text {
        let vector = HashEmbedder::new().embed_query(content).unwrap();
        Text {
            content: content.to_owned(),
            dedup_key: DedupKey::of(project, content),
            terms: Some(self.analysis().analyse(content)),
            vector: (!is_zero(&vector)).then_some(vector),
        }
    }

    /// A note of project `home` and session `s`, without a probe.
    pub(super) fn note(&self, content: &str) -> Save {
        self.note_of(&home(), content)
    }

    pub(super) fn note_of(&self, project: &Project, content: &str) -> Save {
        Save {
            memory: NewMemory {
                memory_id: MemoryId::random(),
                project: project.clone(),
                session_id: session("s"),
                kind: MemoryKind::Note,
                text: self.text(project, content),
                concepts: Vec::new(),
                origin: Origin::from_stored("rest"),
                importance: Importance::from_stored(0.5),
                derived_from: Vec::new(),
            },
            near_duplicate: None,
            except: Vec::new(),
            expired_before: None,
            observation: None,
        }
    }

    /// A note that is saved only where nothing is as near as `threshold`.
    pub(super) fn probing(&self, content: &str, threshold: f64) -> Save {
        Save { near_duplicate: Some(threshold), ..self.note(content) }
    }

    /// The merge of `incoming`, of session `t`, into `survivor` as it is, a line below its text.
    pub(super) fn merge(&self, survivor: &Memory, incoming: &str) -> Merge {
        let merged = format!("{}\n{incoming}", survivor.content);
        Merge {
            survivor: survivor.memory_id.clone(),
            version: survivor.version,
            incoming_key: DedupKey::of(&survivor.project, incoming),
            text: Some(self.text(&survivor.project, &merged)),
            incoming_bytes: incoming.len(),
            session_id: session("t"),
            concepts: Vec::new(),
            expired_before: None,
            observation: None,
        }
    }

    pub(super) async fn try_commit_at(&self, at: Instant, action: Action) -> Result<Outcome, StoreError> {
        let audit = Audit { at, actor: Actor("tester".to_owned()), channel: Channel::Library };
        self.store.commit(Change { audit, analysis: None, action }).await
    }

    pub(super) async fn try_commit(&self, action: Action) -> Result<Outcome, StoreError> {
        self.try_commit_at(self.tick(), action).await
    }

    pub(super) async fn commit(&self, action: Action) -> Outcome {
        self.try_commit(action).await.unwrap()
    }

    pub(super) async fn save(&self, save: Save) -> Outcome {
        self.commit(Action::Save(Box::new(save))).await
    }

    pub(super) async fn merged(&self, merge: Merge) -> Outcome {
        self.commit(Action::Merge(Box::new(merge))).await
    }

    /// Saves what must be new.
    pub(super) async fn insert(&self, save: Save) -> MemoryId {
        let memory_id = save.memory.memory_id.clone();
        assert_eq!(self.save(save).await, Outcome::Inserted { memory_id: memory_id.clone() });
        memory_id
    }

    /// Saves a new note of the home project.
    pub(super) async fn insert_note(&self, content: &str) -> MemoryId {
        self.insert(self.note(content)).await
    }

    /// Merges into the survivor as it is.
    pub(super) async fn grow(&self, survivor: &MemoryId, incoming: &str) {
        let survivor = self.memory(survivor).await;
        let merge = self.merge(&survivor, incoming);
        assert_eq!(self.merged(merge).await, Outcome::Merged { memory_id: survivor.memory_id });
    }

    pub(super) async fn forget(&self, memory_ids: &[MemoryId]) -> Outcome {
        self.commit(Action::Forget(forget(memory_ids))).await
    }

    /// Forgets a session of the home project with the rewrites that are right now.
    pub(super) async fn forget_session(&self, session_id: &SessionId) -> Outcome {
        let shared = self.store.shared_memories(&home(), session_id).await.unwrap();
        let rewrites = shared.iter().map(|stored| self.rewrite(stored, session_id)).collect();
        let forget = ForgetSession {
            project: home(),
            session_id: session_id.clone(),
            rewrites,
            reason: Some("asked to".to_owned()),
        };
        self.commit(Action::ForgetSession(forget)).await
    }

    /// The rewrite of a shared memory without the parts of a session.
    pub(super) fn rewrite(&self, stored: &StoredMemory, session_id: &SessionId) -> Rewrite {
        let mut rest = stored.memory.content.as_str();
        let mut kept = Vec::new();
        for part in &stored.parts {
            if part.bytes == 0 {
                continue;
            }
            let (piece, after) = rest.split_at(part.bytes);
            rest = after.strip_prefix('\n').unwrap_or(after);
            if part.session_id != *session_id {
                kept.push(piece);
            }
        }
        let mut text = self.text(&stored.memory.project, &kept.join("\n"));
        if !crate::is_ranked(stored.memory.kind, self.profile) {
            (text.terms, text.vector) = (None, None);
        }
        Rewrite { memory_id: stored.memory.memory_id.clone(), version: stored.memory.version, text }
    }

    pub(super) async fn memory(&self, memory_id: &MemoryId) -> Memory {
        let mut found = self.store.memories(std::slice::from_ref(memory_id)).await.unwrap();
        assert_eq!(found.len(), 1, "the memory is there once");
        found.remove(0)
    }

    pub(super) async fn is_there(&self, memory_id: &MemoryId) -> bool {
        !self.store.memories(std::slice::from_ref(memory_id)).await.unwrap().is_empty()
    }

    pub(super) async fn stored(&self, memory_id: &MemoryId) -> StoredMemory {
        let everything = self.everything().await;
        everything.memories.into_iter().find(|stored| stored.memory.memory_id == *memory_id).unwrap()
    }

    pub(super) async fn everything(&self) -> Everything {
        let (all, first) = (Scope::AllProjects, StoreId(0));
        Everything {
            sessions: self.store.sessions_page(&all, first, MANY).await.unwrap(),
            memories: self.store.memories_page(&all, first, MANY).await.unwrap(),
            observations: self.store.observations_page(&all, first, MANY).await.unwrap(),
            log: self.store.log_page(first, MANY).await.unwrap(),
        }
    }

    pub(super) async fn observation(&self, event_id: &str) -> StoredObservation {
        let everything = self.everything().await;
        everything.observations.into_iter().find(|stored| stored.observation.event_id == event_id).unwrap()
    }

    pub(super) async fn last_log_entry(&self) -> LogEntry {
        self.everything().await.log.pop().unwrap().entry
    }

    /// Asks all arms for what `text` says.
    pub(super) fn query(&self, text: &str) -> SearchQuery {
        SearchQuery {
            live: live(None),
            per_arm: MANY,
            terms: Some(self.analysis().query(text)),
            vector: Some(vector_query(text)),
            concepts: Vec::new(),
        }
    }

    pub(super) async fn search(&self, query: SearchQuery) -> SearchReply {
        self.store.search(query).await
    }

    /// The memories the lexical arm finds in the home project, best first.
    pub(super) async fn lexical(&self, text: &str) -> Vec<MemoryId> {
        let reply = self.search(SearchQuery { vector: None, ..self.query(text) }).await;
        ids(&reply, &reply.lexical)
    }

    /// The memories the vector arm finds in the home project, best first.
    pub(super) async fn nearest(&self, text: &str) -> Vec<MemoryId> {
        let reply = self.search(SearchQuery { terms: None, ..self.query(text) }).await;
        ids(&reply, &reply.vector)
    }

    /// The memories the concept arm finds in the home project.
    pub(super) async fn linked(&self, names: &[&str]) -> Vec<MemoryId> {
        let query = SearchQuery { terms: None, vector: None, concepts: concepts(names), ..self.query("") };
        let reply = self.search(query).await;
        ids(&reply, &reply.concept)
    }

    /// The memories a session of the home project made, newest first.
    pub(super) async fn listed(&self, session_id: &str) -> Vec<MemoryId> {
        let rows = self.store.session_memories(&live(None), &session(session_id), MANY).await.unwrap();
        rows.into_iter().map(|memory| memory.memory_id).collect()
    }

    /// Fails unless the store finds itself whole.
    pub(super) async fn verify(&self) {
        let report = self.store.verify().await.unwrap();
        assert_eq!(report.faults, [], "the store verifies");
    }
}

pub(super) fn forget(memory_ids: &[MemoryId]) -> Forget {
    Forget { memory_ids: memory_ids.to_vec(), verb: Verb::Forget, reason: None, created_before: None }
}

/// The outcome of forgetting memories that nothing quoted and no evidence led to.
pub(super) fn forgotten(memories: &[MemoryId]) -> Outcome {
    Outcome::Forgotten { memories: memories.to_vec(), derived: vec![], rewritten: vec![], observations: 0 }
}

/// The public ids an arm points to.
pub(super) fn ids(reply: &SearchReply, arm: &Arm) -> Vec<MemoryId> {
    let hits = arm.as_ref().unwrap();
    let found: Vec<MemoryId> = hits.iter().map(|hit| reply.rows[hit.row].memory_id.clone()).collect();
    let distinct: BTreeSet<&MemoryId> = found.iter().collect();
    assert_eq!(distinct.len(), found.len(), "an arm names a row once");
    found
}

/// The distinct terms of a query that says `terms` and nothing else.
pub(super) fn hashes(terms: &[&str]) -> Vec<TermHash> {
    terms.iter().map(|term| TermHash::of(term)).collect()
}
