//! A synthetic corpus whose words are spread as in real text.
//!
//! Words follow Zipf's law over a vocabulary of 60,000, mixed with words of the project's topic and identifiers of the
//! memory's own, 58 on average. It says nothing of quality, only of speed.

use am_embed::analysis::{Analysis, Profile};
use am_embed::embedder::{Embedder as _, is_zero};
use am_embed::hash::HashEmbedder;
use am_model::{
    Actor, Channel, Concept, DedupKey, Importance, Instant, Memory, MemoryId, MemoryKind, Origin, Project,
    SessionId, StoreId,
};
use am_store::{Action, Audit, Change, Import, Part, StoreError, StoredMemory};
use am_store_sqlite::SqliteStore;
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};

/// Distinct words.
const VOCABULARY: u32 = 60_000;
/// Memories of one transaction while loading.
const BATCH: usize = 2_000;

/// Draws texts.
#[derive(Debug)]
pub struct Corpus {
    random: StdRng,
}

impl Corpus {
    /// Makes a corpus; equal seeds give equal texts.
    pub fn new(seed: u64) -> Self {
        Self { random: StdRng::seed_from_u64(seed) }
    }

    /// Draws a word: rank `r` with a probability of about `1/r`.
    pub fn word(&mut self) -> String {
        let uniform: f64 = self.random.random();
        let rank = f64::from(VOCABULARY).powf(uniform) as u32;
        format!("w{}", rank * 7919 % VOCABULARY)
    }

    /// Draws `count` words.
    pub fn words(&mut self, count: usize) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }

    /// Draws the text of memory `number` of `project`.
    pub fn text(&mut self, project: usize, number: usize) -> String {
        let length = self.random.random_range(24..92);
        let mut words: Vec<String> = (0..length).map(|_| self.word()).collect();
        for _ in 0..3 {
            let topic = self.random.random_range(0..40);
            words.push(format!("topic{project}x{topic}"));
        }
        words.push(format!("fn_{number}_{}", self.random.random_range(0..1_000_000)));
        words.join(" ")
    }
}

/// Returns the name of project `number`.
pub fn project(number: usize) -> Project {
    Project::from_stored(format!("project-{number}"))
}

/// Returns who the benches say they are.
pub fn audit() -> Audit {
    Audit {
        at: Instant::from_millis(1_900_000_000_000),
        actor: Actor("bench".to_owned()),
        channel: Channel::Library,
    }
}

/// Loads `memories` texts spread over `projects`.
///
/// # Errors
/// The store refuses a batch.
pub fn load(store: &SqliteStore, seed: u64, memories: usize, projects: usize) -> Result<(), StoreError> {
    let mut corpus = Corpus::new(seed);
    let analysis = Analysis::new(Profile::Default);
    let embedder = HashEmbedder::new();
    let mut batch = Vec::with_capacity(BATCH);
    for number in 0..memories {
        let place = number % projects;
        let project = project(place);
        let content = corpus.text(place, number);
        let session_id = SessionId::from_stored(format!("session-{}", number / 50));
        let created_at = Instant::from_millis(1_800_000_000_000 + number as i64 * 1000);
        let vector = embedder.embed_query(&content).ok().filter(|vector| !is_zero(vector));
        let concepts = analysis.concepts(&content).into_iter().map(Concept::from_stored).collect::<Vec<_>>();
        let stored = StoredMemory {
            concept_parts: vec![0; concepts.len()],
            dedup_key: DedupKey::of(&project, &content),
            vector,
            parts: vec![Part { session_id: session_id.clone(), bytes: content.len(), at: created_at }],
            derived_from: Vec::new(),
            digest_key: [7; 32],
            memory: Memory {
                id: StoreId(0),
                memory_id: MemoryId::random(),
                project,
                session_id,
                kind: MemoryKind::Note,
                origin: Origin::from_stored("bench"),
                importance: Importance::from_stored(0.5),
                created_at,
                version: 1,
                concepts,
                content,
            },
        };
        let terms = analysis.analyse(&stored.memory.content);
        batch.push((stored, Some(terms)));
        if batch.len() == BATCH || number + 1 == memories {
            let import = Import { memories: std::mem::take(&mut batch), ..Import::default() };
            store.commit_blocking(Change {
                audit: audit(),
                analysis: None,
                action: Action::Import(Box::new(import)),
            })?;
        }
    }
    Ok(())
}
