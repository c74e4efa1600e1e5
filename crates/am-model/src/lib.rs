//! The nouns of agent-memory and their rules: memories, sessions, concepts, projects, ids, instants,
//! limits, the dedup key, search hits, signals and log entries.
//!
//! Owns what a value may be. Is not asynchronous, not serialised for a wire, and knows no store, clock,
//! environment or file system.

pub mod number;
pub mod text;

mod dedup;
mod id;
mod instant;
mod limit;
mod log;
mod memory;
mod observation;
mod search;
mod session;

pub use dedup::{DedupKey, normalise};
pub use id::{Concept, MemoryId, Origin, Project, SessionId, StoreId};
pub use instant::Instant;
pub use limit::{
    CONCEPT_MAX, CONCEPTS_MAX, CONTENT_MAX, InvalidValue, LIMIT_DEFAULT, LIMIT_MAX, ORIGIN_MAX, QUERY_MAX,
    REASON_MAX, SESSION_ID_MAX, bounded_text,
};
pub use log::{Actor, Channel, Digest, LogEntry, Verb, WriterId};
pub use memory::{Importance, Memory, MemoryKind};
pub use observation::{CaptureLevel, Observation};
pub use search::{SearchHit, Signal, Source};
pub use session::{Counts, Session};
