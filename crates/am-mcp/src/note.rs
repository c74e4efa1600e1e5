//! What a program says on its error stream.

use std::fmt;

use am_model::text;

/// Something the user of the machine should be able to see. Carries no content and no secret; one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// A call failed for a reason that its caller can't mend.
    Failed {
        /// Name of the tool.
        tool: &'static str,
        /// The failure.
        note: String,
    },
    /// A memory was deleted for a reason.
    Deleted {
        /// Its id.
        memory_id: String,
        /// Why.
        reason: String,
        /// When.
        at: String,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed { tool, note } => write!(f, "[agent-memory mcp] {tool}: {}", text::one_line(note)),
            Self::Deleted { memory_id, reason, at } => write!(
                f,
                "[agentmemory] delete governance memoryId={} reason={} at={at}",
                text::one_line(memory_id),
                text::one_line(reason)
            ),
        }
    }
}
