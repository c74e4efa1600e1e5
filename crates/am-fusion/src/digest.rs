//! Recap and handoff texts.

use am_model::{Counts, Memory, Project};

/// Returns the line of one memory: `- [SESSION] CREATED (ORIGIN): CONTENT`, the content as it stands.
pub fn bullet(memory: &Memory) -> String {
    format!("- [{}] {} ({}): {}", memory.session_id, memory.created_at, memory.origin, memory.content)
}

/// Returns the bullets of `memories`, in their order, joined by line feeds; empty for none.
pub fn recap_text<'a>(memories: impl IntoIterator<Item = &'a Memory>) -> String {
    memories.into_iter().map(bullet).collect::<Vec<_>>().join("\n")
}

/// Returns the handoff of a project: its counts, then `bullets` as [`recap_text`] gives them.
pub fn handoff_text(project: &Project, counts: Counts, bullets: &str) -> String {
    let Counts { memories, sessions } = counts;
    let line_feed = if bullets.is_empty() { "" } else { "\n" };
    format!("project={project} memories={memories} sessions={sessions} recent:{line_feed}{bullets}")
}
