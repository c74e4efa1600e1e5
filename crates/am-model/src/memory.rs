//! Memories: the only thing that is recalled.

use crate::{Concept, Instant, InvalidValue, MemoryId, Origin, Project, SessionId, StoreId};

/// How much a memory matters, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Importance(f64);

impl Importance {
    /// Checks that `value` lies in 0 to 1.
    ///
    /// # Errors
    /// The value lies outside, or is not a number.
    pub fn new(value: f64) -> Result<Self, InvalidValue> {
        if (0.0..=1.0).contains(&value) {
            Ok(Self(value))
        } else {
            Err(InvalidValue::OutOfRange { field: "importance", minimum: "0", maximum: "1" })
        }
    }

    /// Takes a value that a store gives back, as it stands.
    pub fn from_stored(value: f64) -> Self {
        Self(value)
    }

    /// Derives the importance of a memory from its origin and the number of its stored concepts.
    ///
    /// Base 0.75 for lessons, 0.55 for hooks, else 0.5, plus 0.025 for each of at most 8 concepts (contract §4).
    pub fn derived(origin: &str, concepts: usize) -> Self {
        let base = if origin == Origin::LESSON {
            0.75
        } else if origin.starts_with("hook:") {
            0.55
        } else {
            0.5
        };
        Self((base + 0.025 * concepts.min(8) as f64).clamp(0.0, 1.0))
    }

    /// Returns the number.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// What sort of claim a memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemoryKind {
    /// Saved on purpose.
    Note,
    /// A lesson, saved on purpose.
    Lesson,
    /// Derived from the memories of a session.
    Summary,
    /// Text that was captured above the minimal level.
    Observation,
    /// A fixed line of a capture hook, such as `tool used: Grep`: listed, and not ranked in the default profile.
    Event,
}

impl MemoryKind {
    /// Every kind, in the order of [`MemoryKind::as_str`]'s names in documents.
    pub const ALL: [Self; 5] = [Self::Note, Self::Lesson, Self::Summary, Self::Observation, Self::Event];

    /// Returns the name that stores and exports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Lesson => "lesson",
            Self::Summary => "summary",
            Self::Observation => "observation",
            Self::Event => "event",
        }
    }

    /// Reads the name that [`MemoryKind::as_str`] gives.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Tells the kind of a save from its origin and text.
    pub fn of(origin: &Origin, content: &str) -> Self {
        if origin.as_str() == Origin::LESSON {
            Self::Lesson
        } else if origin.as_str() == Origin::IMPORTED_TOOL && is_hook_line(content) {
            Self::Event
        } else if origin.is_transcript() {
            Self::Observation
        } else if !origin.is_hook() {
            Self::Note
        } else if is_hook_line(content) {
            Self::Event
        } else {
            Self::Observation
        }
    }
}

/// Returns whether `content` is one of the fixed lines that capture hooks send (contract §8).
fn is_hook_line(content: &str) -> bool {
    const WHOLE: [&str; 5] = [
        "agent session started",
        "agent session stopped",
        "agent session ended",
        "context compaction requested",
        "user prompt submitted",
    ];
    const LEADING: [&str; 4] = ["tool used: ", "tool failed: ", "tool started: ", "file edited via "];
    !content.contains('\n')
        && (WHOLE.contains(&content) || LEADING.iter().any(|lead| content.starts_with(lead)))
}

/// One memory as it is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Position in the store's sequence.
    pub id: StoreId,
    /// Public id.
    pub memory_id: MemoryId,
    /// Scope.
    pub project: Project,
    /// Session that made it.
    pub session_id: SessionId,
    /// Sort of claim.
    pub kind: MemoryKind,
    /// Text, trimmed.
    pub content: String,
    /// Where it came from.
    pub origin: Origin,
    /// Weight, 0 to 1.
    pub importance: Importance,
    /// When it was made; later only where a repeated save revived an expired row.
    pub created_at: Instant,
    /// 1 when made, one more with each change.
    pub version: i64,
    /// Concepts in the order they were linked. Search replies leave them empty.
    pub concepts: Vec<Concept>,
}
