//! Bodies of replies. The order of the fields is that on the wire.

use am_model::{Memory, SearchHit, Session, Signal};
use am_service::{Handoff, Recap, Receipt, Remembered, SearchResults};
use schemars::JsonSchema;
use serde::Serialize;

use crate::Number;

fn texts(signals: &[Signal]) -> Vec<&str> {
    signals.iter().map(|signal| signal.0.as_str()).collect()
}

/// The server is up.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Alive {
    /// Always `ok`.
    pub status: &'static str,
}

/// What a project holds.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Counts {
    /// Memories, expired ones included.
    memories: u64,
    /// Sessions.
    sessions: u64,
}

impl From<am_model::Counts> for Counts {
    fn from(counts: am_model::Counts) -> Self {
        Self { memories: counts.memories, sessions: counts.sessions }
    }
}

/// The server is up, and its store answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Health {
    /// Always `ok`.
    status: &'static str,
    /// What the project holds; zeros for an unknown one.
    counts: Counts,
}

impl From<am_model::Counts> for Health {
    fn from(counts: am_model::Counts) -> Self {
        Self { status: "ok", counts: counts.into() }
    }
}

/// What became of a save.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Saved<'a> {
    /// Public id of the memory that holds the text.
    id: &'a str,
    /// Session of the request.
    session_id: &'a str,
    /// Scope.
    project: &'a str,
    /// Concepts as stored; those of the request where nothing was inserted.
    concepts: Vec<&'a str>,
    /// Whether the text, or the event, was there already.
    deduped: bool,
    /// Whether the text was merged into another memory.
    consolidated: bool,
}

impl<'a> From<&'a Remembered> for Saved<'a> {
    fn from(saved: &'a Remembered) -> Self {
        Self {
            id: saved.memory_id.as_str(),
            session_id: saved.session_id.as_str(),
            project: saved.project.as_str(),
            concepts: saved.concepts.iter().map(AsRef::as_ref).collect(),
            deduped: saved.deduped,
            consolidated: saved.consolidated,
        }
    }
}

/// A memory.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct MemoryRow<'a> {
    /// Position in the store's sequence.
    id: String,
    /// Public id.
    memory_id: &'a str,
    /// Text.
    content: &'a str,
    /// Session that made it.
    session_id: &'a str,
    /// Where it came from.
    origin: &'a str,
    /// Weight, 0 to 1.
    #[schemars(with = "f64")]
    importance: Number,
    /// When it was made, ISO 8601 in UTC with milliseconds.
    created_at: String,
}

impl<'a> From<&'a Memory> for MemoryRow<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self {
            id: memory.id.to_string(),
            memory_id: memory.memory_id.as_str(),
            content: &memory.content,
            session_id: memory.session_id.as_str(),
            origin: memory.origin.as_str(),
            importance: Number(memory.importance.get()),
            created_at: memory.created_at.to_string(),
        }
    }
}

/// A memory that was found.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Hit<'a> {
    #[serde(flatten)]
    memory: MemoryRow<'a>,
    /// Larger is better: BM25, or the sum of reciprocal ranks.
    #[schemars(with = "f64")]
    score: Number,
    /// `(1 - cosine) / 2` where the vector arm placed it best.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<f64>")]
    distance: Option<Number>,
    /// The arm that placed it best: `vector`, `text` or `graph`.
    source: &'static str,
    /// A copy of the reply's; hybrid search only.
    #[serde(skip_serializing_if = "Option::is_none")]
    signals: Option<Vec<&'a str>>,
}

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Found<'a> {
    /// How hits are ranked: `bm25` or `hybrid`.
    mode: &'static str,
    /// Hits, best first.
    results: Vec<Hit<'a>>,
    /// What is missing from the answer.
    signals: Vec<&'a str>,
}

impl<'a> From<&'a SearchResults> for Found<'a> {
    fn from(found: &'a SearchResults) -> Self {
        let signals = texts(&found.signals);
        let hybrid = found.mode == am_service::Mode::Hybrid;
        let hit = |hit: &'a SearchHit| Hit {
            memory: MemoryRow::from(&hit.memory),
            score: Number(hit.score),
            distance: hit.distance.map(Number),
            source: hit.source.as_str(),
            signals: hybrid.then(|| signals.clone()),
        };
        Self { mode: found.mode.as_str(), results: found.hits.iter().map(hit).collect(), signals }
    }
}

/// A session.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct SessionRow<'a> {
    /// Id, unique in its project.
    session_id: &'a str,
    /// Scope.
    project: &'a str,
    /// When its first memory was made.
    started_at: String,
    /// When its last memory was made.
    updated_at: String,
}

/// The sessions of a project.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Sessions<'a> {
    /// Newest created first.
    sessions: Vec<SessionRow<'a>>,
}

impl<'a> From<&'a [Session]> for Sessions<'a> {
    fn from(sessions: &'a [Session]) -> Self {
        let row = |session: &'a Session| SessionRow {
            session_id: session.session_id.as_str(),
            project: session.project.as_str(),
            started_at: session.started_at.to_string(),
            updated_at: session.updated_at.to_string(),
        };
        Self { sessions: sessions.iter().map(row).collect() }
    }
}

/// The memories of a session.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SessionMemories<'a> {
    /// Newest created first.
    memories: Vec<MemoryRow<'a>>,
}

impl<'a> From<&'a [Memory]> for SessionMemories<'a> {
    fn from(memories: &'a [Memory]) -> Self {
        Self { memories: memories.iter().map(MemoryRow::from).collect() }
    }
}

/// A memory was removed.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Forgotten {
    /// Always true.
    pub forgotten: bool,
}

/// The proof of a governed delete.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct ReceiptRow<'a> {
    /// The memory that was removed.
    memory_id: &'a str,
    /// When.
    deleted_at: String,
}

/// A memory was removed for a reason.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Deleted<'a> {
    /// Always true.
    deleted: bool,
    /// The proof.
    receipt: ReceiptRow<'a>,
}

impl<'a> From<&'a Receipt> for Deleted<'a> {
    fn from(receipt: &'a Receipt) -> Self {
        let deleted_at = receipt.deleted_at.to_string();
        Self { deleted: true, receipt: ReceiptRow { memory_id: receipt.memory_id.as_str(), deleted_at } }
    }
}

/// The newest memories as text.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecapText<'a> {
    /// One bullet for each memory; empty for none.
    recap: &'a str,
    /// Session of the request.
    session_id: Option<&'a str>,
    /// How many memories are shown.
    count: usize,
    /// What is missing from the answer.
    signals: Vec<&'a str>,
}

impl<'a> From<&'a Recap> for RecapText<'a> {
    fn from(recap: &'a Recap) -> Self {
        Self {
            recap: &recap.text,
            session_id: recap.session_id.as_ref().map(AsRef::as_ref),
            count: recap.count,
            signals: texts(&recap.signals),
        }
    }
}

/// The newest memories as text, under the counts of their project.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HandoffText<'a> {
    /// A line of counts, then the bullets.
    handoff: &'a str,
    /// Session of the request.
    session_id: Option<&'a str>,
    /// What the project holds; zeros where counting failed.
    counts: Counts,
    /// What is missing from the answer.
    signals: Vec<&'a str>,
}

impl<'a> From<&'a Handoff> for HandoffText<'a> {
    fn from(handoff: &'a Handoff) -> Self {
        Self {
            handoff: &handoff.text,
            session_id: handoff.session_id.as_ref().map(AsRef::as_ref),
            counts: handoff.counts.into(),
            signals: texts(&handoff.signals),
        }
    }
}

/// Why a request got no success.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Error<'a> {
    /// Stable name.
    pub error: &'static str,
    /// What is wrong, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<&'a str>,
}
