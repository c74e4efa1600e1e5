//! The bodies of replies: the contract's, keys in its order, numbers as ECMAScript prints them.

use am_model::{Counts, Memory, SearchHit, Session, Signal, number};
use am_service::{Handoff, Recap, Receipt, Remembered, SearchResults};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A number as ECMAScript prints it.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let printed = if self.0.is_finite() { number::print(self.0) } else { "null".to_owned() };
        RawValue::from_string(printed).map_err(serde::ser::Error::custom)?.serialize(serializer)
    }
}

fn texts(signals: &[Signal]) -> Vec<&str> {
    signals.iter().map(|signal| signal.0.as_str()).collect()
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SavedBody<'a> {
    id: &'a str,
    session_id: &'a str,
    project: &'a str,
    concepts: Vec<&'a str>,
    deduped: bool,
    consolidated: bool,
}

impl<'a> From<&'a Remembered> for SavedBody<'a> {
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

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MemoryRow<'a> {
    id: String,
    memory_id: &'a str,
    content: &'a str,
    session_id: &'a str,
    origin: &'a str,
    importance: Number,
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

#[derive(Serialize)]
struct HitRow<'a> {
    #[serde(flatten)]
    memory: MemoryRow<'a>,
    score: Number,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<Number>,
    source: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    signals: Option<&'a [&'a str]>,
}

/// Writes the reply of a search; `shared`: each row repeats the signals.
pub(crate) fn search(found: &SearchResults, shared: bool) -> impl Serialize + '_ {
    #[derive(Serialize)]
    struct Body<'a> {
        mode: &'static str,
        results: Vec<Hit<'a>>,
        signals: Vec<&'a str>,
    }
    struct Hit<'a>(&'a SearchHit, Option<&'a [Signal]>);

    impl Serialize for Hit<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            let Self(hit, signals) = self;
            let signals = signals.map(texts);
            HitRow {
                memory: (&hit.memory).into(),
                score: Number(hit.score),
                distance: hit.distance.map(Number),
                source: hit.source.as_str(),
                signals: signals.as_deref(),
            }
            .serialize(serializer)
        }
    }

    let signals = shared.then_some(found.signals.as_slice());
    Body {
        mode: found.mode.as_str(),
        results: found.hits.iter().map(|hit| Hit(hit, signals)).collect(),
        signals: texts(&found.signals),
    }
}

#[derive(Serialize)]
pub(crate) struct SessionsBody<'a> {
    sessions: Vec<SessionRow<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionRow<'a> {
    session_id: &'a str,
    project: &'a str,
    started_at: String,
    updated_at: String,
}

impl<'a> From<&'a [Session]> for SessionsBody<'a> {
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

#[derive(Serialize)]
pub(crate) struct MemoriesBody<'a> {
    memories: Vec<MemoryRow<'a>>,
}

impl<'a> From<&'a [Memory]> for MemoriesBody<'a> {
    fn from(memories: &'a [Memory]) -> Self {
        Self { memories: memories.iter().map(Into::into).collect() }
    }
}

#[derive(Serialize)]
pub(crate) struct ForgottenBody {
    pub(crate) forgotten: bool,
}

#[derive(Serialize)]
pub(crate) struct DeletedBody<'a> {
    deleted: bool,
    receipt: ReceiptBody<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReceiptBody<'a> {
    memory_id: &'a str,
    deleted_at: String,
}

impl<'a> From<&'a Receipt> for DeletedBody<'a> {
    fn from(receipt: &'a Receipt) -> Self {
        let receipt =
            ReceiptBody { memory_id: receipt.memory_id.as_str(), deleted_at: receipt.deleted_at.to_string() };
        Self { deleted: true, receipt }
    }
}

#[derive(Serialize)]
struct CountsBody {
    memories: u64,
    sessions: u64,
}

impl From<Counts> for CountsBody {
    fn from(counts: Counts) -> Self {
        Self { memories: counts.memories, sessions: counts.sessions }
    }
}

#[derive(Serialize)]
pub(crate) struct HealthBody {
    status: &'static str,
    counts: CountsBody,
}

impl From<Counts> for HealthBody {
    fn from(counts: Counts) -> Self {
        Self { status: "ok", counts: counts.into() }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RecapBody<'a> {
    recap: &'a str,
    session_id: Option<&'a str>,
    count: usize,
    signals: Vec<&'a str>,
}

impl<'a> From<&'a Recap> for RecapBody<'a> {
    fn from(recap: &'a Recap) -> Self {
        Self {
            recap: &recap.text,
            session_id: recap.session_id.as_ref().map(AsRef::as_ref),
            count: recap.count,
            signals: texts(&recap.signals),
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HandoffBody<'a> {
    handoff: &'a str,
    session_id: Option<&'a str>,
    counts: CountsBody,
    signals: Vec<&'a str>,
}

impl<'a> From<&'a Handoff> for HandoffBody<'a> {
    fn from(handoff: &'a Handoff) -> Self {
        Self {
            handoff: &handoff.text,
            session_id: handoff.session_id.as_ref().map(AsRef::as_ref),
            counts: handoff.counts.into(),
            signals: texts(&handoff.signals),
        }
    }
}

#[derive(Serialize)]
pub(crate) struct ErrorBody {
    pub(crate) error: &'static str,
}
