//! The summary of a session, and the lessons drawn from it (contract §11).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use am_model::{Instant, Memory, Project, SessionId, number, text};

/// Most memories that a summary quotes.
pub const PICKS_MAX: usize = 5;
/// Most lessons that are drawn from a session.
pub const LESSONS_MAX: usize = 3;
/// Longest quote, in UTF-16 code units.
pub const EXCERPT_MAX: usize = 240;

/// What a summary needs of a memory.
#[derive(Clone, Debug, PartialEq)]
pub struct SummaryMemory {
    /// Text.
    pub content: String,
    /// Where it came from.
    pub origin: String,
    /// Stored importance, 0 to 1.
    pub importance: f64,
    /// When it was made, as ISO 8601; other text takes part in the order but not in the range.
    pub created_at: String,
}

impl From<&Memory> for SummaryMemory {
    fn from(memory: &Memory) -> Self {
        Self {
            content: memory.content.clone(),
            origin: memory.origin.as_str().to_owned(),
            importance: memory.importance.get(),
            created_at: memory.created_at.to_string(),
        }
    }
}

/// A session in a few lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionSummary {
    /// The text to save, several lines.
    pub summary: String,
    /// At most three lessons, one line each. Lesson N quotes the memory at `picks[N]`.
    pub lessons: Vec<String>,
    /// The concepts that the text names.
    pub top_concepts: Vec<String>,
    /// Indices of the quoted memories, in the order of the text.
    pub picks: Vec<usize>,
    /// How many memories were summarised.
    pub count: usize,
}

/// Summarises the memories of one session.
///
/// `top_concepts` extracts concepts from text; it gets all contents, joined by line feeds, and is not called for an
/// empty session.
pub fn summarise_session(
    session: &SessionId,
    project: &Project,
    memories: &[SummaryMemory],
    top_concepts: impl FnOnce(&str) -> Vec<String>,
) -> SessionSummary {
    let mut summary = format!("session {session} (project {project}): ");
    if memories.is_empty() {
        summary.push_str("no memories");
        return SessionSummary { summary, lessons: vec![], top_concepts: vec![], picks: vec![], count: 0 };
    }
    let contents: Vec<&str> = memories.iter().map(|memory| memory.content.as_str()).collect();
    let top_concepts = top_concepts(&contents.join("\n"));
    let concepts = if top_concepts.is_empty() { "none".to_owned() } else { top_concepts.join(", ") };
    // Writing to a string can't fail.
    let _ = write!(
        summary,
        "{} memories, {}, {}\ntop concepts: {concepts}",
        memories.len(),
        origins(memories),
        range(memories)
    );
    let mut ordered: Vec<(usize, &SummaryMemory)> = memories.iter().enumerate().collect();
    ordered.sort_by(|(_, left), (_, right)| {
        (right.importance + 0.0)
            .total_cmp(&(left.importance + 0.0))
            .then_with(|| text::compare_code_units(&left.created_at, &right.created_at))
            .then_with(|| text::compare_code_units(&left.content, &right.content))
    });
    ordered.truncate(PICKS_MAX);
    let mut lessons = Vec::new();
    for (number, (_, memory)) in (1_usize..).zip(&ordered) {
        let excerpt = text::cut_with_dots(&text::one_line(&memory.content), EXCERPT_MAX);
        let importance = number::print(memory.importance);
        let _ = write!(summary, "\n{number}. [{} imp={importance}] {excerpt}", memory.origin);
        if number <= LESSONS_MAX {
            lessons.push(format!("lesson: {excerpt}"));
        }
    }
    let picks = ordered.into_iter().map(|(index, _)| index).collect();
    SessionSummary { summary, lessons, top_concepts, picks, count: memories.len() }
}

/// Returns `ORIGIN=n ORIGIN=n`, by code unit.
fn origins(memories: &[SummaryMemory]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for memory in memories {
        *counts.entry(&memory.origin).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(left, _), (right, _)| text::compare_code_units(left, right));
    counts.iter().map(|(origin, count)| format!("{origin}={count}")).collect::<Vec<_>>().join(" ")
}

/// Returns the first and the last parseable time, one of them if they are equal.
fn range(memories: &[SummaryMemory]) -> String {
    let times = || memories.iter().filter_map(|memory| Instant::parse(&memory.created_at));
    match (times().min(), times().max()) {
        (Some(first), Some(last)) if first == last => first.to_string(),
        (Some(first), Some(last)) => format!("{first}..{last}"),
        _ => "time unknown".to_owned(),
    }
}
