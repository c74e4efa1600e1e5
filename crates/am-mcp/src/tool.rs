//! The eleven tools: names, words, arguments, effects, shapes of replies.

use am_wire::field::{
    CONCEPTS, CONTENT, DELETED_ID, Field, IMPORTANCE, LIMIT, LISTED_SESSION, MEMORY_ID, NAMED_CONCEPTS,
    ORIGIN, PROJECT, QUERY, REASON, SAVED_SESSION, SHOWN_SESSION,
};
use serde_json::{Map, Value, json};

/// A tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    Save,
    Search,
    SmartSearch,
    Sessions,
    SessionMemories,
    Forget,
    Health,
    Recap,
    Handoff,
    Lesson,
    Delete,
}

/// What a call may do to the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Reads,
    Adds,
    Removes,
}

impl Tool {
    /// Every tool, in the order they are listed.
    pub(crate) const ALL: [Self; 11] = [
        Self::Save,
        Self::Search,
        Self::SmartSearch,
        Self::Sessions,
        Self::SessionMemories,
        Self::Forget,
        Self::Health,
        Self::Recap,
        Self::Handoff,
        Self::Lesson,
        Self::Delete,
    ];

    pub(crate) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| tool.name() == name)
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Save => "memory_save",
            Self::Search => "memory_search",
            Self::SmartSearch => "memory_smart_search",
            Self::Sessions => "memory_sessions",
            Self::SessionMemories => "memory_session_memories",
            Self::Forget => "memory_forget",
            Self::Health => "memory_health",
            Self::Recap => "memory_recap",
            Self::Handoff => "memory_handoff",
            Self::Lesson => "memory_lesson",
            Self::Delete => "memory_delete",
        }
    }

    /// Says what the tool is for. Every word is paid for by every session of every agent.
    pub(crate) fn description(self) -> &'static str {
        match self {
            Self::Save => {
                "Store one durable memory: a decision, a fact, a preference, a fix. One self-contained claim per call; \
                 repeats and near-duplicates are merged. Never secrets. Replies with the memory's id."
            }
            Self::Search => {
                "Keyword search (BM25) in one project: exact names, identifiers, error texts. Every character is data, \
                 there are no operators. 10 rows unless limit says otherwise."
            }
            Self::SmartSearch => {
                "Hybrid search in one project, the first choice for recall: meaning, keywords and, if concepts are \
                 given, shared concepts, fused into one ranking. 10 rows unless limit says otherwise."
            }
            Self::Sessions => "List the newest sessions of a project.",
            Self::SessionMemories => "List the memories of one session, newest first.",
            Self::Forget => "Remove one memory for good. Takes the memoryId of a search row.",
            Self::Health => "Check that the memory answers, and count memories and sessions of a project.",
            Self::Recap => {
                "Digest of the newest memories as text: of one session, or of the newest sessions."
            }
            Self::Handoff => "Recap with counts, to hand work over to another agent or session.",
            Self::Lesson => {
                "Store a lesson: what went wrong and how to avoid it. Like memory_save, and weighs more in rankings."
            }
            Self::Delete => {
                "Remove one memory for a stated reason that the log keeps; replies with a receipt. Takes the memoryId \
                 of a search row."
            }
        }
    }

    pub(crate) fn fields(self) -> &'static [Field] {
        match self {
            Self::Save => &[CONTENT, CONCEPTS, PROJECT, SAVED_SESSION, ORIGIN, IMPORTANCE],
            Self::Search => &[QUERY, PROJECT, LIMIT],
            Self::SmartSearch => &[QUERY, PROJECT, LIMIT, NAMED_CONCEPTS],
            Self::Sessions => &[PROJECT, LIMIT],
            Self::SessionMemories => &[LISTED_SESSION, PROJECT, LIMIT],
            Self::Forget => &[MEMORY_ID],
            Self::Health => &[PROJECT],
            Self::Recap | Self::Handoff => &[PROJECT, SHOWN_SESSION, LIMIT],
            Self::Lesson => &[CONTENT, CONCEPTS, PROJECT, SAVED_SESSION, IMPORTANCE],
            Self::Delete => &[DELETED_ID, REASON],
        }
    }

    pub(crate) fn effect(self) -> Effect {
        match self {
            Self::Save | Self::Lesson => Effect::Adds,
            Self::Forget | Self::Delete => Effect::Removes,
            _ => Effect::Reads,
        }
    }

    /// Returns the schema of the tool's arguments.
    pub(crate) fn input(self) -> Map<String, Value> {
        let fields = self.fields();
        let properties: Map<String, Value> =
            fields.iter().map(|field| (field.name.to_owned(), field.rule.schema())).collect();
        let required: Vec<&str> =
            fields.iter().filter(|field| field.required).map(|field| field.name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("properties".to_owned(), properties.into());
        if !required.is_empty() {
            schema.insert("required".to_owned(), required.into());
        }
        schema.insert("additionalProperties".to_owned(), false.into());
        schema
    }

    /// Returns the schema of the tool's replies, but those that say that it failed.
    pub(crate) fn output(self) -> Map<String, Value> {
        let (text, flag, count) =
            (json!({"type": "string"}), json!({"type": "boolean"}), json!({"type": "integer"}));
        let texts = json!({"type": "array", "items": {"type": "string"}});
        let rows = json!({"type": "array", "items": {"type": "object"}});
        let optional_text = json!({"type": ["string", "null"]});
        let counts = json!({"type": "object"});
        let properties = match self {
            Self::Save | Self::Lesson => vec![
                ("id", text.clone()),
                ("sessionId", text.clone()),
                ("project", text),
                ("concepts", texts),
                ("deduped", flag.clone()),
                ("consolidated", flag),
            ],
            Self::Search | Self::SmartSearch => vec![("mode", text), ("results", rows), ("signals", texts)],
            Self::Sessions => vec![("sessions", rows)],
            Self::SessionMemories => vec![("memories", rows)],
            Self::Forget => vec![("forgotten", flag)],
            Self::Health => vec![("status", text), ("counts", counts)],
            Self::Recap => {
                vec![("recap", text), ("sessionId", optional_text), ("count", count), ("signals", texts)]
            }
            Self::Handoff => {
                vec![("handoff", text), ("sessionId", optional_text), ("counts", counts), ("signals", texts)]
            }
            Self::Delete => vec![("deleted", flag), ("receipt", counts)],
        };
        let required: Vec<&str> = properties.iter().map(|(name, _)| *name).collect();
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert("required".to_owned(), required.into());
        let properties: Map<String, Value> =
            properties.into_iter().map(|(name, schema)| (name.to_owned(), schema)).collect();
        schema.insert("properties".to_owned(), properties.into());
        schema
    }
}
