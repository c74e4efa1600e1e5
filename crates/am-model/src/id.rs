//! Names and ids. Each is trimmed and bounded when made from request text.

use std::fmt;

use crate::limit::{CONCEPT_MAX, InvalidValue, ORIGIN_MAX, SESSION_ID_MAX, bounded_text};

/// The position of a row in its store's one increasing sequence; never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreId(pub i64);

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

macro_rules! name {
    ($(#[$about:meta])* $name:ident, $field:literal, $maximum:expr) => {
        $(#[$about])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// Trims and bounds `value`.
            ///
            /// # Errors
            /// The value is empty or too long.
            pub fn new(value: &str) -> Result<Self, InvalidValue> {
                bounded_text($field, value, $maximum).map(Self)
            }

            /// Takes a value that a store gives back, as it stands.
            pub fn from_stored(value: impl Into<String>) -> Self {
                Self(value.into())
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }

            /// Returns the text, owned.
            pub fn into_string(self) -> String {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl AsRef<str> for $name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }
    };
}

name!(
    /// The scope of everything: memories of two projects never meet. 1 to 200 units.
    Project, "project", SESSION_ID_MAX
);
name!(
    /// One agent session inside a project. 1 to 200 units.
    SessionId, "sessionId", SESSION_ID_MAX
);
name!(
    /// The public id of a memory: a UUID v4 where we made it. 1 to 200 units.
    MemoryId, "memoryId", SESSION_ID_MAX
);
name!(
    /// Who or what a memory came from, such as `rest`, `mcp`, `lesson`, `hook:Stop`. 1 to 100 units.
    Origin, "origin", ORIGIN_MAX
);
name!(
    /// A name that memories share, compared exactly. 1 to 200 units.
    Concept, "concepts", CONCEPT_MAX
);

impl Project {
    /// Returns the project of requests that name none.
    pub fn unnamed() -> Self {
        Self("default".to_owned())
    }
}

impl MemoryId {
    /// Draws a fresh UUID v4.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

impl SessionId {
    /// Draws a fresh UUID v4.
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string())
    }
}

impl Origin {
    /// The origin of lessons.
    pub const LESSON: &str = "lesson";
    /// The origin of the lines that an import makes of tool calls, in the words of capture hooks.
    pub const IMPORTED_TOOL: &str = "import:tool";

    /// Returns whether it is what an agent or its user said in an imported transcript.
    pub fn is_transcript(&self) -> bool {
        ["import:user", "import:assistant", "import:transcript"].contains(&self.as_str())
    }

    /// Returns whether a capture hook made it.
    pub fn is_hook(&self) -> bool {
        self.0.starts_with("hook:")
    }
}
