//! Evidence: what happened, append-only, never ranked by itself.

use crate::{Instant, Origin, Project, SessionId};

/// How much of an event was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CaptureLevel {
    /// The fixed line of the event.
    Minimal,
    /// File base names, exit status and error class beside it.
    Summary,
    /// Prompt, tool input and output, redacted and bounded.
    Full,
}

impl CaptureLevel {
    /// Returns the name that stores and exports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Summary => "summary",
            Self::Full => "full",
        }
    }

    /// Reads the name that [`CaptureLevel::as_str`] gives.
    pub fn parse(name: &str) -> Option<Self> {
        [Self::Minimal, Self::Summary, Self::Full].into_iter().find(|level| level.as_str() == name)
    }
}

/// One observed event.
#[derive(Clone, Debug, PartialEq)]
pub struct Observation {
    /// Scope.
    pub project: Project,
    /// Session in which it happened.
    pub session_id: SessionId,
    /// Idempotency key of the delivery, at most 200 units: one key is one event of its project.
    ///
    /// `delivery:UUID` where the host gave no id of its own: two such within two seconds, of one project, session,
    /// origin and text, count as one event that two hosts fired.
    pub event_id: String,
    /// Where it came from, such as `hook:PostToolUse` or `import:user`.
    pub origin: Origin,
    /// When it happened.
    pub at: Instant,
    /// How much was captured.
    pub level: CaptureLevel,
    /// What was captured. `None` once it has been erased.
    pub text: Option<String>,
}
