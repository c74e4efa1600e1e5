//! The log: one row per mutation, chained per writer. Content never enters it.

use std::fmt;

use crate::{Instant, MemoryId};

/// Identifies a chain of log rows: 16 random bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct WriterId(pub [u8; 16]);

/// A SHA-256 digest, keyed where it covers content.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest(pub [u8; 32]);

/// Writes `bytes` as lower-case hexadecimal digits.
fn hexadecimal(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

impl fmt::Display for WriterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hexadecimal(&self.0, f)
    }
}

/// What a mutation did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verb {
    /// A memory was inserted.
    Remember,
    /// A text was merged into a memory, or concepts were linked to it.
    Merge,
    /// A repeated save made an expired memory live again.
    Revive,
    /// Memories or observations were removed.
    Forget,
    /// A memory was removed for a stated reason.
    Delete,
    /// Memories past an age were removed.
    Purge,
    /// Observations were appended.
    Observe,
    /// Rows were copied in from an export or another store.
    Import,
    /// Projections were rebuilt.
    Rebuild,
}

impl Verb {
    /// Every verb.
    pub const ALL: [Self; 9] = [
        Self::Remember,
        Self::Merge,
        Self::Revive,
        Self::Forget,
        Self::Delete,
        Self::Purge,
        Self::Observe,
        Self::Import,
        Self::Rebuild,
    ];

    /// Returns the name that stores and exports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remember => "remember",
            Self::Merge => "merge",
            Self::Revive => "revive",
            Self::Forget => "forget",
            Self::Delete => "delete",
            Self::Purge => "purge",
            Self::Observe => "observe",
            Self::Import => "import",
            Self::Rebuild => "rebuild",
        }
    }

    /// Reads the name that [`Verb::as_str`] gives.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == name)
    }
}

/// The surface a mutation came through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Channel {
    /// The REST surface.
    Rest,
    /// The MCP surface.
    Mcp,
    /// The spool of capture hooks.
    Hook,
    /// The command line.
    Cli,
    /// A Rust program that embeds the crates.
    Library,
}

impl Channel {
    /// Every channel.
    pub const ALL: [Self; 5] = [Self::Rest, Self::Mcp, Self::Hook, Self::Cli, Self::Library];

    /// Returns the name that stores and exports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rest => "rest",
            Self::Mcp => "mcp",
            Self::Hook => "hook",
            Self::Cli => "cli",
            Self::Library => "library",
        }
    }

    /// Reads the name that [`Channel::as_str`] gives.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|channel| channel.as_str() == name)
    }
}

/// On whose behalf a mutation was made: a short word such as the origin of a save, never content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Actor(pub String);

/// One row of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEntry {
    /// The chain it belongs to.
    pub writer: WriterId,
    /// Position in that chain, from 1.
    pub sequence: i64,
    /// When it was written.
    pub at: Instant,
    /// On whose behalf.
    pub actor: Actor,
    /// Through which surface.
    pub channel: Channel,
    /// What was done.
    pub verb: Verb,
    /// The memories it was done to.
    pub targets: Vec<MemoryId>,
    /// Why, where a reason was given.
    pub reason: Option<String>,
    /// Keyed digest of the target before, where there was one and it was a single one.
    pub before: Option<Digest>,
    /// Keyed digest of the target after, where there is one and it is a single one.
    pub after: Option<Digest>,
    /// Digest of this writer's previous row; zeros for the first.
    pub previous: Digest,
}
