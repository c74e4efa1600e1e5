//! Random changes and reads on two stores that must answer alike.

use std::collections::BTreeMap;
use std::sync::Arc;

use am_embed::analysis::Profile;
use am_model::{
    DedupKey, Instant, Memory, MemoryId, MemoryKind, Observation, Origin, Project, SessionId, StoreId, Verb,
};

use super::kit::{Kit, MANY, START, concepts, project, session};
use super::random::Random;
use crate::{
    Action, Arm, Forget, ForgetSession, Import, LiveMemory, Merge, Outcome, Save, Scope, SearchQuery,
    SearchReply, Store, StoredMemory, Text,
};

const PROJECTS: [&str; 3] = ["one", "two", "One"];
const SESSIONS: [&str; 4] = ["s0", "s1", "s2", "s3"];
const CONCEPTS: [&str; 7] = ["alpha", "beta", "gamma", "delta", "Alpha", "caf\u{e9}", "cafe\u{301}"];
const WORDS: [&str; 24] = [
    "cache",
    "parser",
    "token",
    "retry",
    "backoff",
    "deploy",
    "span",
    "lexer",
    "queue",
    "shard",
    "index",
    "merge",
    "Stra\u{df}e",
    "\u{7d22}\u{5f15}",
    "user_id",
    "v2.4.1",
    "auth.rs",
    "don't",
    "\u{1f680}",
    "the",
    "a",
    "of",
    "x",
    "!",
];
/// Steps between two comparisons of everything.
const WHOLE: usize = 25;

/// Applies the same `steps` random changes to two empty stores and compares outcomes, searches, listings, counts and
/// pages. Ids that a store draws, keys and digests are left out; the order of rows is not. Returns how often each
/// outcome came about, by the name of its variant.
///
/// # Panics
/// The stores differ: the message names the seed and the step.
pub async fn differential(
    store: Arc<dyn Store>,
    oracle: Arc<dyn Store>,
    seed: u64,
    steps: usize,
) -> BTreeMap<String, usize> {
    let mut seen = BTreeMap::new();
    let profile = oracle.identity().await.unwrap().profile;
    assert_eq!(store.identity().await.unwrap().profile, profile, "both stores are of one profile");
    let mut pair = Pair {
        store: Kit::over(store, profile),
        oracle: Kit::over(oracle, profile),
        random: Random::new(seed),
        profile,
        now: START,
        saved: 0,
        ids: Vec::new(),
        texts: Vec::new(),
        ahead: None,
        events: Vec::new(),
    };
    for step in 0..steps {
        let action = pair.action().await;
        pair.now += [0, 1, 700, 2_500][pair.random.below(4)];
        let at = Instant::from_millis(pair.now);
        let expected = pair.oracle.try_commit_at(at, action.clone()).await;
        let outcome = pair.store.try_commit_at(at, action.clone()).await;
        let name = format!("{expected:?}");
        let name = name.trim_start_matches("Ok(").split([' ', '(']).next().unwrap_or_default();
        *seen.entry(name.to_owned()).or_default() += 1;
        let context = format!("seed {seed}, step {step}: {action:#?}");
        assert_eq!(
            outcome.map(plain_outcome).map_err(|error| error.name()),
            expected.map(plain_outcome).map_err(|error| error.name()),
            "{context}"
        );
        pair.compare_search(&context).await;
        if step % WHOLE == 0 || step + 1 == steps {
            pair.compare_everything(&context).await;
        }
    }
    seen
}

struct Pair {
    store: Kit,
    oracle: Kit,
    random: Random,
    profile: Profile,
    now: i64,
    saved: usize,
    ids: Vec<MemoryId>,
    texts: Vec<String>,
    /// A survivor and a text whose merge another row has already.
    ahead: Option<(MemoryId, String)>,
    events: Vec<String>,
}

impl Pair {
    fn project(&mut self) -> Project {
        project(PROJECTS[self.random.below(PROJECTS.len())])
    }

    fn session(&mut self) -> SessionId {
        session(SESSIONS[self.random.below(SESSIONS.len())])
    }

    fn concepts(&mut self) -> Vec<am_model::Concept> {
        let count = self.random.below(4);
        let names: Vec<&str> = (0..count).map(|_| CONCEPTS[self.random.below(CONCEPTS.len())]).collect();
        concepts(&names)
    }

    fn content(&mut self) -> String {
        if self.random.once_in(6)
            && let Some(text) = self.random.pick(&self.texts)
        {
            return text.to_uppercase();
        }
        let most = if self.random.once_in(4) { 3 } else { 14 };
        let count = 1 + self.random.below(most);
        let words: Vec<&str> = (0..count).map(|_| WORDS[self.random.below(WORDS.len())]).collect();
        let text = words.join(if self.random.once_in(9) { "\n" } else { " " });
        self.texts.push(text.clone());
        text
    }

    fn bound(&mut self) -> Option<Instant> {
        let age = [0, 1_000, 20_000, 60_000][self.random.below(4)];
        self.random.once_in(3).then(|| Instant::from_millis(self.now - age))
    }

    fn known(&mut self) -> MemoryId {
        self.random.pick(&self.ids).cloned().unwrap_or_else(|| MemoryId::from_stored("unknown"))
    }

    fn event(&mut self, project: &Project, text: &str) -> Observation {
        let fresh = format!("call-{}", self.random.next());
        let event_id = match self.random.below(4) {
            0 => self.random.pick(&self.events).cloned().unwrap_or(fresh),
            1 | 2 => format!("delivery:{}", self.random.next()),
            _ => fresh,
        };
        self.events.push(event_id.clone());
        Observation {
            project: project.clone(),
            session_id: self.session(),
            event_id,
            origin: Origin::from_stored(if self.random.once_in(2) { "rest" } else { "hook:Stop" }),
            at: Instant::from_millis(self.now + [-2_500, -500, 0, 1_900][self.random.below(4)]),
            level: am_model::CaptureLevel::Summary,
            text: (!self.random.once_in(12)).then(|| text.to_owned()),
        }
    }

    fn text(&mut self, project: &Project, kind: MemoryKind, content: &str) -> Text {
        let mut text = self.oracle.text(project, content);
        let is_ranked = crate::is_ranked(kind, self.profile);
        if !is_ranked {
            text.terms = None;
        }
        if !is_ranked || self.random.once_in(15) {
            text.vector = None;
        }
        text
    }

    async fn action(&mut self) -> Action {
        match self.random.below(20) {
            0..=8 => Action::Save(Box::new(self.save().await)),
            9..=12 => Action::Merge(Box::new(self.merge().await)),
            13 | 14 => Action::Forget(self.forget()),
            15 => Action::ForgetSession(self.forget_session().await),
            16 | 17 => {
                let project = self.project();
                let count = self.random.below(4);
                let mut events = Vec::new();
                for _ in 0..count {
                    let content = self.content();
                    events.push(self.event(&project, &content));
                }
                Action::Observe(events)
            }
            18 => {
                let event_id = self.random.pick(&self.events).cloned().unwrap_or_default();
                Action::ForgetObservation { project: self.project(), event_id }
            }
            _ => Action::Import(Box::new(self.import().await)),
        }
    }

    fn fresh_id(&mut self) -> MemoryId {
        self.saved += 1;
        let memory_id = MemoryId::from_stored(format!("m{}", self.saved));
        self.ids.push(memory_id.clone());
        memory_id
    }

    async fn save(&mut self) -> Save {
        let (mut project, mut content) = (self.project(), self.content());
        if self.random.once_in(8)
            && let Some(memory) = self.memory().await
        {
            self.ahead = Some((memory.memory_id, content.clone()));
            project = memory.project;
            content = format!("{} {content}", memory.content);
        }
        let kind = MemoryKind::ALL[self.random.below(MemoryKind::ALL.len())];
        let mut save = self.oracle.note_of(&project, &content);
        save.memory.memory_id = if self.random.once_in(40) { self.known() } else { self.fresh_id() };
        save.memory.session_id = self.session();
        save.memory.kind = kind;
        save.memory.text = self.text(&project, kind, &content);
        save.memory.concepts = self.concepts();
        save.memory.origin = Origin::from_stored(if self.random.once_in(2) { "rest" } else { "hook:Stop" });
        if self.random.once_in(8) {
            save.memory.derived_from = (0..=self.random.below(2)).map(|_| self.known()).collect();
            save.memory.derived_from.dedup();
        } else {
            save.near_duplicate = [None, Some(0.9), Some(0.6), Some(0.3)][self.random.below(4)];
        }
        save.except =
            (0..self.random.below(3)).map(|_| (self.known(), 1 + self.random.below(2) as i64)).collect();
        save.expired_before = self.bound();
        save.observation = self.random.once_in(2).then(|| self.event(&project, &content));
        save
    }

    async fn memory(&mut self) -> Option<Memory> {
        for _ in 0..8 {
            let memory_id = self.known();
            if let Some(memory) = self.oracle.store.memories(&[memory_id]).await.unwrap().pop() {
                return Some(memory);
            }
        }
        None
    }

    async fn merge(&mut self) -> Merge {
        let (survivor, incoming) = match self.ahead.take() {
            Some((survivor, incoming)) => {
                (self.oracle.store.memories(&[survivor]).await.unwrap().pop(), incoming)
            }
            None => (self.memory().await, self.content()),
        };
        let Some(survivor) = survivor else {
            let absent = self.oracle.note_of(&project(PROJECTS[0]), "absent").memory;
            let text = Some(absent.text);
            let incoming_key = DedupKey::of(&absent.project, &incoming);
            return Merge {
                survivor: MemoryId::from_stored("unknown"),
                version: 1,
                incoming_key,
                text,
                incoming_bytes: 0,
                session_id: self.session(),
                concepts: vec![],
                expired_before: None,
                observation: None,
            };
        };
        let mut merge = self.oracle.merge(&survivor, &incoming);
        let merged = format!("{}\n{incoming}", survivor.content);
        merge.text = (!self.random.once_in(4)).then(|| self.text(&survivor.project, survivor.kind, &merged));
        if self.random.once_in(30) {
            merge.incoming_bytes += 1;
        }
        merge.version -= i64::from(self.random.once_in(8));
        merge.session_id = self.session();
        merge.concepts = self.concepts();
        merge.expired_before = self.bound();
        merge.observation = self.random.once_in(2).then(|| self.event(&survivor.project, &incoming));
        merge
    }

    fn forget(&mut self) -> Forget {
        Forget {
            memory_ids: (0..self.random.below(4)).map(|_| self.known()).collect(),
            verb: [Verb::Forget, Verb::Delete, Verb::Purge, Verb::Merge][self.random.below(4)],
            reason: self.random.once_in(2).then(|| "because".to_owned()),
            created_before: self.bound(),
        }
    }

    async fn forget_session(&mut self) -> ForgetSession {
        let (project, session_id) = (self.project(), self.session());
        let shared = self.oracle.store.shared_memories(&project, &session_id).await.unwrap();
        let mut rewrites: Vec<_> =
            shared.iter().map(|stored| self.oracle.rewrite(stored, &session_id)).collect();
        if self.random.once_in(6) {
            rewrites.pop();
        }
        ForgetSession { project, session_id, rewrites, reason: None }
    }

    /// Records that are there, records that were, and records of new texts.
    async fn import(&mut self) -> Import {
        let mut import = Import::default();
        let rows = self.oracle.store.memories_page(&Scope::AllProjects, StoreId(0), MANY).await.unwrap();
        for _ in 0..self.random.below(4) {
            let Some(mut stored) = self.random.pick(&rows).cloned() else { continue };
            if !self.random.once_in(3) {
                let content = self.content();
                stored.memory.memory_id = self.fresh_id();
                stored.memory.id = StoreId(self.random.below(2 * MANY) as i64);
                stored.memory.project = self.project();
                stored.dedup_key = DedupKey::of(&stored.memory.project, &content);
                stored.vector = self.oracle.text(&stored.memory.project, &content).vector;
                stored.parts.truncate(1);
                stored.parts[0].bytes = content.len();
                stored.concept_parts.fill(0);
                stored.memory.content = content;
            }
            let is_ranked = crate::is_ranked(stored.memory.kind, self.profile);
            stored.vector = stored.vector.filter(|_| is_ranked);
            let terms = is_ranked.then(|| self.oracle.analysis().analyse(&stored.memory.content));
            import.memories.push((stored, terms));
        }
        // The rows' own ids decide the order, so that equal ones would leave it open.
        import.memories.sort_by_key(|(stored, _)| stored.memory.id);
        import.memories.dedup_by_key(|(stored, _)| stored.memory.id);
        import
    }

    async fn compare_search(&mut self, context: &str) {
        let text = self.content();
        let live = LiveMemory { project: self.project(), expired_before: self.bound() };
        let mut query = SearchQuery {
            live: live.clone(),
            per_arm: [0, 1, 3, 10, 50][self.random.below(5)],
            concepts: self.concepts(),
            ..self.oracle.query(&text)
        };
        query.concepts.truncate(3);
        if self.random.once_in(6) {
            query.terms = None;
        }
        if self.random.once_in(6) {
            query.vector = None;
        }
        let expected = self.oracle.search(query.clone()).await;
        let reply = self.store.search(query.clone()).await;
        let context = format!("{context}\nthen {query:#?}");
        assert_eq!(reply.hidden, expected.hidden, "{context}");
        compare_arms("lexical", (&reply, &reply.lexical), (&expected, &expected.lexical), &context);
        compare_arms("vector", (&reply, &reply.vector), (&expected, &expected.vector), &context);
        compare_arms("concept", (&reply, &reply.concept), (&expected, &expected.concept), &context);

        let (session_id, limit) = (self.session(), [1, 4, MANY][self.random.below(3)]);
        let listed = self.store.store.session_memories(&live, &session_id, limit).await.unwrap();
        let expected = self.oracle.store.session_memories(&live, &session_id, limit).await.unwrap();
        assert_eq!(plain_memories(listed), plain_memories(expected), "{context}");
        let counts = self.store.store.counts(&live.project).await.unwrap();
        assert_eq!(counts, self.oracle.store.counts(&live.project).await.unwrap(), "{context}");
    }

    async fn compare_everything(&mut self, context: &str) {
        let (store, oracle) = (&self.store.store, &self.oracle.store);
        let (left, right) = (self.store.everything().await, self.oracle.everything().await);
        let plain = |rows: Vec<StoredMemory>| rows.into_iter().map(plain_stored).collect::<Vec<_>>();
        assert_eq!(plain(left.memories), plain(right.memories), "{context}");
        let plain = |rows: Vec<am_model::Session>| {
            rows.into_iter().map(|row| am_model::Session { id: StoreId(0), ..row }).collect::<Vec<_>>()
        };
        assert_eq!(plain(left.sessions), plain(right.sessions), "{context}");
        let plain = |rows: Vec<crate::StoredObservation>| {
            rows.into_iter().map(|row| (row.observation, row.memory_id)).collect::<Vec<_>>()
        };
        assert_eq!(plain(left.observations), plain(right.observations), "{context}");
        let plain = |rows: Vec<crate::StoredLogEntry>| {
            rows.into_iter().map(|row| plain_entry(row.entry)).collect::<Vec<_>>()
        };
        assert_eq!(plain(left.log), plain(right.log), "{context}");

        assert_eq!(store.projects().await.unwrap(), oracle.projects().await.unwrap(), "{context}");
        for name in PROJECTS {
            let names = async |store: &Arc<dyn Store>| {
                let sessions = store.sessions(&project(name), MANY).await.unwrap();
                sessions.into_iter().map(|row| row.session_id).collect::<Vec<_>>()
            };
            assert_eq!(names(store).await, names(oracle).await, "{context}");
            for name_of in SESSIONS {
                let shared = async |store: &Arc<dyn Store>| {
                    let rows = store.shared_memories(&project(name), &session(name_of)).await.unwrap();
                    rows.into_iter().map(plain_stored).collect::<Vec<_>>()
                };
                assert_eq!(shared(store).await, shared(oracle).await, "{context}");
            }
        }
        let (mut left, right) = (store.statistics().await.unwrap(), oracle.statistics().await.unwrap());
        left.disk_bytes = right.disk_bytes;
        left.projection_bytes = right.projection_bytes;
        assert_eq!(left, right, "{context}");
        self.store.verify().await;
    }
}

/// Compares two arms: the same rows in the same order, scores as far as rounding goes.
fn compare_arms(name: &str, left: (&SearchReply, &Arm), right: (&SearchReply, &Arm), context: &str) {
    let rows = |(reply, arm): (&SearchReply, &Arm)| {
        arm.as_ref().map_err(crate::StoreError::name).map(|hits| {
            let memories = hits.iter().map(|hit| reply.rows[hit.row].clone()).collect();
            plain_memories(memories)
        })
    };
    assert_eq!(rows(left), rows(right), "the {name} arm, {context}");
    if let (Ok(left), Ok(right)) = (left.1, right.1) {
        for (left, right) in left.iter().zip(right) {
            let close = (left.score - right.score).abs() <= 1e-9 * right.score.abs().max(1.0);
            assert!(close, "{name}: {} is not {}, {context}", left.score, right.score);
            let distances = (left.distance, right.distance);
            let close = match distances {
                (Some(left), Some(right)) => (left - right).abs() <= 1e-6,
                (None, None) => true,
                _ => false,
            };
            assert!(close, "{name}: {distances:?}, {context}");
        }
    }
}

fn plain_memories(memories: Vec<Memory>) -> Vec<Memory> {
    memories.into_iter().map(|memory| Memory { id: StoreId(0), ..memory }).collect()
}

fn plain_stored(stored: StoredMemory) -> StoredMemory {
    StoredMemory { memory: Memory { id: StoreId(0), ..stored.memory }, digest_key: [0; 32], ..stored }
}

/// What two stores' own rows must have in common.
fn plain_entry(entry: am_model::LogEntry) -> (i64, Instant, Verb, Vec<MemoryId>, Option<String>, bool, bool) {
    let digests = (entry.before.is_some(), entry.after.is_some());
    (entry.sequence, entry.at, entry.verb, entry.targets, entry.reason, digests.0, digests.1)
}

fn plain_outcome(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::NearDuplicates { candidates } => {
            Outcome::NearDuplicates { candidates: plain_memories(candidates) }
        }
        Outcome::Changed { now } => Outcome::Changed { now: now.into_iter().map(plain_stored).collect() },
        Outcome::KeyTaken { memory } => {
            Outcome::KeyTaken { memory: Box::new(Memory { id: StoreId(0), ..*memory }) }
        }
        outcome => outcome,
    }
}
