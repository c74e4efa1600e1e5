//! What reading commands write as JSON: the shapes that the REST surface has.

use am_model::{Memory, SearchHit, Session, Signal};
use serde::Serialize;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct MemoryView<'a> {
    id: String,
    memory_id: &'a str,
    content: &'a str,
    session_id: &'a str,
    origin: &'a str,
    importance: f64,
    created_at: String,
}

#[derive(Serialize)]
pub(crate) struct HitView<'a> {
    #[serde(flatten)]
    memory: MemoryView<'a>,
    score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    distance: Option<f64>,
    source: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SessionView<'a> {
    session_id: &'a str,
    project: &'a str,
    started_at: String,
    updated_at: String,
}

impl<'a> From<&'a Memory> for MemoryView<'a> {
    fn from(memory: &'a Memory) -> Self {
        Self {
            id: memory.id.to_string(),
            memory_id: memory.memory_id.as_str(),
            content: &memory.content,
            session_id: memory.session_id.as_str(),
            origin: memory.origin.as_str(),
            importance: memory.importance.get(),
            created_at: memory.created_at.to_string(),
        }
    }
}

impl<'a> From<&'a SearchHit> for HitView<'a> {
    fn from(hit: &'a SearchHit) -> Self {
        Self {
            memory: MemoryView::from(&hit.memory),
            score: hit.score,
            distance: hit.distance,
            source: hit.source.as_str(),
        }
    }
}

impl<'a> From<&'a Session> for SessionView<'a> {
    fn from(session: &'a Session) -> Self {
        Self {
            session_id: session.session_id.as_str(),
            project: session.project.as_str(),
            started_at: session.started_at.to_string(),
            updated_at: session.updated_at.to_string(),
        }
    }
}

/// Returns signals as texts.
pub(crate) fn signals(signals: &[Signal]) -> Vec<&str> {
    signals.iter().map(|signal| signal.0.as_str()).collect()
}
