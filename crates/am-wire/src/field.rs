//! The values that requests carry, and their rules.

use am_model::{
    CONCEPT_MAX, CONCEPTS_MAX, CONTENT_MAX, LIMIT_MAX, ORIGIN_MAX, QUERY_MAX, REASON_MAX, SESSION_ID_MAX,
};
use serde_json::{Value, json};

/// What a value may be. Lengths are in UTF-16 code units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rule {
    /// A string: trimmed, then 1 to `maximum` units.
    Text {
        /// Most units.
        maximum: usize,
    },
    /// A string of 1 to `maximum` units, before and after its white space is collapsed to single spaces.
    Line {
        /// Most units.
        maximum: usize,
    },
    /// An array of strings, each as in [`Rule::Text`].
    Texts {
        /// Most elements.
        most: usize,
        /// Most units of each.
        maximum: usize,
    },
    /// A whole number.
    Integer {
        /// Smallest value.
        minimum: u32,
        /// Largest value.
        maximum: u32,
    },
    /// A number.
    Number {
        /// Smallest value.
        minimum: u32,
        /// Largest value.
        maximum: u32,
    },
}

impl Rule {
    /// Returns the rule as a JSON Schema.
    pub fn schema(self) -> Value {
        match self {
            Self::Text { maximum } | Self::Line { maximum } => {
                json!({ "type": "string", "minLength": 1, "maxLength": maximum })
            }
            Self::Texts { most, maximum } => json!({
                "type": "array",
                "maxItems": most,
                "items": { "type": "string", "minLength": 1, "maxLength": maximum },
            }),
            Self::Integer { minimum, maximum } => {
                json!({ "type": "integer", "minimum": minimum, "maximum": maximum })
            }
            Self::Number { minimum, maximum } => {
                json!({ "type": "number", "minimum": minimum, "maximum": maximum })
            }
        }
    }
}

/// A value of a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Its key.
    pub name: &'static str,
    /// What it may be.
    pub rule: Rule,
    /// Whether requests must carry it.
    pub required: bool,
    /// What it is, for documents.
    pub about: &'static str,
}

impl Field {
    const fn required(name: &'static str, rule: Rule, about: &'static str) -> Self {
        Self { name, rule, required: true, about }
    }

    const fn optional(name: &'static str, rule: Rule, about: &'static str) -> Self {
        Self { name, rule, required: false, about }
    }
}

/// The text to save.
pub const CONTENT: Field = Field::required("content", Rule::Text { maximum: CONTENT_MAX }, "Text to save.");
/// The concepts of a text to save.
pub const CONCEPTS: Field = Field::optional(
    "concepts",
    Rule::Texts { most: CONCEPTS_MAX, maximum: CONCEPT_MAX },
    "Concepts to link, by exact name. Derived from the text where there are none.",
);
/// The concepts that a search takes in.
pub const NAMED_CONCEPTS: Field = Field::optional(
    "concepts",
    Rule::Texts { most: CONCEPTS_MAX, maximum: CONCEPT_MAX },
    "Concepts whose memories are looked for beside the query, by exact name.",
);
/// The scope.
pub const PROJECT: Field = Field::optional(
    "project",
    Rule::Text { maximum: SESSION_ID_MAX },
    "Scope: memories of two projects never meet. `default` where it is left out.",
);
/// The session of a text to save.
pub const SAVED_SESSION: Field = Field::optional(
    "sessionId",
    Rule::Text { maximum: SESSION_ID_MAX },
    "Session the text belongs to. A new one where it is left out.",
);
/// The session of a digest.
pub const SHOWN_SESSION: Field = Field::optional(
    "sessionId",
    Rule::Text { maximum: SESSION_ID_MAX },
    "Session to show. The newest ones where it is left out.",
);
/// The session whose memories are listed.
pub const LISTED_SESSION: Field = Field::required(
    "sessionId",
    Rule::Text { maximum: SESSION_ID_MAX },
    "Session whose memories are listed.",
);
/// Where a text to save comes from.
pub const ORIGIN: Field = Field::optional(
    "origin",
    Rule::Text { maximum: ORIGIN_MAX },
    "Where the text comes from. `rest` where it is left out.",
);
/// The weight of a text to save.
pub const IMPORTANCE: Field = Field::optional(
    "importance",
    Rule::Number { minimum: 0, maximum: 1 },
    "Weight. Derived from origin and concepts where it is left out.",
);
/// What is looked for.
pub const QUERY: Field = Field::required(
    "query",
    Rule::Text { maximum: QUERY_MAX },
    "What is looked for. Every character is data, none is an operator.",
);
/// How many rows.
pub const LIMIT: Field = Field::optional(
    "limit",
    Rule::Integer { minimum: 1, maximum: LIMIT_MAX as u32 },
    "Most rows. 10 where it is left out.",
);
/// The memory to forget.
pub const MEMORY_ID: Field = Field::required(
    "memoryId",
    Rule::Text { maximum: SESSION_ID_MAX },
    "Public id of the memory, whatever its project.",
);
/// The memory to delete.
pub const DELETED_ID: Field = Field::required(
    "memoryId",
    Rule::Line { maximum: SESSION_ID_MAX },
    "Public id of the memory, whatever its project.",
);
/// Why a memory is deleted.
pub const REASON: Field = Field::required("reason", Rule::Line { maximum: REASON_MAX }, "Why, for the log.");
