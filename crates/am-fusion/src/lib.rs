//! Ranking, lifecycle and similarity of agent-memory, pure.
//!
//! Owns the BM25 formula, rank fusion, decay, recall boost, TTL, near-duplicates and their merge, digests, session
//! summaries, failure signals and retrieval metrics: functions of their arguments. Holds no storage, reads no clock
//! and no environment (the instant and the settings are arguments), and analyses no text (token sets and concepts are
//! arguments too).

pub mod bm25;
pub mod digest;
pub mod evaluation;
pub mod fuse;
pub mod lifecycle;
pub mod recall;
pub mod signal;
pub mod similarity;
pub mod summary;
