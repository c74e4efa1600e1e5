//! Loading a corpus, asking its questions, measuring the answers.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use am_embed::analysis::Profile;
use am_embed::embedder::Embedder;
use am_fusion::evaluation::{Metrics, first_rank};
use am_model::{Concept, Instant, MemoryId, Origin, Project, QUERY_MAX, SessionId, bounded_text};
use am_service::{Clock, Remember, Search, SearchResults, Service, Settings, SmartSearch};
use am_store_sqlite::{OpenOptions, SqliteStore, Synchronous};
use tempfile::TempDir;
use tokio::task::spawn_blocking;

use super::corpus::{Corpus, Document};
use crate::context::caller;
use crate::exit::Exit;
use crate::failure::{Failure, Result};
use crate::progress::Progress;

/// Project, session and origin of the corpora (contract §12).
const PROJECT: &str = "agent-memory-eval";
const SESSION: &str = "eval-seed";
const ORIGIN: &str = "eval";
/// Answers looked at.
const LIMIT: usize = 10;
/// 2026-01-01T00:00:00.000Z, when the clock of a throw-away memory starts.
const START: i64 = 1_767_225_600_000;

/// How a question was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Keyword search.
    Search,
    /// Hybrid search.
    SmartSearch,
}

impl Mode {
    pub(crate) const ALL: [Self; 2] = [Self::Search, Self::SmartSearch];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Search => "search",
            Self::SmartSearch => "smart-search",
        }
    }
}

/// What came out.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) corpus: String,
    pub(crate) documents: usize,
    pub(crate) questions: usize,
    /// The best recall in the first 10 that any ranking could have.
    pub(crate) ceiling: f64,
    pub(crate) profile: Profile,
    pub(crate) analysis: String,
    pub(crate) embedder: String,
    /// Means over the questions, for each mode.
    pub(crate) means: Vec<(Mode, Metrics)>,
    /// Questions without a right answer in the first place: mode, id, the first right place.
    pub(crate) misses: Vec<(Mode, String, Option<usize>)>,
}

/// A clock that goes one second further with each look, so that every run sees the same times.
struct SteppingClock(AtomicI64);

impl Clock for SteppingClock {
    fn now(&self) -> Instant {
        Instant::from_millis(self.0.fetch_add(1000, Ordering::Relaxed))
    }
}

/// A memory that goes with this value.
struct ThrowAway {
    service: Service,
    _directory: TempDir,
}

async fn throw_away(profile: Profile, embedder: Arc<dyn Embedder>) -> Result<ThrowAway> {
    let directory = tempfile::tempdir().map_err(|error| {
        Failure::new(Exit::CannotCreate, format!("can't make a temporary directory: {error}"))
    })?;
    let options = OpenOptions {
        profile,
        embedder: embedder.id().to_string(),
        // Nothing is to survive.
        synchronous: Synchronous::Normal,
        now: Instant::from_millis(START),
        ..OpenOptions::default()
    };
    let place = directory.path().to_owned();
    let store = spawn_blocking(move || SqliteStore::open(&place, options)).await??;
    let clock = Arc::new(SteppingClock(AtomicI64::new(START)));
    let service = Service::open(Arc::new(store), embedder, clock, Settings::default()).await?;
    Ok(ThrowAway { service, _directory: directory })
}

/// Measures the built-in corpus on a throw-away memory.
pub(crate) async fn measure_built_in(
    corpus: &Corpus,
    profile: Profile,
    embedder: Arc<dyn Embedder>,
) -> Result<Measured> {
    let memory = throw_away(profile, embedder).await?;
    measure_in(corpus, &memory.service).await
}

/// Measures the built-in corpus in a memory, saved twice as the contract wants it.
pub(crate) async fn measure_in(corpus: &Corpus, service: &Service) -> Result<Measured> {
    let wrong = |detail: &str| Failure::new(Exit::Failed, format!("corpus {}: {detail}", corpus.name));
    let first = save_all(corpus, service).await?;
    let second = save_all(corpus, service).await?;
    if second.iter().any(|(_, deduped)| !deduped) {
        return Err(wrong("saved again, a text was not recognised"));
    }
    let ids: Vec<MemoryId> = first.into_iter().map(|(id, _)| id).collect();
    if ids.iter().ne(second.iter().map(|(id, _)| id)) {
        return Err(wrong("saved again, a text got another id"));
    }
    let counts = service.counts(&Project::new(PROJECT)?).await?;
    if counts.memories != corpus.documents.len() as u64 {
        return Err(wrong(&format!("project {PROJECT} holds {} memories", counts.memories))
            .hint("forget session eval-seed of this project and try again"));
    }
    ask(corpus, service, &ids).await
}

async fn save_all(corpus: &Corpus, service: &Service) -> Result<Vec<(MemoryId, bool)>> {
    let mut saved = vec![];
    for document in &corpus.documents {
        let remembered = service.remember(&caller(), request(document)?).await?;
        saved.push((remembered.memory_id, remembered.deduped));
    }
    Ok(saved)
}

/// Measures a corpus on a throw-away memory, each document a memory of its own.
pub(crate) async fn measure_folder(
    corpus: &Corpus,
    profile: Profile,
    embedder: Arc<dyn Embedder>,
    progress: &Progress,
) -> Result<Measured> {
    let memory = throw_away(profile, embedder).await?;
    let mut ids = vec![];
    for document in &corpus.documents {
        // One by one, so that each has a time of its own and equal scores have one order.
        ids.extend(memory.service.load_corpus(&caller(), vec![request(document)?]).await?);
        progress.set(ids.len() as u64, corpus.documents.len() as u64);
    }
    ask(corpus, &memory.service, &ids).await
}

fn request(document: &Document) -> Result<Remember> {
    let mut request = Remember::new(Project::new(PROJECT)?, &document.content)?;
    request.session_id = Some(SessionId::new(document.session.as_deref().unwrap_or(SESSION))?);
    request.origin = Origin::new(ORIGIN)?;
    for concept in &document.concepts {
        request.concepts.push(Concept::new(concept)?);
    }
    Ok(request)
}

/// Asks every question. `ids` are the memories of the documents, in their order.
async fn ask(corpus: &Corpus, service: &Service, ids: &[MemoryId]) -> Result<Measured> {
    let documents: HashMap<&MemoryId, &str> =
        ids.iter().zip(corpus.documents.iter().map(|document| document.id.as_str())).collect();
    let mut means = vec![];
    let mut misses = vec![];
    for mode in Mode::ALL {
        let mut metrics = vec![];
        for question in &corpus.questions {
            let found = ask_one(service, mode, &question.query).await?;
            if let Some(signal) = found.signals.first() {
                return Err(Failure::new(Exit::Failed, format!("an answer is partial: {signal}")));
            }
            let ranked: Vec<&str> = found
                .hits
                .iter()
                .map(|hit| documents.get(&hit.memory.memory_id).copied().unwrap_or_default())
                .collect();
            let relevant: Vec<&str> = question.relevant.iter().map(String::as_str).collect();
            let rank = first_rank(&ranked, &relevant);
            if rank != Some(1) {
                misses.push((mode, question.id.clone(), rank));
            }
            metrics.push(Metrics::of(&ranked, &relevant));
        }
        means.push((mode, Metrics::mean(&metrics)));
    }
    let identity = service.identity();
    Ok(Measured {
        corpus: corpus.name.clone(),
        documents: corpus.documents.len(),
        questions: corpus.questions.len(),
        ceiling: corpus.ceiling(),
        profile: identity.profile,
        analysis: identity.analysis.clone(),
        embedder: identity.embedder.clone(),
        means,
        misses,
    })
}

async fn ask_one(service: &Service, mode: Mode, query: &str) -> Result<SearchResults> {
    let (query, project, limit) = (bounded_text("query", query, QUERY_MAX)?, Project::new(PROJECT)?, LIMIT);
    Ok(match mode {
        Mode::Search => service.search(Search { query, project, limit }).await,
        Mode::SmartSearch => {
            service.smart_search(SmartSearch { query, concepts: vec![], project, limit }).await
        }
    })
}
